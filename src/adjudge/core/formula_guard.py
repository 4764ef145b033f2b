"""Texts in CSV files as spreadsheets must see them: one that begins like a formula is shown, not computed.

A text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets an apostrophe in front, which spreadsheets
take as "this is text". So does one that begins with apostrophes before such a sign, so that the change can be undone.
Numbers are left alone, and so is the judgment table, which is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = r"^('*[=+\-@\t\r])"


def as_plain_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with texts that no spreadsheet takes for formulas."""
    import polars as pl

    names = {
        name: f"'{name}" for name in frame.columns if name.lstrip("'")[:1] in ("=", "+", "-", "@", "\t", "\r") and name
    }
    return frame.with_columns(pl.col(pl.String).str.replace(_FORMULA, "'${1}")).rename(names)


def undo_plain_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as it was before `as_plain_text`."""
    import polars as pl

    names = {name: name[1:] for name in frame.columns if name[:1] == "'" and name.lstrip("'")[:1] in tuple("=+-@\t\r")}
    return frame.with_columns(pl.col(pl.String).str.replace(r"^'('*[=+\-@\t\r])", "${1}")).rename(names)
