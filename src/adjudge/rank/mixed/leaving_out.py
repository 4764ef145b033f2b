"""The layout of a design from which a few rows are left out, made from that of the whole: for one-by-one audits.

Cross-products are sums over rows and absorbed levels, so those of what is left out are taken away. Levels that lose all
their rows stay in the equations; nothing pulls on them, and what they add to the determinant their own variance takes
back. The result is that of a layout made from scratch, at a fraction of the work.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from adjudge.rank.mixed.layout import moved
from adjudge.rank.mixed.terms import gram_terms

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools
    from adjudge.rank.mixed.layout import Layout
    from adjudge.rank.mixed.terms import Terms


def without(layout: Layout, kept: Bools) -> Layout | None:
    """The layout of the rows that are kept; None where it must be made anew.

    Absorbed levels must be left out as a whole, since the equations know them by their size; every system must keep
    some rows; and large campaigns draw chance numbers by the shape of the layout, which must not change with it.
    """
    levels = _whole_levels(layout, kept)
    system = layout.border_rows.indices[layout.border_rows.indptr[:-1][kept]]
    if layout.iterative or levels is None or np.bincount(system, minlength=layout.systems).min() == 0:
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


def _whole_levels(layout: Layout, kept: Bools) -> Bools | None:
    """Which absorbed levels are kept, each with all its rows or none; None where one would be cut."""
    size = np.asarray(layout.absorbed_rows[kept].sum(axis=0), dtype=np.float64)
    levels: Bools = size > 0
    return levels if (size[levels] == layout.absorbed_size[levels]).all() else None


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
