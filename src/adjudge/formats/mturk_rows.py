"""Records of a crowd platform's results file, also where a comment lost its closing quote.

A strict reader takes such a comment to run on through the next record and loses it without a word. Here a line that
is a whole record by itself always begins a new one; what stood open before is closed and reported.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, shown
from adjudge.core.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Results:
    """The records of a results file: (line number, fields), all of them as long as `header`."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...]
    repaired: int

    def place(self, *names: str) -> int | None:
        """The place of the first of these columns that exists."""
        return next((self.header.index(name) for name in names if name in self.header), None)


def read_results(path: Path, *, needed: str) -> Results | None:
    """Read a results file; None where its header has no column `needed`, so that it is something else."""
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    csv.field_size_limit(max(len(text), 131_072))
    lines = text.split("\n")
    header = tuple(name.strip() for name in _fields(lines[0]))
    if needed not in header:
        return None
    least = header.index(needed) + 1
    rows: list[tuple[int, list[str]]] = []
    repaired = 0
    for number, record, closed in _records(lines, least):
        fields = _fields(record)
        if len(fields) < least:
            found = f"a record of {len(fields)} fields where {least} are needed ('{shown(record)}')"
            raise InputError(f"{found}; the file may be cut", file=path, line=number)
        repaired += not closed
        rows.append((number, (fields + [""] * len(header))[: len(header)]))
    return Results(path, header, tuple(rows), repaired)


def _records(lines: list[str], least: int) -> Iterator[tuple[int, str, bool]]:
    """Line number, text, and whether all quotes are closed, of every record after the header."""
    open_lines: list[str] = []
    begin = 0
    for number, line in enumerate(lines[1:], start=2):
        if open_lines and line.count('"') > 1 and len(_fields(line)) >= least:
            yield begin, _without_open_end(open_lines), False
            open_lines = []
        if not open_lines:
            if not line.strip():
                continue
            begin = number
        open_lines.append(line)
        if sum(part.count('"') for part in open_lines) % 2 == 0:
            yield begin, "\n".join(open_lines), True
            open_lines = []
    if open_lines:
        yield begin, _without_open_end(open_lines), False


def _without_open_end(lines: list[str]) -> str:
    return "\n".join(lines).rstrip("\n")


def _fields(record: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(record, newline="")), [])
    except csv.Error:
        return []
