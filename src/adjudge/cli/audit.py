"""`adjudge audit`: how far a ranking can be trusted."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def audit(
    files: o.Files,
    format: o.Format = None,  # noqa: A002
    pair: o.Pair = None,
    only: Annotated[
        str | None, typer.Option(help="Sections to make, joined by commas; all that apply where left out.")
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="Method whose scores are audited; wins-or-ties for rankings.")
    ] = None,
    edits: Annotated[
        Path | None, typer.Option(help="Post-edits of the same campaign: the native table, or format wmt-edits.")
    ] = None,
    acceptability: Annotated[
        Path | None, typer.Option(help="Judgments of these edits: the native table, or format wmt-acceptability.")
    ] = None,
    seed: o.Seed = o.DEFAULT_SEED,
    human: o.Human = None,
    segment_column: o.SegmentColumn = None,
    rank_columns: o.RankColumns = None,
    batches: o.Batches = None,
    annotators: o.Annotators = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Audit the judgments: sampling, composition, and where direct comparisons contradict the scores.

    Example: adjudge audit data_RNK.csv --format wmt-ranking --pair en-cs --edits data_EDT.tsv
    """
    from adjudge.audit import AuditSettings, audit, read_companion
    from adjudge.cli.shared import for_each_pair, put_out, read_options, read_pairs

    options = read_options(
        human=human,
        pair=pair,
        segment_column=segment_column,
        rank_columns=rank_columns,
        batches=batches,
        annotators=annotators,
    )
    settings = AuditSettings(
        method=method,
        edits=read_companion(edits, "wmt-edits", options) if edits else None,
        acceptability=read_companion(acceptability, "wmt-acceptability", options) if acceptability else None,
        seed=seed,
    )
    names = only.split(",") if only is not None else None
    parts = read_pairs(files, format, pair, options)
    put_out(for_each_pair(parts, lambda part: audit(part, only=names, settings=settings)), json=json, output=output)
