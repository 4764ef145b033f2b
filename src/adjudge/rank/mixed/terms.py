"""Cross-products of the model's columns, stored so that they can be weighted anew for every variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adjudge.rank.mixed.buckets import Places

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Terms:
    """Entries of a part of the equations: value[e] * weight[size_class[e]] is added at place[e] of a flat array."""

    place: Codes
    value: Floats
    size_class: NDArray[np.int32]
    length: int

    def total(self, weight: Floats) -> Floats:
        """The entries for these weights, summed by place."""
        return np.bincount(self.place, self.value * weight[self.size_class], minlength=self.length)

    def dot(self, flat: Floats, weight: Floats) -> float:
        """The sum of all entries, each times the number at its place."""
        return float((self.value * weight[self.size_class]) @ flat[self.place])


@dataclass(frozen=True, eq=False)
class _Entries:
    """Entries as (row, column, value, size class)."""

    row: Codes
    column: Codes
    value: Floats
    size_class: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class GramTerms:
    """All cross-products, by numbers of core and border unknowns."""

    core_entries: _Entries
    mixed_entries: _Entries
    border_entries: _Entries
    width: int

    def core(self, places: Places) -> Terms:
        """Terms of the (core, core) blocks."""
        own = self.core_entries
        return Terms(places.in_square(own.row, own.column), own.value, own.size_class, places.squares)

    def mixed(self, places: Places) -> Terms:
        """Terms of the (core, border) blocks."""
        own = self.mixed_entries
        return Terms(places.in_oblong(own.row, own.column), own.value, own.size_class, places.oblongs)

    def border(self) -> Terms:
        """Terms of the border, at places row * width + column."""
        own = self.border_entries
        return Terms(own.row * self.width + own.column, own.value, own.size_class, self.width**2)


def gram_terms(core: csr_array, border: csr_array, absorbed: csr_array, size_class: Codes, sizes: int) -> GramTerms:
    """Cross-products of the rows (class 0) and of the sums over absorbed levels of each size (class 1 + size)."""
    by_level_core, by_level_border = absorbed.T.tocsr() @ core, absorbed.T.tocsr() @ border

    def parts(left: csr_array, right: csr_array, left_sum: csr_array, right_sum: csr_array) -> Iterator[coo_array]:
        yield (left.T @ right).tocoo()
        for one in range(sizes):
            chosen = np.flatnonzero(size_class == one)
            yield (left_sum[chosen].T @ right_sum[chosen]).tocoo()

    return GramTerms(
        _joined(parts(core, core, by_level_core, by_level_core)),
        _joined(parts(core, border, by_level_core, by_level_border)),
        _joined(parts(border, border, by_level_border, by_level_border)),
        border.shape[1],
    )


def _joined(parts: Iterator[coo_array]) -> _Entries:
    entries = list(parts)
    rows, columns = zip(*(entry.coords for entry in entries), strict=True)
    return _Entries(
        np.concatenate(rows).astype(np.int64),
        np.concatenate(columns).astype(np.int64),
        np.concatenate([entry.data for entry in entries]),
        np.repeat(np.arange(len(entries), dtype=np.int32), [entry.nnz for entry in entries]),
    )
