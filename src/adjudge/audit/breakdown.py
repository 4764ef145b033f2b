"""Breakdown of scores by a column: does a system fare better on some of the judgments than on others?

The mixed model is fitted with one effect for every system in every subset. With m(s, l) the effect of system s in
subset l, the interaction is the set of contrasts m(s, l) - m(s, 1) - m(1, l) + m(1, 1), tested together by the F
statistic c' V^-1 c / q with q contrasts; its degrees of freedom are the fewest of the differences behind it. Holm
corrects for the number of columns asked for. A column of many numbers, such as lengths, is cut into three parts of
equal size.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError, unknown_choice
from adjudge.rank.lines import holm
from adjudge.rank.mixed import design_from, fit
from adjudge.results.audit.breakdown import Breakdown, ColumnBreakdown, SubsetScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments
    from adjudge.rank.mixed import MixedDesign, MixedFit

MOST_LEVELS = 8
PARTS = ("low", "middle", "high")


def section(judgments: Judgments, settings: AuditSettings) -> Breakdown:
    """Every column that was asked for."""
    if not settings.by:
        raise DataError("it needs a column of the judgments, which --by names")
    design, table = design_from(judgments), judgments.final().table
    parts = [_column(design, column, _levels(table, column, design)) for column in settings.by]
    corrected = holm(np.array([part[2] for part in parts]))
    return Breakdown(
        tuple(
            ColumnBreakdown(column, levels, scores, p, float(own))
            for column, (levels, scores, p), own in zip(settings.by, parts, corrected, strict=True)
        )
    )


def _levels(table: pl.DataFrame, column: str, design: MixedDesign) -> list[str | None]:
    """The subset of every score in the model."""
    if column not in table.columns:
        raise unknown_choice("column for --by", column, table.columns)
    values = table[column][design.row]
    if values.dtype.is_numeric() and values.n_unique() > MOST_LEVELS:
        low, high = (values.quantile(share) for share in (1 / 3, 2 / 3))
        return [None if v is None else PARTS[int(v > low) + int(v > high)] for v in values.to_list()]
    if values.n_unique() > MOST_LEVELS:
        raise DataError(f"column '{column}' has {values.n_unique()} values; {MOST_LEVELS} are the most to compare")
    return values.cast(pl.String).to_list()


def _column(
    design: MixedDesign, column: str, values: Sequence[str | None]
) -> tuple[tuple[str, ...], tuple[SubsetScore, ...], float]:
    levels = [level for level in PARTS if level in values] or sorted({value for value in values if value is not None})
    if len(levels) < 2:
        raise DataError(f"column '{column}' has fewer than two values, so there is nothing to compare")
    known = design.subset(np.array([value is not None for value in values]))
    code = np.array([levels.index(value) for value in values if value is not None])
    cells, system = np.unique(known.system * len(levels) + code, return_inverse=True)
    owner, level = cells // len(levels), cells % len(levels)
    names = tuple(f"{known.systems[s]} ({levels[k]})" for s, k in zip(owner, level, strict=True))
    fitted = fit(known.with_systems(system, names, known.human[owner]))
    complete = [s for s in range(len(known.systems)) if (owner == s).sum() == len(levels)]
    if len(complete) < 2:
        raise DataError(f"fewer than two systems were judged in every subset by '{column}'")
    effects = np.full((len(known.systems), len(levels)), np.nan)
    effects[owner, level] = fitted.effects
    shifts = effects - effects[complete].mean(0) - (effects - effects[complete].mean(0)).mean(1, keepdims=True)
    scores = tuple(
        SubsetScore(
            known.systems[s], levels[k], int(fitted.n[i]), float(fitted.effects[i]), float(fitted.se[i]),
            float(shifts[s, k]),
        )
        for i, (s, k) in enumerate(zip(owner.tolist(), level.tolist(), strict=True))
    )  # fmt: skip
    place = {(int(s), int(k)): i for i, (s, k) in enumerate(zip(owner, level, strict=True))}
    return tuple(levels), scores, _interaction(fitted, place, complete, len(levels))


def _interaction(fitted: MixedFit, place: dict[tuple[int, int], int], systems: Sequence[int], levels: int) -> float:
    """The p that all systems differ between subsets in the same way."""
    from scipy.stats import f

    first = systems[0]
    rows: list[Floats] = []
    for system in systems[1:]:
        for level in range(1, levels):
            row = np.zeros(len(fitted.effects))
            row[[place[system, level], place[first, 0]]] = 1
            row[[place[system, 0], place[first, level]]] = -1
            rows.append(row)
    contrast = np.array(rows)
    value, covariance = contrast @ fitted.effects, contrast @ fitted.covariance @ contrast.T
    used = [place[system, level] for system in systems for level in range(levels)]
    df = fitted.df[np.ix_(used, used)]
    statistic = float(value @ np.linalg.solve(covariance, value)) / len(rows)
    return max(float(f.sf(statistic, len(rows), float(df[np.isfinite(df)].min()))), sys.float_info.min)
