"""Options that several commands share, so that they have the same name, meaning and help everywhere."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.core.rng import DEFAULT_SEED

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="Judgments: files, or a folder where the format has several.")
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

__all__ = ["DEFAULT_SEED", "Files", "Json", "Output", "ReportFile", "Seed"]
