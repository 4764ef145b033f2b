"""The native table: Parquet, or CSV with the same columns (spans as JSON). What is written is read back the same."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.files import atomic_path, decode_text, read_bytes
from adjudge.core.judgments import SCHEMA, SPAN, Judgments, concat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

PARQUET_MAGIC = b"PAR1"
_TIMES = ("started", "ended")


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:  # noqa: ARG001
    """Read native tables; what a file is, its content says, not its name."""
    return concat([_read_file(path) for path in paths])


def _read_file(path: Path) -> Judgments:
    raw = read_bytes(path)
    if not raw.strip():
        raise InputError("is empty; a judgment table is needed", file=path)
    frame = _parse_parquet(raw, path) if raw.startswith(PARQUET_MAGIC) else _parse_csv(raw, path)
    if frame.height == 0:
        raise InputError("holds a header but no judgments", file=path)
    return Judgments.from_columns(frame, source=str(path))


def _parse_parquet(raw: bytes, path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(raw))
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise InputError(f"is damaged Parquet ({fault}); make it again", file=path) from fault


def _parse_csv(raw: bytes, path: Path) -> pl.DataFrame:
    text = decode_text(raw, path)
    separator = "\t" if "\t" in text.split("\n", 1)[0] else ","
    try:
        frame = pl.read_csv(
            text.encode(),
            separator=separator,
            infer_schema=False,
            raise_if_empty=True,
        )
    except pl.exceptions.PolarsError as fault:
        reason = str(fault).split("\n", 1)[0]
        raise InputError(f"cannot be read as a table ({reason}); check quotes and columns", file=path) from fault
    return _typed(frame, path)


def _typed(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    changes: list[pl.Series] = []
    for name in frame.columns:
        if name == "spans":
            changes.append(pl.Series(name, [_parse_spans(value, path) for value in frame[name]], dtype=pl.List(SPAN)))
        elif name in _TIMES:
            changes.append(_parse_times(frame[name], path))
        elif SCHEMA.get(name) == pl.Boolean:
            changes.append(_parse_booleans(frame[name], path))
    return frame.with_columns(changes)


def _parse_spans(value: str | None, path: Path) -> list[dict[str, object]] | None:
    if value is None or value == "":
        return None
    try:
        spans = json.loads(value)
        return [{key: span.get(key) for key in SPAN.to_schema()} for span in spans]
    except (json.JSONDecodeError, AttributeError, TypeError) as fault:
        raise InputError(
            f"column 'spans' holds '{value[:60]}', which is not a JSON list of spans", file=path
        ) from fault


def _parse_times(column: pl.Series, path: Path) -> pl.Series:
    parsed = column.str.to_datetime(time_unit="us", time_zone="UTC", strict=False)
    bad = column.filter(parsed.is_null() & column.is_not_null())
    if bad.len():
        example = "2024-05-01T12:00:00Z"
        raise InputError(f"column '{column.name}' holds '{bad[0]}', a time like {example} is needed", file=path)
    return parsed


def _parse_booleans(column: pl.Series, path: Path) -> pl.Series:
    words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    parsed = column.str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Boolean)
    bad = column.filter(parsed.is_null() & column.is_not_null())
    if bad.len():
        raise InputError(f"column '{column.name}' holds '{bad[0]}', true or false is needed", file=path)
    return parsed


def write(judgments: Judgments, path: Path) -> None:
    """Write the table: CSV or TSV where the name ends so, Parquet otherwise."""
    with atomic_path(path) as temporary:
        if path.suffix in (".csv", ".tsv"):
            _as_text(judgments.table).write_csv(temporary, separator="\t" if path.suffix == ".tsv" else ",")
        else:
            judgments.table.write_parquet(temporary)


def _as_text(table: pl.DataFrame) -> pl.DataFrame:
    spans = [None if one is None else json.dumps(one.to_list(), ensure_ascii=False) for one in table["spans"]]
    times = [pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ") for name in _TIMES]
    return table.with_columns(pl.Series("spans", spans, dtype=pl.String), *times)
