"""Influence in relative judgments: leave out each annotator and each source segment, and see whose strength moves.

Strengths are fitted again at the taste and dispersion of the whole data, and judged by its errors. Of annotators and of
segments, those with the most comparisons are tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.audit.relative.changes import segment_names, untried_notes
from adjudge.core.comparisons import comparisons
from adjudge.core.errors import DataError
from adjudge.core.maths import student_tail
from adjudge.rank.connected_groups import check_connected
from adjudge.rank.counts import PeopleCounts, count_people, group_of, labelling_annotators, person_of
from adjudge.rank.relative import check_comparable
from adjudge.rank.resampling_units import units_of
from adjudge.rank.strengths import compare_people
from adjudge.rank.tastes import refit
from adjudge.results.audit.trust import Influence, LeftOutUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Floats
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank.strengths import ComparedStrengths


LEVEL = 0.05
MOST_LEFT_OUT = 60


def section(judgments: Judgments, settings: AuditSettings) -> Influence:  # noqa: ARG001
    """The section of an audit."""
    compared = comparisons(judgments)
    check_comparable(compared)
    return influence(compared, segment_names(judgments))


def influence(compared: Comparisons, segments: tuple[str, ...]) -> Influence:
    """What happens to the strengths when each annotator, and each source segment, is left out.

    Args:
        compared: comparisons of one language pair by several annotators.
        segments: the names of the segments, by code.
    """
    units = units_of(compared)
    if units.kind != "annotators":
        raise DataError("there are no two annotators, so none can be left out; nothing to audit")
    check_connected(units.total())
    person = person_of(compared)
    counts = count_people(compared, person, group_of(compared))
    whole = compare_people(counts, compared)
    names = tuple(compared.annotators[code] for code in labelling_annotators(compared))
    rows = [
        *_left_out(compared, whole, counts, person, ("annotator", person, names)),
        *_left_out(compared, whole, counts, person, ("segment", compared.segment.astype(np.int64), segments)),
    ]
    n = len(compared.systems)
    significant = int((whole.pairs.two_sided[np.triu_indices(n, 1)] < LEVEL).sum())
    rows.sort(key=lambda row: (-row.in_se, row.name))
    return Influence(tuple(rows), n * (n - 1) // 2, significant, _notes(compared, names, rows))


def _notes(compared: Comparisons, names: tuple[str, ...], rows: list[LeftOutUnit]) -> tuple[str, ...]:
    """Who was not left out in turn."""
    tried = {unit: sum(row.unit == unit for row in rows) for unit in ("annotator", "segment")}
    there = {"annotator": len(names), "segment": len(np.unique(compared.segment))}
    unranked = sum(min(there[unit], MOST_LEFT_OUT) - tried[unit] for unit in tried if there[unit] > 1)
    notes = [*untried_notes(compared, MOST_LEFT_OUT)]
    if unranked:
        notes.append(f"without {unranked:,} of them a system was never judged, so they are not tried")
    return tuple(notes)


def _left_out(
    compared: Comparisons,
    whole: ComparedStrengths,
    counts: PeopleCounts,
    person: NDArray[np.int64],
    unit: tuple[Literal["annotator", "segment"], NDArray[np.int64], tuple[str, ...]],
) -> Iterator[LeftOutUnit]:
    kind, code, names = unit
    work = np.bincount(code, minlength=len(names))
    if (work > 0).sum() < 2:
        return
    for left in np.argsort(-work, kind="stable")[:MOST_LEFT_OUT]:
        gone = code == left
        if not gone.any():
            continue
        part = compared.keep(gone, np.zeros(len(compared.label_rank), dtype=bool))
        removed = count_people(part, person[gone], counts.group)
        remaining = PeopleCounts(counts.wins - removed.wins, counts.ties - removed.ties, counts.group)
        met = remaining.wins.sum(0) + remaining.wins.sum(0).T + remaining.ties.sum(0)
        if (met.sum(1) == 0).any():
            # Without this one a system was never judged; that is another audit's subject.
            continue
        strength = refit(remaining, whole.fit.taste, whole.fit.dispersion)
        yield _compared(compared, whole, strength, (kind, names[left], gone))


def _compared(
    compared: Comparisons,
    whole: ComparedStrengths,
    after: Floats,
    unit: tuple[Literal["annotator", "segment"], str, NDArray[np.bool_]],
) -> LeftOutUnit:
    kind, name, gone = unit
    before = whole.fit.strength
    shift = (after - after.mean()) - (before - before.mean())
    in_se = np.abs(shift) / np.maximum(whole.fit.system_errors(), 1e-12)
    most = int(np.argmax(in_se))
    upper = np.triu_indices(len(before), 1)
    was, now = (_significant(strength, whole)[upper] for strength in (before, after))
    reversed_ = ((before[:, None] - before) * (after[:, None] - after) < 0)[upper]
    return LeftOutUnit(
        kind,
        name,
        int(gone.sum()),
        compared.systems[most],
        float(shift[most]),
        float(in_se[most]),
        int(reversed_.sum()),
        int((was & ~now).sum()),
        int((~was & now).sum()),
    )


def _significant(strength: Floats, whole: ComparedStrengths) -> NDArray[np.bool_]:
    """Which pairs differ at .05, each by itself, at the errors of the whole data."""
    pairs = whole.pairs
    with np.errstate(invalid="ignore"):
        p = 2 * student_tail(np.abs(strength[:, None] - strength[None, :]) / pairs.se, pairs.df)
    silent = whole.contradicted | whole.apart.unconnected
    return np.asarray((np.nan_to_num(p, nan=1.0) < LEVEL) & ~silent)
