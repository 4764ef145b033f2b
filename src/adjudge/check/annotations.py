"""Annotations of preferences, grouped so that every coefficient is a sum: who said what how often about which item.

An item is a pair of systems on a segment. Every unordered pair of annotations of an item is one observation: `intra`
where one person made both, `inter` otherwise. The categories are better, tie and worse; since it is a matter of
spelling which system of a pair comes first, every annotation counts in both directions, so that no coefficient depends
on the systems' names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adjudge.check.coefficients.fleiss import pairs_within

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.core.comparisons import Comparisons

CATEGORIES = 3
TIE = 1


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """Units of agreement: how often each category was used, the pairs of annotations, and those that agree."""

    counts: NDArray[np.float64]
    pairs: NDArray[np.float64]
    agreeing: NDArray[np.float64]

    def mirrored(self) -> UnitCounts:
        """Every unit twice, the second time seen from the other system."""
        both = np.concatenate([self.counts, self.counts[:, ::-1]])
        return UnitCounts(both, np.tile(self.pairs, 2), np.tile(self.agreeing, 2))


@dataclass(frozen=True, eq=False)
class Annotations:
    """Cells: one per item and annotator, with the number of times each category was chosen. Sorted by item."""

    annotators: tuple[str, ...]
    item: NDArray[np.int64]
    """Dense codes of items, per cell."""
    annotator: NDArray[np.int64]
    counts: NDArray[np.float64]
    segment: NDArray[np.int64]
    """Codes of segments, per cell."""
    human: NDArray[np.bool_]
    """Whether a human translation takes part, per cell."""

    def where(self, kept: NDArray[np.bool_]) -> Annotations:
        """The marked cells; items are renumbered."""
        item = np.unique(self.item[kept], return_inverse=True)[1]
        return Annotations(
            self.annotators, item, self.annotator[kept], self.counts[kept], self.segment[kept], self.human[kept]
        )

    @property
    def totals(self) -> NDArray[np.float64]:
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

    def per_annotator(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of one value per cell over the cells of each annotator."""
        return np.asarray(np.bincount(self.annotator, weights=values, minlength=len(self.annotators)), dtype=float)

    def _per_item(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(self.item, weights=values), dtype=float)

    def matrix(self, values: NDArray[np.float64]) -> sp.csr_array:
        """One value per cell as a sparse matrix items x annotators."""
        import scipy.sparse as sp

        shape = (int(self.item.max(initial=-1)) + 1, len(self.annotators))
        return sp.csr_array((values, (self.item, self.annotator)), shape=shape)


def _with_pairs(counts: NDArray[np.float64], pairs: NDArray[np.float64], agreeing: NDArray[np.float64]) -> UnitCounts:
    used = pairs > 0
    return UnitCounts(counts[used], pairs[used], agreeing[used])


def group_annotations(comparisons: Comparisons, known: NDArray[np.bool_]) -> Annotations:
    """The annotations behind comparisons; `known` marks those whose annotator and segment are known."""
    systems, people = len(comparisons.systems), len(comparisons.annotators)
    segment = comparisons.segment[known].astype(np.int64)
    first, second = comparisons.first[known].astype(np.int64), comparisons.second[known].astype(np.int64)
    item = np.unique((segment * systems + first) * systems + second, return_inverse=True)[1]
    key = item * people + comparisons.annotator[known]
    cells, place, cell = np.unique(key, return_index=True, return_inverse=True)
    category = comparisons.outcome[known].astype(np.int64) + 1
    counts = np.bincount(cell * CATEGORIES + category, minlength=len(cells) * CATEGORIES)
    human = comparisons.human[first] | comparisons.human[second]
    return Annotations(
        comparisons.annotators,
        cells // people if people else cells,
        cells % people if people else cells,
        counts.reshape(-1, CATEGORIES).astype(float),
        segment[place],
        human[place],
    )
