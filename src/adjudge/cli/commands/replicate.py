"""`adjudge replicate`: a paper's tables from its released data."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def replicate(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="One of document-qe, grain-of-salt, in-order, stability, suboptimal.",
            autocompletion=o.complete_papers,
        ),
    ],
    data: Annotated[Path, typer.Option("--data", "-d", metavar="DIR", help="Folder of the paper's released data.")],
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Recompute a paper's tables from its released data, published and recomputed side by side.

    Example: adjudge replicate grain-of-salt --data wmt10
    """
    from adjudge.cli.output import write_output
    from adjudge.replicate import replicate

    write_output({paper: replicate(paper, data)}, json=json, output=output)
