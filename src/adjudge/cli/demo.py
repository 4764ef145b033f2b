"""`adjudge demo`: the whole flow on a simulated campaign."""

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli import options as o


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path("demo"),
    seed: o.Seed = o.DEFAULT_SEED,
) -> None:
    """Run the whole flow on a simulated campaign: judgments, check, agreement, ranking, audit, report.

    Example: adjudge demo --output demo
    """
    from adjudge.cli.demo_steps import run_demo

    for line in run_demo(output, seed):
        print(line, flush=True)
