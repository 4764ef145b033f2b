"""`adjudge demo`: the whole flow on a simulated campaign."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o

if TYPE_CHECKING:
    from adjudge.results.written import Written

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

    for line in run_demo(output, seed, calls=_own_name(), tell=_tell):
        _tell("")
        # Whoever asks for JSON gets nothing else on standard output.
        print(line, flush=True, file=sys.stderr if json else sys.stdout)
    if json:
        from adjudge.cli.shared import put_out

        put_out({"all": _written(output, seed)}, json=True, output=None)


def _tell(what: str) -> None:
    """Say what is at work on a line that the next one replaces, where a terminal watches."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        print(f"\r\x1b[2K  … {what}" if what else "\r\x1b[2K", end="", file=sys.stderr, flush=True)


def _own_name() -> str:
    """How this command is typed here: by its name where the shell finds it, else by its path."""
    called = Path(sys.argv[0]).absolute()
    if shutil.which("adjudge") or called.name != "adjudge":
        return "adjudge"
    return str(called.relative_to(Path.cwd()) if called.is_relative_to(Path.cwd()) else called)


def _written(folder: Path, seed: int) -> "Written":
    from adjudge.formats import read
    from adjudge.results.written import Written

    judgments = read([folder / "judgments.parquet"])
    return Written(
        command="demo",
        settings={"seed": seed},
        data=judgments.fingerprint,
        set_aside=judgments.set_aside,
        files=[str(folder / name) for name in FILES],
        pairs=list(judgments.by_pair()),
    )
