"""Annotations of preferences, grouped so that every coefficient is a sum: by item, by annotator, by pair of annotators.

An item is a pair of systems on a segment. Every unordered pair of annotations of an item is one observation: `intra`
where one person made both, `inter` otherwise. The categories are better, tie and worse. Which system of a pair comes
first is arbitrary, so every annotation counts in both directions, and no coefficient depends on the systems' names.

Sums over pairs of annotators are products of sparse matrices, also with annotators counted several times, which makes
resampling of annotators cheap: with w the times an annotator was drawn, a sum becomes w' M w.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adjudge.agree.coefficients import pairs_within
from adjudge.core.maths import divide

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.core.arrays import Bools, Floats, Ints
    from adjudge.core.comparisons import Comparisons

CATEGORIES = 3
TIE = 1


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """Units of agreement: how often each category was used, the pairs of annotations, and those that agree."""

    counts: Floats
    pairs: Floats
    agreeing: Floats

    def mirrored(self) -> UnitCounts:
        """Every unit twice, the second time seen from the other system."""
        both = np.concatenate([self.counts, self.counts[:, ::-1]])
        return UnitCounts(both, np.tile(self.pairs, 2), np.tile(self.agreeing, 2))


@dataclass(frozen=True, eq=False)
class Annotations:
    """Cells: one per item and annotator, with the number of times each category was chosen. Sorted by item."""

    annotators: tuple[str, ...]
    item: Ints
    """Dense codes of items, per cell."""
    annotator: Ints
    counts: Floats
    segment: Ints
    """Codes of segments, per cell."""
    human: Bools
    """Whether a human translation takes part, per cell."""

    def where(self, kept: Bools) -> Annotations:
        """The marked cells; items are renumbered."""
        item = np.unique(self.item[kept], return_inverse=True)[1]
        return Annotations(
            self.annotators, item, self.annotator[kept], self.counts[kept], self.segment[kept], self.human[kept]
        )

    @property
    def totals(self) -> Floats:
        """How often each category was chosen, over all annotations."""
        return np.asarray(self.counts.sum(0))

    @cached_property
    def intra(self) -> UnitCounts:
        """Units of one annotator each: what they said about one item, where they said it more than once."""
        return _with_pairs(self.counts, *pairs_within(self.counts))

    @cached_property
    def inter(self) -> UnitCounts:
        """Units are items; the pairs within one person are not counted."""
        counts = np.stack([self._per_item(self.counts[:, c]) for c in range(CATEGORIES)], axis=1)
        pairs, agreeing = pairs_within(counts)
        own_pairs, own_agreeing = pairs_within(self.counts)
        return _with_pairs(counts, pairs - self._per_item(own_pairs), agreeing - self._per_item(own_agreeing))

    def per_annotator(self, values: Floats) -> Floats:
        """Sums of one value per cell over the cells of each annotator."""
        return np.asarray(np.bincount(self.annotator, weights=values, minlength=len(self.annotators)), dtype=float)

    def _per_item(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.item, weights=values), dtype=float)

    def matrix(self, values: Floats) -> sp.csr_array:
        """One value per cell as a sparse matrix items x annotators."""
        import scipy.sparse as sp

        shape = (int(self.item.max(initial=-1)) + 1, len(self.annotators))
        return sp.csr_array((values, (self.item, self.annotator)), shape=shape)


def _with_pairs(counts: Floats, pairs: Floats, agreeing: Floats) -> UnitCounts:
    used = pairs > 0
    return UnitCounts(counts[used], pairs[used], agreeing[used])


def group_annotations(comparisons: Comparisons, known: Bools) -> Annotations:
    """The annotations behind comparisons; `known` marks those whose annotator and segment are known."""
    systems, people = len(comparisons.systems), len(comparisons.annotators)
    segment = comparisons.segment[known].astype(np.int64)
    first, second = comparisons.first[known].astype(np.int64), comparisons.second[known].astype(np.int64)
    item = np.unique((segment * systems + first) * systems + second, return_inverse=True)[1]
    key = item * people + comparisons.annotator[known]
    cells, first_cell, cell = np.unique(key, return_index=True, return_inverse=True)
    category = comparisons.outcome[known].astype(np.int64) + 1
    counts = np.bincount(cell * CATEGORIES + category, minlength=len(cells) * CATEGORIES)
    human = comparisons.human[first] | comparisons.human[second]
    return Annotations(
        comparisons.annotators,
        cells // people if people else cells,
        cells % people if people else cells,
        counts.reshape(-1, CATEGORIES).astype(float),
        segment[first_cell],
        human[first_cell],
    )


@dataclass(frozen=True, eq=False)
class AnnotatorPairs:
    """Pairs of annotations by `first` and `second` (codes, first < second, or equal for intra)."""

    first: Ints
    second: Ints
    pairs: Floats
    agreeing: Floats
    expected: Floats
    """P(E) from the two annotators' own shares of ties."""

    def summed(self, values: Floats, weights: Floats) -> Floats:
        """The sum of one value per pair of annotators, for every row of weights (resamples x annotators).

        Copies of one annotator are not paired with each other: they would always agree.
        """
        if np.array_equal(self.first, self.second):
            return np.asarray(weights[:, self.first] @ values)
        from scipy.sparse import csr_array

        matrix = csr_array((values, (self.first, self.second)), shape=(weights.shape[1],) * 2)
        return np.asarray(((weights @ matrix) * weights).sum(1))


def chance_with_ties(first: Floats, second: Floats) -> Floats:
    """P(E) of better/tie/worse between two who tie with these probabilities and else prefer either side alike."""
    return np.asarray(first * second + (1 - first) * (1 - second) / 2)


def between_annotators(annotations: Annotations) -> AnnotatorPairs:
    """All pairs of different annotators who share an item; an annotator's ties are those on the items they share."""
    from scipy.sparse import triu

    by_category = [annotations.matrix(annotations.counts[:, c]) for c in range(CATEGORIES)]
    both = annotations.matrix(annotations.counts.sum(1))
    pairs = triu(both.T @ both, k=1, format="coo")
    pairs.sum_duplicates()
    first, second = pairs.coords
    agreeing = sum((_entries(counts.T @ counts, first, second) for counts in by_category), np.zeros(len(first)))
    tied = by_category[TIE].T @ both
    shared = pairs.data
    first_ties, second_ties = _entries(tied, first, second), _entries(tied, second, first)
    expected = chance_with_ties(divide(first_ties, shared), divide(second_ties, shared))
    return AnnotatorPairs(first.astype(np.int64), second.astype(np.int64), shared, agreeing, expected)


def _entries(matrix: sp.sparray, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Floats:
    # SciPy returns a sparse or a dense array, depending on the index.
    entries = matrix.tocsr()[rows, columns]
    return np.asarray(entries.toarray() if hasattr(entries, "toarray") else entries, dtype=float).ravel()


def within_annotators(annotations: Annotations) -> AnnotatorPairs:
    """Every annotator who annotated an item twice; their ties are those of all their annotations."""
    pairs, agreeing = (annotations.per_annotator(number) for number in pairs_within(annotations.counts))
    ties = tie_shares(annotations)
    who = np.flatnonzero(pairs)
    return AnnotatorPairs(who, who, pairs[who], agreeing[who], chance_with_ties(ties[who], ties[who]))


def tie_shares(annotations: Annotations) -> Floats:
    """Each annotator's share of ties; NaN for those without annotations."""
    ties, total = (annotations.counts[:, TIE], annotations.counts.sum(1))
    return divide(annotations.per_annotator(ties), annotations.per_annotator(total))
