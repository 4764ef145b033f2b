"""Large files: pairs are counted without being read whole; other files must fit into free memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.table.files import STANDARD_INPUT

if TYPE_CHECKING:
    from pathlib import Path

# From this size on (bytes, or rows of Parquet), pairs are counted directly from their columns, and other files must fit
# into memory.
LARGE_FILE = 100_000_000
LARGE_TABLE = 1_000_000
# What a judgment takes, about: to be read (of a million, 0.52 kB in Parquet and 0.57 in CSV), and to be read and ranked
# by the mixed model (1.0 to 1.2 kB besides, docs/mixed.md).
BYTES_TO_READ = 600
BYTES_TO_MODEL = 1800
FIRST_BYTES = 1 << 20
"""So much of a CSV file tells how long its rows are."""


def is_large(file: Path) -> bool:
    """Whether this is a large file."""
    if not file.is_file() or file == STANDARD_INPUT:
        return False
    if file.suffix.lower() == ".parquet":
        return _count_rows(file) >= LARGE_TABLE
    return file.stat().st_size >= LARGE_FILE


def check_memory(file: Path, *, to_rank: bool = False, modelled: bool = False) -> None:
    """Refuse to read a table, or to rank it (by the mixed model), that does not fit into free memory."""
    from adjudge.table.errors import InputError
    from adjudge.table.files import memory_at_hand

    rows, room = _count_rows(file), memory_at_hand()
    needed = rows * (BYTES_TO_MODEL if modelled else BYTES_TO_READ)
    if needed > room:
        done = f"read whole{' and ranked' if to_rank else ''}"
        taken = f"{rows:,} rows take about {needed / 1e9:,.0f} GB to be {done}"
        raise InputError(f"{taken}, {room / 1e9:,.1f} GB are free; split it into parts", file=file)


def _count_rows(file: Path) -> int:
    """The number of rows of a Parquet file, and about that of a CSV file; 0 for other files."""
    import polars as pl

    if file.suffix.lower() == ".csv":
        with file.open("rb") as table:
            text = table.read(FIRST_BYTES)
        return text.count(b"\n") * file.stat().st_size // max(len(text), 1)
    if file.suffix.lower() != ".parquet":
        return 0
    try:
        return int(pl.scan_parquet(file).select(pl.len()).collect(engine="streaming").item())
    except (pl.exceptions.PolarsError, OSError):
        return 0
