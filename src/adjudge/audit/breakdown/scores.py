"""Breakdown of scores: the mixed model with one effect for every system in every subset.

With m(s, l) the effect of system s in subset l, the interaction is the set of contrasts m(s, l) - m(s, 1) - m(1, l) +
m(1, 1) (of cells that were judged, all that sums of systems and subsets leave), tested together by the F statistic
c' V^-1 c / q with q contrasts. Where subsets are ordered from low to high, as lengths are, only the slopes are
compared, which needs fewer contrasts and finds a trend more often. Tastes of annotators, which are for systems, cancel
out of contrasts within an annotator, so these rest on pages and documents and not on the number of annotators
(`ContrastDegrees`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.breakdown.subsets import ColumnTest, Subsets, ranks_within, subsets
from adjudge.core.errors import DataError
from adjudge.core.maths import student_tail
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.ranking.estimator import fit_cells
from adjudge.results.audit.breakdown import SubsetScore
from adjudge.results.rank import Cause

if TYPE_CHECKING:
    import polars as pl

    from adjudge.core.arrays import Codes, Floats
    from adjudge.rank.mixed import MixedDesign, MixedFit

MOST_CELLS = 1200
TWO = 2
ONE_PAGE = (Cause.ONE_LEVEL, Cause.SYSTEMS)
"""Why pages are left out of the model where every system has one."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """The systems in subsets that were judged: cell i is system `owner[i]` in subset `level[i]`."""

    owner: Codes
    level: Codes
    complete: tuple[int, ...]
    """The systems that were judged in every subset."""
    index: dict[tuple[int, int], int]

    @classmethod
    def of(cls, cells: Codes, levels: int) -> _Cells:
        owner, level = cells // levels, cells % levels
        index = {(int(s), int(k)): i for i, (s, k) in enumerate(zip(owner, level, strict=True))}
        complete = tuple(int(s) for s in np.unique(owner) if (owner == s).sum() == levels)
        return cls(owner, level, complete, index)


def score_breakdown(design: MixedDesign, table: pl.DataFrame, column: str) -> ColumnTest:
    """Every system in every subset by a column of the table of last revisions."""
    parts = subsets(table[design.row], column)
    known = design.subset(parts.code >= 0)
    code, levels = parts.code[parts.code >= 0], len(parts.levels)
    cells = _Cells.of(np.unique(known.system * levels + code), levels)
    _check(cells, parts)
    known.check()
    # Subsets need not share annotators or documents: systems are compared within each.
    fitted = fit_cells(known, code, parts.levels).fit
    _check_pages(fitted, column)
    contrasts = _interaction(cells, levels, ordered=parts.ordered)
    if not len(contrasts):
        raise DataError(f"no two systems were judged in the same two subsets by '{column}'; nothing to compare")
    return ColumnTest(
        parts.levels,
        _scores(fitted, cells, known.systems, parts),
        _f_test(fitted, contrasts),
        "slopes from low to high by the mixed model" if parts.ordered and levels > 2 else "by the mixed model",
        int((parts.code < 0).sum()),
    )


def _check(cells: _Cells, parts: Subsets) -> None:
    if parts.ordered and len(cells.complete) < TWO:
        raise DataError(f"fewer than two systems were judged in every subset by '{parts.column}'")
    if len(cells.owner) > MOST_CELLS:
        held = (
            f"'{parts.column}' has {len(parts.levels)} values, which with the systems make {len(cells.owner):,} cells"
        )
        raise DataError(f"{held}; {MOST_CELLS:,} are the most to compare. Group them in a side table (--attributes)")


def _check_pages(fitted: MixedFit, column: str) -> None:
    """Refuse subsets of one page each: what one person thought of one page is then taken for the subset."""
    if any(left.effect == "page" and left.cause in ONE_PAGE for left in fitted.left_out):
        raise DataError(f"every system was judged on one page only in each subset by '{column}'; nothing to compare")


def _interaction(cells: _Cells, levels: int, *, ordered: bool) -> Floats:
    """The contrasts that are 0 where all systems differ between subsets in the same way."""
    if not ordered or levels == TWO:
        return _beyond_sums(cells, levels)
    first, *others = cells.complete
    slope = np.arange(levels) - (levels - 1) / 2
    rows = np.zeros((len(others), len(cells.owner)))
    for row, system in zip(rows, others, strict=True):
        row[[cells.index[system, level] for level in range(levels)]] = slope
        row[[cells.index[first, level] for level in range(levels)]] = -slope
    return rows


def _beyond_sums(cells: _Cells, levels: int) -> Floats:
    """All that cells tell beyond sums of a system's and a subset's own effect; not every cell need be judged."""
    from scipy.linalg import null_space

    contrasts: Floats = null_space(_sums_of_effects(cells, levels).T).T
    return contrasts


def _sums_of_effects(cells: _Cells, levels: int) -> Floats:
    """Indicators of the system and of the subset of every cell."""
    systems = np.unique(cells.owner, return_inverse=True)[1]
    return np.hstack([np.eye(int(systems.max()) + 1)[systems], np.eye(levels)[cells.level]])


def _f_test(fitted: MixedFit, contrasts: Floats) -> float:
    """The p that all contrasts are 0."""
    from scipy.special import chdtrc, fdtrc

    value, covariance = contrasts @ fitted.effects, contrasts @ fitted.covariance @ contrasts.T
    q, degrees = len(contrasts), fitted.degrees.of_several(contrasts)
    statistic = float(value @ np.linalg.solve(covariance, value))
    p = fdtrc(q, degrees, statistic / q) if np.isfinite(degrees) else chdtrc(q, statistic)
    return max(float(p), sys.float_info.min)


def _scores(fitted: MixedFit, cells: _Cells, systems: tuple[str, ...], parts: Subsets) -> tuple[SubsetScore, ...]:
    shift, p = _shifts(fitted, cells, len(parts.levels))
    rank = ranks_within(cells.level, fitted.effects)
    return tuple(
        SubsetScore(
            systems[s], parts.levels[k], int(fitted.n[i]), float(fitted.effects[i]), float(fitted.se[i]),
            float(shift[i]), int(rank[i]), float(p[i]),
        )
        for i, (s, k) in enumerate(zip(cells.owner.tolist(), cells.level.tolist(), strict=True))
    )  # fmt: skip


def _shifts(fitted: MixedFit, cells: _Cells, levels: int) -> tuple[Floats, Floats]:
    """How much better each system is in a subset than in the others, beside the other systems; p after Holm.

    A cell that sums of systems and subsets explain whatever its value, such as a system's only one, has no shift.
    """
    sums = _sums_of_effects(cells, levels)
    contrasts = np.eye(len(cells.owner)) - sums @ np.linalg.pinv(sums)
    tested = np.diag(contrasts) > 1e-9
    contrasts = contrasts[tested]
    value = contrasts @ fitted.effects
    error = np.sqrt(np.maximum(np.einsum("ci,ij,cj->c", contrasts, fitted.covariance, contrasts), 1e-300))
    shift, p = np.full(len(tested), np.nan), np.full(len(tested), np.nan)
    shift[tested] = value
    p[tested] = holm(2 * student_tail(np.abs(value) / error, fitted.degrees.of(contrasts)))
    return shift, p
