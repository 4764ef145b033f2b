"""Pages dealt out to tasks: by the optimiser, and as the workshops did it (sampled until a task is full).

Prints systems per task, in how many tasks two systems meet, and by how many points the company of a system moves
differences of z-scores (systems' standard deviation 5). CPU seconds of the optimiser stand beside.
"""

from __future__ import annotations

import math
import time

import numpy as np

from adjudge.campaigns.allocation import Unit, spread_units
from adjudge.campaigns.design_report import SYSTEMS, count_meetings, distances, mean_company

CAPACITY = 88


def pages(systems: int, documents: int, seed: int = 1) -> list[Unit]:
    """One page per document and system; documents have 7 to 14 segments."""
    rng = np.random.default_rng(seed)
    lengths = [int(rng.integers(7, 15)) for _ in range(documents)]
    return [Unit(n, {f"S{s:02d}": n}, str(d)) for d, n in enumerate(lengths) for s in range(systems)]


def by_luck(units: list[Unit], rng: np.random.Generator) -> list[list[int]]:
    """Sampled without replacement; a task is closed when the next page does not fit."""
    tasks: list[list[int]] = [[]]
    for i in rng.permutation(len(units)):
        if sum(units[j].size for j in tasks[-1]) + units[i].size > CAPACITY:
            tasks.append([])
        tasks[-1].append(int(i))
    return tasks


def describe(name: str, units: list[Unit], tasks: list[list[int]], seconds: float) -> str:
    """One line of the table."""
    names = tuple(sorted({system for unit in units for system in unit.systems}))
    table = np.zeros((len(tasks), len(names)))
    for t, group in enumerate(tasks):
        for i in group:
            for system, count in units[i].systems.items():
                table[t, names.index(system)] += count
    met = count_meetings("task", names, table)
    held = (table > 0).sum(axis=1)
    worst = SYSTEMS * distances(mean_company(table)).max()
    cv = met.cv if met.cv is not None else math.nan
    return (
        f"{name:10} {len(names):8} {len(tasks):6} {held.min():5}-{held.max():<3} {met.least:5}-{met.most:<4} "
        f"{cv:6.3f} {worst:7.2f} {seconds:8.2f}"
    )


def main() -> None:
    """Print the table."""
    print("            systems  tasks  held      meet        cv   worst   CPU s")
    for systems, documents in ((6, 60), (10, 60), (16, 60), (20, 100)):
        units = pages(systems, documents)
        rng = np.random.default_rng(1)
        print(describe("luck", units, by_luck(units, rng), 0.0))
        start = time.process_time()
        tasks = spread_units(units, capacity=CAPACITY, rng=rng)
        print(describe("adjudge", units, tasks, time.process_time() - start))


if __name__ == "__main__":
    main()
