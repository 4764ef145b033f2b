"""Who does the work of a command that repeats work: its options once, for every such command."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

PANEL = "How the work is done"
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", help="Processes to work in; as many as there are cores if left out.", rich_help_panel=PANEL),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on the dask cluster whose scheduler has this address, as tcp://host:8786.",
        rich_help_panel=PANEL,
    ),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Compute everything again, and keep nothing.", rich_help_panel=PANEL),
]
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "jobs": (Jobs, None),
    "scheduler": (Scheduler, None),
    "no_cache": (NoCache, False),
}


def repeats_work(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options above; its work is done as they say, and watched."""
    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]

    @wraps(command)
    def run(*, jobs: int | None, scheduler: str | None, no_cache: bool, **arguments: Any) -> None:
        from adjudge.work.progress import watch_on
        from adjudge.work.workers import workers

        with workers(jobs=jobs, scheduler=scheduler, cache=not no_cache, watch=watch_on()):
            command(**arguments)

    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in signature.parameters.values()]
    run.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *added)}
    return run
