"""Delimited text read row by row with line numbers, so that every fault can be named with its place."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Delimited:
    """A table with a header: `rows` are (line number, fields)."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...]

    def column(self, *names: str, required: bool = True) -> int | None:
        """The place of the first of these columns that exists, case ignored."""
        folded = [name.strip().casefold() for name in self.header]
        for name in names:
            if name.casefold() in folded:
                return folded.index(name.casefold())
        if required:
            found = ", ".join(self.header[:12])
            raise InputError(f"has no column '{names[0]}', it has {found}; check --format", file=self.path, line=1)
        return None

    def need(self, *names: str) -> int:
        """The place of a column that must exist."""
        place = self.column(*names)
        assert place is not None
        return place


def read_delimited(path: Path, delimiter: str = ",", *, quoting: bool = True) -> Delimited:
    """Read a delimited file with a header; a row with another number of fields than the header is an error."""
    rows = _split(read_text(path), path, delimiter, quoting)
    first = next(rows, None)
    if first is None:
        raise InputError("is empty; a header line and rows are needed", file=path)
    header = tuple(name.strip() for name in first[1])
    body: list[tuple[int, list[str]]] = []
    for line, fields in rows:
        if not any(field.strip() for field in fields):
            continue
        if len(fields) != len(header):
            found = f"{len(fields)} fields where the header has {len(header)}"
            raise InputError(f"{found}; the file may be cut or not what --format says", file=path, line=line)
        body.append((line, fields))
    return Delimited(path, header, tuple(body))


def _split(text: str, path: Path, delimiter: str, quoting: bool) -> Iterator[tuple[int, list[str]]]:
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
    try:
        return int(value.strip())
    except ValueError:
        raise InputError(f"{what} is '{value}', a whole number is needed; correct it", file=path, line=line) from None


def to_float(value: str, what: str, path: Path, line: int) -> float:
    """A finite number, or an error with its place."""
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not math.isfinite(number):
        raise InputError(f"{what} is '{value}', a number is needed; correct it", file=path, line=line)
    return number
