"""Options that several commands share, so that they have the same name, meaning and help everywhere."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.core.rng import DEFAULT_SEED

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Judgments: files, or a folder where the format has several.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", help="Format of the files; the native table where left out. 'adjudge formats' lists all."
    ),
]
Pair = Annotated[
    str | None,
    typer.Option("--pair", "-p", metavar="SRC-TGT", help="Language pair, as cs-en; all pairs where left out."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write to this file instead: .json, .csv, .tex or text, by its ending."),
]
ReportFile = Annotated[
    Path | None, typer.Option("--report", metavar="OUT.html", help="Also write a page with charts to this file.")
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of everything random; the same seed gives the same result.")
]
Human = Annotated[
    str | None, typer.Option("--human", help="Regular expression for systems that are human translations.")
]
SegmentColumn = Annotated[str | None, typer.Option(help="rank-table: the column that identifies the segment.")]
RankColumns = Annotated[
    str | None, typer.Option(help="rank-table: the rank columns, one per candidate, joined by commas.")
]
Batches = Annotated[list[Path] | None, typer.Option(help="appraise: batch files (JSON or zip) of the tasks.")]
Stacked = Annotated[int, typer.Option(help="rank-lines: annotators that stand one after the other in each file.")]
Annotators = Annotated[Path | None, typer.Option(help="appraise: file that maps accounts to people.")]

__all__ = [
    "DEFAULT_SEED", "Annotators", "Batches", "Files", "Format", "Human", "Json", "Output", "Pair", "RankColumns",
    "ReportFile", "Seed", "SegmentColumn", "Stacked",
]  # fmt: skip
