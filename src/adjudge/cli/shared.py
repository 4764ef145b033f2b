"""What every command does the same way: compute for every pair, and put out results."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from adjudge.results.result import Result
    from adjudge.results.table import Table

_Part = TypeVar("_Part")
_Computed = TypeVar("_Computed")


class ByPair(dict[str, _Computed]):
    """Results by pair. Where the file held several, one that has no result does not change the shape of the rest."""

    several = False


def for_each_pair(parts: Mapping[str, _Part], compute: Callable[[_Part], _Computed]) -> ByPair[_Computed]:
    """Compute a result for every pair; one of several for which there is none is left out, and said so."""
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
    for name, left_out in faults.items():
        print(f"adjudge: {name} is left out: {left_out}", file=sys.stderr)
    return results


def put_out(results: Mapping[str, Result], *, json: bool, output: Path | None, summary: Result | None = None) -> None:
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
    """Print one JSON object; where the terminal does not know every sign, those are escaped and nothing is lost."""
    from adjudge.cli.encoding import knows_every_sign
    from adjudge.report.machine import to_json

    print(to_json(value, plain=not knows_every_sign(sys.stdout)))


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

    # Where nobody watches, nothing is gained by folding lines at 80 characters.
    console = Console(width=None if sys.stdout.isatty() else 200)
    for name, result in results.items():
        print_result(result, console, heading=name if _several(results) else "")


def _write(results: Mapping[str, Result], output: Path, plain: dict[str, Any] | None) -> None:
    """Write what the ending asks for; `plain` is the JSON object where JSON is asked for."""
    from adjudge.core.files import write_text
    from adjudge.report.machine import to_csv, to_json, to_latex
    from adjudge.report.text import result_as_text

    if plain is not None:
        write_text(output, to_json(plain) + "\n")
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
