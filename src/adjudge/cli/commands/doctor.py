"""`adjudge doctor`: checks the installation."""

from typing import Annotated

import typer

from adjudge.cli import options as o


def doctor(
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="FILE_OR_URL",
            help="Also check this database: the SQLite file of a campaign, or postgres://user@host/name.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=1, max=65535, help="The port that 'adjudge serve' would use.")
    ] = 8000,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Check the installation: packages, SQLite, folders, charts, fonts, memory, terminal, port, clock, database.

    Each check is ok, a warning or a fault, with advice. The exit code is 1 if there is a fault.

    Example: adjudge doctor --database campaign.sqlite3
    """
    from adjudge.cli.output import progress, write_output
    from adjudge.doctor import Examination, examine

    with progress() as tell:
        examination = examine(Examination(database=database, port=port), tell=tell)
    write_output({"all": examination}, json=json, output=output)
    if not examination.healthy:
        raise typer.Exit(1)
