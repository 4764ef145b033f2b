"""What counting straight from the columns of a large file needs to know of its rows: cut ones, lines, copies.

The rules are those of the ordinary readers (`readers.duplicates`, `readers.parsing`), kept here with one
number per row, so that tens of millions of rows fit into memory.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.readers import duplicates
from adjudge.readers.parsing import BadRows, undo_plain_text
from adjudge.table.errors import Source, param
from adjudge.table.judgments import SetAside, any_repeated
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.readers.options import ReadOptions

ROW = "row of the file"
# Bytes of the file that are looked at together.
PIECE = 1 << 21
_OTHER_LENGTH = "row of another length than the header"
_QUOTE, _COMMA, _LINE_FEED, _RETURN = (ord(sign) for sign in '",\n\r')


class FileRows:
    """The rows of a comma-separated file with a header, counted from 0 as polars counts them."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.options = path, options

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns; none where the file is no text that polars reads."""
        try:
            return pl.read_csv(self.path, n_rows=0, infer_schema=False).columns
        except pl.exceptions.PolarsError:
            return []

    def scan(self) -> pl.LazyFrame:
        """All columns as text, with the number of the row."""
        table = pl.scan_csv(self.path, infer_schema=False, row_index_name=ROW, truncate_ragged_lines=True)
        return undo_plain_text(table, self.header)

    def bad_rows(self, rows: int) -> BadRows:
        """The rows that cannot be used: at first those of another length than the header."""
        bad = BadRows(Source(str(self.path), lambda row: int(self._lines[row])), self.options, rows)
        for row, fields in self._ragged():
            problem = f"{counted(fields, 'field')} where the header has {len(self.header)}"
            bad.row(row, f"{problem}; the file may be cut, or not what {param('format')} says", _OTHER_LENGTH)
        return bad

    def _ragged(self) -> Iterator[tuple[int, int]]:
        """Rows with more or fewer fields than the header, and how many; lines without anything are no such rows."""
        first = 0
        for fields, empty, _ in self._records():
            wrong = np.flatnonzero((fields != len(self.header)) & ~empty)
            yield from ((first + int(row) - 1, int(fields[row])) for row in wrong if first + row > 0)
            first += len(fields)

    @cached_property
    def _lines(self) -> NDArray[np.int64]:
        """The line on which every row begins."""
        breaks = np.concatenate([lines for *_, lines in self._records()])
        return np.concatenate([[0], np.cumsum(breaks)[:-1]])[1:] + 1

    def _records(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]]:
        """Describe every record, the header too: number of fields, whether it is empty, how many lines it takes."""
        unfinished = b""
        with self.path.open("rb") as file:
            while piece := file.read(PIECE):
                whole, unfinished = _whole_records(unfinished + piece)
                if whole:
                    yield _counts(whole)
        if unfinished:
            yield _counts(unfinished + b"\n")


class ParquetRows(FileRows):
    """The rows of a Parquet file, whose columns have types and whose rows have one length."""

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns; none where the file is no Parquet."""
        try:
            return list(pl.read_parquet_schema(self.path))
        except (pl.exceptions.PolarsError, OSError):
            return []

    def scan(self) -> pl.LazyFrame:
        """All columns as they are, with the number of the row."""
        return pl.scan_parquet(self.path, row_index_name=ROW)

    def bad_rows(self, rows: int) -> BadRows:
        """The rows that cannot be used: none at first."""
        return BadRows(Source(str(self.path), lambda row: row + 1), self.options, rows)


def rows_of_file(path: Path, options: ReadOptions) -> FileRows:
    """The rows of a large file, by its ending."""
    kind = ParquetRows if path.suffix.lower() == ".parquet" else FileRows
    return kind(path, options)


def _whole_records(text: bytes) -> tuple[bytes, bytes]:
    """The records that end in a piece of a file, and what is left of it; the piece begins with a record."""
    end = len(text)
    while (end := text.rfind(b"\n", 0, end)) >= 0:
        # A line feed between quotation marks ends no record.
        if text.count(b'"', 0, end) % 2 == 0:
            return text[: end + 1], text[end + 1 :]
    return b"", text


def _counts(text: bytes) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    signs = np.frombuffer(text, dtype=np.uint8)
    feeds, commas = signs == _LINE_FEED, signs == _COMMA
    lines = np.flatnonzero(feeds)
    if b'"' in text:
        # Whether a sign is inside quotation marks: a doubled mark closes and opens again.
        outside = np.cumsum(signs == _QUOTE, dtype=np.uint8) % 2 == 0
        feeds, commas = feeds & outside, commas & outside
    ends = np.flatnonzero(feeds)
    starts = np.concatenate([[0], ends[:-1] + 1])
    fields = np.diff(np.cumsum(commas, dtype=np.int32)[ends], prepend=0) + 1
    length = ends - starts
    empty = (length == 0) | ((length == 1) & (signs[starts] == _RETURN))
    taken = np.diff(np.concatenate([[0], np.searchsorted(lines, ends, side="right")]))
    return fields, empty, taken


def last_by_number(identity: pl.Series, identified: pl.Series) -> tuple[pl.Series, list[SetAside], list[str]]:
    """Which rows count, what is set aside, and notes: of rows that judge the same, the last one counts.

    Args:
        identity: a number for all that identifies the judgment of each row.
        identified: where annotator and segment are known; other rows may look alike and be different judgments.
    """
    if not any_repeated(identity.to_numpy()):
        return pl.repeat(value=True, n=len(identity), eager=True), [], []
    counts = ~identified | identity.is_last_distinct()
    repeated = int((~counts).sum())
    return (
        (counts, [SetAside(duplicates.REPEATED, repeated)], [duplicates.repeated_note(repeated)])
        if repeated
        else (counts, [], [])
    )


def one_copy_by_number(content: pl.Series) -> tuple[pl.Series, list[SetAside], list[str]]:
    """The same for rows of whom or what nothing is known: all of them several times are a table that was copied."""
    everything = pl.repeat(value=True, n=len(content), eager=True)
    if len(content) < 2 * duplicates.ENOUGH_BLOCKS or not any_repeated(content.to_numpy()):
        return everything, [], []
    times = duplicates.times_copied(content.value_counts()["count"])
    if times == 1:
        return everything, [], []
    kept = content.to_frame().select(duplicates.mark_last_copy(content.name, times)).to_series()
    return kept, [SetAside(duplicates.COPIED_TABLE, int((~kept).sum()))], [duplicates.copied_table_note(times)]


def repeated_numbers(table: pl.LazyFrame, number: pl.Expr) -> tuple[NDArray[np.uint64], int]:
    """The numbers of rows that occur more than once, sorted; and how many rows there are.

    Eight bytes per row are held, for a moment sixteen.
    """
    numbers = table.select(number.alias("number")).collect(engine="streaming").to_series().to_numpy(writable=True)
    numbers.sort()
    return np.unique(numbers[1:][numbers[1:] == numbers[:-1]]), len(numbers)
