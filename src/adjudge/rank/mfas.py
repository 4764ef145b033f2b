"""`mfas`: the order that contradicts the fewest judgments, a minimum feedback arc set (Lopez 2012).

Two systems are joined by an edge from the one that won more of their comparisons, weighted by how many more; a pair
without a lead has no edge. The cost of an order is the weight of the edges that point upward. The order is proved to be
cheapest, unless time runs out; then the best one found comes with a proved lower bound. Where several orders are
cheapest, the one given has been moved towards the order by net wins as far as single moves that cost nothing lead;
`rank.tournament` says how many there are and who can move.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.ordering.cheapest import cheapest_order
from adjudge.rank.ordering.heuristics import descend
from adjudge.rank.ordering.optima import find_optima
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.rank.counts import Tally

TIME_LIMIT = 60.0


@dataclass(frozen=True, eq=False)
class MfasSolution:
    """An order (system indices, the best first), its cost, and the proved lower bound of any order's cost."""

    order: NDArray[np.int64]
    cost: int
    lower_bound: int

    @property
    def optimal(self) -> bool:
        """Whether no order is cheaper."""
        return self.cost == self.lower_bound


def net_wins(wins: NDArray[np.float64]) -> NDArray[np.int64]:
    """`net[i, j]`: how many more comparisons i won against j than it lost, 0 where it did not lead."""
    return np.maximum(np.rint(wins - wins.T), 0).astype(np.int64)


def contradicted_wins(net: NDArray[np.int64], order: NDArray[np.int64]) -> int:
    """The weight of the edges that an order contradicts: later systems that lead over earlier ones."""
    return int(np.tril(net[np.ix_(order, order)], -1).sum())


def solve(net: NDArray[np.int64], *, time_limit: float = TIME_LIMIT) -> MfasSolution:
    """The cheapest order of a tournament, component by component.

    Args:
        net: net wins, as `net_wins` gives them.
        time_limit: seconds of CPU after which the best order found is returned.
    """
    deadline = time.process_time() + time_limit
    order: list[int] = []
    cost = bound = 0
    for component in components(net):
        part = np.array(component, dtype=np.int64)
        inner = net[np.ix_(part, part)]
        # Placing i before j costs what j leads by.
        cheapest = cheapest_order(inner.T.copy(), deadline=deadline) if len(part) > 1 else None
        order += part.tolist() if cheapest is None else part[cheapest.order].tolist()
        cost += cheapest.cost if cheapest else 0
        bound += cheapest.lower_bound if cheapest else 0
    return MfasSolution(_towards_net_wins(net, np.array(order, dtype=np.int64)), cost, bound)


def _towards_net_wins(net: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move systems, where that costs nothing, so that those with more net wins come first."""
    total = (net - net.T).sum(1)
    out_of_turn = (total[:, None] < total[None, :]).astype(np.int64)
    # A contradicted judgment outweighs all pairs that are out of turn together.
    return descend(net.T * len(net) ** 2 + out_of_turn, order)


def components(net: NDArray[np.int64]) -> list[list[int]]:
    """Strongly connected components, each before those that it leads over."""
    from scipy.sparse.csgraph import connected_components

    number, label = connected_components(net > 0, directed=True, connection="strong")
    members = [np.flatnonzero(label == component).tolist() for component in range(number)]
    leads = np.zeros((number, number), dtype=bool)
    first, second = np.nonzero(net)
    leads[label[first], label[second]] = True
    np.fill_diagonal(leads, val=False)
    ordered: list[list[int]] = []
    left = set(range(number))
    while left:
        unbeaten = [component for component in left if not any(leads[other, component] for other in left)]
        ready = min(unbeaten, key=lambda component: members[component][0])
        ordered.append(members[ready])
        left.remove(ready)
    return ordered


def scores(tally: Tally) -> NDArray[np.float64]:
    """Minus the rank of every system in the cheapest order; for each tally of a batch.

    Where several orders are cheapest, the middle of a system's ranks among them is taken, if ordering by it is cheapest
    too: systems that nothing separates then share a rank. Resamples take one cheapest order each.
    """
    if tally.wins.ndim > 2:
        # Hard tournaments take up to a minute each, so that resamples are shared among processes.
        orders = map_tasks(_cheapest_order, list(tally.wins), what="resampled tournaments")
        return np.stack([-_ranks(order) for order in orders])
    net = net_wins(tally.wins)
    solution = solve(net)
    ranks = _ranks(solution.order)
    if solution.optimal:
        deadline = time.process_time() + TIME_LIMIT
        optima = find_optima(net.T.copy(), solution.order, solution.cost, deadline=deadline)
        middle = 1 + (optima.first + optima.last) / 2
        if optima.complete and contradicted_wins(net, np.argsort(middle, kind="stable")) == solution.cost:
            ranks = middle
    return -ranks


def _cheapest_order(wins: NDArray[np.float64]) -> NDArray[np.int64]:
    return solve(net_wins(wins)).order


def _ranks(order: NDArray[np.int64]) -> NDArray[np.float64]:
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks
