"""Large files: pairs are counted without being read whole; other files must fit into free memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.table.files import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# From this size on (bytes, or rows of Parquet), pairs are counted directly from their columns, and other files must fit
# into memory.
LARGE_FILE = 100_000_000
LARGE_TABLE = 1_000_000
# What a judgment takes, about: to be read (of a million, 0.52 kB in Parquet and 0.57 in CSV), and to be read and ranked
# by the mixed model (1.0 to 1.2 kB besides, docs/mixed.md).
BYTES_TO_READ = 600
BYTES_TO_RANK = 1800


def is_large(files: Sequence[Path]) -> bool:
    """Whether this is one large file."""
    if len(files) != 1 or not files[0].is_file() or files[0] == STANDARD_INPUT:
        return False
    if files[0].suffix.lower() == ".parquet":
        return rows_of_file(files[0]) >= LARGE_TABLE
    return files[0].stat().st_size >= LARGE_FILE


def check_memory(file: Path, *, bytes_per_row: int = BYTES_TO_READ, what: str = "read whole") -> None:
    """Refuse to read a table that does not fit into free memory.

    Args:
        file: the table.
        bytes_per_row: memory needed for each row.
        what: what would be done with the table, for the message.
    """
    from adjudge.table.errors import InputError
    from adjudge.table.files import memory_at_hand

    rows, room = rows_of_file(file), memory_at_hand()
    if rows * bytes_per_row > room:
        needed = f"{rows:,} rows take about {rows * bytes_per_row / 1e9:,.0f} GB to be {what}"
        raise InputError(f"{needed}, {room / 1e9:,.1f} GB are free; split it into parts", file=file)


def check_memory_to_rank(file: Path) -> None:
    """Refuse to rank a table that does not fit into free memory."""
    check_memory(file, bytes_per_row=BYTES_TO_RANK, what="read whole and ranked")


def rows_of_file(file: Path) -> int:
    """The number of rows of a Parquet or CSV file; 0 for other files."""
    import polars as pl

    if file.suffix.lower() not in (".csv", ".parquet"):
        return 0
    parquet = file.suffix.lower() == ".parquet"
    try:
        table = pl.scan_parquet(file) if parquet else pl.scan_csv(file, infer_schema=False, truncate_ragged_lines=True)
        return int(table.select(pl.len()).collect(engine="streaming").item())
    except (pl.exceptions.PolarsError, OSError):
        return 0
