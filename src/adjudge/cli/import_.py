"""`adjudge import`: any format of the field into the judgment table."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def import_(
    files: o.Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write: .parquet or .csv.")],
    format: o.Format = None,  # noqa: A002
    pair: o.Pair = None,
    human: o.Human = None,
    segment_column: o.SegmentColumn = None,
    rank_columns: o.RankColumns = None,
    batches: o.Batches = None,
    annotators: o.Annotators = None,
    stacked: o.Stacked = 1,
    json: o.Json = False,
) -> None:
    """Read any format of the field and write the judgment table.

    Example: adjudge import data_RNK.csv --format wmt-ranking -o wmt10.parquet
    """
    from adjudge.cli.shared import put_out, read_options
    from adjudge.core.imported import describe
    from adjudge.core.languages import parse_pair
    from adjudge.formats import native, read

    chosen = read_options(
        human=human,
        pair=pair,
        segment_column=segment_column,
        rank_columns=rank_columns,
        batches=batches,
        annotators=annotators,
        stacked=stacked,
    )
    judgments = read(files, format=format, options=chosen)
    if pair is not None:
        judgments = judgments.for_pair(pair)
    native.write(judgments, output)
    settings = {
        "format": format or "judgments",
        "pair": parse_pair(pair) if pair else None,
        "human": human,
        "segment_column": segment_column,
        "rank_columns": rank_columns,
    }
    put_out({"all": describe(judgments, settings)}, json=json, output=None)
