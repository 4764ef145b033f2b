"""The native table: Parquet, or CSV with the same columns. What is written is read back the same.

In CSV nothing between two commas is a missing value and `""` is an empty text; spans are JSON, times ISO in UTC.
Columns beyond the judgment table come back as text from CSV, and as they were from Parquet.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, Source, shown
from adjudge.core.files import decode_text, read_bytes
from adjudge.core.judgments import SCHEMA, SPAN, Judgments, concat, first_true
from adjudge.formats.native.checks import check_answers, check_scale, check_widths, line_of_row, warn_about_scale
from adjudge.formats.parsing.delimited import detect_delimiter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

PARQUET_MAGIC = b"PAR1"
OTHER_ENDINGS = (".json", ".jsonl", ".xlsx", ".xls", ".html", ".txt", ".md", ".tex", ".gz", ".zip", ".db")
"""Endings that promise something else; any other word behind a dot is part of the name."""
_TIMES = ("started", "ended")


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read native tables; what a file is, its content says, not its name."""
    return concat([_read_file(path, options) for path in paths])


def _read_file(path: Path, options: ReadOptions) -> Judgments:
    raw = read_bytes(path)
    if not raw.strip():
        raise InputError("is empty; a judgment table is needed", file=path)
    source = Source(str(path))
    if raw.startswith(PARQUET_MAGIC):
        frame = _parse_parquet(raw, path)
    else:
        frame, source = _parse_csv(raw, path)
    if frame.height == 0:
        raise InputError("holds a header but no judgments; add rows", file=path)
    return _judgments(frame, source, options)


def read_frame(frame: pl.DataFrame, options: ReadOptions) -> Judgments:
    """The judgments of a data frame, understood as the reader understands a file."""
    source = Source("data frame")
    if frame.height == 0:
        raise source.fault("holds no judgments; add rows")
    return _judgments(frame, source, options)


def _judgments(frame: pl.DataFrame, source: Source, options: ReadOptions) -> Judgments:
    judgments = _with_protocol(Judgments.from_columns(frame, source=source))
    check_answers(judgments.table, frame.columns, source)
    check_scale(judgments.table, options, source)
    return replace(judgments, notes=judgments.notes + warn_about_scale(judgments.table, options))


def _with_protocol(judgments: Judgments) -> Judgments:
    """A hand-made table may leave the protocol out: a rank is then a ranking, a score a direct assessment."""
    table = judgments.table
    unknown = pl.col("protocol").is_null() & (pl.col("rank").is_not_null() | pl.col("score").is_not_null())
    rows = table.filter(unknown).height
    if not rows:
        return judgments
    likely = pl.when(pl.col("rank").is_not_null()).then(pl.lit("ranking")).otherwise(pl.lit("da"))
    table = table.with_columns(pl.when(unknown).then(likely).otherwise("protocol").alias("protocol"))
    note = f"{rows:,} rows do not say their protocol: those with a rank are taken as 'ranking', with a score as 'da'"
    return Judgments(table, judgments.set_aside, (*judgments.notes, note))


def _parse_parquet(raw: bytes, path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(raw))
    except (pl.exceptions.PolarsError, OSError) as fault:
        reason = shown(str(fault).split("\n", 1)[0], 120)
        raise InputError(f"is damaged Parquet ({reason}); make it again", file=path) from fault


def _parse_csv(raw: bytes, path: Path) -> tuple[pl.DataFrame, Source]:
    text = decode_text(raw, path)
    separator = detect_delimiter(text)
    try:
        frame = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as fault:
        check_widths(text, separator, path)
        reason = shown(str(fault).split("\n", 1)[0], 120)
        raise InputError(f"cannot be read as a table ({reason}); check quotes and columns", file=path) from fault
    for name in frame.columns:
        # polars gives the second of two equal columns such a name.
        if re.sub(r"_duplicated_[0-9]+$", "", name) in SCHEMA and name not in SCHEMA:
            raise InputError(f"has the column '{name.rsplit('_', 2)[0]}' twice; keep one", file=path, line=1)
    if frame.to_series(-1).null_count():
        # Where a row is cut, its last fields are missing.
        check_widths(text, separator, path)
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    source = Source(str(path), lambda row: line_of_row(text, separator, row))
    return _typed(frame, source), source


def _typed(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Columns that are not text, from text; in them an empty text is a missing value like any other."""
    changes: list[pl.Series] = []
    for name, dtype in SCHEMA.items():
        if name not in frame.columns or dtype == pl.String:
            continue
        column = frame.select(pl.when(pl.col(name) != "").then(pl.col(name))).to_series()
        if column.null_count() == len(column):
            column = pl.repeat(None, len(column), dtype=dtype, eager=True).alias(name)
        elif name == "spans":
            column = _parse_spans(column, source)
        elif name in _TIMES:
            column = _parse_times(column, source)
        elif dtype == pl.Boolean:
            column = _parse_booleans(column, source)
        changes.append(column)
    return frame.with_columns(changes)


def _parse_spans(column: pl.Series, source: Source) -> pl.Series:
    parsed = [None if value is None else _spans(value, row, source) for row, value in enumerate(column)]
    try:
        return pl.Series(column.name, parsed, dtype=pl.List(SPAN))
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as fault:
        reason = shown(fault, 120)
        raise source.fault(f"column 'spans' holds a value that no span can have ({reason}); correct it") from fault


def _spans(value: str, row: int, source: Source) -> list[dict[str, object]]:
    try:
        spans = json.loads(value)
    except (json.JSONDecodeError, RecursionError):
        spans = None
    if not isinstance(spans, list) or not all(isinstance(span, dict) and _is_span(span) for span in spans):
        what = f"column 'spans' holds '{shown(value)}', which is not a JSON list of spans as docs/data.md has them"
        raise source.fault(what, row)
    return [{key: span.get(key) for key in SPAN.to_schema()} for span in spans]


def _is_span(span: dict[str, object]) -> bool:
    kinds = {name: int if dtype == pl.Int64 else str for name, dtype in SPAN.to_schema().items()}
    return all(
        name in kinds and (value is None or (isinstance(value, kinds[name]) and not isinstance(value, bool)))
        for name, value in span.items()
    )


def _parse_times(column: pl.Series, source: Source) -> pl.Series:
    """ISO times: a blank for the T, a fraction, a zone (UTC where there is none) and a bare date are understood."""
    whole = column.str.strip_chars().str.replace(r"^(\d{4}-\d\d-\d\d)$", "${1}T00:00:00").str.replace(" ", "T")
    whole = whole.str.replace(r"[Zz]$", "+00:00")
    has_zone = whole.str.contains(r"[+-]\d\d:\d\d$")
    zoned = pl.select(pl.when(has_zone).then(whole).otherwise(whole + "+00:00")).to_series()
    parsed = zoned.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", strict=False)
    bad = first_true(parsed.is_null() & column.is_not_null())
    if bad is not None:
        example = "2024-05-01T12:00:00Z"
        raise source.fault(f"column '{column.name}' holds '{shown(column[bad])}', a time like {example} is needed", bad)
    return parsed.dt.convert_time_zone("UTC").alias(column.name)


def _parse_booleans(column: pl.Series, source: Source) -> pl.Series:
    words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    parsed = column.str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Boolean)
    bad = first_true(parsed.is_null() & column.is_not_null())
    if bad is not None:
        raise source.fault(f"column '{column.name}' holds '{shown(column[bad])}', true or false is needed", bad)
    return parsed
