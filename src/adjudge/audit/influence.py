"""Influence of single annotators and texts: leave each out, and estimate again at the variances of the whole.

Effects are compared after subtracting their mean, because the general level says nothing about the systems. Of scores
every annotator and every document is left out. Of relative judgments those annotators and source segments with the most
comparisons are, and what is left is judged by the errors of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.comparisons import NOBODY
from adjudge.core.errors import DataError
from adjudge.core.wording import short_list
from adjudge.ranking.estimator import estimator_of
from adjudge.results.audit.trust import Influence, LeftOutUnit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.ranking.estimate import Estimate
    from adjudge.ranking.estimator import Estimator, UnitKind, Units


LEVEL = 0.05
MOST_LEFT_OUT = 60
"""Units of relative judgments that are left out in turn."""


def section(judgments: Judgments, settings: AuditSettings) -> Influence:  # noqa: ARG001
    """The section of an audit."""
    return influence(estimator_of(judgments))


def influence(estimator: Estimator) -> Influence:
    """What happens to the effects when each annotator, and each document or segment, is left out."""
    if estimator.kind == "relative" and estimator.units[0].number < 2:
        raise DataError("there are no two annotators, so none can be left out; nothing to audit")
    rows: list[LeftOutUnit] = []
    needed: list[str] = []
    for units in estimator.units:
        for name, judgments, after in _left_out(estimator, units):
            if after is None:
                needed.append(f"{units.kind} {name}")
            else:
                rows.append(_compared(estimator, after, (units.kind, name, judgments)))
    if not rows and estimator.kind == "scores":
        raise DataError(_nothing_left(needed))
    n = len(estimator.systems)
    return Influence(
        tuple(sorted(rows, key=lambda row: (-row.in_se, row.name))),
        n * (n - 1) // 2,
        int(np.triu(estimator.estimate.significant(LEVEL), 1).sum()),
        (*estimator.left_out_notes, *_notes(estimator, needed)),
    )


def _left_out(estimator: Estimator, units: Units) -> Iterator[tuple[str, int, Estimate | None]]:
    """The name and judgments of each unit, and the estimate without it; None where the rest cannot be ranked."""
    if units.number < 2:
        return
    codes = np.arange(len(units.names)) if estimator.kind == "scores" else units.busiest(MOST_LEFT_OUT)
    for code, after in zip(codes, estimator.without_each(units, codes), strict=True):
        name = units.names[code]
        yield NOBODY if name is None else name, int(units.work[code]), after if after and after.complete else None


def _nothing_left(needed: Sequence[str]) -> str:
    """Why nothing can be left out."""
    if needed:
        return f"without {short_list(needed, 'or')} the other scores cannot be ranked; collect more judgments"
    return "there are no two annotators or documents, so none can be left out; nothing to audit"


def _notes(estimator: Estimator, needed: Sequence[str]) -> Iterator[str]:
    """What is said of units that were not, or cannot be, left out."""
    if estimator.kind == "relative":
        yield from untried_notes(estimator.units, MOST_LEFT_OUT)
        if needed:
            yield f"without {len(needed):,} of them a system was never judged, so they are not tried"
    elif needed:
        yield f"without {short_list(needed, 'or')} the other scores cannot be ranked, so no shift is shown"


def untried_notes(every: Sequence[Units], most: int) -> Iterator[str]:
    """Which annotators and segments are not left out in turn, because only the busiest are."""
    for units in every:
        if units.number > most:
            name = {"segment": "source segments"}.get(units.kind, f"{units.kind}s")
            yield f"of {units.number:,} {name}, the {most} with the most comparisons are left out in turn"


def _compared(estimator: Estimator, after: Estimate, unit: tuple[UnitKind, str, int]) -> LeftOutUnit:
    """How far effects move without a unit, and which pairs change."""
    whole = estimator.baseline
    kept = [whole.systems.index(system) for system in after.systems]
    before, moved = whole.effects[kept], after.effects
    shift = (moved - moved.mean()) - (before - before.mean())
    in_se = np.abs(shift) / np.maximum(whole.errors_from_mean(kept), 1e-12)
    most = int(np.argmax(in_se))
    upper = np.triu_indices(len(kept), 1)
    reversed_ = ((before[:, None] - before) * (moved[:, None] - moved) < 0)[upper]
    was, now = whole.significant(LEVEL)[np.ix_(kept, kept)][upper], after.significant(LEVEL)[upper]
    return LeftOutUnit(
        *unit,
        after.systems[most],
        float(shift[most]),
        float(in_se[most]),
        int(reversed_.sum()),
        int((was & ~now).sum()),
        int((~was & now).sum()),
    )
