"""`adjudge backup`: a whole campaign in one archive."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.commands.serve import Campaign, Database


def backup(
    campaign: Campaign,
    output: Annotated[Path, typer.Option("--output", "-o", help="The archive to write, a .zip file.")],
    database: Database = None,
    json: o.Json = False,
) -> None:
    """Back up a campaign while people judge: database, campaign file, texts, tasks, looks and key in one archive.

    The archive is secret: it holds all that people said, and the key that signs their sessions.

    Example: adjudge backup campaign.toml -o backup.zip
    """
    from adjudge.api.calls import as_command
    from adjudge.api.campaigns import backup as back_up
    from adjudge.cli.output import write_output

    write_output({"all": as_command(back_up)(campaign, output, database=database)}, json=json, output=None)
