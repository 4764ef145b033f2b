"""All errors that adjudge explains: one sentence saying what is wrong, where, the value found, and what to do.

An error has a slug, under which `docs/messages.md` explains it, and an exit code for the command line. A message names
a parameter by `param`; Python shows it as a parameter (`'level'`), the command line as an option (`--level`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


# Private characters of Unicode, which no text that people read contains.
_OPEN, _CLOSE = "\ue000", "\ue001"
_OPTIONS = {"with_scores": "with"}
"""Options whose name is a reserved word of Python, by the name of their parameter."""


def param(name: str) -> str:
    """The name of a parameter in a message or a help text, to be worded by `in_python` or `on_command_line`."""
    return f"{_OPEN}{name}{_CLOSE}"


def in_python(text: str) -> str:
    """The text with parameters as Python names them: `'time_limit'`."""
    return _word(text, lambda name: f"'{name}'")


def on_command_line(text: str) -> str:
    """The text with parameters as options of the command line: `--time-limit`."""
    return _word(text, lambda name: f"--{_OPTIONS.get(name, name).replace('_', '-')}")


def _word(text: str, word: Callable[[str], str]) -> str:
    before, *others = text.split(_OPEN)
    parts = (other.partition(_CLOSE) for other in others)
    return before + "".join(f"{word(name)}{after}" for name, _, after in parts)


# A longer message quotes a value that nobody reads; what is wrong stands at its beginning, what to do at its end.
LONGEST = 2_000
_END = 500


def _cut(sentence: str) -> str:
    """The sentence with its middle left out where it is too long; the names of parameters stay whole."""
    if len(sentence) <= LONGEST:
        return sentence
    start, end = sentence[: LONGEST - _END], sentence[-_END:]
    if start.rfind(_OPEN) > start.rfind(_CLOSE):
        start = start[: start.rfind(_OPEN)]
    if _CLOSE in end and _OPEN not in end.partition(_CLOSE)[0]:
        end = end.partition(_CLOSE)[2]
    return f"{start}…{end}"


class AdjudgeError(Exception):
    """Base class of all explained errors. The message is one printable line, whatever it quotes from a file."""

    slug = "fault"
    exit_code = 1

    def __init__(self, sentence: str) -> None:
        one_line = " ".join(sentence.split())
        kept = (each if each.isprintable() or each in (_OPEN, _CLOSE) else "�" for each in _cut(one_line))
        super().__init__("".join(kept))

    def __str__(self) -> str:
        return in_python(self.args[0])

    def for_command_line(self) -> str:
        """The message with parameters as options."""
        return on_command_line(self.args[0])


class UsageError(AdjudgeError):
    """The call itself is wrong: an unknown method, format or option value."""

    slug = "usage"
    exit_code = 2


EXTRAS = {
    "cluster": ("distributed", "dask"),
    "embeddings": ("onnxruntime", "tokenizers", "wordllama"),
    "metrics": ("sacrebleu",),
    "pdf": ("typst",),
    "postgres": ("psycopg",),
    "serve": ("django", "ninja", "gunicorn", "waitress"),
    "testset": ("ftfy", "msgpack", "py3langid", "rapidfuzz", "spylls", "wordfreq"),
}
"""The modules that come with each extra of the installation."""


class MissingExtraError(UsageError):
    """A package is not installed because it comes with an extra."""

    slug = "extra"


def install_line(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'adjudge[{extra}]' (in a clone: '.[{extra}]')"


def explain_missing_module(fault: ModuleNotFoundError) -> MissingExtraError | None:
    """The error that names the extra of a module that is not installed; None for a module of no extra."""
    module = (fault.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return MissingExtraError(
                f"this needs the package '{module}', which is not installed: {install_line(extra)}"
            )
    return None


class InputError(AdjudgeError):
    """A file cannot be read in the given format, or cannot be written."""

    slug = "input"

    def __init__(self, what: str, *, file: Path | str | None = None, line: int | None = None) -> None:
        location = "" if file is None else f"{file}: " if line is None else f"{file}, line {line}: "
        super().__init__(location + what)


@dataclass(frozen=True)
class Source:
    """Where rows come from, so that an error names the file and line."""

    name: str
    line_of: Callable[[int], int] | None = None
    """The line of a row, counted from 0, in files that have lines."""
    row_of: Callable[[int], int] | None = None
    """The row of the file, counted from 0, of which a row was made; default: the same."""
    column_of: Callable[[str, int], str] | None = None
    """The name that a column of the judgment table has in the file, for a row; default: the same."""

    def column(self, name: str, row: int) -> str:
        """The column of the file from which a value of this row and column was taken."""
        return name if self.column_of is None else self.column_of(name, row)

    def number(self, row: int) -> int:
        """The line of a row in files that have lines, otherwise its number, from 1."""
        row = row if self.row_of is None else self.row_of(row)
        return row + 1 if self.line_of is None else self.line_of(row)

    def moved(self, row_of: Callable[[int], int], column_of: Callable[[str, int], str] | None = None) -> Source:
        """The source of rows that were made of these: from which each was made, and from which column its values.

        Args:
            row_of: the former row of a row.
            column_of: the former column of a column and row; default: the same.
        """
        before = self.row_of or (lambda row: row)
        named = column_of or (lambda name, _: name)
        return replace(
            self,
            row_of=lambda row: before(row_of(row)),
            column_of=lambda name, row: self.column(named(name, row), row_of(row)),
        )

    def fault(self, what: str, row: int | None = None) -> InputError:
        """The error for a row, or for the whole file if no row is given."""
        if row is None:
            return InputError(what, file=self.name)
        if self.line_of is None:
            return InputError(f"row {self.number(row)}: {what}", file=self.name)
        return InputError(what, file=self.name, line=self.number(row))


class DataError(AdjudgeError):
    """The file is readable, but its judgments cannot answer the question."""

    slug = "data"


class ClusterError(AdjudgeError):
    """The cluster that should do the work cannot: it does not answer, does not fit, or its workers have gone."""

    slug = "cluster"


def shown(value: object, longest: int = 60) -> str:
    """A value from a file as messages quote it; long values are cut."""
    text = str(value)
    return text if len(text) <= longest else f"{text[:longest]}…"


def unknown_choice(what: str, got: str, choices: Iterable[str]) -> UsageError:
    """A usage error that names the given value, the nearest choice and all choices."""
    from difflib import get_close_matches

    known = list(choices)
    near = get_close_matches(got, known, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return UsageError(f"unknown {what} '{got}': {hint}choose one of {', '.join(known)}")
