"""Repeated work: an audit in one process, in all of them, and from the cache; prints seconds and ratios.

python bench/bench_work.py                # a simulated campaign
python bench/bench_work.py FOLDER PAIR    # a folder of released direct assessment, as newstest2021-toen de-en

Then `rank`, `audit` and `report` of one language pair of the released scores, as commands in one process, with the
ratios of their CPU seconds; and `audit` and `report` over all language pairs, with one process and with two. Nothing
comes from the cache but the library of the charts. Wall times mean something on a machine only that does nothing else;
the CPU seconds of both ways together with them tell how much dividing the work costs, and how long one core waited for
the other.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from os import environ
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from adjudge.evidence.audit import audit
from adjudge.mixed.model import forget_models
from adjudge.planning.simulate import simulate
from adjudge.planning.simulated_scores import ScoreCampaign
from adjudge.ranking.methods import rank
from adjudge.readers.registry import read
from adjudge.work.tasks import workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.table.judgments import Judgments

ROOT = Path(__file__).resolve().parent.parent
ALL_PAIRS = "wmt21/newstest2021-toen"


def run() -> None:
    """Time each way once, with nothing remembered from the one before."""
    judgments = _judgments()
    print(f"{len(judgments):,} rows, {len(judgments.systems)} systems")
    ranked = _timed("rank, method mixed", lambda: rank(judgments, method="mixed"))
    with tempfile.TemporaryDirectory() as folder:
        environ["XDG_CACHE_HOME"] = folder
        with workers(jobs=1, cache=False):
            alone = _timed("audit in one process", lambda: audit(judgments))
        with workers(cache=True):
            together = _timed("audit in all processes", lambda: audit(judgments))
            again = _timed("audit from the cache", lambda: audit(judgments))
    print(f"one process / all processes: {alone[0] / together[0]:.2f} in wall time")
    print(f"one process / from the cache: {alone[0] / again[0]:.0f} in wall time")
    print(f"audit / rank: {alone[1] / ranked[1]:.1f} in CPU time")
    folder_of_pairs = Path(environ.get("ADJUDGE_DATA", ROOT.parent / "shared" / "data")) / ALL_PAIRS
    if folder_of_pairs.is_dir():
        _one_pair(folder_of_pairs, "de-en")
        for command in ("audit", "report"):
            _one_and_two_processes(command, folder_of_pairs)


def _one_pair(folder: Path, pair: str) -> None:
    """Wall and CPU seconds of the commands on one language pair, and how many rankings each takes."""
    # Once before, so that the library of the charts is there as it is from the second report on.
    _command("report", folder, "--pair", pair)
    commands = {"rank": ("--method", "mixed"), "audit": ("--jobs", "1"), "report": ("--jobs", "1")}
    seconds = {name: _command(name, folder, "--pair", pair, *options) for name, options in commands.items()}
    for name, (wall, cpu) in seconds.items():
        ratio = "" if name == "rank" else f", {cpu / seconds['rank'][1]:.1f} times the CPU of rank"
        print(f"{name} of {pair}: {wall:6.1f} s wall {cpu:6.1f} s CPU{ratio}", flush=True)


def _one_and_two_processes(command: str, folder: Path) -> None:
    """Wall and CPU seconds of a command over all language pairs, with one process and with two."""
    walls: list[float] = []
    for jobs in ("1", "2"):
        wall, cpu = _command(command, folder, "--jobs", jobs)
        walls.append(wall)
        print(f"{command} of all pairs, --jobs {jobs}: {wall:6.1f} s wall {cpu:6.1f} s CPU", flush=True)
    print(f"{command} of all pairs, one process / two: {walls[0] / walls[1]:.2f} in wall time", flush=True)


def _command(command: str, folder: Path, *options: str) -> tuple[float, float]:
    """Wall and CPU seconds of a command that computes everything anew."""
    with tempfile.TemporaryDirectory() as name:
        output = ("-o", str(Path(name) / "report.html")) if command == "report" else ("--json",)
        fresh = () if command == "rank" else ("--no-cache",)
        started, used = perf_counter(), _cpu(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "adjudge", command, str(folder), "--format", "wmt-da", *fresh, *options, *output],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return perf_counter() - started, _cpu(resource.RUSAGE_CHILDREN) - used


def _judgments() -> Judgments:
    if len(sys.argv) > 2:
        return read([sys.argv[1]], format="wmt-da").for_pair(sys.argv[2])
    return simulate(ScoreCampaign(systems=6, annotators=20, tasks=60), seed=1).judgments


def _timed(what: str, work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds, the latter of this process and of its workers that have ended."""
    forget_models()
    started, used = perf_counter(), _cpu()
    work()
    seconds = perf_counter() - started, _cpu() - used
    print(f"{what:24s} {seconds[0]:7.1f} s wall {seconds[1]:7.1f} s CPU here")
    return seconds


def _cpu(whose: int = resource.RUSAGE_SELF) -> float:
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    run()
