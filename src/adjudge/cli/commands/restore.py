"""`adjudge restore`: a campaign made again from its backup."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def restore(
    archive: Annotated[Path, typer.Argument(metavar="BACKUP", help="The archive that `adjudge backup` wrote.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder for the campaign.")],
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            help="Restore into this empty PostgreSQL database, postgres://user:password@host/name. "
            "Default: SQLite in the folder.",
        ),
    ] = None,
    json: o.Json = False,
) -> None:
    """Restore a campaign from a backup, with all judgments, their history and everybody's links.

    Example: adjudge restore backup.zip restored
    """
    from adjudge.api.calls import as_command
    from adjudge.api.campaigns import restore as make_again
    from adjudge.cli.output import write_output

    restored = as_command(make_again)(archive, folder, database=database)
    write_output({"all": restored}, json=json, output=None)
