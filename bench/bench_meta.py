"""All pairs of 20 metrics over 20 systems x 2,000 segments, 1,000 permutations each, in CPU seconds.

What others need is quoted from measurements of mt-metrics-eval's own code, extrapolated from single pairs: about 1,240
CPU seconds pooled, three days by item, twelve hours for tie-calibrated accuracy.
"""

from __future__ import annotations

import time

import numpy as np

from adjudge.metrics.levels import item_parts
from adjudge.metrics.significance import permute_groups, permute_pearson
from adjudge.work.tasks import workers

SYSTEMS, SEGMENTS, METRICS, PERMUTATIONS = 20, 2000, 20, 1000
THEIRS = {"pearson, pooled": 1240.0, "pearson, by item": 72 * 3600.0, "tie-calibrated accuracy": 12 * 3600.0}


def run() -> None:
    """In one process, so that its CPU time is that of all the work."""
    with workers(jobs=1):
        _run()


def _run() -> None:
    rng = np.random.default_rng(1)
    human = np.round(rng.normal(0, 1, size=(SYSTEMS, SEGMENTS)), 1)
    metrics = {f"m{k}": human * (0.2 + k / 20) + rng.normal(size=human.shape) for k in range(METRICS)}
    print("190 pairs of metrics, 1,000 permutations: CPU seconds")
    for name, by_item in (("pearson, pooled", False), ("pearson, by item", True)):
        start = time.process_time()
        permute_pearson(human, metrics, by_item=by_item, permutations=PERMUTATIONS, rng=np.random.default_rng(1))
        _show(name, time.process_time() - start)
    start = time.process_time()
    parts = {name: item_parts(human, metric) for name, metric in metrics.items()}
    permute_groups(parts, permutations=PERMUTATIONS, rng=np.random.default_rng(1))
    _show("tie-calibrated accuracy", time.process_time() - start)


def _show(name: str, seconds: float) -> None:
    ratio = THEIRS[name] / seconds
    print(f"{name:26} adjudge {seconds:7.1f}   mt-metrics-eval {THEIRS[name]:10,.0f}   ratio {ratio:8,.0f}")


if __name__ == "__main__":
    run()
