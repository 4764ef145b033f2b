"""White-space separated tables as statistics scripts write them: tabs and blanks mixed, quoted names, header or none.

Read column by column, because such files are large; every row keeps its line number for messages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, Source, shown
from adjudge.core.files import read_text
from adjudge.core.wording import counted
from adjudge.formats.parsing.bad_rows import BadRows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

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
    ragged: Mapping[int, str] = field(default_factory=dict)
    """Rows of another length than the first line, and the problem of each: they are in the frame, but no use."""

    def bad_rows(self, options: ReadOptions) -> BadRows:
        """The rows that cannot be used: at first those of another length."""
        lines = self.frame[LINE]
        bad = BadRows(Source(str(self.path), lambda row: int(lines[row])), options, self.frame.height)
        for row, problem in self.ragged.items():
            bad.row(row, problem, "row of another length than the first line")
        return bad

    def refuse_ragged(self) -> Spaced:
        """The table itself, where all its rows are as long as the first line."""
        if self.ragged:
            first = min(self.ragged)
            raise InputError(self.ragged[first], file=self.path, line=self.frame[LINE][first])
        return self

    def column_index(self, *names: str) -> int | None:
        """The place of the first of these columns that the header names, case ignored."""
        folded = [name.casefold() for name in self.header]
        return next((folded.index(name.casefold()) for name in names if name.casefold() in folded), None)

    def texts(self, index: int) -> pl.Series:
        """A column with `NA` as null."""
        column = self.frame[str(index)]
        return pl.select(pl.when(column != MISSING).then(column)).to_series()

    def numbers(self, index: int, what: str, bad: BadRows | None = None, *, optional: bool = False) -> pl.Series:
        """A column of finite numbers with `NA` as null; anything else makes a bad row, or is an error with its line.

        Args:
            index: the place of the column.
            what: its name in messages.
            bad: where bad rows are recorded; without it, they are errors.
            optional: nothing needs the column, so that a broken value is left empty and the row can be used.
        """
        given = self.texts(index)
        parsed = given.cast(pl.Float64, strict=False)
        broken = given.is_not_null() & (parsed.is_null() | ~parsed.is_finite())
        problem = f"{what} is '{{}}', a number is needed; correct it"
        if bad is None:
            if broken.any():
                first = broken.arg_max() or 0
                raise InputError(problem.format(shown(given[first])), file=self.path, line=self.frame[LINE][first])
            return parsed
        if optional:
            bad.empty(broken, what, lambda row: problem.format(shown(given[row])))
        else:
            bad.mark(broken, lambda row: problem.format(shown(given[row])), f"row with a broken {what}")
        return pl.select(pl.when(~broken).then(parsed)).to_series()


def read_spaced(path: Path, *, header: str) -> Spaced | None:
    """Read a table; its first line is a header if it holds the word `header`. None where the file is empty.

    Rows of another length than the first line stay in their place, cut or filled up, and are among the `ragged`.
    """
    text = _single_blanks(read_text(path))
    if not text.strip():
        return None
    text, numbers = _without_empty_lines(text)
    first = text.split("\n", 1)[0].split(" ")
    width = len(first)
    frame, ragged = _parse(text, width), {}
    if frame is None or frame[str(width - 1)].null_count():
        rows = text.removesuffix("\n").split("\n")
        frame, ragged = _parse("\n".join(_fit_to_width(row, width) for row in rows), width), _find_ragged(rows, width)
        if frame is None:
            raise InputError("cannot be read as a table; check that it is white-space separated text", file=path)
    if _KEPT_BLANK in text:
        frame = frame.with_columns(pl.all().str.replace_all(_KEPT_BLANK, " ", literal=True))
    frame = frame.with_columns(numbers)
    names = tuple(word.replace(_KEPT_BLANK, " ") for word in first)
    if header.casefold() in [name.casefold() for name in names]:
        return Spaced(path, names, frame[1:], {row - 1: problem for row, problem in ragged.items()})
    return Spaced(path, (), frame, ragged)


def _single_blanks(text: str) -> str:
    """The text with one blank between fields, none at the ends of lines, and no quotes."""
    text = text.replace("\r\n", "\n")
    if any(" " in name or "\t" in name or "\n" in name for name in text.split('"')[1::2]):
        text = _QUOTED.sub(lambda match: match[0][1:-1].replace(" ", _KEPT_BLANK).replace("\t", _KEPT_BLANK), text)
    text = text.replace('"', "").replace("\t", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text.replace(" \n", "\n").replace("\n ", "\n").strip(" ")


def _without_empty_lines(text: str) -> tuple[str, pl.Series]:
    """The lines that hold something, and their numbers in the file."""
    if text.startswith("\n") or "\n\n" in text:
        lines = text.split("\n")
        numbers = [number for number, line in enumerate(lines, start=1) if line]
        return "\n".join(line for line in lines if line), pl.Series(LINE, numbers, dtype=pl.Int64)
    lines_in_all = text.count("\n") + (not text.endswith("\n"))
    return text, pl.int_range(1, lines_in_all + 1, dtype=pl.Int64, eager=True).alias(LINE)


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


def _fit_to_width(line: str, width: int) -> str:
    fields = line.split(" ")
    return " ".join((fields + [MISSING] * width)[:width])


def _find_ragged(lines: list[str], width: int) -> dict[int, str]:
    """The lines with more or fewer fields than the first, and what is wrong with each."""
    return {
        row: f"{counted(line.count(' ') + 1, 'field')} where the first line has {width}; "
        "the file may be cut or not what --format says"
        for row, line in enumerate(lines)
        if line.count(" ") != width - 1
    }
