"""`adjudge demo`: the whole flow on a simulated campaign."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o

if TYPE_CHECKING:
    from adjudge.core.written import Written

FILES = ("judgments.parquet", "truth.json", "ranking.json", "report.html")


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path("demo"),
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
) -> None:
    """Run the whole flow on a simulated campaign: judgments, check, agreement, ranking, audit, report.

    Example: adjudge demo --output demo
    """
    from adjudge.cli.demo_steps import run_demo

    for line in run_demo(output, seed):
        # Whoever asks for JSON gets nothing else on standard output.
        print(line, flush=True, file=sys.stderr if json else sys.stdout)
    if json:
        from adjudge.cli.shared import put_out

        put_out({"all": _written(output, seed)}, json=True, output=None)


def _written(folder: Path, seed: int) -> "Written":
    from adjudge.core.written import Written
    from adjudge.formats import read

    judgments = read([folder / "judgments.parquet"])
    return Written(
        command="demo",
        settings={"seed": seed},
        data=judgments.fingerprint,
        set_aside=judgments.set_aside,
        files=[str(folder / name) for name in FILES],
        pairs=list(judgments.by_pair()),
    )
