"""The cheapest order, proved so by linear programs over pairs and, where these do not suffice, one in whole numbers.

A variable per pair is 1 where i comes before j. An order satisfies, for every three elements, x_ij + x_jk + x_ki <= 2
(no 3-cycle); that is all an order needs besides whole numbers (Grötschel, Jünger & Reinelt 1984). There are n^3 / 3
such inequalities, of which few are ever needed: they are added where a solution violates them. Costs are whole numbers,
so a bound above `cost - 1` proves an order to be cheapest.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.table.rng import generator

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.table.maths import Bools, Floats, Ints


# Good orders fast: descent by the best single insertion, from several starts and from shaken orders.
#
# All of this is heuristic and proves nothing; it provides the upper bound that makes proofs short.


STARTS = 4
SHAKEN = 8


def cost_of(costs: Ints, order: Ints) -> int:
    """The cost of an order: of every pair, what placing the earlier one before the later one costs."""
    return int(np.triu(costs[np.ix_(order, order)], 1).sum())


def descend(costs: Ints, order: Ints) -> Ints:
    """Move one element at a time to its best place, the most rewarding move first, until no move pays."""
    # `excess[p, q]` is the cost of p before q minus that of q before p; `earlier` marks q < p.
    excess = (costs - costs.T)[np.ix_(order, order)]
    earlier = np.tri(len(order), k=-1, dtype=excess.dtype)
    while len(order) > 1:
        # Moving p down to q saves `excess[p, k]` for every k passed, moving it up costs as much.
        total = np.cumsum(excess, axis=1)
        gain = total - excess * earlier - np.diagonal(total)[:, None]
        place, new_place = divmod(int(gain.argmax()), len(gain))
        if gain[place, new_place] <= 0:
            break
        positions = np.arange(len(order))
        if place < new_place:
            positions[place:new_place] += 1
        else:
            positions[new_place + 1 : place + 1] -= 1
        positions[new_place] = place
        order, excess = order[positions], excess[positions][:, positions]
    return order.copy()


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
        size = int(rng.integers(3, max(4, len(order) // 3 + 1)))
        start = int(rng.integers(0, max(1, len(order) - size + 1)))
        other = best.copy()
        other[start : start + size] = rng.permutation(other[start : start + size])
        neighbour = descend(costs, other)
        cost = cost_of(costs, neighbour)
        if cost <= best_cost:
            best, best_cost = neighbour, cost
    return best


TOLERANCE = 1e-6
# More cuts at once would only slow the program down; the most violated ones come first.
MOST_CUTS = 25_000


@dataclass(frozen=True, eq=False)
class Ordered:
    """The best order found, its cost, and the proved lower bound: equal to the cost where the order is optimal."""

    order: NDArray[np.int64]
    cost: int
    lower_bound: int


def cheapest_order(costs: Ints, *, deadline: float) -> Ordered:
    """The cheapest order, proved so unless `deadline` (of `time.process_time`) comes first."""
    order, bound = first_order(costs), packed_bound(costs)
    if bound < cost_of(costs, order):
        order, bound = _prove(costs, order, bound, deadline)
    cost = cost_of(costs, order)
    return Ordered(order, cost, min(cost, bound))


def _prove(costs: Ints, order: Ints, bound: int, deadline: float) -> tuple[Ints, int]:
    """A better order, or the same where none is found; and a better bound, at least the cost where it is cheapest."""
    pairs = Pairs(costs)
    relaxed = relax(pairs, goal=cost_of(costs, order), deadline=deadline)
    if relaxed is None:
        return order, bound
    bound = max(bound, _least_cost(relaxed.bound))
    if bound >= cost_of(costs, order) or not relaxed.complete:
        return order, bound
    order = _cheaper(costs, order, descend(costs, pairs.order(relaxed.x)))
    if bound < cost_of(costs, order):
        order = _cheaper(costs, order, shake(costs, order, goal=bound, deadline=deadline))
    if bound < cost_of(costs, order):
        found, bound = _solve_in_whole_numbers(pairs, relaxed, cost_of(costs, order), deadline=deadline)
        order = order if found is None else _cheaper(costs, order, descend(costs, found))
    return order, bound


def _cheaper(costs: Ints, order: Ints, other: Ints) -> Ints:
    """The other order where it costs less."""
    return other if cost_of(costs, other) < cost_of(costs, order) else order


def _least_cost(bound: float) -> int:
    """The least whole number that is not below the bound."""
    return math.ceil(bound - TOLERANCE)


@dataclass(frozen=True, eq=False)
class Cuts:
    """Inequalities `matrix @ x <= limit` that every order satisfies."""

    matrix: sp.csr_array
    limit: Floats

    def __len__(self) -> int:
        return len(self.limit)

    def joined(self, other: Cuts) -> Cuts:
        """Both sets of inequalities."""
        import scipy.sparse as sp

        return Cuts(sp.vstack([self.matrix, other.matrix], format="csr"), np.concatenate([self.limit, other.limit]))


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The solution of a linear program: its cuts, the point, the proved bound, and the reduced costs."""

    cuts: Cuts
    x: Floats
    bound: float
    reduced: Floats
    complete: bool = False
    """Whether the point violates no 3-cycle inequality."""

    def limits(self, most: float) -> tuple[Floats, Floats]:
        """Lower and upper limits of the variables in orders that cost at most this: some pairs have one order only."""
        decided = self.bound + np.abs(self.reduced) > most + TOLERANCE
        return (decided & (self.reduced < 0)).astype(float), (~decided | (self.reduced <= 0)).astype(float)


class Pairs:
    """The variables of a problem: one per pair (i, j) with i < j, and the objective over them."""

    def __init__(self, costs: Ints) -> None:
        self.n = len(costs)
        self.first, self.second = np.triu_indices(self.n, 1)
        self.number = len(self.first)
        self.variable = np.zeros((self.n, self.n), dtype=np.int64)
        self.variable[self.first, self.second] = self.variable[self.second, self.first] = np.arange(self.number)
        self.objective = (costs - costs.T)[self.first, self.second].astype(float)
        self.constant = float(costs.T[self.first, self.second].sum())

    def matrix(self, x: Floats) -> NDArray[np.float64]:
        """The variables as a matrix: how far i comes before j."""
        full = np.zeros((self.n, self.n))
        full[self.first, self.second] = x
        full[self.second, self.first] = 1 - x
        return full

    def order(self, x: Floats) -> NDArray[np.int64]:
        """The order that is closest to the variables: elements that come before more others first."""
        return np.argsort(-self.matrix(x).sum(1), kind="stable")

    def preferred(self) -> Floats:
        """Every pair in its cheaper order, as if it were alone; halfway where both orders cost the same."""
        return np.asarray((1.0 - np.sign(self.objective)) / 2)

    def broken_cycles(self, x: Floats) -> Cuts:
        """The 3-cycle inequalities that x violates."""
        full = self.matrix(x)
        cycles = [np.zeros((3, 0), dtype=np.int64)]
        excess = [np.zeros(0)]
        for i in range(self.n - 2):
            later = slice(i + 1, self.n)
            around = full[i, later][:, None] + full[later, later] + full[later, i][None, :]
            j, k = np.nonzero(around > 2 + TOLERANCE)
            cycles.append(np.stack([np.full(len(j), i), j + i + 1, k + i + 1]))
            excess.append(around[j, k])
        worst = np.argsort(-np.concatenate(excess), kind="stable")[:MOST_CUTS]
        return self._cycle_cuts(np.concatenate(cycles, axis=1)[:, worst])

    def _cycle_cuts(self, cycles: NDArray[np.int64]) -> Cuts:
        """x_ij + x_jk + x_ki <= 2 for every column (i, j, k), with 1 - x_ba written for x_ab where a > b."""
        import scipy.sparse as sp

        start, end = cycles, np.roll(cycles, -1, axis=0)
        sign = np.where(start < end, 1.0, -1.0)
        rows = np.broadcast_to(np.arange(cycles.shape[1]), cycles.shape)
        entries = (sign.ravel(), (rows.ravel(), self.variable[start, end].ravel()))
        matrix = sp.csr_array(entries, shape=(cycles.shape[1], self.number))
        return Cuts(matrix, 2.0 - (sign < 0).sum(0))


def relax(pairs: Pairs, *, goal: float = math.inf, deadline: float) -> Relaxed | None:
    """Solve the linear program, adding broken cycles until none is left, the bound reaches `goal`, or time is up."""
    cuts = pairs.broken_cycles(pairs.preferred())
    last: Relaxed | None = None
    while (solved := _solve_relaxation(pairs, cuts, deadline=deadline)) is not None:
        broken = pairs.broken_cycles(solved.x)
        last = replace(solved, complete=not len(broken))
        if last.complete or _least_cost(last.bound) >= goal:
            break
        cuts = cuts.joined(broken)
    return last


def _solve_relaxation(pairs: Pairs, cuts: Cuts, *, deadline: float) -> Relaxed | None:
    """Minimise the objective under the cuts; None where the solver was stopped or gave up."""
    from scipy.optimize import linprog

    for method in ("highs-ipm", "highs-ds"):
        left = deadline - time.process_time()
        if left <= 0:
            return None
        answer = linprog(
            pairs.objective, A_ub=cuts.matrix, b_ub=cuts.limit, bounds=(0, 1), method=method,
            options={"time_limit": left},
        )  # fmt: skip
        if answer.status == 0:
            multipliers = np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0)
            return Relaxed(cuts, np.asarray(answer.x), *proved_bound(pairs, cuts, multipliers))
    return None


def proved_bound(pairs: Pairs, cuts: Cuts, multipliers: Floats) -> tuple[float, Floats]:
    """A true lower bound from any non-negative multipliers of the cuts, and the reduced cost of every variable.

    Adding `multipliers @ (matrix @ x - limit)` to the objective makes no order dearer, and leaves every variable free
    to choose its better end. So the proof does not rest on the solver's tolerances.
    """
    reduced = pairs.objective + cuts.matrix.T @ multipliers
    return float(pairs.constant - cuts.limit @ multipliers + np.minimum(reduced, 0).sum()), reduced


def _solve_in_whole_numbers(
    pairs: Pairs, relaxed: Relaxed, cost: int, *, deadline: float
) -> tuple[NDArray[np.int64] | None, int]:
    """An order that costs less than `cost`, None where none was found; and a proved bound, `cost` where there is none.

    The time that is left is CPU time, of which the solver uses at most one second per second.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    cuts, bound, x = relaxed.cuts, _least_cost(relaxed.bound), None
    limits = Bounds(*relaxed.limits(cost - 1))
    while (left := deadline - time.process_time()) > 0:
        answer = milp(
            pairs.objective,
            integrality=np.ones(pairs.number),
            bounds=limits,
            constraints=LinearConstraint(cuts.matrix, ub=cuts.limit),
            options={"time_limit": left, "mip_rel_gap": 0.0},
        )
        if answer.status == 2:  # infeasible
            return None, cost
        if answer.mip_dual_bound is not None:
            bound = max(bound, min(cost, _least_cost(answer.mip_dual_bound + pairs.constant)))
        x = x if answer.x is None else np.rint(answer.x)
        broken = None if x is None or answer.status else pairs.broken_cycles(x)
        if bound >= cost or broken is None or not len(broken):
            break
        cuts = cuts.joined(broken)
    return None if x is None else pairs.order(x), bound


def packed_bound(costs: NDArray[np.int64]) -> int:
    """A quick lower bound without a linear program: 3-cycles of preferences that share no weight, heavy pairs last.

    Every order contradicts some preference of each cycle, so it costs at least what disjoint cycles weigh together, and
    the cheaper side of every pair. Often that already proves a good order to be cheapest.
    """
    left = np.maximum(costs.T - costs, 0)
    packed = 0
    first, second = np.nonzero(left)
    for pair in np.argsort(left[first, second], kind="stable"):
        i, j = first[pair], second[pair]
        # Cycles i -> j -> k -> i for different k share only the pair (i, j).
        room = np.minimum(left[j], left[:, i])
        used = np.minimum(room, np.maximum(left[i, j] - (np.cumsum(room) - room), 0))
        left[j] -= used
        left[:, i] -= used
        left[i, j] -= used.sum()
        packed += int(used.sum())
    return int(np.triu(np.minimum(costs, costs.T), 1).sum()) + packed


# What all cheapest orders have in common: how many there are, and which places each element takes in them.
#
# Most pairs are settled by the reduced costs of one linear program. For the others an order is looked for that is
# cheapest and turns as many of them around as possible; what no such order turns around stands the same way in all.
# Elements that some order turns around form blocks, small as a rule, in which the cheapest orders are counted
# by dynamic programming over the sets of elements that can come first.


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


def find_optima(costs: Ints, order: Ints, cost: int, *, deadline: float) -> Optima:
    """All cheapest orders, given one of them and its cost; stops at `deadline` (of `time.process_time`)."""
    orders, fixed, final = _turn_around(costs, order, cost, deadline)
    first, last = _places_for_sure(costs, orders)
    number, complete, places_complete = 1, final, final
    for block in _blocks(fixed, order) if final else ():
        try:
            inner = np.ix_(block, block)
            ways, block_first, block_last = count_block(costs[inner], fixed[inner], deadline=deadline)
        except TooManyError:
            complete = False
            widest_first, widest_last = _widest(fixed)
            exact = (first[block] == widest_first[block]) & (last[block] == widest_last[block])
            places_complete &= bool(exact.all())
        else:
            offset = int(fixed[:, block].all(1).sum())
            number *= ways
            first[block], last[block] = block_first + offset, block_last + offset
    return Optima(max(number, len(orders)), first, last, complete, places_complete)


def _turn_around(costs: Ints, order: Ints, cost: int, deadline: float) -> tuple[list[Ints], Bools, bool]:
    """Turn around as many pairs as cheapest orders allow, until no further one can be turned.

    Cheapest orders found so, which pairs stand the same way in all there are, and whether that is final.
    """
    orders = [order]
    settled = _settled(costs, cost, deadline)
    alike = _before(order)
    while (open_pairs := alike & ~settled).any():
        scale = int(open_pairs.sum()) + 1
        cheapest = cheapest_order(costs * scale + open_pairs, deadline=deadline)
        if cheapest.cost != cheapest.lower_bound or time.process_time() > deadline:
            return orders, alike, False
        turned = open_pairs & ~_before(cheapest.order)
        if not turned.any():
            break
        orders.append(cheapest.order)
        alike &= _before(cheapest.order)
    return orders, alike, True


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


def count_block(costs: Ints, before: Bools, *, deadline: float) -> tuple[int, Ints, Ints]:
    """How many cheapest orders respect `before` (closed under transitivity), and each element's first and last place.

    By sets of elements (a bit each) that come first: the least cost of placing them before the rest, and in how many
    ways.
    """
    n, rows = len(costs), costs.tolist()
    needs = [sum(1 << int(i) for i in np.flatnonzero(before[:, j])) for j in range(n)]

    def steps(placed: int) -> list[tuple[int, int, int]]:
        """What can follow a set: (element, set with it, cost of placing it before all that are left)."""
        left = [j for j in range(n) if not placed >> j & 1]
        return [
            (element, placed | 1 << element, sum(rows[element][j] for j in left if j != element))
            for element in left
            if not needs[element] & ~placed
        ]

    levels = [{0: (0, 1)}]
    for _ in range(n):
        levels.append(_following(levels[-1], steps, MOST_SETS - sum(map(len, levels)), deadline))
    # Back from the full set along the cheapest steps: who is placed where.
    (everyone,) = levels[-1]
    first, last = np.full(n, n), np.full(n, -1)
    reached = {everyone}
    for position in range(n - 1, -1, -1):
        earlier: set[int] = set()
        for placed, (cost, _) in levels[position].items():
            for element, larger, step in steps(placed):
                if larger in reached and cost + step == levels[position + 1][larger][0]:
                    first[element], last[element] = min(first[element], position), max(last[element], position)
                    earlier.add(placed)
        reached = earlier
    return levels[-1][everyone][1], first, last


def _following(
    level: dict[int, tuple[int, int]], steps: Callable[[int], list[tuple[int, int, int]]], most: int, deadline: float
) -> dict[int, tuple[int, int]]:
    """The sets of one element more that can come first, with their least cost and in how many ways."""
    following: dict[int, tuple[int, int]] = {}
    for placed, (cost, ways) in level.items():
        if len(following) > most or time.process_time() > deadline:
            raise TooManyError
        for _, larger, step in steps(placed):
            least, others = following.get(larger, (cost + step, 0))
            if cost + step <= least:
                following[larger] = (cost + step, ways + (others if cost + step == least else 0))
    return following
