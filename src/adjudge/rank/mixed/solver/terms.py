"""Cross-products of the model's columns, stored so that they can be weighted anew for every variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Codes, Floats
    from adjudge.rank.mixed.solver.buckets import CoreIndex


def weighted_count(position: NDArray[np.integer], value: Floats, length: int) -> Floats:
    """The sum of the values at each position."""
    return np.asarray(np.bincount(position, value, minlength=length), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Terms:
    """Entries of a part of the equations: value[e] * weight[size_class[e]] is added at position[e] of a flat array."""

    position: Codes
    value: Floats
    size_class: NDArray[np.int32]
    length: int

    def total(self, weight: Floats) -> Floats:
        """The entries for these weights, summed by position."""
        return weighted_count(self.position, self.value * weight[self.size_class], self.length)

    def minus(self, other: Terms) -> Terms:
        """These entries without others at positions of the same array."""
        return Terms(
            np.concatenate([self.position, other.position]),
            np.concatenate([self.value, -other.value]),
            np.concatenate([self.size_class, other.size_class]),
            self.length,
        )

    def by_class(self, factor: Floats, classes: int) -> Floats:
        """The sums of the entries of each class, each entry times its factor."""
        return weighted_count(self.size_class, self.value * factor, classes)


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

    def core(self, core_index: CoreIndex) -> Terms:
        """Terms of the (core, core) blocks."""
        entries = self.core_entries
        return Terms(
            core_index.in_square(entries.row, entries.column), entries.value, entries.size_class, core_index.squares
        )

    def mixed(self, core_index: CoreIndex) -> Terms:
        """Terms of the (core, border) blocks."""
        entries = self.mixed_entries
        return Terms(
            core_index.in_oblong(entries.row, entries.column), entries.value, entries.size_class, core_index.oblongs
        )

    def border(self) -> Terms:
        """Terms of the border, at positions row * width + column."""
        entries = self.border_entries
        return Terms(entries.row * self.width + entries.column, entries.value, entries.size_class, self.width**2)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of core and border unknowns, for each row or summed over the rows of each absorbed level."""

    core: csr_array
    border: csr_array
    border_level: csr_array | None = None
    """The border's of one row of each level, where those of all its rows are the same."""


def gram_terms(rows: Columns, sums: Columns, *, size_class: Codes, sizes: int) -> GramTerms:
    """Cross-products of the rows (class 0) and of the sums over absorbed levels of each size (class 1 + size)."""

    def entries(plain: csr_array, left_sum: csr_array, right_sum: csr_array) -> _Entries:
        one = plain.tocoo()
        # One copy of the columns per size keeps the sizes apart in a single product.
        shared = (left_sum.T @ _spread_columns(right_sum, size_class, sizes)).tocoo()
        size, column = np.divmod(shared.coords[1].astype(np.int64), right_sum.shape[1])
        return _Entries(
            np.concatenate([one.coords[0], shared.coords[0]]).astype(np.int64),
            np.concatenate([one.coords[1], column]),
            np.concatenate([one.data, shared.data]),
            np.concatenate([np.zeros(one.nnz), size + 1]).astype(np.int32),
        )

    if rows.border_level is None:
        mixed, border = rows.core.T @ rows.border, rows.border.T @ rows.border
    else:
        # Sums over levels are far fewer than rows.
        mixed, border = sums.core.T @ rows.border_level, sums.border.T @ rows.border_level
    return GramTerms(
        entries(rows.core.T @ rows.core, sums.core, sums.core),
        entries(mixed, sums.core, sums.border),
        entries(border, sums.border, sums.border),
        rows.border.shape[1],
    )


def _spread_columns(matrix: csr_array, row_class: Codes, classes: int) -> csr_array:
    """The same rows, each moved to the copy of the columns that belongs to its class."""
    columns = matrix.shape[1]
    moved = matrix.indices.astype(np.int64) + np.repeat(row_class, np.diff(matrix.indptr)) * columns
    return csr_array((matrix.data, moved, matrix.indptr), shape=(matrix.shape[0], columns * max(classes, 1)))
