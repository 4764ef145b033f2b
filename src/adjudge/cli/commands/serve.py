"""`adjudge serve`: the web page where people judge."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o

if TYPE_CHECKING:
    from adjudge.collect.prepare_database import NewLink
    from adjudge.design.tasks import TaskSet

Campaign = Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="The campaign file, usually campaign.toml.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="ADJUDGE_DATABASE",
        help="PostgreSQL URL, postgres://user:password@host/name. Default: SQLite next to the campaign file, or the "
        "database to which the campaign was moved.",
    ),
]


def serve(
    campaign: Campaign,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 8000,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; 0.0.0.0 for all interfaces.")
    ] = "127.0.0.1",
    tasks: Annotated[
        Path | None, typer.Option("--tasks", help="The task file. Default: tasks.json next to the campaign file.")
    ] = None,
    database: Database = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Number of server processes. Default: 1 with SQLite, 2 with PostgreSQL."),
    ] = None,
    url: Annotated[str | None, typer.Option("--url", help="Public URL, if the server is behind a proxy.")] = None,
    links: Annotated[
        Path | None,
        typer.Option(
            "--links", help="Append new links to this TSV file (readable only by you) instead of printing them."
        ),
    ] = None,
    new_links: Annotated[
        bool, typer.Option("--new-links", help="Create new links for all annotators and revoke the old ones.")
    ] = False,
    json: o.Json = False,
) -> None:
    """Serve a campaign on the web: annotators judge in their browsers, organisers follow the progress.

    Tasks are created first if there are none. Stop with Ctrl-C; the next start continues the campaign.

    Example: adjudge serve campaign.toml --port 8000
    """
    from adjudge.api.panels import panels_of
    from adjudge.collect.serve import Address
    from adjudge.collect.serve import serve as serve_campaign
    from adjudge.core.errors import InputError

    if not campaign.is_file():
        raise InputError("no such campaign file; check the path", file=campaign)
    address = Address(host, port, url)
    # If the output is not a terminal, printed links could stay in a log file for months.
    if links is None and not json and not sys.stdout.isatty():
        links = campaign.with_suffix(".links.tsv")

    def ready(tasks: TaskSet, new: list[NewLink]) -> None:
        _show(tasks, new, address.base, as_json=json, links_file=links)

    serve_campaign(
        campaign,
        address=address,
        tasks_file=tasks,
        database=database,
        workers=workers,
        new_links=new_links,
        panels=panels_of(campaign),
        ready=ready,
        links_file=links,
    )


def _show(tasks: TaskSet, new: list[NewLink], base: str, *, as_json: bool, links_file: Path | None) -> None:
    from adjudge.collect.links import address

    if as_json:
        shown = [{"role": link.role, "name": link.name, "link": address(link.secret, base)} for link in new]
        # One line with addresses and names, which programs that start the server wait for.
        print(json_module.dumps({"url": base, "links": shown}), flush=True)
        return
    counts = f"{_count(len(tasks.tasks), 'task')} for {_count(len(tasks.annotators), 'annotator')}"
    print(f"{tasks.campaign}: {counts} at {base}")
    if links_file is not None:
        print(f"  {_count(len(new), 'new link')} added to {links_file}, which only you can read.")
    else:
        for link in new:
            print(f"  {link.role if link.role != 'annotator' else link.name:<14} {address(link.secret, base)}")
    if not any(link.role == "annotator" for link in new):
        print("  The annotators' existing links stay valid. To replace them, use --new-links or the organisers' page.")
    print("Links are shown only once; the server stores only their hashes. Stop with Ctrl-C.", flush=True)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
