"""Any delimited table with one column of ranks per candidate and one row per segment; one file per annotator.

The annotator is the file's name without its ending, the campaign its folder. A candidate is called after its column,
without an ending that all rank columns share (`Ref_rating`, `MT_A_rating`: `Ref`, `MT_A`). Columns that are neither
segment nor rank are kept under their own names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.humans import human_columns
from adjudge.core.judgments import SCHEMA, Judgments, concat
from adjudge.formats.parsing.column_uses import column_uses
from adjudge.formats.parsing.delimited import Delimited, read_delimited
from adjudge.formats.parsing.sources import files_in, pair_of, stem
from adjudge.formats.rankings.labels import parse_ranks, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.core.judgments import ColumnUse
    from adjudge.formats.options import ReadOptions

DEFAULT_SEGMENT = "segment"
_ROW = "row of the file"


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files, each by one annotator; `options` names the segment column and the rank columns."""
    parts: list[Judgments] = []
    screens = 0
    for path in files_in(paths):
        table = read_delimited(path, None, options=options)
        parts.append(_read_table(table, screens, options))
        screens += len(table.rows)
    return concat(parts)


def _read_table(table: Delimited, screens: int, options: ReadOptions) -> Judgments:
    ranks = _rank_columns(table, options)
    segment = _segment_columns(table, options)
    if not table.rows:
        raise InputError("holds a header but no rows; check that the file is complete", file=table.path)
    scale = scale_of(options, len(ranks))
    segments = pl.select(pl.concat_str([table.texts(column) for column in segment], separator="/")).to_series()
    shown_rows = pl.DataFrame({"segment": segments, **_extra_columns(table, {*ranks.values(), *segment})})
    block = _add_context(shown_rows, table.path, screens, options)
    labels = pl.concat(
        block.with_row_index(_ROW).with_columns(
            pl.lit(name).alias("system"), parse_ranks(table.texts(column), scale=scale, bad=table.bad)
        )
        for name, column in ranks.items()
    )
    set_aside, notes = table.bad.settle()
    labels = labels.filter(~pl.col(_ROW).is_in(list(table.bad.problems)))
    labels = labels.sort(_ROW, maintain_order=True).drop(_ROW)
    labels = labels.with_columns(**human_columns(labels["system"], options.human))
    return Judgments.from_columns(
        labels, set_aside=set_aside, notes=notes, source=str(table.path), uses=_list_uses(table, ranks, segment)
    )


def _add_context(block: pl.DataFrame, path: Path, screens: int, options: ReadOptions) -> pl.DataFrame:
    """Add what all ranks of a row have in common: screen, campaign, annotator and languages."""
    source, target = pair_of(path, options)
    return block.with_columns(
        _number_screens(block, screens).alias("screen"),
        pl.lit(path.resolve().parent.name).alias("campaign"),
        pl.lit("ranking").alias("protocol"),
        pl.lit(stem(path)).alias("annotator"),
        pl.lit(source).alias("source_lang"),
        pl.lit(target).alias("target_lang"),
    )


def _number_screens(block: pl.DataFrame, screens: int) -> pl.Series:
    """A number for every row, the same for rows that show the same: judging a segment again is a correction.

    Rows that share a segment but differ in what is kept beside the ranks, such as a text, show different things.
    """
    row = pl.col(_ROW)
    named = pl.col("segment").fill_null("").str.strip_chars("/ ") != ""
    first = pl.when(named).then(row.min().over(block.columns)).otherwise(row)
    return block.with_row_index(_ROW).select((first.rank("dense").cast(pl.Int64) + screens).cast(pl.String)).to_series()


def _list_uses(table: Delimited, ranks: dict[str, int], segment: list[int]) -> tuple[ColumnUse, ...]:
    systems = {f"rank of {name}": column for name, column in ranks.items()}
    used = {*ranks.values(), *segment}
    kept = [i for i in range(len(table.header)) if i not in used and not _counts_rows(table, i)]
    return column_uses(table.path, table.header, {"segment": segment, **systems}, kept=kept)


def _rank_columns(table: Delimited, options: ReadOptions) -> dict[str, int]:
    """The place of every candidate's ranks, by the candidate's name."""
    if len(options.rank_columns) < 2:
        raise InputError(
            f"name two or more rank columns with --rank-columns; {_list_columns(table)}", file=table.path, line=1
        )
    columns = [_column(table, name, "--rank-columns") for name in options.rank_columns]
    if len(set(columns)) < len(columns):
        raise InputError("--rank-columns names a column twice; name each once", file=table.path)
    names = candidate_names([table.header[column] for column in columns])
    return dict(zip(names, columns, strict=True))


def _segment_columns(table: Delimited, options: ReadOptions) -> list[int]:
    """The columns that make up the segment: one, or several joined by commas."""
    wanted = options.segment_column or DEFAULT_SEGMENT
    if table.find(wanted) is not None:
        return [table.need(wanted)]
    if options.segment_column is None:
        what = f"name the column of the segments with --segment-column; {_list_columns(table)}"
        raise InputError(what, file=table.path, line=1)
    return [_column(table, name, "--segment-column") for name in wanted.split(",")]


def _column(table: Delimited, name: str, option: str) -> int:
    column = table.find(name.strip())
    if column is None:
        raise InputError(f"{option} names '{shown(name)}', but {_list_columns(table)}", file=table.path, line=1)
    return column


def _list_columns(table: Delimited) -> str:
    return "the columns are " + shown(", ".join(name or "(without a name)" for name in table.header), 300)


def candidate_names(columns: Sequence[str]) -> list[str]:
    """Column names without the longest ending they share, if it starts at `_`, `-`, `.` or a blank."""
    shortest = min(len(name) for name in columns)
    for length in range(shortest - 1, 1, -1):
        ending = columns[0][-length:]
        if ending[0] in "_-. " and all(name.endswith(ending) for name in columns):
            return [name[:-length] for name in columns]
    return list(columns)


def _extra_columns(table: Delimited, used: set[int]) -> dict[str, pl.Series]:
    """The other columns under their own names; one that is called as a column of the judgment table gets a suffix."""
    extra: dict[str, pl.Series] = {}
    for column, name in enumerate(table.header):
        if column in used or _counts_rows(table, column):
            continue
        header = name or f"column {column + 1}"
        free = header if header not in {*SCHEMA, *extra, _ROW} else f"{header} (column {column + 1})"
        extra[free] = table.texts(column)
    return extra


def _counts_rows(table: Delimited, column: int) -> bool:
    """Whether a column has no name and only counts the rows from 0, as data frames write it: it holds nothing."""
    return not table.header[column] and table.texts(column).to_list() == [str(i) for i in range(len(table.rows))]
