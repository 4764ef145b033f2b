"""What all cheapest orders have in common: how many there are, and which places each element takes in them.

Most pairs are settled by the reduced costs of one linear program. For the others an order is looked for that is
cheapest and turns as many of them around as possible; what no such order turns around stands the same way in all.
Elements that some order turns around form blocks, small as a rule, in which the cheapest orders are counted
by dynamic programming over the sets of elements that can come first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.ordering.cheapest import Pairs, cheapest_order, relax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Bools, Ints

MOST_SETS = 100_000


@dataclass(frozen=True, eq=False)
class Optima:
    """All cheapest orders: how many, and the first and last place (from 0) that each element takes among them.

    Where `complete` is false, time or memory ran out, and there are at least so many. Where `places_complete` is false,
    an element may take places beyond those told; every place told is taken in some cheapest order.
    """

    number: int
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    complete: bool
    places_complete: bool


@dataclass(frozen=True, eq=False)
class _Known:
    """Cheapest orders found so far, which pairs stand the same way in all there are, and whether that is final."""

    orders: list[Ints]
    fixed: Bools
    final: bool


def find_optima(costs: Ints, order: Ints, cost: int, *, deadline: float) -> Optima:
    """All cheapest orders, given one of them and its cost; stops at `deadline` (of `time.process_time`)."""
    known = _known(costs, order, cost, deadline)
    first, last = _places_for_sure(costs, known.orders)
    number, complete, places_complete = 1, known.final, known.final
    for block in _blocks(known.fixed, order):
        try:
            if not known.final:
                break
            inner = np.ix_(block, block)
            counted = count_block(costs[inner], known.fixed[inner], deadline=deadline)
        except TooManyError:
            complete = False
            widest_first, widest_last = _widest(known.fixed)
            exact = (first[block] == widest_first[block]) & (last[block] == widest_last[block])
            places_complete &= bool(exact.all())
        else:
            offset = int(known.fixed[:, block].all(1).sum())
            number *= counted.number
            first[block], last[block] = counted.first + offset, counted.last + offset
    return Optima(max(number, len(known.orders)), first, last, complete, places_complete)


def _known(costs: Ints, order: Ints, cost: int, deadline: float) -> _Known:
    """Turn around as many pairs as cheapest orders allow, until no further one can be turned."""
    orders = [order]
    settled = _settled(costs, cost, deadline)
    alike = _before(order)
    while (open_pairs := alike & ~settled).any():
        scale = int(open_pairs.sum()) + 1
        cheapest = cheapest_order(costs * scale + open_pairs, deadline=deadline)
        if cheapest.cost != cheapest.lower_bound or time.process_time() > deadline:
            return _Known(orders, alike, final=False)
        turned = open_pairs & ~_before(cheapest.order)
        if not turned.any():
            break
        orders.append(cheapest.order)
        alike &= _before(cheapest.order)
    return _Known(orders, alike, final=True)


def _before(order: Ints) -> Bools:
    """`before[i, j]`: the order places i before j."""
    position = np.argsort(order)
    return np.asarray(position[:, None] < position[None, :])


def _settled(costs: Ints, cost: int, deadline: float) -> Bools:
    """`settled[i, j]`: the linear program proves that placing j before i costs more than the cheapest order."""
    pairs = Pairs(costs)
    settled = np.zeros((pairs.n, pairs.n), dtype=bool)
    relaxed = relax(pairs, deadline=deadline)
    if relaxed is not None and relaxed.complete:
        low, high = relaxed.limits(cost)
        settled[pairs.first, pairs.second] = low > 0
        settled[pairs.second, pairs.first] = high < 1
    return settled


def _closed(before: Bools) -> Bools:
    """The transitive closure of a relation."""
    while True:
        step = before.astype(np.float32)
        wider = before | (step @ step > 0)
        if (wider == before).all():
            return before
        before = wider


def _places_for_sure(costs: Ints, orders: list[Ints]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places that elements surely take: whatever respects the same preferences as a cheapest order is as cheap."""
    n = len(costs)
    first, last = np.full(n, n), np.full(n, -1)
    for order in orders:
        earliest, latest = _widest(_closed(_before(order) & (costs < costs.T)))
        first, last = np.minimum(first, earliest), np.maximum(last, latest)
    return first, last


def _widest(before: Bools) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last place of each element in orders that respect the relation (closed under transitivity)."""
    return before.sum(0), len(before) - 1 - before.sum(1)


def _blocks(fixed: Bools, order: Ints) -> list[NDArray[np.int64]]:
    """Elements joined by pairs that are not fixed; every block stands as a whole before or after every other."""
    from scipy.sparse.csgraph import connected_components

    number, label = connected_components(~(fixed | fixed.T), directed=False)
    blocks = [np.flatnonzero(label == block) for block in range(number)]
    position = np.argsort(order)
    return sorted(blocks, key=lambda block: int(position[block].min()))


class TooManyError(Exception):
    """There are too many sets to go through, or no time is left for it."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The number of cheapest orders, and the first and last place (from 0) of each element in them."""

    number: int
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass
class _Start:
    """A set of elements that come first: the least cost of placing them before the rest, and in how many ways."""

    cost: int
    ways: int


def count_block(costs: NDArray[np.int64], before: NDArray[np.bool_], *, deadline: float) -> Counted:
    """Count the cheapest orders among those that respect `before` (closed under transitivity)."""
    levels = _levels(_Steps(costs, before), deadline)
    return _places(_Steps(costs, before), levels)


class _Steps:
    """Which elements can follow a set of placed ones (a bit each), and what that costs."""

    def __init__(self, costs: NDArray[np.int64], before: NDArray[np.bool_]) -> None:
        self.n = len(costs)
        self.rows: list[list[int]] = costs.tolist()
        self.needs = [sum(1 << int(i) for i in np.flatnonzero(before[:, j])) for j in range(self.n)]

    def after(self, placed: int) -> list[tuple[int, int, int]]:
        """(element, set with it, cost of placing it before all that are left)."""
        left = [j for j in range(self.n) if not placed >> j & 1]
        return [
            (element, placed | 1 << element, sum(self.rows[element][j] for j in left if j != element))
            for element in left
            if not self.needs[element] & ~placed
        ]


def _levels(steps: _Steps, deadline: float) -> list[dict[int, _Start]]:
    """The sets of 0, 1, 2, ... elements that can come first."""
    levels = [{0: _Start(0, 1)}]
    seen = 1
    for _ in range(steps.n):
        following: dict[int, _Start] = {}
        for placed, start in levels[-1].items():
            if seen + len(following) > MOST_SETS or time.process_time() > deadline:
                raise TooManyError
            for _, larger, step in steps.after(placed):
                known = following.get(larger)
                if known is None or start.cost + step < known.cost:
                    following[larger] = _Start(start.cost + step, start.ways)
                elif start.cost + step == known.cost:
                    known.ways += start.ways
        levels.append(following)
        seen += len(following)
    return levels


def _places(steps: _Steps, levels: list[dict[int, _Start]]) -> Counted:
    """Go back from the full set along the cheapest steps, and note who is placed where."""
    (everyone,) = levels[-1]
    first, last = np.full(steps.n, steps.n), np.full(steps.n, -1)
    reached = {everyone}
    for position in range(steps.n - 1, -1, -1):
        earlier: set[int] = set()
        for placed, start in levels[position].items():
            for element, larger, step in steps.after(placed):
                if larger in reached and start.cost + step == levels[position + 1][larger].cost:
                    first[element], last[element] = min(first[element], position), max(last[element], position)
                    earlier.add(placed)
        reached = earlier
    return Counted(levels[-1][everyone].ways, first, last)
