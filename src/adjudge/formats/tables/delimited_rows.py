"""The rows of a delimited text as columns of text, and the lines on which they stand.

Quotation marks enclose fields, as spreadsheets write them. Many programs write texts between tabs as they are, and a
text may begin with a quotation mark: where every line fits the header if the marks are ordinary characters, and the
marks would join lines or fit nowhere, they are ordinary.

Above the header may stand a line `sep=;`, or comments. A line that begins with # may be the header itself. It is a
comment only if none of the first rows has as many fields: such a table could not be read with it as the header.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from adjudge.core.errors import InputError, Source
from adjudge.core.wording import counted
from adjudge.formats.parsing.delimited import detect_delimiter, row_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

QUOTE = '"'
ORDINARY_MARKS = "quotation marks are ordinary characters in {}: as the ends of fields they fit no row, or join several"

# polars gives the second of two equal columns such a name.
_DUPLICATE = re.compile(r"_duplicated_[0-9]+$")
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
COMMENT = "#"
# Taken only where the header has none of the other separators.
LAST_RESORT = "|"
# Rows that are compared with a line that may be a comment, and how much text is searched for them.
ROWS = 20
HEAD = 1 << 20


class DelimitedRows(NamedTuple):
    """The rows of a text that hold something."""

    frame: pl.DataFrame
    source: Source
    separator: str
    notes: tuple[str, ...]
    ragged: Mapping[int, str]
    """Rows that are longer or shorter than the header, and what is wrong: in the frame, but no use."""
    twice: frozenset[str]
    """Names that several columns have."""


def read_rows(text: str, path: Path) -> DelimitedRows:
    """Read a delimited text, whose header says what separates fields; rows without any value are left out."""
    text, separator, padded = _find_header(text)
    rows = _choose_quoting(text, separator)
    source = Source(str(path), rows.line_of_row)
    frame = rows.frame if rows.frame is not None else _cut_to_header(rows, source)
    clean = {name: name.replace(QUOTE * 2, QUOTE).strip() for name in frame.columns}
    twice = frozenset(_DUPLICATE.sub("", name) for name in clean.values() if _DUPLICATE.search(name))
    times = Counter(clean.values())
    frame = frame.rename({name: new for name, new in clean.items() if times[new] == 1})
    if padded:
        frame = frame.with_columns(pl.all().str.strip_chars())
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame
    if rows.ragged and frame.height != len(rows.numbers):
        raise source.fault(rows.ragged[min(rows.ragged)], min(rows.ragged))
    notes = () if rows.quoting else (ORDINARY_MARKS.format(path.name),)
    return DelimitedRows(frame, source, separator, notes, rows.ragged, twice)


class _Rows:
    """The rows of a text, with quotation marks that enclose fields or with ordinary ones.

    Rows are counted from 0, without the header and without those that hold nothing.
    """

    def __init__(self, text: str, separator: str, *, quoting: bool = True) -> None:
        self.text, self.separator, self.quoting = text, separator, quoting

    @cached_property
    def frame(self) -> pl.DataFrame | None:
        """The columns; None where some row is longer than the header, or a mark neither opens nor closes a field."""
        try:
            return self.read()
        except pl.exceptions.PolarsError:
            return None

    def read(self, *, cut: bool = False) -> pl.DataFrame:
        """The columns, also where rows are longer than the header, of which the rest is then cut off."""
        return pl.read_csv(
            self.text.encode(),
            separator=self.separator,
            quote_char=QUOTE if self.quoting else None,
            infer_schema=False,
            truncate_ragged_lines=cut,
        )

    @cached_property
    def ragged(self) -> dict[int, str]:
        """The rows with more or fewer fields than the header, and what is wrong with each."""
        if self.frame is not None and not (self.frame.width and self.frame.to_series(-1).null_count()):
            # Where a row is cut, its last fields are missing.
            return {}
        (_, header), *rows = row_lines(self.text, self.separator, quoting=self.quoting)
        width = len(header)
        return {
            row: f"{counted(len(fields), 'field')} where the header has {width}; the file may be cut, or not what "
            "--format says"
            for row, (_, fields) in enumerate(rows)
            if len(fields) != width
        }

    @cached_property
    def numbers(self) -> list[int]:
        """The lines on which the rows begin, found out when they are asked for."""
        return [line for line, _ in row_lines(self.text, self.separator, quoting=self.quoting)][1:]

    def line_of_row(self, row: int) -> int:
        """The line of a row."""
        return self.numbers[row] if row < len(self.numbers) else row + 2

    def joins_lines(self) -> bool:
        """Whether some field goes over several lines, so that there are fewer rows than lines."""
        return self.frame is not None and self.frame.height < self.text.strip("\r\n").count("\n")


def _choose_quoting(text: str, separator: str) -> _Rows:
    """The rows by the reading of quotation marks that fits: fields that they enclose, if that is possible."""
    enclosed = _Rows(text, separator)
    if QUOTE not in text or QUOTE in text.lstrip().split("\n", 1)[0]:
        return enclosed
    # Enclosed fields may hold line breaks between commas, but hardly ever between tabs.
    if enclosed.frame is not None and not (separator == "\t" and enclosed.joins_lines()):
        return enclosed
    ordinary = _Rows(text, separator, quoting=False)
    fits = ordinary.frame is not None and ordinary.frame.width > 1 and not ordinary.ragged
    hopeless = enclosed.frame is None and not enclosed.ragged
    return ordinary if fits or (hopeless and separator == "\t") else enclosed


def _cut_to_header(rows: _Rows, source: Source) -> pl.DataFrame:
    """The rows as far as the header goes; those of another length are known and will not be used."""
    try:
        if rows.ragged:
            return rows.read(cut=True)
    except pl.exceptions.PolarsError as fault:
        raise source.fault(rows.ragged[min(rows.ragged)], min(rows.ragged)) from fault
    reader = csv.reader(io.StringIO(rows.text, newline=""), delimiter=rows.separator, strict=True)
    try:
        for _ in reader:
            pass
    except csv.Error:
        pass
    problem = "a quotation mark neither begins nor ends a field; write it twice inside a field that marks enclose"
    raise InputError(f"cannot be read as a table: {problem}", file=source.name, line=reader.line_num)


class _Layout(NamedTuple):
    """How a delimited text is to be read."""

    text: str
    """With empty lines for all that stands above the header, so that lines keep their numbers."""
    separator: str
    padded: bool = False
    """Whether blanks around fields are no part of them, as people write them around bars."""


def _find_header(text: str) -> _Layout:
    """Find the separator, and leave out what stands above the header."""
    named = _SEPARATOR.match(text)
    if named:
        return _Layout("\n" + text[named.end() :], named[1])
    comments = _count_comments(text)
    if comments:
        text = text.split("\n", comments)[comments]
    separator = _find_separator(text)
    if separator not in text.split("\n", 1)[0] and (spaced := _join_by_single_blanks(text)):
        return _Layout("\n" * comments + spaced, " ")
    return _Layout("\n" * comments + text, separator, separator == LAST_RESORT)


def _find_separator(text: str) -> str:
    separator, first = detect_delimiter(text), text.split("\n", 1)[0]
    return LAST_RESORT if separator not in first and LAST_RESORT in first else separator


def _join_by_single_blanks(text: str) -> str | None:
    """A table between blanks, as statistics programs write it, with one between fields; None where it is none.

    Such programs may write the numbers of rows before them, which the header does not name.
    """
    header, *lines = (" ".join(line.split()) for line in text.split("\n"))
    names = header.split(" ")
    widths = {len(fields) for _, fields in islice(row_lines("\n".join(lines), " "), ROWS)}
    if len(names) < 2 or names[0] == COMMENT or widths not in ({len(names)}, {len(names) + 1}):
        return None
    return "\n".join([header if widths == {len(names)} else f"row {header}", *lines])


def _count_comments(text: str) -> int:
    """Count the comments at the top, and the empty lines between them and the header."""
    if not text.startswith(COMMENT):
        return 0
    lines = text[:HEAD].split("\n")
    above = (not line.strip() or line.startswith(COMMENT) for line in lines)
    marked = next((number for number, is_above in enumerate(above) if not is_above), len(lines))
    rows = "\n".join(lines[marked:])
    if not rows.strip():
        return 0
    return next((number for number, line in enumerate(lines[:marked]) if _is_header(line, rows)), marked)


def _is_header(line: str, rows: str) -> bool:
    """Whether any of the first rows has as many fields as the line, by the separator of either."""
    for separator in (_find_separator(line), _find_separator(rows)):
        width = max((len(fields) for _, fields in row_lines(line, separator)), default=0)
        if width > 1 and any(len(fields) == width for _, fields in islice(row_lines(rows, separator), ROWS)):
            return True
    return False
