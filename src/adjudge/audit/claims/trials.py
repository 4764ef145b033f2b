"""Trials that a claim has to survive. Each is the ranking made again from changed data, or by another estimator.

A claim "A is better than B" survives a trial if A is still ahead and, where the trial tests it, the difference is still
significant at the level of the claim itself: after Holm's correction for all pairs of the trial. Halves of the
annotators are the exception. Each half has half of the evidence, so that there the difference must be significant by
itself, in both halves of every division.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adjudge.core.maths import student_tail
from adjudge.rank.lines_and_rank_sets import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats


HALVES = "halves of the annotators"
"""The family that a claim must survive to hold: what half of the people say, the other half must say too."""
NO_HALVES = "too few annotators to divide them into halves"
NOT_IN_BOTH_HALVES = "too few annotators judged the two to divide them into halves"
DIVISIONS = 5


@dataclass(frozen=True, eq=False)
class Trial:
    """Differences (row minus column) of all systems, with standard errors and degrees of freedom.

    NaN where a system is not in the trial; `se` is None where only the order counts.
    """

    name: str
    family: str
    """Trials of one family, such as one per annotator, are survived together."""
    difference: Floats
    se: Floats | None = None
    df: Floats | None = None
    least_p: Floats | None = None
    """What p cannot be below, where the spread understates the doubt."""
    adjusted: bool = True
    """Whether p-values are corrected for all pairs of the trial."""

    def applies(self, first: int, second: int) -> bool:
        """Whether both systems are in the trial."""
        return bool(np.isfinite(self.difference[first, second]))

    def without(self, systems: NDArray[np.bool_]) -> Trial:
        """The trial of all pairs in which none of the marked systems takes part."""
        gone = systems[:, None] | systems[None, :]
        return replace(self, difference=np.where(gone, np.nan, self.difference))

    @cached_property
    def p(self) -> Floats | None:
        """Two-sided p of every pair, corrected where the trial says so; None where only the order counts."""
        if self.se is None or self.df is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * student_tail(np.abs(self.difference) / self.se, self.df)
        p = p if self.least_p is None else np.maximum(p, self.least_p)
        p[~np.isfinite(self.difference)] = np.nan
        return _holm_of_pairs(p) if self.adjusted else p

    def keeps_better(self, better: int, worse: int, level: float) -> bool:
        """Whether "better than" stands in this trial: still ahead, and significantly so where that is tested."""
        if not self.difference[better, worse] > 0:
            return False
        return self.p is None or bool(self.p[better, worse] < level)

    def equivalence(self, pairs: Sequence[tuple[int, int]], margin: float) -> dict[tuple[int, int], float]:
        """For each of the pairs in the trial the p that it is further apart than the margin, corrected by Holm."""
        if self.se is None or self.df is None:
            return {}
        applying = [pair for pair in pairs if self.applies(*pair)]
        chosen = tuple(np.array(applying, dtype=np.int64).reshape(-1, 2).T)
        difference, se, df = self.difference[chosen], self.se[chosen], self.df[chosen]
        p = np.maximum(student_tail((difference + margin) / se, df), student_tail((margin - difference) / se, df))
        corrected = holm(p) if self.adjusted else p
        return dict(zip(applying, corrected.tolist(), strict=True))


def _holm_of_pairs(p: Floats) -> Floats:
    """A symmetric matrix of p-values, each pair corrected once for all pairs."""
    upper = np.triu_indices(len(p), 1)
    adjusted = np.full_like(p, np.nan)
    adjusted[upper] = holm(p[upper])
    adjusted.T[upper] = adjusted[upper]
    return adjusted


class TrialOutcome(NamedTuple):
    """What became of a claim."""

    survives: tuple[str, ...] = ()
    """The families that it survives whole."""
    broken_by: tuple[str, ...] = ()
    """The single trials that break it."""
    fails: tuple[str, ...] = ()
    """The families of these trials."""


def try_claim(trials: Sequence[Trial], pair: tuple[int, int], stands: Callable[[Trial], bool]) -> TrialOutcome:
    """As `outcome`, of the trials that both systems are in.

    A claim that could not be tried on both halves of the annotators in every division is broken by that: it rests on
    one person or two, and others have said nothing.
    """
    tried = outcome([trial for trial in trials if trial.applies(*pair)], stands)
    halves = [trial.applies(*pair) for trial in trials if trial.family == HALVES]
    if halves and all(halves):
        return tried
    return TrialOutcome(
        survives=tuple(family for family in tried.survives if family != HALVES),
        broken_by=(*tried.broken_by, NOT_IN_BOTH_HALVES if halves else NO_HALVES),
        fails=(*(family for family in tried.fails if family != HALVES), HALVES),
    )


def outcome(trials: Iterable[Trial], stands: Callable[[Trial], bool]) -> TrialOutcome:
    """The families that a claim survives whole, and the single trials that break it."""
    families: dict[str, bool] = {}
    broken: list[str] = []
    for trial in trials:
        unbroken = stands(trial)
        families[trial.family] = families.get(trial.family, True) and unbroken
        if not unbroken:
            broken.append(trial.name)
    survives, fails = (
        tuple(name for name, unbroken in families.items() if unbroken == wanted) for wanted in (True, False)
    )
    return TrialOutcome(survives, tuple(broken), fails)
