"""`adjudge move`: the same campaign in another database."""

from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.commands.serve import Campaign, Database


def move(
    campaign: Campaign,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL|FILE",
            help="An empty PostgreSQL database, postgres://user:password@host/name, or a new file.sqlite3.",
        ),
    ],
    database: Database = None,
    json: o.Json = False,
) -> None:
    """Move a campaign that is not being served to another database: from SQLite to PostgreSQL, or back.

    All rows are compared before the campaign is switched over, and the former database stays as it is.

    Example: adjudge move campaign.toml --to other.sqlite3
    """
    from adjudge.api.calls import as_command
    from adjudge.api.campaigns import move as move_campaign
    from adjudge.cli.output import write_output

    write_output({"all": as_command(move_campaign)(campaign, to, database=database)}, json=json, output=None)
