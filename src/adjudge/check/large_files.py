"""Checking the annotators of a large table: all judgments of some annotators are read at a time, as of a small table.

What needs all annotators at once is left out, and the result says so: copied and mirrored answers, which would compare
every two annotators, and how far a person moves away from the others.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from adjudge.check.annotators import CheckRule, decide
from adjudge.check.consistency import FEWEST
from adjudge.check.measures import Measured, PartTraits, WholeTable, measure, part_traits, whole_table
from adjudge.formats.native.large_files import PartRecord, large_table, record_of
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.formats.native.large_files import PartFile
    from adjudge.formats.options import ReadOptions
    from adjudge.results.check import Checked

LEFT_OUT = (
    "the table is very large, so annotators were checked some at a time: copied or mirrored answers were not looked "
    "for, and drifts say nothing of the distance from the others"
)


class _Seen(NamedTuple):
    """What was seen in a part."""

    measured: Measured
    traits: PartTraits
    record: PartRecord


def check_large_file(path: Path, rule: CheckRule, options: ReadOptions) -> Checked | None:
    """Check the annotators of a large judgment table in CSV or Parquet; None where the ordinary reader is needed."""
    rule.validate()
    with large_table(path, ("annotator",), options) as table:
        if table is None:
            return None
        seen = map_tasks(partial(_see, rule.test, None), table.parts, what="annotators")
        if any(part is None for part in seen):
            return None
        known = [part for part in seen if part is not None]
        whole = whole_table([part.traits for part in known])
        again = [number for number, part in enumerate(known) if _depends(part.traits, whole)]
        for number, part in zip(
            again,
            map_tasks(partial(_see, rule.test, whole), [table.parts[number] for number in again], what="drifts"),
            strict=True,
        ):
            known[number] = part or known[number]
        set_aside, notes = record_of([part.record for part in known])
        return decide(
            [part.measured for part in known],
            rule,
            data=table.fingerprint,
            set_aside=set_aside,
            notes=(*notes, LEFT_OUT),
            twins=(),
        )


def _see(test: str, whole: WholeTable | None, part: PartFile) -> _Seen | None:
    read = part.read()
    if read is None:
        return None
    final = read.judgments.final()
    traits = part_traits(final)
    # Before all parts are known, nothing can be said of drifts: the systems' means are those of all annotators.
    own = whole or whole_table([traits])
    measured = measure(final, test, whole=own)
    return _Seen(measured, traits, replace(read.record, set_aside=final.set_aside))


def _depends(part: PartTraits, whole: WholeTable) -> bool:
    """Whether a part must be looked at again, with what the whole table shows."""
    own = part.traits
    alike = (own.repeats_within_tasks, own.timed) == (whole.repeats_within_tasks, whole.timed)
    return not alike or part.screens >= FEWEST
