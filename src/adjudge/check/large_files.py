"""Checking the annotators of a large table: all judgments of some annotators are read at a time, as of a small table.

What needs all annotators at once is left out, and the result says so: copied and mirrored answers, which would compare
every two annotators, and how far a person moves away from the others.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from adjudge.check.annotators import CheckRule, decide
from adjudge.check.consistency import (
    answers_by_system,
    drifts_of_part,
    has_enough_screens,
    is_ordered_by_time,
    rated,
)
from adjudge.check.measures import Measured, as_part, measure_people, without_answers
from adjudge.formats.native.large_files import PartRecord, large_table, record_of
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.native.large_files import PartFile
    from adjudge.formats.options import ReadOptions
    from adjudge.results.check import Checked, Drift

LEFT_OUT = (
    "the table is very large, so it was read in parts: copied or mirrored answers were not looked "
    "for, and drifts say nothing of the distance from the others"
)


class _Seen(NamedTuple):
    """What was seen in a part."""

    measured: Measured
    record: PartRecord
    systems: pl.DataFrame
    """Columns system, total and len: the answers."""
    by_time: bool
    """Whether every judgment says when it was made."""
    rows: Path | None
    """A file of the judgments of those who saw enough screens for drifts; they need the answers of everybody."""


def check_large_file(path: Path, rule: CheckRule, options: ReadOptions) -> Checked | None:
    """Check the annotators of a large judgment table in CSV or Parquet; None where the ordinary reader is needed."""
    rule.validate()
    with large_table(path, ("annotator",), options) as table:
        if table is None:
            return None
        seen = map_tasks(partial(_see, rule.test), table.parts, what="annotators")
        known = [part for part in seen if part is not None]
        if len(known) < len(seen):
            return None
        set_aside, notes = record_of([part.record for part in known])
        return decide(
            _measured(known),
            rule,
            data=table.fingerprint,
            set_aside=set_aside,
            notes=(*notes, LEFT_OUT),
            twins=(),
        )


def _see(test: str, part: PartFile) -> _Seen | None:
    read = part.read()
    if read is None:
        return None
    final = read.judgments.final()
    rows = rated(final)
    enough = has_enough_screens(rows)
    file = part.kept_file("rows") if enough.any() else None
    if file is not None:
        rows.filter(enough).drop("document", "segment").write_parquet(file, compression="lz4")
    return _Seen(
        measure_people(final, test),
        replace(read.record, set_aside=without_answers(final)),
        answers_by_system(rows),
        is_ordered_by_time(rows),
        file,
    )


def _measured(seen: Sequence[_Seen]) -> list[Measured]:
    """What was seen in the parts, with what all of them show together."""
    within = any(part.measured.repeats_within_tasks for part in seen)
    timed = any(part.measured.timed for part in seen)
    people = [as_part(part.measured, repeats_within_tasks=within, timed=timed) for part in seen]
    files = {number: part.rows for number, part in enumerate(seen) if part.rows is not None}
    see = partial(_drifts, _system_means(seen), by_time=all(part.by_time for part in seen))
    for number, of_part in zip(files, map_tasks(see, files.values(), what="drifts"), strict=True):
        people[number] = replace(people[number], drifts=of_part)
    return people


def _system_means(seen: Sequence[_Seen]) -> pl.DataFrame:
    """Columns system and expected: the means of all answers."""
    # In the order of the rows, in which sums are the same whenever they are made.
    systems = pl.concat(part.systems for part in seen).group_by("system", maintain_order=True)
    return systems.agg(expected=pl.col("total").sum() / pl.col("len").sum())


def _drifts(means: pl.DataFrame, file: Path, *, by_time: bool) -> tuple[Drift, ...]:
    return drifts_of_part(pl.read_parquet(file), means, by_time=by_time)
