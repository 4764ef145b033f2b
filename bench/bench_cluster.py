"""A hundred language pairs audited and a thousand campaigns simulated: in one process, in two, on a dask cluster.

python -m bench cluster                              # starts a scheduler and two workers on this machine
python bench/bench_cluster.py tcp://first:8786       # uses the workers of a scheduler that is there

Prints wall seconds, CPU seconds of the command (on a cluster those of the client, which limit what it can bring), and
ratios of wall seconds, and says where the results differ, which they must not.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter
from typing import TYPE_CHECKING

import polars as pl
from tests.helpers.clusters import Cluster

from adjudge.planning.simulate import simulate
from adjudge.planning.simulated_scores import ScoreCampaign

if TYPE_CHECKING:
    from collections.abc import Iterator

PAIRS, CAMPAIGNS = 100, 1000
SMALL = ScoreCampaign(systems=3, annotators=8, tasks=10)
AUDIT = ("audit", "pairs.parquet", "--no-cache", "--json")
SIMULATE = (
    "simulate",
    "--protocol",
    "da",
    "--campaigns",
    str(CAMPAIGNS),
    "-o",
    "campaigns/judgments.parquet",
    "--json",
)


def run() -> None:
    """Run both commands in each of the three ways."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        _write_pairs(folder / "pairs.parquet")
        (folder / "campaigns").mkdir()
        address = sys.argv[1] if len(sys.argv) > 1 else stack.enter_context(_cluster(folder))
        _compare(f"{PAIRS} language pairs audited", AUDIT, folder, address)
        _compare(f"{CAMPAIGNS} campaigns simulated", SIMULATE, folder, address)


def _write_pairs(path: Path) -> None:
    tables = [
        simulate(SMALL, seed=number).judgments.table.with_columns(target_lang=pl.lit(f"x{number:02}"))
        for number in range(PAIRS)
    ]
    pl.concat(tables).write_parquet(path)


@contextmanager
def _cluster(folder: Path) -> Iterator[str]:
    """A scheduler and two workers with one thread each."""
    started = Cluster(folder)
    try:
        started.wait_for_workers()
        yield started.address
    finally:
        started.close()


def _compare(what: str, command: tuple[str, ...], folder: Path, address: str) -> None:
    alone, seconds, cpu = _timed(folder, *command, "--jobs", "1")
    print(f"{what}, one process: {seconds:.1f} s, {cpu:.1f} s of CPU", flush=True)
    for name, options in (("two processes", ("--jobs", "2")), ("cluster", ("--scheduler", address))):
        output, own, own_cpu = _timed(folder, *command, *options)
        same = "same JSON" if output == alone else "DIFFERENT JSON"
        ratio = f"{seconds / own:.2f} times as fast"
        print(f"{what}, {name}: {own:.1f} s, {own_cpu:.1f} s of CPU, {ratio}, {same}", flush=True)


def _timed(folder: Path, *arguments: str) -> tuple[str, float, float]:
    """What a command prints, and its wall and CPU seconds: on a cluster, those of the client alone."""
    started, used = perf_counter(), getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "adjudge", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    now = getrusage(RUSAGE_CHILDREN)
    return done.stdout, perf_counter() - started, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


if __name__ == "__main__":
    run()
