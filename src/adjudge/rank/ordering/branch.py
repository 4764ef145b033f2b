"""Branch and bound: proves which order is cheapest, or how far from the cheapest the best one found may be.

A node is a set of decided pairs, closed under transitivity. Its linear program gives a bound; since costs are whole
numbers, a bound above `best - 1` closes it. Pairs whose other order would cost too much are decided at once (reduced
costs); otherwise the pair that is most undecided in the program is decided both ways.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.rng import generator
from adjudge.rank.ordering.heuristics import cost_of, descend, first_order, search_widely, shake
from adjudge.rank.ordering.odd_cuts import odd_cuts
from adjudge.rank.ordering.relaxation import TOLERANCE, Cuts, Pairs, Relaxed, packed_bound, solve_relaxation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Bools


ROUNDS_AT_ROOT = 15
ROUNDS_BELOW = 1
# A round of odd cuts that closes less of the gap than this is the last one.
WORTHWHILE = 0.02


@dataclass(frozen=True, eq=False)
class Ordered:
    """The best order found, its cost, and the proved lower bound: equal to the cost where the order is optimal."""

    order: NDArray[np.int64]
    cost: int
    lower_bound: int


@dataclass(frozen=True, order=True)
class _Node:
    bound: float
    age: int
    before: Bools = field(compare=False)
    cuts: Cuts = field(compare=False)


class _Stopped(Exception):  # noqa: N818
    """The time is up."""


def cheapest_order(costs: NDArray[np.int64], *, deadline: float) -> Ordered:
    """The cheapest order, proved so unless `deadline` (of `time.process_time`) comes first."""
    return _Search(costs, deadline).run()


def closed(before: Bools) -> Bools | None:
    """The transitive closure of the decided pairs, or None where they contradict each other."""
    while True:
        step = before.astype(np.float32)
        wider = before | (step @ step > 0)
        if (wider & wider.T).any():
            return None
        if (wider == before).all():
            return before
        before = wider


class _Search:
    def __init__(self, costs: NDArray[np.int64], deadline: float) -> None:
        self.costs = costs
        self.deadline = deadline
        self.pairs = Pairs(costs)
        self.rng = generator(3, len(costs))
        self.best = first_order(costs)
        self.cost = cost_of(costs, self.best)
        self.nodes_made = 0
        self.proved_bound = 0.0
        self.shaken = False
        self.searched = False

    def run(self) -> Ordered:
        n = self.pairs.n
        root = _Node(float(packed_bound(self.costs)), 0, np.zeros((n, n), dtype=bool), self.pairs.no_cuts())
        heap = [root]
        while heap and not self._closes(heap[0].bound):
            self.proved_bound = heap[0].bound
            node = heapq.heappop(heap)
            try:
                children = self._children(node)
            except _Stopped:
                lower_bound = min([self.proved_bound, *(node.bound for node in heap)])
                return Ordered(self.best, self.cost, min(self.cost, math.ceil(lower_bound - TOLERANCE)))
            for child in children:
                heapq.heappush(heap, child)
        return Ordered(self.best, self.cost, self.cost)

    def _closes(self, bound: float) -> bool:
        return math.ceil(bound - TOLERANCE) >= self.cost

    def _offer(self, order: NDArray[np.int64]) -> None:
        cost = cost_of(self.costs, order)
        if cost < self.cost:
            self.best, self.cost = order, cost

    def _children(self, node: _Node) -> list[_Node]:
        """The two halves of a node, or none where its bound closes it."""
        tightened = self._tightened(node)
        if tightened is None:
            return []
        node, relaxed = tightened
        if self._found_cheaper(node):
            return self._children(node)
        halfway = np.minimum(relaxed.x, 1 - relaxed.x)
        low, high = self.pairs.limits(node.before)
        halfway[low == high] = 0
        pair = int((halfway * (1 + np.abs(self.pairs.objective))).argmax())
        i, j = int(self.pairs.first[pair]), int(self.pairs.second[pair])
        children: list[_Node] = []
        for earlier, later in ((i, j), (j, i)):
            before = node.before.copy()
            before[earlier, later] = True
            decided = closed(before)
            if decided is not None:
                self.nodes_made += 1
                children.append(_Node(node.bound, -self.nodes_made, decided, node.cuts))
        return children

    def _found_cheaper(self, node: _Node) -> bool:
        """Before the first pair is decided both ways, look for a better order far and wide: it saves many nodes."""
        if self.searched:
            return False
        self.searched = True
        previous_cost, goal = self.cost, math.ceil(node.bound - TOLERANCE)
        self._offer(search_widely(self.costs, self.best, goal=goal, deadline=self.deadline))
        return self.cost < previous_cost

    def _tightened(self, node: _Node) -> tuple[_Node, Relaxed] | None:
        """Bound a node as well as is worthwhile; None where that closes it."""
        rounds = ROUNDS_BELOW if self.nodes_made else ROUNDS_AT_ROOT
        previous = -math.inf
        while True:
            solved = self._without_broken_cycles(node)
            if solved is None:
                return None
            node, relaxed = solved
            if self._is_closed_by(node, relaxed):
                return None
            decided = self._decided(node, relaxed)
            if decided is None:
                return None
            low, high = self.pairs.limits(decided)
            moved = bool(((relaxed.x < low - TOLERANCE) | (relaxed.x > high + TOLERANCE)).any())
            node = replace(node, before=decided)
            if moved:
                continue
            gap = self.cost - 1 - node.bound
            new_cuts = odd_cuts(self.pairs, relaxed.x, self.rng) if rounds else self.pairs.no_cuts()
            if not len(new_cuts) or node.bound - previous < WORTHWHILE * gap:
                return node, relaxed
            rounds -= 1
            previous = node.bound
            node = replace(node, cuts=node.cuts.joined(new_cuts))

    def _without_broken_cycles(self, node: _Node) -> tuple[_Node, Relaxed] | None:
        """Solve the program, adding violated cycle inequalities until none is left; None where that closes the node."""
        low, high = self.pairs.limits(node.before)
        cuts = node.cuts
        if not len(cuts):
            cuts = self.pairs.broken_cycles(np.clip(self.pairs.preferred(), low, high))
        while True:
            relaxed = solve_relaxation(self.pairs, cuts, low, high, deadline=self.deadline)
            if relaxed is None:
                raise _Stopped
            node = replace(node, bound=max(node.bound, relaxed.bound))
            self.proved_bound = node.bound
            if self._closes(node.bound):
                return None
            new_cuts = self.pairs.broken_cycles(relaxed.x)
            if not len(new_cuts):
                return replace(node, cuts=cuts.chosen(relaxed.near)), relaxed
            cuts = cuts.joined(new_cuts)

    def _is_closed_by(self, node: _Node, relaxed: Relaxed) -> bool:
        """Look for a better order near the program's point, and see whether it closes the node."""
        rounded = np.argsort(-self.pairs.matrix(relaxed.x).sum(1), kind="stable")
        self._offer(descend(self.costs, rounded))
        if not self.shaken and not self._closes(node.bound):
            self.shaken = True
            self._offer(shake(self.costs, self.best, goal=math.ceil(node.bound - TOLERANCE), deadline=self.deadline))
        whole = bool((np.minimum(relaxed.x, 1 - relaxed.x) < TOLERANCE).all())
        return whole or self._closes(node.bound)

    def _decided(self, node: _Node, relaxed: Relaxed) -> Bools | None:
        """Decide the pairs whose other order would cost at least as much as the best order found."""
        # Reduced costs belong to the bound of their own program, which may be lower than the best bound of the node.
        low, high = self.pairs.limits(node.before)
        too_costly = (low < high) & (relaxed.bound + np.abs(relaxed.reduced) > self.cost - 1 + TOLERANCE)
        forward, backward = too_costly & (relaxed.reduced < 0), too_costly & (relaxed.reduced > 0)
        before = node.before.copy()
        before[self.pairs.first[forward], self.pairs.second[forward]] = True
        before[self.pairs.second[backward], self.pairs.first[backward]] = True
        return closed(before)
