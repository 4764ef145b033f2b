"""A report of half a million scores: seconds and memory of the command, its workers included.

python -m bench large_report                       # a thousand annotators, 400 documents
python -m bench.bench_large_report few-annotators  # forty annotators, 3,000 documents
python -m bench.bench_large_report many-documents  # a thousand annotators, 4,000 documents, 20 systems
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from adjudge.planning.simulate import simulate
from adjudge.planning.simulated_scores import ScoreCampaign

SHAPES = {
    "many-annotators": ScoreCampaign(systems=15, annotators=1000, documents=400, tasks=5000),
    "few-annotators": ScoreCampaign(systems=12, annotators=40, documents=3000, tasks=5000),
    "many-documents": ScoreCampaign(systems=20, annotators=1000, documents=4000, segments=12, tasks=4500, controls=0.1),
}


def run(shape: str = "many-annotators") -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "judgments.parquet"
        judgments = simulate(SHAPES[shape], seed=1).judgments
        judgments.table.write_parquet(file)
        print(f"{shape}: {len(judgments):,} rows", flush=True)
        del judgments
        report = [sys.executable, "-m", "adjudge", "report", str(file), "-o", str(Path(folder) / "report.html")]
        watched("report", [*report, "--no-cache"])


def watched(name: str, command: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a command; prints them, and the most memory that all its processes held at one time."""
    started, before, most = time.perf_counter(), _children_cpu(), 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, sum(map(_memory, _family(process.pid))))
        time.sleep(0.2)
    wall, cpu = time.perf_counter() - started, _children_cpu() - before
    usage = f"{wall:7.1f} s wall {cpu:7.1f} s CPU {most / 1e9:6.2f} GB in all processes"
    print(f"{name:27} {usage}, exit code {process.returncode}", flush=True)
    return wall, cpu


def _children_cpu() -> float:
    usage = os.times()
    return usage.children_user + usage.children_system


def _family(pid: int) -> list[int]:
    """A process and all that it started, as Linux tells them."""
    try:
        threads = [file.read_text().split() for file in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has ended
        return []
    return [pid, *(descendant for children in threads for child in children for descendant in _family(int(child)))]


def _memory(pid: int) -> int:
    """The memory that a process holds; what several share is divided among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    run(*sys.argv[1:])
