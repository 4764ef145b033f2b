"""What is known of every difference at a look: estimate, standard error, and the normal quantile of its p-value.

With few annotators a difference divided by its standard error follows Student's t. Its two-sided p is turned into the
normal quantile of the same probability, so that one set of boundaries serves all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError
from adjudge.core.maths import divide, normal_quantile
from adjudge.core.protocols import EDITED, RATED, RELATIVE
from adjudge.results.rank import TASTE

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments
    from adjudge.results.rank import PairComparison, Ranking


"""Protocols in which the text itself is the answer."""
_FARTHEST = 37.0
"""The largest normal quantile that a p-value above 0 can have in double precision."""


@dataclass(frozen=True, eq=False)
class Differences:
    """All pairs of systems, in the order of `pairs`; a difference is that of the first minus the second system."""

    systems: tuple[str, ...]
    """Sorted by name."""
    difference: Floats
    se: Floats
    df: Floats
    z: Floats
    lasting: float = 0.0
    """The part of the variance of a difference that stays when the same people judge more: their tastes."""

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The two systems of every pair, by their number."""
        return list(combinations(range(len(self.systems)), 2))

    @property
    def information(self) -> Floats:
        """1 / se^2; NaN where the standard error is not known."""
        return divide(1.0, self.se**2)


def differences_of(ranking: Ranking) -> Differences:
    """The differences of a ranking by any method that tests pairs."""
    systems = tuple(sorted(entry.system for entry in ranking.systems))
    by_pair: dict[tuple[str, str], tuple[float, float, float, float]] = {}
    for comparison in ranking.comparisons:
        values = _numbers(comparison)
        by_pair[comparison.better, comparison.worse] = values
        by_pair[comparison.worse, comparison.better] = (-values[0], values[1], values[2], -values[3])
    columns = np.array([by_pair[pair] for pair in combinations(systems, 2)], dtype=float).reshape(-1, 4).T
    difference, se, df, z = columns
    return Differences(systems, difference, se, df, z, _lasting(ranking))


def _lasting(ranking: Ranking) -> float:
    """Twice the variance of tastes over the number of annotators, where the model knows tastes."""
    for component in ranking.components:
        if TASTE in component.parts:
            return 2 * component.sd**2 * len(ranking.systems) / component.levels
    return 0.0


def _numbers(comparison: PairComparison) -> tuple[float, float, float, float]:
    """Difference, standard error, degrees of freedom and z; what is not known is NaN, infinity or 0."""
    difference = comparison.difference
    if difference is None:
        return 0.0, np.nan, np.inf, 0.0
    se, df = comparison.numbers.get("se"), comparison.numbers.get("df")
    sign = 1.0 if difference >= 0 else -1.0
    z = 0.0 if comparison.p is None else sign * as_normal(comparison.p)
    return difference, np.nan if se is None else float(se), np.inf if df is None else float(df), z


def as_normal(p: float) -> float:
    """The normal quantile of a two-sided p-value."""
    return min(float(-normal_quantile(min(p, 1.0) / 2)), _FARTHEST)


def count_judgments(judgments: Judgments) -> int:
    """The judgments that count towards the plan: last revisions with an answer, controls left out."""
    count = answered_rows(judgments).height
    if not count:
        raise DataError("there are no judgments yet that count towards the plan; wait for the first ones")
    return count


def answered_rows(judgments: Judgments) -> pl.DataFrame:
    """The rows that count towards the plan: ranks, scores, and translations that were corrected."""
    relative, edited = pl.col("protocol").is_in(RELATIVE), pl.col("protocol").is_in(EDITED)
    given = pl.when(edited).then(pl.col("text").is_not_null()).otherwise(pl.col("score").is_not_null())
    answered = (relative & pl.col("rank").is_not_null()) | (~relative & given & pl.col("kind").is_in(RATED))
    return judgments.final().table.filter(answered.fill_null(value=False))
