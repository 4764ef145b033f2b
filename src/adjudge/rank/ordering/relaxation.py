"""Lower bounds by linear programs: a variable per pair (1 where i comes before j), and cuts added where violated.

An order satisfies, for every three elements, x_ij + x_jk + x_ki <= 2 (no 3-cycle); that is all an order needs besides
whole numbers (Grötschel, Jünger & Reinelt 1984). There are n^3 / 3 such inequalities, of which few are ever needed.

A bound is computed anew from the multipliers that the solver returns (any non-negative ones give a true bound), so
that no proof rests on the solver's tolerances.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats


TOLERANCE = 1e-6
# Cuts with less slack than this are kept for the next program: they are likely to be needed again.
NEAR = 0.5
# More cuts at once would only slow the program down; the most violated ones come first.
MOST_CUTS = 25_000


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

    def chosen(self, rows: NDArray[np.bool_]) -> Cuts:
        """Some of the inequalities."""
        return Cuts(self.matrix[np.flatnonzero(rows)], self.limit[rows])


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The solution of a linear program: the point, the proved bound, reduced costs, and which cuts are close to x."""

    x: Floats
    bound: float
    reduced: Floats
    near: NDArray[np.bool_]


class Pairs:
    """The variables of a problem: one per pair (i, j) with i < j, and the objective over them."""

    def __init__(self, costs: NDArray[np.int64]) -> None:
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

    def limits(self, before: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Lower and upper limits of the variables where some pairs are decided: `before[i, j]`, i comes before j."""
        low = before[self.first, self.second].astype(float)
        high = 1.0 - before[self.second, self.first].astype(float)
        return low, high

    def preferred(self) -> Floats:
        """Every pair in its cheaper order, as if it were alone; halfway where both orders cost the same."""
        return np.asarray((1.0 - np.sign(self.objective)) / 2)

    def no_cuts(self) -> Cuts:
        """The empty set of inequalities."""
        import scipy.sparse as sp

        return Cuts(sp.csr_array((0, self.number)), np.zeros(0))

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


def solve_relaxation(pairs: Pairs, cuts: Cuts, low: Floats, high: Floats, *, deadline: float) -> Relaxed | None:
    """Minimise the objective under the cuts and limits; None where the solver was stopped or gave up."""
    from scipy.optimize import linprog

    left = deadline - time.process_time()
    for method in ("highs-ipm", "highs-ds"):
        if left <= 0:
            return None
        answer = linprog(
            pairs.objective,
            A_ub=cuts.matrix,
            b_ub=cuts.limit,
            bounds=np.stack([low, high], axis=1),
            method=method,
            options={"time_limit": left},
        )
        if answer.status == 0:
            multipliers = np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0)
            bound, reduced = proved_bound(pairs, cuts, multipliers, low, high)
            return Relaxed(np.asarray(answer.x), bound, reduced, np.asarray(answer.slack) < NEAR)
        left = deadline - time.process_time()
    return None


def proved_bound(pairs: Pairs, cuts: Cuts, multipliers: Floats, low: Floats, high: Floats) -> tuple[float, Floats]:
    """A true lower bound from non-negative multipliers of the cuts, and the reduced cost of every variable.

    Adding `multipliers @ (matrix @ x - limit)` to the objective makes no order dearer, and leaves every variable free
    to choose the better end of its range.
    """
    reduced = pairs.objective + cuts.matrix.T @ multipliers
    chosen = np.where(reduced > 0, reduced * low, reduced * high)
    return float(pairs.constant - cuts.limit @ multipliers + chosen.sum()), reduced


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
