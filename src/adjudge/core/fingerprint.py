"""Fingerprints: a few hexadecimal digits that identify content, whatever file it came from."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

DIGITS = 12
"""Long enough to distinguish data: ten million tables all have different ones with probability 0.84."""


def fingerprint(content: str | bytes, *, digits: int = DIGITS) -> str:
    """The first digits of the SHA-256 digest of the content; text is encoded as UTF-8."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:digits]


def fingerprint_of_parts(parts: Iterable[str]) -> str:
    """One fingerprint from the fingerprints of several parts, in their order."""
    return fingerprint("".join(parts))


def fingerprint_of_file(path: Path, *, digits: int = DIGITS) -> str:
    """The fingerprint of a file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:digits]


def fingerprint_of_table(table: pl.DataFrame, always: Collection[str]) -> str:
    """The fingerprint of a table's content; empty columns count only if they are among those that are always there."""
    table = table.select(name for name in table.columns if name in always or table[name].count())
    # Spans come first, so that fingerprints stay as they were.
    nested = sorted(
        (name for name, dtype in table.schema.items() if dtype.is_nested()), key=lambda name: name != "spans"
    )
    # Lists and records become text, so that they fit on one line.
    texts = (pl.col(name).map_elements(_as_text, return_dtype=pl.String).alias(name) for name in nested)
    return fingerprint(table.select(pl.exclude(nested), *texts).write_csv())


def _as_text(value: object) -> str:
    return str(value.to_list() if isinstance(value, pl.Series) else value)
