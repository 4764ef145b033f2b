"""`adjudge export`: what a served campaign has collected so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o
from adjudge.cli.commands.serve import Campaign, Database

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments

# Formats that hold the texts themselves.
_WITH_TEXTS = ("mqm", "post-edits")


def export(
    campaign: Campaign,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; .parquet, .csv or .tsv for the judgment table.")
    ],
    format: Annotated[  # noqa: A002
        str,
        typer.Option(
            "--format", "-f", help="judgments (the judgment table, with history), appraise, mqm or post-edits."
        ),
    ] = "judgments",
    with_excluded: Annotated[
        bool, typer.Option("--with-excluded", help="Include excluded annotators, marked in the column 'excluded'.")
    ] = False,
    draws: Annotated[
        Path | None,
        typer.Option(
            "--draws", help="Adaptive campaigns: write every decision with its probabilities to this file (JSON lines)."
        ),
    ] = None,
    database: Database = None,
    json: o.Json = False,
) -> None:
    """Export the judgments of a served campaign, at any time.

    Example: adjudge export campaign.toml -o judgments.parquet
    """
    from adjudge.cli.output import write_output
    from adjudge.collect.serve import export_judgments
    from adjudge.core.errors import unknown_choice
    from adjudge.results.import_export import describe_export

    writers = {"judgments": _write_native, "appraise": _write_appraise, "mqm": _write_mqm, "post-edits": _write_edits}
    if format not in writers:
        raise unknown_choice("format", format, writers)
    if format == "judgments":
        o.check_table(output)
    texts = format in _WITH_TEXTS
    judgments = export_judgments(campaign, database=database, with_excluded=with_excluded, with_texts=texts)
    written = writers[format](judgments, output)
    if draws is not None:
        _write_draws(draws)
    result = describe_export(written, {"format": format, "with_excluded": with_excluded})
    write_output({"all": result}, json=json, output=None)


def _write_draws(file: Path) -> None:
    """Write the decisions, and say whether replaying the log reproduces them."""
    import sys
    from json import dumps

    from adjudge.collect.adaptive import draws, is_adaptive, replay
    from adjudge.core.errors import UsageError
    from adjudge.core.files import write_text
    from adjudge.core.wording import counted

    if not is_adaptive():
        raise UsageError("--draws is for adaptive campaigns; this campaign file has no [adaptive], leave it out")
    decisions = draws()
    write_text(file, "".join(dumps(decision, ensure_ascii=False) + "\n" for decision in decisions))
    differs = replay()
    outcome = "all reproduced from the log" if differs is None else f"decision {differs} is not reproduced from the log"
    print(f"{counted(len(decisions), 'decision')} written to {file}; {outcome}", file=sys.stderr)


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


def _write_native(judgments: Judgments, output: Path) -> Judgments:
    from adjudge.formats import native

    native.write(judgments, output)
    return judgments


def _write_appraise(judgments: Judgments, output: Path) -> Judgments:
    from adjudge.core.errors import DataError
    from adjudge.formats.appraise import writer

    if "postedit" in judgments.protocols:
        raise DataError("Appraise files hold no post-edits; export judgments or post-edits")
    kept = _without_withdrawn(judgments)
    writer.write(kept, output)
    return kept


def _write_mqm(judgments: Judgments, output: Path) -> Judgments:
    from adjudge.formats.mqm import writer

    writer.write(judgments, output)
    return writer.written(judgments)


def _write_edits(judgments: Judgments, output: Path) -> Judgments:
    from adjudge.formats.post_edits import write_post_edits

    return write_post_edits(judgments, output)
