"""`adjudge export`: what a served campaign has collected so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.serve import Campaign, Database

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


def export(
    campaign: Campaign,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .parquet or .csv.")],
    format: Annotated[  # noqa: A002
        str, typer.Option("--format", "-f", help="judgments (the native table, with history) or appraise (CSV).")
    ] = "judgments",
    with_excluded: Annotated[
        bool, typer.Option("--with-excluded", help="Keep excluded annotators, marked in column 'excluded'.")
    ] = False,
    database: Database = None,
    json: o.Json = False,
) -> None:
    """Export the judgments of a campaign at any time, also while it is served.

    Example: adjudge export campaign.toml -o judgments.parquet
    """
    from adjudge.cli.shared import put_out
    from adjudge.collect.serve import collected_so_far
    from adjudge.core.errors import unknown_choice
    from adjudge.core.exported import describe_export

    writers = {"judgments": _write_native, "appraise": _write_appraise}
    if format not in writers:
        raise unknown_choice("format", format, writers)
    judgments = collected_so_far(campaign, database=database, with_excluded=with_excluded)
    if format == "appraise":
        judgments = _without_withdrawn(judgments)
    writers[format](judgments, output)
    result = describe_export(judgments, {"format": format, "with_excluded": with_excluded})
    put_out({"all": result}, json=json, output=None)


def _without_withdrawn(judgments: Judgments) -> Judgments:
    """Judgments without attention checks, and without those that were taken back again, where there are scores."""
    import polars as pl

    judgments = judgments.keep(
        pl.col("kind") != "attention", otherwise="attention check, for which Appraise files have no type"
    )
    if judgments.table["rank"].is_not_null().any():
        return judgments
    return judgments.keep(
        pl.col("score").is_not_null(), otherwise="score that was taken back, which Appraise files cannot hold"
    )


def _write_native(judgments: Judgments, output: Path) -> None:
    from adjudge.formats import native

    native.write(judgments, output)


def _write_appraise(judgments: Judgments, output: Path) -> None:
    from adjudge.formats import appraise_write

    appraise_write.write(judgments, output)
