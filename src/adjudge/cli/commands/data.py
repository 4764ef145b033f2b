"""`adjudge data list` and `adjudge data get`: public data sets."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from adjudge.cli import options as o


def list_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Show details of these data sets. Default: a short list of all.",
            autocompletion=o.complete_data_sets,
        ),
    ] = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """List public data sets: contents, format, size, licence, citation, and whether they are downloaded.

    Example: adjudge data list wmt10
    """
    from adjudge.cli.output import write_output
    from adjudge.datasets import catalogue, find_set, list_sets

    chosen = [find_set(name) for name in names] if names else list(catalogue().values())
    write_output({"all": list_sets(chosen, details=bool(names))}, json=json, output=output)


def get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name of the data set in 'adjudge data list'.",
            autocompletion=o.complete_data_sets,
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE_OR_URL", help="Get the data from this file, folder or URL instead."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Download again, even if the files exist.")] = False,
    json: o.Json = False,
) -> None:
    """Download a data set to ADJUDGE_DATA or the cache folder.

    Interrupted downloads are resumed, and checksums are verified.

    Example: adjudge data get wmt12 --from wmt12.RNK_results.csv
    """
    from adjudge.cli.output import write_output
    from adjudge.datasets import data_folder, describe_found, fetch, find_folder, find_set

    dataset, folder = find_set(name), data_folder()
    stored = find_folder(dataset, folder)
    if stored not in (None, folder / name) and not again and source is None:
        write_output({"all": describe_found(dataset, stored)}, json=json, output=None)
        return
    with _progress() as tell:
        fetched = fetch(dataset, folder, source=source, again=again, tell=tell)
    write_output({"all": fetched}, json=json, output=None)


@contextmanager
def _progress() -> "Iterator[Callable[[str, int, int | None], None]]":
    """A progress bar for every file on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, object] = {}

        def tell(path: str, done: int, total: int | None) -> None:
            if path not in tasks:
                tasks[path] = bars.add_task(path, total=total)
            bars.update(tasks[path], completed=done, total=total)  # type: ignore[arg-type]

        yield tell
