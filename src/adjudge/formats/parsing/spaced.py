"""White-space separated tables as statistics scripts write them: tabs and blanks mixed, quoted names, header or none.

Read column by column, because such files are large; every row keeps its line number for messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.formats.parsing.bad_rows import BadRows

LINE = "line"
MISSING = "NA"
_QUOTED = re.compile(r'"[^"\n]*"')
# Stands for a blank inside quotes while the text is split; files of this family hold no such character.
_KEPT_BLANK = "\x1f"


@dataclass(frozen=True)
class Spaced:
    """A table of texts: columns are named `0`, `1`, ... and `line`; `header` is empty where the file has none."""

    path: Path
    header: tuple[str, ...]
    frame: pl.DataFrame

    def column_index(self, *names: str) -> int | None:
        """The place of the first of these columns that the header names, case ignored."""
        folded = [name.casefold() for name in self.header]
        return next((folded.index(name.casefold()) for name in names if name.casefold() in folded), None)

    def texts(self, index: int) -> pl.Series:
        """A column with `NA` as null."""
        column = self.frame[str(index)]
        return pl.select(pl.when(column != MISSING).then(column)).to_series()

    def numbers(self, index: int, what: str, bad: BadRows | None = None) -> pl.Series:
        """A column of finite numbers with `NA` as null; anything else makes a bad row, or is an error with its line."""
        given = self.texts(index)
        parsed = given.cast(pl.Float64, strict=False)
        broken = given.is_not_null() & (parsed.is_null() | ~parsed.is_finite())
        problem = f"{what} is '{{}}', a number is needed; correct it"
        if bad is not None:
            bad.mark(broken, lambda row: problem.format(shown(given[row])), f"row with a broken {what}")
            return pl.select(pl.when(~broken).then(parsed)).to_series()
        if broken.any():
            self._refuse(broken, given, problem)
        return parsed

    def _refuse(self, bad: pl.Series, values: pl.Series, problem: str) -> None:
        first = bad.arg_max() or 0
        raise InputError(problem.format(shown(values[first])), file=self.path, line=self.frame[LINE][first])


def read_spaced(path: Path, *, header: str) -> Spaced | None:
    """Read a table; its first line is a header if it holds the word `header`. None where the file is empty."""
    text = _single_blanks(read_text(path))
    if not text.strip():
        return None
    lines = text.split("\n")
    numbers = [number for number, line in enumerate(lines, start=1) if line]
    if len(numbers) < len(lines) - 1:
        text = "\n".join(line for line in lines if line)
    first = lines[numbers[0] - 1].split(" ")
    width = len(first)
    frame = _parse(text, width)
    if frame is None or frame[str(width - 1)].null_count():
        _refuse_ragged(lines, width, path)
    assert frame is not None
    if _KEPT_BLANK in text:
        frame = frame.with_columns(pl.all().str.replace_all(_KEPT_BLANK, " ", literal=True))
    frame = frame.with_columns(pl.Series(LINE, numbers, dtype=pl.Int64))
    names = tuple(word.replace(_KEPT_BLANK, " ") for word in first)
    if header.casefold() in [name.casefold() for name in names]:
        return Spaced(path, names, frame[1:])
    return Spaced(path, (), frame)


def _single_blanks(text: str) -> str:
    """The text with one blank between fields, none at the ends of lines, and no quotes."""
    text = text.replace("\r\n", "\n")
    if any(" " in name or "\t" in name or "\n" in name for name in text.split('"')[1::2]):
        text = _QUOTED.sub(lambda match: re.sub(r"[ \t]", _KEPT_BLANK, match[0][1:-1]), text)
    text = text.replace('"', "").replace("\t", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text.replace(" \n", "\n").replace("\n ", "\n").strip(" ")


def _parse(text: str, width: int) -> pl.DataFrame | None:
    try:
        return pl.read_csv(
            text.encode(),
            separator=" ",
            has_header=False,
            quote_char=None,
            schema={str(i): pl.String for i in range(width)},
        )
    except pl.exceptions.PolarsError:
        return None


def _refuse_ragged(lines: list[str], width: int, path: Path) -> None:
    for number, line in enumerate(lines, start=1):
        if line and line.count(" ") != width - 1:
            problem = f"{line.count(' ') + 1} fields where the first line has {width}"
            raise InputError(f"{problem}; the file may be cut or not what --format says", file=path, line=number)
    raise InputError("cannot be read as a table; check that it is white-space separated text", file=path)
