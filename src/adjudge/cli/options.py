"""Options that several commands share, so that they have the same name, meaning and help everywhere.

The module also holds shell completion for option values, the words that `--help` prints for types of values, and the
options of every command with much to compute (`--jobs`, `--scheduler`, `--no-cache`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from typer.models import OptionInfo

from adjudge.core.rng import DEFAULT_SEED

WORK_PANEL = "Running the computation"
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", help="Number of processes to use. Default: one per core.", rich_help_panel=WORK_PANEL),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on a Dask cluster: the address of its scheduler, such as tcp://host:8786.",
        rich_help_panel=WORK_PANEL,
    ),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Ignore cached results and do not cache new ones.", rich_help_panel=WORK_PANEL),
]
_WORK_OPTIONS: dict[str, tuple[Any, Any]] = {
    "jobs": (Jobs, None),
    "scheduler": (Scheduler, None),
    "no_cache": (NoCache, False),
}


def _check_output(path: Path | None) -> Path | None:
    """Refuse an output format that cannot be written before anything is computed."""
    from adjudge.report.output.formats import check_ending

    if path is not None:
        check_ending(path)
    return path


def check_table(path: Path | None) -> Path | None:
    """The same check for a judgment table."""
    from adjudge.formats import native

    if path is not None:
        native.check_ending(path)
    return path


Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE", help="Files with judgments, or - for standard input. Some formats also take a folder."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        callback=_check_output,
        help="Write to this file instead of the terminal: .json, .csv, .parquet, .xlsx, .tex, .html, .pdf or .txt.",
    ),
]
Table = Annotated[
    Path,
    typer.Option("--output", "-o", callback=check_table, help="The judgment table to write: .parquet, .csv or .tsv."),
]
ReportFile = Annotated[
    Path | None, typer.Option("--report", metavar="OUT.html", help="Also write a page with charts: .html or .pdf.")
]
Keys = Annotated[
    Path | None,
    typer.Option("--keys", help="A table that maps segments to documents, if the judgments do not name documents."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed. The same seed gives the same result.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Break the ranking down by a column of the judgments or of --attributes, or by source_length, and test "
        "whether the differences between systems depend on it. May be repeated.",
    ),
]
DocumentsBy = Annotated[
    str,
    typer.Option(
        metavar="raw|zscore|mixed|FILE",
        help="What to show in the table of documents by systems: mean raw scores, mean z-scores, estimates of the "
        "mixed model, or the metric scores in a file.",
    ),
]

__all__ = ["DEFAULT_SEED", "By", "DocumentsBy", "Files", "Json", "Keys", "Output", "ReportFile", "Seed", "Table"]


def complete_formats(incomplete: str) -> list[tuple[str, str]]:
    """File formats with their summaries."""
    from adjudge.formats import FORMATS

    return [(name, known.summary) for name, known in FORMATS.items() if name.startswith(incomplete)]


def method_option(help_text: str) -> OptionInfo:
    """The option `--method` with a help text of its own."""
    option: OptionInfo = typer.Option("--method", "-m", help=help_text, autocompletion=complete_methods)
    return option


def complete_methods(incomplete: str) -> list[str]:
    """Ranking methods."""
    from adjudge.rank.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def complete_data_sets(incomplete: str) -> list[tuple[str, str]]:
    """Public data sets with their contents."""
    from adjudge.datasets import catalogue

    return [(name, dataset.holds) for name, dataset in catalogue().items() if name.startswith(incomplete)]


def complete_papers(incomplete: str) -> list[str]:
    """Papers whose tables can be recomputed."""
    from adjudge.replicate import PAPERS

    return [name for name in PAPERS if name.startswith(incomplete)]


# What `--help` prints as the value of an option of each type. A flag takes no value.
_WORDS: dict[Any, str] = {bool: "", int: "N", float: "X", str: "TEXT", Path: "PATH"}


def set_parameters(command: Callable[..., None], parameters: Sequence[inspect.Parameter]) -> None:
    """Make the command line see these parameters instead of those of the function itself."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def with_plain_types(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a plain word instead of a Python type as the value of its options in `--help`."""
    signature = inspect.signature(command, eval_str=True)
    parameters = [
        parameter.replace(annotation=_with_word(parameter.annotation)) for parameter in signature.parameters.values()
    ]
    set_parameters(command, parameters)
    return command


def _with_word(annotation: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, option = get_args(annotation)[:2]
    word = _WORDS.get(_single(kind))
    if not isinstance(option, OptionInfo) or option.metavar is not None or word is None:
        return annotation
    with_word = copy(option)
    with_word.metavar = word
    return Annotated[kind, with_word]


def _single(kind: Any) -> Any:
    """The type of a single value: `Path` for `list[Path] | None`."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(member for member in get_args(kind) if member is not type(None))
    return get_args(kind)[0] if get_origin(kind) is list else kind


def repeats_work(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options `--jobs`, `--scheduler` and `--no-cache`, and with a progress display."""
    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _WORK_OPTIONS.items()
    ]

    @wraps(command)
    def run(*, jobs: int | None, scheduler: str | None, no_cache: bool, **arguments: Any) -> None:
        from adjudge.work.progress import watch_on
        from adjudge.work.workers import workers

        with workers(jobs=jobs, scheduler=scheduler, cache=not no_cache, watch=watch_on()):
            command(**arguments)

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in signature.parameters.values()]
    set_parameters(run, [*parameters, *added])
    return run
