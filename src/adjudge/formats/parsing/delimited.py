"""Delimited text read row by row with line numbers, so that every fault can be named with its place."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, Source, shown
from adjudge.core.files import read_text
from adjudge.core.wording import counted
from adjudge.formats.options import ReadOptions
from adjudge.formats.parsing.bad_rows import BadRows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

DELIMITERS = ("\t", ",", ";")


@dataclass(frozen=True)
class Delimited:
    """A table with a header: `rows` are (line number, fields)."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...]
    options: ReadOptions = field(default_factory=lambda: ReadOptions(strict=True))

    @property
    def source(self) -> Source:
        """The file and its lines, for messages."""
        return Source(str(self.path), lambda row: self.rows[row][0])

    @cached_property
    def bad(self) -> BadRows:
        """The rows that cannot be used, first of all those of another length than the header."""
        return BadRows(self.source, self.options, len(self.rows))

    def find(self, *names: str) -> int | None:
        """Return the place of the first of these columns that exists, case ignored."""
        folded = [name.strip().casefold() for name in self.header]
        return next((folded.index(name.casefold()) for name in names if name.casefold() in folded), None)

    def need(self, *names: str) -> int:
        """Return the place of a column that must exist."""
        index = self.find(*names)
        if index is None:
            existing = shown(", ".join(self.header), 200)
            raise InputError(f"has no column '{names[0]}', it has {existing}; check --format", file=self.path, line=1)
        return index

    def lines(self) -> pl.Series:
        """The line number of every row."""
        import polars as pl

        return pl.Series("line", [line for line, _ in self.rows], dtype=pl.Int64)

    def texts(self, index: int | None, *, strip: bool = True) -> pl.Series:
        """A column, without blanks around its values unless asked for; all null where the column is missing."""
        import polars as pl

        if index is None:
            return pl.Series([None], dtype=pl.String).new_from_index(0, len(self.rows))
        column = pl.Series(self._columns[index], dtype=pl.String)
        return column.str.strip_chars() if strip else column

    @cached_property
    def _columns(self) -> list[tuple[str, ...]]:
        return list(zip(*(fields for _, fields in self.rows), strict=True)) or [()] * len(self.header)


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers. Only line feeds end a line: a text may hold other breaks."""
    lines = enumerate(text.split("\n"), start=1)
    return ((number, line.removesuffix("\r")) for number, line in lines if line.strip())


def stripped_lines(text: str) -> tuple[str, ...]:
    """Split a text into lines without blanks around them. Only line feeds end a line: texts hold other separators."""
    lines = [line.strip() for line in text.split("\n")]
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def detect_delimiter(text: str) -> str:
    """The delimiter that cuts the first line into the most fields: tab, comma or semicolon."""
    first = text.split("\n", 1)[0]
    return max(DELIMITERS, key=first.count)


def read_delimited(
    path: Path, delimiter: str | None = ",", *, quoting: bool = True, options: ReadOptions | None = None
) -> Delimited:
    """Read a delimited file with a header.

    Args:
        path: the file.
        delimiter: where it is None, the header decides between tab, comma and semicolon.
        quoting: whether quotation marks enclose fields.
        options: how many rows may be of another length than the header; without options such a row is an error. With
            them it stays in its place, cut or filled up, and is among the bad rows.
    """
    text = read_text(path)
    rows = split_rows(text, path, delimiter or detect_delimiter(text), quoting=quoting)
    first = next(rows, None)
    if first is None:
        raise InputError("is empty; a header line and rows are needed", file=path)
    header = tuple(name.strip() for name in first[1])
    body: list[tuple[int, list[str]]] = []
    ragged: dict[int, str] = {}
    for line, fields in rows:
        if not any(field.strip() for field in fields):
            continue
        while len(fields) > len(header) and not fields[-1].strip():
            # Some tools end every row with a delimiter; nothing is lost with it.
            fields.pop()
        if len(fields) != len(header):
            problem = f"{counted(len(fields), 'field')} where the header has {len(header)}"
            problem = f"{problem}; the file may be cut or not what --format says"
            if options is None:
                raise InputError(problem, file=path, line=line)
            ragged[len(body)] = problem
        body.append((line, (fields + [""] * len(header))[: len(header)]))
    table = Delimited(path, header, tuple(body), options or ReadOptions(strict=True))
    for row, problem in ragged.items():
        table.bad.row(row, problem, "row of another length than the header")
    return table


def split_rows(text: str, path: Path, delimiter: str, *, quoting: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Split a text into rows of fields, with the line where each begins; read strictly."""
    # A field may be as large as the file; the csv module's default limit would refuse long texts.
    csv.field_size_limit(max(len(text), 131_072))
    source = io.StringIO(text, newline="")
    reader = csv.reader(
        source, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE, strict=quoting
    )
    while True:
        line = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            raise InputError(f"cannot be read as a table ({fault}); check quotes", file=path, line=line) from fault
        yield line, fields


def to_int(value: str, what: str, path: Path, line: int) -> int:
    """A whole number, or an error with its place."""
    # int() alone would take `1_000` and the digits of other scripts, which are damage in these files.
    if re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", value):
        return int(value)
    raise InputError(f"{shown(what)} is '{shown(value)}', a whole number is needed; correct it", file=path, line=line)


def to_float(value: str, what: str, path: Path, line: int) -> float:
    """A finite number, or an error with its place."""
    try:
        number = float("nan") if "_" in value else float(value)
    except ValueError:
        number = float("nan")
    if not math.isfinite(number):
        raise InputError(f"{shown(what)} is '{shown(value)}', a number is needed; correct it", file=path, line=line)
    return number


def row_lines(text: str, separator: str, *, quoting: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Split a text into the rows that hold something, with the line where each begins; read leniently."""
    csv.field_size_limit(max(len(text), 131_072))
    source = io.StringIO(text, newline="")
    reader = csv.reader(source, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE)
    begin = 1
    for fields in reader:
        if any(fields):
            yield begin, fields
        begin = reader.line_num + 1
