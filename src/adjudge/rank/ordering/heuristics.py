"""Good orders fast: descent by the best single insertion, from several starts and from shaken orders.

All of this is heuristic and proves nothing; it provides the upper bound that makes proofs short.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.rng import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Ints

STARTS = 4
SHAKEN = 8


def cost_of(costs: Ints, order: Ints) -> int:
    """The cost of an order: of every pair, what placing the earlier one before the later one costs."""
    return int(np.triu(costs[np.ix_(order, order)], 1).sum())


def descend(costs: Ints, order: Ints) -> Ints:
    """Move one element at a time to its best place, the most rewarding move first, until no move pays."""
    excess = (costs - costs.T)[np.ix_(order, order)]
    earlier = np.tri(len(order), k=-1, dtype=excess.dtype)
    while len(order) > 1:
        place, new_place, gain = _best_move(excess, earlier)
        if gain <= 0:
            break
        positions = _moved(len(order), place, new_place)
        order, excess = order[positions], excess[positions][:, positions]
    return order.copy()


def _best_move(excess: Ints, earlier: Ints) -> tuple[int, int, int]:
    """The best move (from place, to place, gain); `excess[p, q]` is the cost of p before q minus that of q before p.

    Moving p down to q saves `excess[p, k]` for every k passed, moving it up costs as much; `earlier` marks q < p.
    """
    total = np.cumsum(excess, axis=1)
    gain = total - excess * earlier - np.diagonal(total)[:, None]
    place, new_place = divmod(int(gain.argmax()), len(gain))
    return place, new_place, int(gain[place, new_place])


def _moved(length: int, place: int, new_place: int) -> NDArray[np.int64]:
    """The positions of an order after one element has moved."""
    positions = np.arange(length)
    if place < new_place:
        positions[place:new_place] += 1
    else:
        positions[new_place + 1 : place + 1] -= 1
    positions[new_place] = place
    return positions


def first_order(costs: Ints) -> Ints:
    """A good order to begin with: descent from the order by total cost, and from a few random ones."""
    by_total = np.argsort((costs - costs.T).sum(1), kind="stable")
    rng = generator(1, len(costs))
    starts = [by_total, *(rng.permutation(len(costs)) for _ in range(STARTS))]
    return min((descend(costs, start) for start in starts), key=lambda order: cost_of(costs, order))


def shake(costs: Ints, order: Ints, *, goal: int, deadline: float) -> Ints:
    """Shuffle a stretch of the order and descend again, many times; stops at a cost of `goal` or half of the time."""
    rng = generator(2, len(costs))
    best, best_cost = order, cost_of(costs, order)
    halfway = (time.process_time() + deadline) / 2
    for _ in range(SHAKEN * len(order)):
        if best_cost <= goal or time.process_time() > halfway:
            break
        neighbour = descend(costs, _shaken(best, rng))
        cost = cost_of(costs, neighbour)
        if cost <= best_cost:
            best, best_cost = neighbour, cost
    return best


def _shaken(order: Ints, rng: np.random.Generator) -> Ints:
    """The order with a stretch of it shuffled."""
    size = int(rng.integers(3, max(4, len(order) // 3 + 1)))
    start = int(rng.integers(0, max(1, len(order) - size + 1)))
    other = order.copy()
    other[start : start + size] = rng.permutation(other[start : start + size])
    return other
