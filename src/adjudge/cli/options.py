"""Options that several commands share, so that they have the same name, meaning and help everywhere.

Also what the shell completes for their values, the words that `--help` prints for the types of values, and the
options of every command that repeats work (`--jobs`, `--scheduler`, `--no-cache`).
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

WORK_PANEL = "How the work is done"
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", help="Processes to work in; as many as there are cores if left out.", rich_help_panel=WORK_PANEL
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on the dask cluster whose scheduler has this address, as tcp://host:8786.",
        rich_help_panel=WORK_PANEL,
    ),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Compute everything again, and keep nothing.", rich_help_panel=WORK_PANEL),
]
_WORK_OPTIONS: dict[str, tuple[Any, Any]] = {
    "jobs": (Jobs, None),
    "scheduler": (Scheduler, None),
    "no_cache": (NoCache, False),
}


def _check_output(path: Path | None) -> Path | None:
    """Refuse what cannot be written before anything is computed."""
    from adjudge.report.output.formats import check_ending

    if path is not None:
        check_ending(path)
    return path


def check_table(path: Path | None) -> Path | None:
    """The same for a table of judgments."""
    from adjudge.formats import native

    if path is not None:
        native.check_ending(path)
    return path


Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE", help="Judgments: files, - for standard input, or a folder where the format has several."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        callback=_check_output,
        help="Write to this file instead; its ending says what: .json .csv .parquet .xlsx .tex .html .pdf or .txt.",
    ),
]
Table = Annotated[
    Path,
    typer.Option("--output", "-o", callback=check_table, help="The table to write; it ends in .parquet, .csv or .tsv."),
]
ReportFile = Annotated[
    Path | None, typer.Option("--report", metavar="OUT.html", help="Also write a page with charts to this file.")
]
Keys = Annotated[
    Path | None,
    typer.Option("--keys", help="Table that maps segments to documents, for judgments that do not say it."),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of everything random; the same seed gives the same result.")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Break the ranking down by a column of the judgments or of --attributes, or by source_length, and test "
        "whether systems differ between subsets; may be repeated.",
    ),
]
DocumentsBy = Annotated[
    str,
    typer.Option(
        metavar="raw|zscore|mixed|FILE",
        help="What the matrix of documents shows: means of raw scores or z-scores, the model's estimates, or a "
        "metric's scores from a file.",
    ),
]

__all__ = ["DEFAULT_SEED", "By", "DocumentsBy", "Files", "Json", "Keys", "Output", "ReportFile", "Seed", "Table"]


def complete_formats(incomplete: str) -> list[tuple[str, str]]:
    """Formats of files, with what they are."""
    from adjudge.formats import FORMATS

    return [(name, known.summary) for name, known in FORMATS.items() if name.startswith(incomplete)]


def method_option(help_text: str) -> OptionInfo:
    """The option `--method`, whose help says what the method is for."""
    option: OptionInfo = typer.Option("--method", "-m", help=help_text, autocompletion=complete_methods)
    return option


def complete_methods(incomplete: str) -> list[str]:
    """Methods of ranking."""
    from adjudge.rank.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def complete_data_sets(incomplete: str) -> list[tuple[str, str]]:
    """Public data sets, with what they hold."""
    from adjudge.datasets import catalogue

    return [(name, dataset.holds) for name, dataset in catalogue().items() if name.startswith(incomplete)]


def complete_papers(incomplete: str) -> list[str]:
    """Papers whose tables can be recomputed."""
    from adjudge.replicate import PAPERS

    return [name for name in PAPERS if name.startswith(incomplete)]


# What `--help` prints for the value of an option, by its type. A flag takes no value.
_WORDS: dict[Any, str] = {bool: "", int: "N", float: "X", str: "TEXT", Path: "PATH"}


def set_parameters(command: Callable[..., None], parameters: Sequence[inspect.Parameter]) -> None:
    """Let the command line see these parameters of a command, whatever the function itself takes."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def with_plain_types(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with a plain word for the value of every option that has none, instead of a Python type."""
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
    """The type of one value: `Path` of `list[Path] | None`."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(member for member in get_args(kind) if member is not type(None))
    return get_args(kind)[0] if get_origin(kind) is list else kind


def repeats_work(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options above; its work is done as they say, and watched."""
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
