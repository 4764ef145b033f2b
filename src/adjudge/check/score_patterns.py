"""Interval alpha between annotators, for many resamples of annotators at once.

How much an item weighs in alpha depends on who scored it, not on the scores. So items scored by the same people equally
often (a pattern) are added up first; what is left per pattern is one number per pair of its annotators. With w the
times an annotator was drawn, the squared differences of a pattern are sum w_a w_b D_ab over a < b, and copies of one
annotator are never paired with each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.check.coefficients.chance import ratio
from adjudge.core.rng import generator

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.check.scores import ScoreCells

# Resamples are made in slices of about this many numbers, to bound memory.
SLICE = 10_000_000


@dataclass(frozen=True, eq=False)
class Patterns:
    """Sums over the items of each pattern; matrices are patterns x annotators or patterns x pairs of annotators."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    """The pairs of annotators, as codes."""
    items: NDArray[np.float64]
    number: sp.csr_array
    """Scores that each annotator gave to one item."""
    total: sp.csr_array
    squares: sp.csr_array
    pairs: sp.csr_array
    """Pairs of scores on one item."""
    distance: sp.csr_array
    """Squared differences, added up over all items."""

    def alpha(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Alpha for every row of weights (resamples x annotators)."""
        if len(self.items) == 0:
            return np.full(len(weights), np.nan)
        step = max(1, SLICE // max(len(self.items), len(self.first)))
        slices = (weights[start : start + step] for start in range(0, len(weights), step))
        return np.concatenate([self._alpha(one) for one in slices])

    def _alpha(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = weights.T
        together = drawn[self.first] * drawn[self.second]
        pairs, distance, number = self.pairs @ together, self.distance @ together, self.number @ drawn
        used = pairs > 0
        observed = (ratio(np.maximum(distance, 0), pairs) * number).sum(0, where=used)
        n = (number * self.items[:, None]).sum(0, where=used)
        total, squares = ((one @ drawn).sum(0, where=used) for one in (self.total, self.squares))
        return alpha_from_sums(observed, n, total, squares)


def alpha_from_sums(
    observed: NDArray[np.float64], n: NDArray[np.float64], total: NDArray[np.float64], squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interval alpha.

    Args:
        observed: over items, the number of scores times the mean squared difference of their pairs, added up.
        n: the number of scores.
        total: their sum.
        squares: the sum of their squares.
    """
    expected = ratio(2 * (n * squares - total**2), n * (n - 1))
    # Equal scores everywhere leave rounding noise where there is no spread at all.
    spread = np.where(expected > 1e-12 * ratio(squares, n), expected, 0)
    return np.asarray(1 - ratio(ratio(observed, n), spread))


def patterns(cells: ScoreCells) -> Patterns:
    """Add up items by who scored them how often; `cells` are sorted by item and annotator."""
    from scipy.sparse import csr_array

    people = len(cells.annotators)
    pattern = _pattern_of_items(cells)
    count = int(pattern.max(initial=-1)) + 1
    items = np.bincount(pattern, minlength=count).astype(float)
    here, there = pairs_of_cells(cells.item)
    pair, code = np.unique(cells.annotator[here] * people + cells.annotator[there], return_inverse=True)
    of_pair, of_cell = pattern[cells.item[here]], pattern[cells.item]

    def by_pair(values: NDArray[np.float64]) -> sp.csr_array:
        return csr_array((values, (of_pair, code)), shape=(count, len(pair)))

    def by_person(values: NDArray[np.float64]) -> sp.csr_array:
        return csr_array((values, (of_cell, cells.annotator)), shape=(count, people))

    n, s, q = cells.number, cells.total, cells.squares
    return Patterns(
        pair // people if people else pair,
        pair % people if people else pair,
        items,
        by_person(n / items[of_cell]),
        by_person(s),
        by_person(q),
        by_pair(n[here] * n[there] / items[of_pair]),
        by_pair(n[here] * q[there] + n[there] * q[here] - 2 * s[here] * s[there]),
    )


def _pattern_of_items(cells: ScoreCells) -> NDArray[np.int64]:
    """A code per item, equal where the same people scored as often: by a 64-bit sum of random numbers per person."""
    mark = generator(0).integers(0, 2**63, size=len(cells.annotators), dtype=np.uint64)
    terms = mark[cells.annotator] * cells.number.astype(np.uint64)
    starts = np.flatnonzero(np.diff(cells.item, prepend=-1))
    sums = np.add.reduceat(terms, starts) if len(starts) else terms
    return np.asarray(np.unique(sums, return_inverse=True)[1], dtype=np.int64)


def pairs_of_cells(item: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of places with the same item, by comparing each place with the one 1, 2, 3, ... further on."""
    here: list[NDArray[np.int64]] = []
    there: list[NDArray[np.int64]] = []
    for step in range(1, int(np.bincount(item).max(initial=0))):
        first = np.flatnonzero(item[:-step] == item[step:])
        here.append(first)
        there.append(first + step)
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *here]), np.concatenate([none, *there])
