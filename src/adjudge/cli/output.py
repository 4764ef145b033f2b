"""What every command does with its results: compute them for every language pair, print them, write them."""

from __future__ import annotations

import codecs
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from adjudge.report.page import ReportPage
    from adjudge.report.standards import Standard
    from adjudge.results.result import Result
    from adjudge.results.table import Table

_Part = TypeVar("_Part")
_Computed = TypeVar("_Computed")


class ByPair(dict[str, _Computed]):
    """Results by language pair. `several` says whether the files held several, even if only one has a result."""

    several = False


def for_each_pair(parts: Mapping[str, _Part], compute: Callable[[_Part], _Computed]) -> ByPair[_Computed]:
    """Compute a result for every pair; a pair of several for which there is none is left out with a message."""
    from adjudge.core.errors import DataError

    results: ByPair[_Computed] = ByPair()
    results.several = len(parts) > 1
    faults: dict[str, DataError] = {}
    for name, judgments in parts.items():
        try:
            results[name] = compute(judgments)
        except DataError as fault:
            faults[name] = fault
    if not results:
        raise next(iter(faults.values()))
    for name, reason in faults.items():
        print(f"adjudge: {name} is left out: {reason}", file=sys.stderr)
    return results


def write_output(
    results: Mapping[str, Result], *, json: bool, output: Path | None, summary: Result | None = None
) -> None:
    """Print or write results: the object itself where there is one pair, `{"pairs": {...}}` where there are several.

    A summary over several pairs follows them, in JSON under its own name.
    """
    shown = results if summary is None else {**results, "all pairs": summary}
    if output is not None:
        _write(shown, output, as_object(results, summary) if json or output.suffix == ".json" else None)
        print(f"wrote {output}", file=sys.stderr)
    elif json:
        print_json(as_object(results, summary))
    else:
        _print(shown)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; characters that the terminal cannot print are escaped, so that nothing is lost."""
    from adjudge.report.machine import to_json

    print(to_json(value, plain=not is_unicode(sys.stdout)))


def as_object(results: Mapping[str, Result], summary: Result | None = None) -> dict[str, Any]:
    """The JSON object of one result, or of several by pair."""
    if not _several(results):
        return next(iter(results.values())).to_dict()
    pairs = {"pairs": {name: result.to_dict() for name, result in results.items()}}
    return pairs if summary is None else {**pairs, "summary": summary.to_dict()}


def _several(results: Mapping[str, Result]) -> bool:
    return len(results) > 1 or (isinstance(results, ByPair) and results.several)


def _print(results: Mapping[str, Result]) -> None:
    from rich.console import Console

    from adjudge.report.text import print_result

    # Output that goes to a file or a pipe is not folded at 80 characters.
    console = Console(width=None if sys.stdout.isatty() else 200)
    for name, result in results.items():
        print_result(result, console, heading=name if _several(results) else "")


def _write(results: Mapping[str, Result], output: Path, json_object: dict[str, Any] | None) -> None:
    """Write in the format of the file's ending; `json_object` is given where that is JSON."""
    from adjudge.core.files import write_text
    from adjudge.report.machine import to_csv, to_json, to_latex
    from adjudge.report.text import result_as_text

    if json_object is not None:
        write_text(output, to_json(json_object) + "\n")
    elif output.suffix == ".csv":
        write_text(output, to_csv(_named_tables(results)))
    elif output.suffix == ".tex":
        write_text(output, to_latex(_named_tables(results)))
    else:
        headings = {name: f"== {name} ==\n" if _several(results) else "" for name in results}
        write_text(output, "\n".join(headings[name] + result_as_text(result) for name, result in results.items()))


def _named_tables(results: Mapping[str, Result]) -> list[Table]:
    """All tables; where there are several results, each title says whose it is."""
    from dataclasses import replace

    several = _several(results)
    return [
        replace(table, title=f"{name}: {table.title}") if several else table
        for name, result in results.items()
        for table in result.tables()
    ]


def write_page(page: ReportPage, path: Path) -> None:
    """Write a page as HTML and say where it is."""
    from adjudge.core.files import write_text
    from adjudge.report.html import render

    write_text(path, render(page))
    print(f"wrote {path}", file=sys.stderr)


def write_standard_page(result: Standard, path: Path | None, *, title: str) -> None:
    """Write the page of `gold`, `meta` or `qe` if one was asked for."""
    if path is None:
        return
    from adjudge.report.standards import build_standard_report

    write_page(build_standard_report(result, title=title), path)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that shows on a terminal what is being done, on a line that the next call replaces."""
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("starting") as status:
        yield lambda what: status.update(escape(what))


# What stands for a character that the terminal cannot print.
_SUBSTITUTES = {
    "–": "-", "—": "-", "−": "-", "‑": "-", "…": "...", "×": "x", "≥": ">=", "≤": "<=", "≈": "~", "±": "+-", "→": "->",
    "’": "'", "‘": "'", "“": '"', "”": '"', "·": ".", "•": "*", "\u00a0": " ", "\u202f": " ", "─": "-", "│": "|",
}  # fmt: skip
_ERROR_HANDLER = "adjudge.substitute"


def allow_any_text() -> None:
    """Let standard output and standard error print any text, also on terminals that do not know Unicode."""
    codecs.register_error(_ERROR_HANDLER, _substitute)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not is_unicode(stream):
            reconfigure(errors=_ERROR_HANDLER)


def is_unicode(stream: TextIO) -> bool:
    """Whether the stream writes Unicode; a stream without an encoding, as in tests, does."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return encoding.lower().replace("-", "").replace("_", "").startswith("utf")


def _substitute(fault: UnicodeError) -> tuple[str, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    characters = fault.object[fault.start : fault.end]
    return "".join(_SUBSTITUTES.get(character, "?") for character in characters), fault.end
