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
    from adjudge.core.arrays import Ints


PARENTS = 8
CHILDREN = 24
PATIENCE = 40
"""Shakes in a row that may fail before an order counts as settled."""
SHARE = 0.1
"""Of the time that is left; the rest is for proving."""


def search_widely(costs: Ints, order: Ints, *, goal: int, deadline: float) -> Ints:
    """The cheapest order found, or the one given where none is cheaper; stops at a cost of `goal`."""
    now = time.process_time()
    search = _Search(costs, goal, now + SHARE * (deadline - now))
    best = search.run()
    return best if cost_of(costs, best) < cost_of(costs, order) else order


class _Search:
    def __init__(self, costs: Ints, goal: int, deadline: float) -> None:
        self.costs = costs
        self.goal = goal
        self.deadline = deadline
        self.rng = generator(4, len(costs))

    def run(self) -> Ints:
        alive = [self._settled(self.rng.permutation(len(self.costs)))]
        while len(alive) < PARENTS and not self._over(alive):
            alive.append(self._settled(self.rng.permutation(len(self.costs))))
        for _ in range(CHILDREN):
            if self._over(alive):
                break
            child = self._settled(self._crossed(alive))
            worst = max(range(len(alive)), key=lambda index: alive[index][0])
            if child[0] <= alive[worst][0] and not any((child[1] == other).all() for _, other in alive):
                alive[worst] = child
        return min(alive, key=lambda member: member[0])[1]

    def _over(self, alive: list[tuple[int, Ints]]) -> bool:
        return min(cost for cost, _ in alive) <= self.goal or time.process_time() > self.deadline

    def _crossed(self, alive: list[tuple[int, Ints]]) -> Ints:
        """Every element at its place in one parent or the other, chosen at random."""
        parents = self.rng.choice(len(alive), 2, replace=False)
        positions = [np.argsort(alive[parent][1]) for parent in parents]
        return np.argsort(np.where(self.rng.random(len(self.costs)) < 0.5, *positions), kind="stable")

    def _settled(self, start: Ints) -> tuple[int, Ints]:
        order = descend(self.costs, start)
        cost, failed = cost_of(self.costs, order), 0
        while failed < PATIENCE:
            neighbour = descend(self.costs, shaken(order, self.rng))
            neighbour_cost = cost_of(self.costs, neighbour)
            failed = 0 if neighbour_cost < cost else failed + 1
            if neighbour_cost <= cost:
                order, cost = neighbour, neighbour_cost
        return cost, order
