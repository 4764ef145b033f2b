"""Faults of a native table that its columns' types do not show, with the line of each."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.comparisons import BLOCK_KEY
from adjudge.core.errors import InputError, Source, shown
from adjudge.core.judgments import first_true
from adjudge.core.protocols import ON_SCALE, PROTOCOLS
from adjudge.formats.rankings.labels import scale_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

# The scale of scores; those computed back from standardised ones miss it by a hair.
SCALE = (0.0, 100.0)
ROUNDING = 0.01
# How long the scale of the field's rankings is.
USUAL_LABELS = 5
ANSWERS = ("rank", "score", "spans", "text")


def check_answers(table: pl.DataFrame, given: Sequence[str], source: Source) -> None:
    """Refuse a table without the column that holds its answers, and scores that are off the scale."""
    columns = shown(", ".join(given), 200)
    if not set(given) & set(ANSWERS):
        raise source.fault(
            f"has no column 'rank' or 'score', it has {columns}; see docs/data.md for the judgment table"
        )
    for protocol in table["protocol"].drop_nulls().unique().sort():
        needed = PROTOCOLS[protocol].needed_column
        if needed is not None and needed not in given:
            raise source.fault(f"has no column '{needed}', which protocol '{protocol}' needs; it has {columns}")
    off = ~table["score"].is_between(SCALE[0] - ROUNDING, SCALE[1] + ROUNDING)
    if "slider" in table.columns:
        # Sliders that a campaign made for itself have scales of their own.
        off &= table["slider"].cast(pl.String).fill_null("") == ""
    row = first_true(off & table["protocol"].is_in(ON_SCALE))
    if row is not None:
        value = f"score is {table['score'][row]:g}, it must lie between 0 and 100"
        raise source.fault(f"{value} in protocol '{table['protocol'][row]}'; correct it", row)


def check_scale(table: pl.DataFrame, options: ReadOptions, source: Source) -> None:
    """Refuse ranks beyond the scale; a table does not say its scale, so it is as long as --labels says."""
    if options.labels is None:
        return
    scale = scale_of(options, options.labels)
    row = first_true(table["rank"] > scale)
    if row is not None:
        raise source.fault(f"rank is {table['rank'][row]}, it must lie between 1 and {scale}; correct it", row)


def warn_about_scale(table: pl.DataFrame, options: ReadOptions) -> tuple[str, ...]:
    """Point out ranks beyond the usual scale that no block of their size explains."""
    largest = table["rank"].max()
    if options.labels is not None or not isinstance(largest, int) or largest <= USUAL_LABELS:
        return ()
    together = table.filter(pl.col("rank").is_not_null()).group_by(BLOCK_KEY).len()["len"].max()
    assert isinstance(together, int)
    if largest <= together:
        return ()
    rows = int((table["rank"] == largest).sum())
    problem = f"the largest rank is {largest} (in {rows:,} rows), but at most {together:,} were ranked together"
    return (f"{problem}; if the scale is shorter, --labels refuses such ranks",)


def check_widths(text: str, separator: str, path: Path) -> None:
    """Refuse a row with more or fewer fields than the header."""
    rows = _rows(text, separator)
    _, header = next(rows)
    for line, fields in rows:
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where the header has {len(header)}"
            raise InputError(f"{problem}; the file may be cut, or not what --format says", file=path, line=line)


def line_of_row(text: str, separator: str, row: int) -> int:
    """The line where a row begins; rows are counted from 0, after the header."""
    for number, (line, _) in enumerate(_rows(text, separator), start=-1):
        if number == row:
            return line
    return row + 2


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold something, with the line where each begins."""
    csv.field_size_limit(max(len(text), 131_072))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    begin = 1
    for fields in reader:
        if any(fields):
            yield begin, fields
        begin = reader.line_num + 1
