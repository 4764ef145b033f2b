"""Exact optima of tournaments: the released ones beside the search of the paper, and random ones of growing size.

The paper's solver (Lopez 2012, Algorithm 1) is Dijkstra's search over sets of placed systems, written anew here; it is
stopped after some seconds per tournament, so its total is a lower bound where it did not finish.
"""

from __future__ import annotations

import heapq
import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adjudge.rank.mfas import net_wins, solve

Net = NDArray[np.int64]
PATIENCE = 10.0


def released() -> dict[str, Net]:
    from adjudge.core.comparisons import comparisons
    from adjudge.formats import read
    from adjudge.rank.tally import tally

    folder = Path(os.environ.get("ADJUDGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "pairwise"
    found: dict[str, Net] = {}
    for file in sorted(folder.glob("*")) if folder.is_dir() else []:
        counted = tally(comparisons(read([file], format="pairwise-counts")))
        found[file.name] = net_wins(counted.without(counted.human).wins)
    return found


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
    tournaments = released()
    if tournaments:
        start = time.process_time()
        ours = [solve(net) for net in tournaments.values()]
        mine = time.process_time() - start
        theirs = [dijkstra(net, PATIENCE) for net in tournaments.values()]
        unfinished = sum(cost is None for cost, _ in theirs)
        total = sum(seconds for _, seconds in theirs)
        proved = all(one.optimal for one in ours)
        print(f"{len(ours)} released tournaments: cost {sum(one.cost for one in ours)}, all proved optimal: {proved}")
        print(f"  adjudge {mine:.2f} s   the paper's search {total:.1f} s ({unfinished} stopped)   {total / mine:.0f}x")
    for n, met in ((40, 20), (60, 20), (80, 20)):
        _show(f"realistic, {n} systems", noisy(n, met, 1))
    for n in (25, 30, 35, 40):
        _show(f"pure noise, {n} systems", pure_noise(n, 1))


def _show(name: str, net: Net) -> None:
    start = time.process_time()
    found = solve(net, time_limit=30)
    seconds = time.process_time() - start
    gap = 1 - found.lower_bound / max(found.cost, 1)
    words = "proved optimal" if found.optimal else f"bound {found.lower_bound}, gap {gap:.1%}"
    print(f"{name:26} {seconds:6.2f} s   cost {found.cost}   {words}")


if __name__ == "__main__":
    run()
