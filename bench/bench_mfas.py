"""Exact optima of tournaments beside the search of the paper: released ones, and random ones of growing size.

The paper's solver (Lopez 2012, Algorithm 1) is Dijkstra's search over sets of placed systems, written anew here with
sets as bits; it is stopped after ten seconds of CPU per tournament, and adjudge after thirty. CPU seconds. The released
tournaments are small enough for either; the search ends where many orders cost less than the cheapest full one.
"""

from __future__ import annotations

import heapq
import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adjudge.ranking.tournament import net_wins, solve

Net = NDArray[np.int64]
PATIENCE = 10.0


def released() -> dict[str, Net]:
    from adjudge.ranking.counts import tally
    from adjudge.readers.registry import read
    from adjudge.table.comparisons import comparisons

    folder = Path(os.environ.get("ADJUDGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "pairwise"
    nets: dict[str, Net] = {}
    for file in sorted(folder.glob("*")) if folder.is_dir() else []:
        counted = tally(comparisons(read([file], format="pairwise-counts")))
        nets[file.name] = net_wins(counted.without(counted.human).wins)
    return nets


def dijkstra(net: Net, patience: float) -> tuple[int | None, float]:
    """The cost by the paper's search, or None where it was stopped; and the CPU seconds."""
    start = time.process_time()
    n = len(net)
    everyone = (1 << n) - 1
    best = {0: 0}
    agenda = [(0, 0)]
    while agenda:
        cost, placed = heapq.heappop(agenda)
        if placed == everyone:
            return cost, time.process_time() - start
        if cost > best[placed]:
            continue
        if time.process_time() - start > patience:
            return None, time.process_time() - start
        left = [i for i in range(n) if not placed >> i & 1]
        for i in left:
            after, total = placed | 1 << i, cost + int(sum(net[j, i] for j in left))
            if total < best.get(after, 1 << 60):
                best[after] = total
                heapq.heappush(agenda, (total, after))
    return None, time.process_time() - start


def noisy(n: int, comparisons: int, seed: int) -> Net:
    """A tournament as campaigns have them: strengths differ, every pair met some times."""
    rng = np.random.default_rng(seed)
    strength = np.sort(rng.normal(0, 0.5, n))[::-1]
    p = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    wins = np.triu(rng.binomial(comparisons, p), 1).astype(float)
    lower = np.triu(comparisons - wins, 1).T
    return net_wins(wins + np.tril(lower, -1))


def pure_noise(n: int, seed: int) -> Net:
    wins = np.random.default_rng(seed).integers(0, 100, size=(n, n)).astype(float)
    return net_wins(wins)


def run() -> None:
    print(f"{'tournaments':38} {'adjudge':>9} {'search':>10} {'ratio':>8}   result")
    tournaments = released()
    if tournaments:
        _show(f"{len(tournaments)} released, {sum(map(len, tournaments.values()))} systems", list(tournaments.values()))
    for met in (20, 5):
        for n in (40, 60, 80):
            _show(f"{n} systems, every pair met {met} times", [noisy(n, met, 1)])
    for n in (20, 25, 30, 35, 40):
        _show(f"{n} systems, pure noise", [pure_noise(n, 1)])


def _show(name: str, nets: list[Net]) -> None:
    start = time.process_time()
    solutions = [solve(net, time_limit=30) for net in nets]
    mine = time.process_time() - start
    theirs = [dijkstra(net, PATIENCE) for net in nets]
    stopped = any(cost is None for cost, _ in theirs)
    total = sum(seconds for _, seconds in theirs)
    sign = ">" if stopped else " "
    cost, bound = sum(item.cost for item in solutions), sum(item.lower_bound for item in solutions)
    agree = all(cost in (None, their.cost) for (cost, _), their in zip(theirs, solutions, strict=True) if their.optimal)
    words = "proved optimal" if bound == cost else f"bound {bound}, gap {1 - bound / cost:.1%}"
    words += "" if agree else ", THE SEARCH DISAGREES"
    ratio = f"{sign}{total / mine:6.1f}x" if bound == cost else f"{'–':>8}"
    print(f"{name:38} {mine:7.2f} s {sign}{total:7.2f} s {ratio}   cost {cost}, {words}")


if __name__ == "__main__":
    run()
