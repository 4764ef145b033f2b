"""Commands to begin with: `doctor`, `formats`, `data list`, `data get`. Python does not need them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from adjudge.shell.declare import START, command
from adjudge.table.settings import REQUIRED, argument, option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from adjudge.table.results import Result


@dataclass(frozen=True)
class DoctorSettings:
    """What is checked."""

    database: str | None = option(
        None,
        "Also check this database: the SQLite file of a campaign, or postgres://user@host/name.",
        metavar="FILE_OR_URL",
    )
    port: int = option(8000, "The port that 'adjudge serve' would use.", least=1, most=65535)


@command("doctor", START, "adjudge doctor --database campaign.sqlite3")
def doctor(settings: DoctorSettings, *, json: bool, output: Path | None) -> None:
    """Check the installation: packages, SQLite, folders, fonts, memory, terminal, port, database.

    Each check is ok, a warning or a fault, with advice. The exit code is 1 if there is a fault.
    """
    from adjudge.shell.doctor import examine
    from adjudge.shell.output import progress, write_output

    with progress() as tell:
        examination = examine(database=settings.database, port=settings.port, tell=tell)
    write_output({"all": examination}, json=json, output=output)
    if not examination.healthy:
        raise typer.Exit(1)


@command("formats", START, "adjudge formats", output=False)
def formats(*, json: bool) -> None:
    """List the file formats that can be read."""
    from adjudge.readers.registry import FORMATS

    if json:
        from adjudge._version import __version__
        from adjudge.shell.output import print_json
        from adjudge.table.results import make_signature

        about = {"settings": {}, "set_aside": [], "version": __version__}
        signature = make_signature("formats", {}, f"{len(FORMATS)} formats", __version__)
        print_json(
            {"signature": signature, **about, "formats": {name: known.summary for name, known in FORMATS.items()}}
        )
        return
    width = max(map(len, FORMATS))
    for name, known in FORMATS.items():
        print(f"{name:{width}}  {known.summary}")


@dataclass(frozen=True)
class DataNames:
    """The data sets to list."""

    names: list[str] | None = argument(
        None, "Show details of these data sets. Default: a short list of all.", metavar="NAME", complete="data sets"
    )


@command("data list", None, "adjudge data list wmt10")
def list_(settings: DataNames) -> Result:
    """List public data sets: contents, format, size, licence, citation, and whether they are downloaded."""
    from adjudge.datasets.catalogue import catalogue, find_set, list_sets

    names = settings.names
    chosen = [find_set(name) for name in names] if names else list(catalogue().values())
    return list_sets(chosen, details=bool(names))


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """The data set to download."""

    name: str = argument(REQUIRED, "Name of the data set in 'adjudge data list'.", metavar="NAME", complete="data sets")
    source: str | None = option(
        None, "Get the data from this file, folder or URL instead.", "--from", metavar="FILE_OR_URL"
    )
    again: bool = option(False, "Download again, even if the files exist.", "--again")


@command("data get", None, "adjudge data get wmt12 --from wmt12.RNK_results.csv", output=False)
def get(settings: DataSettings) -> Result:
    """Download a data set to ADJUDGE_DATA or the cache folder.

    Interrupted downloads are resumed, and checksums are verified.
    """
    from adjudge.datasets.catalogue import data_folder, find_folder, find_set
    from adjudge.datasets.download import describe_found, fetch

    dataset, folder = find_set(settings.name), data_folder()
    stored = find_folder(dataset, folder)
    if stored not in (None, folder / settings.name) and not settings.again and settings.source is None:
        return describe_found(dataset, stored)
    with _progress() as tell:
        return fetch(dataset, folder, source=settings.source, again=settings.again, tell=tell)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int | None], None]]:
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
