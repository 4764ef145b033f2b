"""The native judgment table: Parquet, or CSV with the same columns. What is written is read back the same."""

from adjudge.formats.native.reader import read, read_frame
from adjudge.formats.native.writer import write
from adjudge.formats.tables.parquet import PARQUET_MAGIC

__all__ = ["PARQUET_MAGIC", "read", "read_frame", "write"]
