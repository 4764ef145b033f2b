"""The native judgment table: Parquet, or CSV with the same columns. What is written is read back the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.files import atomic_path
from adjudge.core.machine_judges import with_judges
from adjudge.formats.native.reader import read, read_frame
from adjudge.formats.tables.parquet import parquet_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.judgments import Judgments

__all__ = ["check_ending", "read", "read_frame", "write"]
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_TIMES = ("started", "ended")


def check_ending(path: Path) -> None:
    """Refuse a folder, and a name whose ending does not say how the table is to be written."""
    if path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    if path.suffix.lower() in (".parquet", *_SEPARATORS):
        return
    how = f"as '{shown(path.suffix)}'" if path.suffix else "under a name without an ending"
    raise InputError(f"a judgment table cannot be written {how}; end the name in .parquet, .csv or .tsv", file=path)


def write(judgments: Judgments, path: Path) -> None:
    """Write the table as Parquet, CSV or TSV, as the name ends."""
    check_ending(path)
    judgments = with_judges(judgments)
    separator = _SEPARATORS.get(path.suffix.lower())
    with atomic_path(path) as temporary:
        if separator:
            _make_text_columns(judgments.table).write_csv(temporary, separator=separator)
        else:
            temporary.write_bytes(parquet_bytes(judgments.table, judgments.fingerprint))


def _make_text_columns(table: pl.DataFrame) -> pl.DataFrame:
    """All columns as CSV can hold them: spans as JSON, times in ISO form with microseconds."""
    spans = [
        None if value is None else json.dumps(value.to_list(), ensure_ascii=False)
        for value in (table["spans"] if table["spans"].is_not_null().any() else [None] * table.height)
    ]
    times = [pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ") for name in _TIMES]
    nested = [name for name, dtype in table.schema.items() if dtype.is_nested() and name != "spans"]
    others = [pl.Series(name, [None if value is None else _json(value) for value in table[name]]) for name in nested]
    return table.with_columns(pl.Series("spans", spans, dtype=pl.String), *times, *others)


def _json(value: object) -> str:
    plain = value.to_list() if isinstance(value, pl.Series) else value
    return json.dumps(plain, ensure_ascii=False, default=str)
