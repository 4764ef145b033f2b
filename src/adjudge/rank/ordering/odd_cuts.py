"""Sharper cuts: odd closed walks of 3-cycle inequalities, halved and rounded down (zero-half cuts).

Take an odd number of inequalities with whole coefficients such that every variable appears an even number of times in
all; halve the sum and round its right side down: still true for every order, and violated by x where the slacks of
the inequalities add up to less than 1. Each 3-cycle inequality holds three variables; one of them is made even by
its bound (x >= 0 or x <= 1), so that the inequality is an edge between the other two. Walks are then shortest paths
in a graph that holds every variable twice, for even and for odd right sides (Caprara & Fischetti 1996). Möbius ladder
inequalities of the linear ordering polytope are found this way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.ordering.relaxation import TOLERANCE, Cuts

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.core.arrays import Ints
    from adjudge.rank.ordering.relaxation import Pairs


SOURCES = 200
LONGEST_EDGE = 0.5
LONGEST_WALK = 0.9


class _Edges:
    """The edges of the graph: which two variables each joins, its slack, parity, and the inequality behind it."""

    def __init__(self, pairs: Pairs, x: NDArray[np.float64]) -> None:
        split = (x > TOLERANCE) & (x < 1 - TOLERANCE)
        parts = [_edges_of(pairs, x, split, i) for i in range(pairs.n - 2)]
        # ends (2), third variable, 3-cycle variables (ij, jk, ik), turned around, at its upper bound, parity
        self.whole = np.concatenate([whole for whole, _ in parts], axis=1)
        self.slack = np.concatenate([slack for _, slack in parts])

    def graph(self, variables: int) -> tuple[sp.csr_array, Ints, Ints]:
        """The graph of states (variable, parity), and for every pair of states the edge with the smallest slack."""
        import scipy.sparse as sp

        tail, head, parity = self.whole[0], self.whole[1], self.whole[8]
        start = np.concatenate([2 * tail, 2 * tail + 1, 2 * head, 2 * head + 1])
        stop = np.concatenate([2 * head + parity, 2 * head + 1 - parity, 2 * tail + parity, 2 * tail + 1 - parity])
        edge = np.tile(np.arange(len(self.slack)), 4)
        key = start * (2 * variables) + stop
        order = np.lexsort((self.slack[edge], key))
        key, edge = key[order], edge[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        key, edge = key[first], edge[first]
        # A path may use an edge of slack 0, which a sparse graph would not hold.
        entries = (self.slack[edge] + 1e-9, np.divmod(key, 2 * variables))
        return sp.csr_array(entries, shape=(2 * variables, 2 * variables)), key, edge


def _edges_of(
    pairs: Pairs, x: NDArray[np.float64], split: NDArray[np.bool_], i: int
) -> tuple[Ints, NDArray[np.float64]]:
    """The edges from all 3-cycles i < j < k: v = x_ij + x_jk - x_ik lies between 0 and 1."""
    j, k = np.triu_indices(pairs.n - i - 1, 1)
    three = np.stack([pairs.variable[i, j + i + 1], pairs.variable[j + i + 1, k + i + 1], pairs.variable[i, k + i + 1]])
    three = three[:, split[three].sum(0) >= 2]
    v = np.clip(x[three[0]] + x[three[1]] - x[three[2]], 0, 1)
    whole: list[Ints] = []
    slack: list[NDArray[np.float64]] = []
    for third in range(3):
        tail, head, drop = three[third - 2], three[third - 1], three[third]
        for turned in (0, 1):
            for upper in (0, 1):
                cost = (v if turned else 1 - v) + (1 - x[drop] if upper else x[drop])
                kept = np.flatnonzero((cost < LONGEST_EDGE) & split[tail] & split[head])
                marks = np.broadcast_to([[turned], [upper], [(1 - turned) ^ upper]], (3, len(kept)))
                whole.append(np.concatenate([np.stack([tail, head, drop, *three])[:, kept], marks]))
                slack.append(cost[kept])
    return np.concatenate(whole, axis=1), np.concatenate(slack)


def odd_cuts(pairs: Pairs, x: NDArray[np.float64], rng: np.random.Generator) -> Cuts:
    """Odd cuts that x violates: from a random choice of variables, the shortest odd walk back to each."""
    from scipy.sparse.csgraph import dijkstra

    edges = _Edges(pairs, x)
    if len(edges.slack) == 0:
        return pairs.no_cuts()
    graph, key, edge = edges.graph(pairs.number)
    sources = rng.permutation(np.unique(edges.whole[:2]))[:SOURCES]
    length, previous = dijkstra(graph, indices=2 * sources, limit=LONGEST_WALK, return_predecessors=True)
    home = length[np.arange(len(sources)), 2 * sources + 1]
    cuts: dict[tuple[tuple[int, int], ...], int] = {}
    for row in np.flatnonzero(np.isfinite(home)):
        states = _walk(previous[row], int(2 * sources[row]))
        steps = np.array(states[1:]) * (2 * pairs.number) + np.array(states[:-1])
        terms, limit = _halved(edges.whole[:, edge[np.searchsorted(key, steps)]])
        cuts[terms] = limit
    return _as_cuts(pairs, cuts)


def _walk(previous: NDArray[np.int32], source: int) -> list[int]:
    """The states from (source, odd) back to (source, even)."""
    states = [source + 1]
    while states[-1] != source:
        states.append(int(previous[states[-1]]))
    return states


def _halved(used: Ints) -> tuple[tuple[tuple[int, int], ...], int]:
    """The sum of the inequalities behind the edges, halved: terms (variable, coefficient) and the limit.

    x_ij + x_jk - x_ik <= 1, or turned around -x_ij - x_jk + x_ik <= 0; with x <= 1 or -x <= 0 for the third variable.
    """
    third, turned, upper = used[2], used[6], used[7]
    sign = 1 - 2 * turned
    variables = np.concatenate([used[3], used[4], used[5], third])
    coefficients = np.concatenate([sign, sign, -sign, 2 * upper - 1])
    limit = int((1 - turned).sum() + upper.sum())
    names, index = np.unique(variables, return_inverse=True)
    total = np.bincount(index, weights=coefficients).astype(int)
    terms = tuple((int(name), int(value) // 2) for name, value in zip(names, total, strict=True) if value)
    return terms, (limit - 1) // 2


def _as_cuts(pairs: Pairs, limits: dict[tuple[tuple[int, int], ...], int]) -> Cuts:
    import scipy.sparse as sp

    rows = [row for row, terms in enumerate(limits) for _ in terms]
    columns = [variable for terms in limits for variable, _ in terms]
    values = [float(value) for terms in limits for _, value in terms]
    matrix = sp.csr_array((values, (rows, columns)), shape=(len(limits), pairs.number))
    return Cuts(matrix, np.array(list(limits.values()), dtype=float))
