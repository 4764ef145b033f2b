"""Scores: twelve rankings of one language pair, and a million rows of CSV to z-scores and system means.

Beside the second stands the same by pandas, the usual way: read, group by worker, merge, group by segment and system.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

ROWS = 1_000_000


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.csv"
        _make(file)
        _timed("adjudge, a million rows", lambda: _ours(file))
        _timed("pandas, a million rows", lambda: _pandas(file))
    _stability()


def _timed(name: str, work: Callable[[], str]) -> None:
    wall, cpu = time.time(), time.process_time()
    top = work()
    wall, cpu = time.time() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name:28} {wall:6.2f} s wall {cpu:6.2f} s CPU   peak so far {peak} MB   {top}")


def _stability() -> None:
    from adjudge.evidence.stability import stability
    from adjudge.readers.registry import read

    data = Path(os.environ.get("ADJUDGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    folder = data / "wmt21" / "newstest2021-toen"
    if not folder.is_dir():
        print("released judgments are not there: the rankings of one language pair are left out")
        return
    start = time.process_time()
    judgments = read([folder], format="wmt-da").for_pair("de-en")
    reading = time.process_time() - start
    start = time.process_time()
    rows = stability(judgments)
    twelve = 12 * (time.process_time() - start) / len(rows)
    print(f"de-en, {len(judgments):,} judgments: 12 rankings with lines {twelve:.2f} s CPU")
    print(f"reading all seven pairs: {reading:.2f} s CPU")


def _make(file: Path) -> None:
    rng = np.random.default_rng(1)
    annotator, system, segment = (rng.integers(n, size=ROWS) for n in (1000, 20, 2000))
    score = np.clip(
        np.round(60 + 10 * rng.normal(size=1000)[annotator] + system / 2 + 20 * rng.normal(size=ROWS)), 0, 100
    )
    pl.DataFrame(
        {
            "system": np.array([f"sys{i:02d}" for i in range(20)])[system],
            "annotator": np.array([f"w{i:04d}" for i in range(1000)])[annotator],
            "document": np.array([f"d{i:03d}" for i in range(100)])[segment // 20],
            "segment": segment,
            "score": score.astype(int),
        }
    ).write_csv(file)


def _ours(file: Path) -> str:
    from adjudge.ranking.methods import rank
    from adjudge.readers.registry import read

    best = rank(read(file), method="zscore").systems[0]
    return f"{best.system} {best.score:.4f}"


def _pandas(file: Path) -> str:
    import pandas as pd

    table = pd.read_csv(file)
    by = table.groupby("annotator")["score"]
    table["z"] = (table["score"] - by.transform("mean")) / by.transform("std")
    items = table.groupby(["system", "document", "segment"], observed=True)["z"].mean()
    means = items.groupby("system").mean().sort_values(ascending=False)
    return f"{means.index[0]} {means.iloc[0]:.4f}"


if __name__ == "__main__":
    run()
