"""Fits to a design from which a few rows are left out, made from that of the whole: for one-by-one audits.

Cross-products are sums over rows and absorbed levels, so those of what is left out are taken away. Levels that lose all
their rows stay in the equations; nothing pulls on them, and what they add to the determinant their own variance takes
back. The result is that of a layout made from scratch, at a fraction of the work: `without` takes rows from a layout,
`Whole.without` from equations at known variances, of which only the blocks that lose rows are factored again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from adjudge.rank.mixed.reml import evaluated
from adjudge.rank.mixed.solver.border import ChangedBorder, DenseBorder, border_matrix
from adjudge.rank.mixed.solver.equations import (
    Equations,
    FactoredBlocks,
    Totals,
    Variances,
    assemble_core,
    factor,
    totals,
)
from adjudge.rank.mixed.solver.layout import moved
from adjudge.rank.mixed.solver.terms import gram_terms

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.reml import Evaluation
    from adjudge.rank.mixed.solver.border import Border
    from adjudge.rank.mixed.solver.layout import Layout
    from adjudge.rank.mixed.solver.terms import Terms

SMALL_CHANGE = 0.3
"""Changes at a smaller share of the border's unknowns are added to its inverse instead of factoring it again."""
MOST_PRODUCTS = 500_000_000
"""Products of the rows left out beyond which dense matrices are slower than a layout made from scratch."""


def without(layout: Layout, kept: Bools) -> Layout | None:
    """The layout of the rows that are kept; None where it must be made anew.

    Absorbed levels must be left out as a whole, since the equations know them by their size; every system must keep
    some rows; and large campaigns draw chance numbers by the shape of the layout, which must not change with it.
    """
    levels = _removable(layout, kept)
    if levels is None:
        return None
    core, mixed, border = _terms_of(layout, ~kept, ~levels)
    return replace(
        layout,
        rows=int(kept.sum()),
        levels=layout.levels - np.bincount(layout.absorbed_kind[~levels], minlength=len(layout.levels)),
        absorbed_kind=layout.absorbed_kind[levels],
        absorbed_class=layout.absorbed_class[levels],
        border_rows=layout.border_rows[kept],
        core_rows=layout.core_rows[kept],
        absorbed_rows=_renumbered(layout.absorbed_rows[kept], levels),
        absorbed_core=layout.absorbed_core[levels],
        absorbed_border=layout.absorbed_border[levels],
        absorbed_size=layout.absorbed_size[levels],
        core_terms=layout.core_terms.minus(core),
        mixed_terms=layout.mixed_terms.minus(mixed),
        border_terms=layout.border_terms.minus(border),
    )


def _removable(layout: Layout, kept: Bools) -> Bools | None:
    """Which absorbed levels are kept, each with all its rows or none; None where that cannot be."""
    if layout.iterative:
        return None
    gone = ~kept
    system = layout.border_rows.indices[layout.border_rows.indptr[:-1]]
    left = np.bincount(system, minlength=layout.systems) - np.bincount(system[gone], minlength=layout.systems)
    size = layout.absorbed_rows[gone].sum(axis=0)
    whole = (size == 0) | (size == layout.absorbed_size)
    return size == 0 if whole.all() and left.min() > 0 else None


def _renumbered(rows: csr_array, levels: Bools) -> csr_array:
    """Rows by absorbed level, numbered among those kept."""
    return csr_array(
        (rows.data, (np.cumsum(levels) - 1)[rows.indices], rows.indptr), (rows.shape[0], int(levels.sum()))
    )


def _terms_of(layout: Layout, rows: Bools, levels: Bools) -> tuple[Terms, Terms, Terms]:
    """The cross-products of some rows and absorbed levels, at the positions of the whole."""
    position = layout.core_index.vector
    original = np.zeros(len(layout.core_kind), dtype=np.int64)
    original[position] = np.arange(len(position))
    terms = gram_terms(
        moved(layout.core_rows[rows], original, len(position)),
        layout.border_rows[rows],
        core_sum=moved(layout.absorbed_core[levels], original, len(position)),
        border_sum=layout.absorbed_border[levels],
        size_class=layout.absorbed_class[levels],
        sizes=len(layout.sizes),
    )
    return terms.core(layout.core_index), terms.mixed(layout.core_index), terms.border()


class Whole:
    """The equations of a whole layout at known variances, from which rows can be taken away."""

    def __init__(self, layout: Layout, ratios: Floats, standard: Floats) -> None:
        self.layout = layout
        self._standard = standard
        self._variances = Variances(layout, ratios)
        self._scores = totals(layout, standard[:, None])
        self._squares, self._oblongs = assemble_core(layout, self._variances)
        self._factored = [
            FactoredBlocks(bucket, *factor(bucket.square(self._squares), bucket.oblong(self._oblongs)))
            for bucket in layout.buckets
        ]
        ridge = self._variances.penalties(layout.border_kind, 0.0)
        ridge[-1] = 1.0
        reduced = [(blocks.bucket, blocks.half) for blocks in self._factored]
        self._matrix = border_matrix(layout.border_terms, self._variances.weight, ridge, reduced)
        self._core_number = np.zeros(len(layout.core_kind), dtype=np.int64)
        self._core_number[layout.core_index.vector] = np.arange(len(layout.core_index.vector))

    def without(self, kept: Bools) -> Evaluation | None:
        """The fit to the rows that are kept; None where it must be made anew, see `without`."""
        levels = _removable(self.layout, kept)
        if levels is None:
            return None
        gone = _Removed.of(self.layout, ~kept, ~levels, self._variances)
        if gone is None:
            return None
        layout = replace(
            self.layout,
            rows=int(kept.sum()),
            levels=self.layout.levels
            - np.bincount(self.layout.absorbed_kind[~levels], minlength=len(self.layout.levels)),
            absorbed_kind=self.layout.absorbed_kind[levels],
            absorbed_core=self.layout.absorbed_core[levels],
            absorbed_border=self.layout.absorbed_border[levels],
            absorbed_size=self.layout.absorbed_size[levels],
        )
        factored, changes = self._factored_without(gone)
        equations = Equations(layout, self._variances, factored, self._changed_border(changes))
        return evaluated(equations, self._scores_without(gone, ~kept, levels))

    def _scores_without(self, gone: _Removed, rows: Bools, levels: Bools) -> Totals:
        score = self._standard[rows]
        border, core = self._scores.border.copy(), self._scores.core.copy()
        border[gone.border, 0] -= gone.border_rows.T @ score
        core[gone.core, 0] -= gone.core_rows.T @ score
        return Totals(border, core, self._scores.absorbed[levels], self._scores.square - score @ score)

    def _changed_border(self, changes: list[tuple[Codes, Floats]]) -> Border:
        """The border with something added at some of its unknowns; factored again where these are many."""
        touched = np.zeros(self.layout.width, dtype=bool)
        for index, _ in changes:
            touched[index] = True
        chosen = np.flatnonzero(touched)
        small = len(chosen) <= SMALL_CHANGE * self.layout.width
        if not small:
            matrix, position = self._matrix.copy(), np.arange(self.layout.width)
        else:
            matrix, position = np.zeros((len(chosen), len(chosen))), np.cumsum(touched) - 1
        for index, added in changes:
            # Padding occurs several times, and nothing is added there.
            matrix[np.ix_(position[index], position[index])] += added
        return ChangedBorder(self._border, chosen, matrix) if small else DenseBorder(matrix)

    @cached_property
    def _border(self) -> DenseBorder:
        return DenseBorder(self._matrix.copy())

    def _factored_without(self, gone: _Removed) -> tuple[list[FactoredBlocks], list[tuple[Codes, Floats]]]:
        """The blocks, those that lose rows factored again, and what is added to the border at which unknowns."""
        squares, oblongs = self._squares.copy(), self._oblongs.copy()
        number, index = self._core_number[gone.core], self.layout.core_index
        row, column = np.nonzero(gone.core_core)
        squares[index.in_square(number[row], number[column])] -= gone.core_core[row, column]
        row, column = np.nonzero(gone.core_border)
        oblongs[index.in_oblong(number[row], gone.border[column])] -= gone.core_border[row, column]
        changes = [(gone.border, -gone.border_border)]
        factored = []
        for blocks in self._factored:
            bucket = blocks.bucket
            inside = gone.core[
                (gone.core >= bucket.core_start) & (gone.core < bucket.core_start + bucket.count * bucket.core)
            ]
            slots = np.unique((inside - bucket.core_start) // bucket.core)
            if not len(slots):
                factored.append(blocks)
                continue
            inverse_factor, half = blocks.inverse_factor.copy(), blocks.half.copy()
            inverse_factor[slots], half[slots] = factor(bucket.square(squares)[slots], bucket.oblong(oblongs)[slots])
            for slot in slots:
                before, after = blocks.half[slot], half[slot]
                changes.append((bucket.border_index[slot], before.T @ before - after.T @ after))
            factored.append(FactoredBlocks(bucket, inverse_factor, half))
        return factored, changes


@dataclass(frozen=True, eq=False)
class _Removed:
    """What some rows add to the equations: the unknowns that they touch, and the products of these."""

    core: Codes
    border: Codes
    core_rows: Floats
    border_rows: Floats
    core_core: Floats
    core_border: Floats
    border_border: Floats

    @classmethod
    def of(cls, layout: Layout, rows: Bools, levels: Bools, variances: Variances) -> _Removed | None:
        """Of these rows and absorbed levels; None where there are too many for dense matrices."""
        core, core_rows = _dense(layout.core_rows[rows])
        border, border_rows = _dense(layout.border_rows[rows])
        if int(rows.sum()) * (len(core) + len(border)) ** 2 > MOST_PRODUCTS:
            return None
        touched = np.hstack([core_rows, border_rows])
        sums = np.hstack(
            [layout.absorbed_core[levels][:, core].toarray(), layout.absorbed_border[levels][:, border].toarray()]
        )
        weight = variances.absorbed_weight(layout)[levels]
        products = touched.T @ touched - (sums * weight[:, None]).T @ sums
        n = len(core)
        return cls(core, border, core_rows, border_rows, products[:n, :n], products[:n, n:], products[n:, n:])


def _dense(matrix: csr_array) -> tuple[Codes, Floats]:
    """The columns that hold something, and these as a dense matrix."""
    columns, position = np.unique(matrix.indices, return_inverse=True)
    dense = np.zeros((matrix.shape[0], len(columns)))
    dense[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), position] = matrix.data
    return columns.astype(np.int64), dense
