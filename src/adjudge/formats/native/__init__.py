"""The native judgment table: Parquet, or CSV with the same columns. What is written is read back the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.files import atomic_path
from adjudge.formats.native.reader import read, read_frame
from adjudge.formats.tables.parquet import parquet_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.judgments import Judgments

__all__ = ["read", "read_frame", "write"]
OTHER_ENDINGS = (".json", ".jsonl", ".xlsx", ".xls", ".html", ".txt", ".md", ".tex", ".gz", ".zip", ".db")
"""Endings that promise something else; any other word behind a dot is part of the name."""
_TIMES = ("started", "ended")


def write(judgments: Judgments, path: Path) -> None:
    """Write the table: CSV or TSV where the name ends so, Parquet otherwise."""
    if path.suffix.lower() in OTHER_ENDINGS:
        problem = f"a judgment table cannot be written as '{path.suffix}'"
        raise InputError(f"{problem}; end the name in .parquet, .csv or .tsv", file=path)
    with atomic_path(path) as temporary:
        if path.suffix in (".csv", ".tsv"):
            _as_text(judgments.table).write_csv(temporary, separator="\t" if path.suffix == ".tsv" else ",")
        else:
            temporary.write_bytes(parquet_bytes(judgments.table, judgments.fingerprint))


def _as_text(table: pl.DataFrame) -> pl.DataFrame:
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
