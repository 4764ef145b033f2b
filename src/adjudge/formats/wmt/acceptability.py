"""Judgments of post-edits (`data_ACC.csv`): is the edited text acceptable, YES, NO or UNK (no judgment given).

YES is a score of 1, NO of 0, UNK null. The column `edit` holds the number of the edit judged. The system is the one
this file names: in released data it disagrees with the file of edits for some rows, so that joining by edit is unsafe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.humans import human_columns
from adjudge.core.judgments import Judgments
from adjudge.formats.parsing.column_uses import column_uses
from adjudge.formats.parsing.delimited import read_delimited
from adjudge.formats.parsing.sources import read_each
from adjudge.formats.wmt.ranking import context_columns, context_uses

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions
    from adjudge.formats.parsing.bad_rows import BadRows

ANSWERS = {"YES": 1.0, "NO": 0.0, "UNK": None}


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it."""
    return read_each(paths, options, _read_file)


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    table = read_delimited(path, None, options=options)
    if not table.rows:
        raise InputError("holds a header but no judgments; check that the file is complete", file=path)
    system_column = table.need("systemId", "system1Id")
    taken = {
        **context_uses(table, annotator=("judgeId",)),
        "system": system_column,
        "score": table.need("judgment", "judgement"),
        "edit": table.need("editId"),
    }
    system = table.texts(system_column)
    columns = context_columns(table, options, annotator=("judgeId",)).with_columns(
        pl.lit(campaign).alias("campaign"),
        pl.lit("acceptability").alias("protocol"),
        pl.int_range(1, len(system) + 1).cast(pl.String).alias("screen"),
        system.alias("system"),
        _parse_answers(table.texts(taken["score"]), table.bad).alias("score"),
        table.texts(taken["edit"]).alias("edit"),
        **human_columns(system, options.human),
    )
    set_aside, row_notes = table.bad.settle()
    columns = columns.filter(table.bad.usable())
    uses = column_uses(path, table.header, taken)
    return Judgments.from_columns(columns, set_aside=set_aside, notes=row_notes, source=str(path), uses=uses)


def _parse_answers(texts: pl.Series, bad: BadRows) -> pl.Series:
    given = texts.str.to_uppercase()
    bad.mark(
        ~given.is_in(list(ANSWERS)),
        lambda row: f"judgment is '{shown(given[row])}', YES, NO or UNK is needed",
        "row with an unknown judgment",
    )
    return given.replace_strict(ANSWERS, default=None, return_dtype=pl.Float64)
