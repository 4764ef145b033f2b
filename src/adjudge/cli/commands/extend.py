"""`adjudge extend`: more people, texts, systems or judgments for a campaign that has begun."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.commands.serve import Campaign, Database


def extend(
    campaign: Campaign,
    judgments: Annotated[
        int,
        typer.Option(
            "--judgments", min=0, help="Add tasks for about so many more judgments of the same texts and systems."
        ),
    ] = 0,
    beside: Annotated[
        float,
        typer.Option("--beside", help="Scores: outputs of the former systems beside each output of a new system."),
    ] = 1.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be added, with the balance before and after.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option("--url", help="Public URL, with which new links begin. Default: that of the running server."),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option("--links", help="Append the new links to this TSV file (readable only by you), not printed."),
    ] = None,
    database: Database = None,
    json: o.Json = False,
) -> None:
    """Extend a campaign that runs or has run, without touching what was judged.

    Add annotators, systems or documents to the campaign file first; this command makes tasks for what is new.

    Example: adjudge extend campaign.toml --judgments 6 --dry-run
    """
    from adjudge.api.calls import as_command
    from adjudge.api.campaigns import extend as extend_campaign
    from adjudge.cli.output import write_output

    done = as_command(extend_campaign)(
        campaign, judgments=judgments, beside=beside, dry_run=dry_run, database=database, url=url, links=links
    )
    write_output({"all": done}, json=json, output=None)
    if not json and not dry_run:
        for link in done.links:
            print(f"  {link.name:<14} {link.link}")
        once = " Links are shown only once." if done.links else ""
        print(f"Servers that run take this up within a few seconds.{once}")
