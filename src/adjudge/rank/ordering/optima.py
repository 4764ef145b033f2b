"""What all cheapest orders have in common: which pairs any of them places which way, how many there are, who can move.

Most pairs are decided by the reduced costs of one linear program; for each of the others the problem is solved again
with the pair reversed. What is left free is few, so the orders themselves can be counted.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.ordering.branch import cheapest_order
from adjudge.rank.ordering.relaxation import TOLERANCE, Pairs, solve_relaxation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Costs = NDArray[np.int64]

MOST_STATES = 200_000


@dataclass(frozen=True, eq=False)
class Optima:
    """All cheapest orders: how many, and the first and last place that each element takes among them.

    `complete` is False where time or memory ran out; then there are at least so many, and places at least so wide.
    """

    number: int
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    complete: bool


def find_optima(costs: Costs, order: NDArray[np.int64], cost: int, *, deadline: float) -> Optima:
    """All cheapest orders, given one of them and its cost."""
    try:
        possible = _possible(costs, order, cost, deadline)
        return _counted(costs, possible, cost, deadline)
    except _TooMuch:
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return Optima(1, place, place, complete=False)


class _TooMuch(Exception):  # noqa: N818
    """Time or memory ran out."""


def _possible(costs: Costs, order: NDArray[np.int64], cost: int, deadline: float) -> NDArray[np.bool_]:
    """`possible[i, j]`: some cheapest order places i before j."""
    n = len(costs)
    possible = np.zeros((n, n), dtype=bool)
    _note(possible, order)
    decided = _decided(costs, cost, deadline)
    for later in range(n):
        for earlier in range(later):
            a, b = int(order[earlier]), int(order[later])
            if possible[b, a] or decided[a, b]:
                continue
            reversed_pair = costs.copy()
            reversed_pair[a, b] += cost + 1
            found = cheapest_order(reversed_pair, deadline=deadline)
            if time.process_time() > deadline:
                raise _TooMuch
            if found.cost == cost:
                _note(possible, found.order)
    return possible


def _note(possible: NDArray[np.bool_], order: NDArray[np.int64]) -> None:
    for place, element in enumerate(order):
        possible[element, order[place + 1 :]] = True


def _decided(costs: Costs, cost: int, deadline: float) -> NDArray[np.bool_]:
    """`decided[i, j]`: the linear program proves that placing j before i is dearer than the cheapest order."""
    pairs = Pairs(costs)
    low, high = pairs.limits(np.zeros((pairs.n, pairs.n), dtype=bool))
    preferred = np.where(pairs.objective < 0, 1.0, np.where(pairs.objective > 0, 0.0, 0.5))
    cuts = pairs.broken_cycles(preferred)
    while True:
        relaxed = solve_relaxation(pairs, cuts, low, high, deadline=deadline)
        if relaxed is None:
            raise _TooMuch
        new = pairs.broken_cycles(relaxed.x)
        if not len(new):
            break
        cuts = cuts.joined(new)
    dear = np.array([math.ceil(relaxed.bound + abs(one) - TOLERANCE) > cost for one in relaxed.reduced])
    decided = np.zeros((pairs.n, pairs.n), dtype=bool)
    forward, backward = dear & (relaxed.reduced < 0), dear & (relaxed.reduced > 0)
    decided[pairs.first[forward], pairs.second[forward]] = True
    decided[pairs.second[backward], pairs.first[backward]] = True
    return decided


class _Counter:
    """Counts cheapest completions of a set of placed elements, by dynamic programming over sets that can occur."""

    def __init__(self, costs: Costs, possible: NDArray[np.bool_], deadline: float) -> None:
        self.costs = [[int(one) for one in row] for row in costs]
        n = len(costs)
        # Who must have been placed before each element.
        self.needs = [sum(1 << j for j in range(n) if j != i and not possible[i, j]) for i in range(n)]
        self.everyone = (1 << n) - 1
        self.deadline = deadline
        self.found: dict[int, tuple[int, int]] = {self.everyone: (0, 1)}

    def next_after(self, placed: int) -> list[int]:
        """The elements that can come next."""
        return [i for i, needed in enumerate(self.needs) if not placed >> i & 1 and needed & ~placed == 0]

    def step(self, placed: int, element: int) -> int:
        """What placing the element next costs: it comes before all that are left."""
        row = self.costs[element]
        return sum(row[j] for j in range(len(row)) if j != element and not placed >> j & 1)

    def best(self, placed: int) -> tuple[int, int]:
        """The least cost of the rest, and in how many ways it is reached."""
        if placed in self.found:
            return self.found[placed]
        if len(self.found) > MOST_STATES or time.process_time() > self.deadline:
            raise _TooMuch
        least, ways = math.inf, 0
        for element in self.next_after(placed):
            rest, count = self.best(placed | 1 << element)
            cost = rest + self.step(placed, element)
            if cost < least:
                least, ways = cost, count
            elif cost == least:
                ways += count
        self.found[placed] = (int(least), ways) if ways else (1 << 60, 0)
        return self.found[placed]


def _counted(costs: Costs, possible: NDArray[np.bool_], cost: int, deadline: float) -> Optima:
    counter = _Counter(costs, possible, deadline)
    total, ways = counter.best(0)
    if total != cost:
        raise _TooMuch
    n = len(costs)
    first, last = np.full(n, n), np.full(n, -1)
    level = {0}
    for place in range(n):
        following: set[int] = set()
        for placed in level:
            left = counter.best(placed)[0]
            for element in counter.next_after(placed):
                after = placed | 1 << element
                if counter.best(after)[0] + counter.step(placed, element) == left:
                    first[element], last[element] = min(first[element], place), max(last[element], place)
                    following.add(after)
        level = following
    return Optima(ways, first, last, complete=True)
