"""Better orders where they are hard to find: many local optima, crossed with each other (a memetic search).

In noise, descents from different starts end in different places, and shaking one of them seldom leads to the best. A
child takes the place of each element from either parent and is then settled by descent and shaking. Heuristic, like
all of `insertion`: it proves nothing, but a cheaper order decides more pairs in branch and bound.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.rng import generator
from adjudge.rank.ordering.insertion import cost_of, descend, shaken

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Order = NDArray[np.int64]
    Costs = NDArray[np.int64]

PARENTS = 8
CHILDREN = 24
PATIENCE = 40
"""Shakes in a row that may fail before an order counts as settled."""
SHARE = 0.1
"""Of the time that is left; the rest is for proving."""


def search_widely(costs: Costs, order: Order, *, goal: int, deadline: float) -> Order:
    """The cheapest order found, or the one given where none is cheaper; stops at a cost of `goal`."""
    now = time.process_time()
    search = _Search(costs, goal, now + SHARE * (deadline - now))
    found = search.run()
    return found if cost_of(costs, found) < cost_of(costs, order) else order


class _Search:
    def __init__(self, costs: Costs, goal: int, deadline: float) -> None:
        self.costs = costs
        self.goal = goal
        self.deadline = deadline
        self.rng = generator(4, len(costs))

    def run(self) -> Order:
        alive = [self._settled(self.rng.permutation(len(self.costs)))]
        while len(alive) < PARENTS and not self._over(alive):
            alive.append(self._settled(self.rng.permutation(len(self.costs))))
        for _ in range(CHILDREN):
            if self._over(alive):
                break
            child = self._settled(self._crossed(alive))
            worst = max(range(len(alive)), key=lambda one: alive[one][0])
            if child[0] <= alive[worst][0] and not any((child[1] == other).all() for _, other in alive):
                alive[worst] = child
        return min(alive, key=lambda one: one[0])[1]

    def _over(self, alive: list[tuple[int, Order]]) -> bool:
        return min(cost for cost, _ in alive) <= self.goal or time.process_time() > self.deadline

    def _crossed(self, alive: list[tuple[int, Order]]) -> Order:
        """Every element at its place in one parent or the other, chosen at random."""
        one, other = self.rng.choice(len(alive), 2, replace=False)
        places = [np.argsort(alive[parent][1]) for parent in (one, other)]
        return np.argsort(np.where(self.rng.random(len(self.costs)) < 0.5, *places), kind="stable")

    def _settled(self, start: Order) -> tuple[int, Order]:
        order = descend(self.costs, start)
        cost, failed = cost_of(self.costs, order), 0
        while failed < PATIENCE:
            found = descend(self.costs, shaken(order, self.rng))
            other = cost_of(self.costs, found)
            failed = 0 if other < cost else failed + 1
            if other <= cost:
                order, cost = found, other
        return cost, order
