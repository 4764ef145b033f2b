"""How the model's equations are laid out for fast elimination. Knows the design, not the variances.

The unknowns of Henderson's mixed-model equations are taken in three groups:

*absorbed*  the finest effect inside documents (usually pages). Each row has one level, so this block is diagonal.
*core*      what else stays inside documents (document, segment, system:document, tastes for one document). Given the
            border this part is block-diagonal: one small dense block per document.
*border*    what reaches across documents: systems, annotators, tasks, and tastes for several documents.

An unknown is of a *kind*: the effects that it is the sum of, mostly one (see `blocks`).
Absorbing the pages changes the other equations by rank-one terms with the weight 1 / (size + residual/variance). Pages
of one size and kind share that weight, so one sum of products for each is kept, and equations at other variances are a
weighted sum of stored numbers. Blocks of similar size are padded to one shape and handled together (a bucket).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array

from adjudge.rank.mixed.solver.blocks import find_unknowns
from adjudge.rank.mixed.solver.border import DENSE_LIMIT
from adjudge.rank.mixed.solver.buckets import Bucket, CoreIndex, fill_buckets
from adjudge.rank.mixed.solver.terms import Columns, Terms, gram_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Codes, Floats
    from adjudge.rank.mixed.effects import Effect
    from adjudge.rank.mixed.solver.blocks import Group


@dataclass(frozen=True, eq=False)
class Layout:
    """Everything about the equations that does not depend on the variances."""

    rows: int
    systems: int
    parts: Floats
    """(kinds, effects): 1 for the effects that an unknown of each kind is the sum of."""
    levels: Codes
    """How many unknowns there are of each kind."""
    border_kind: Codes
    """The kind of each border unknown; -1 for systems and for the padding at the end."""
    core_kind: Codes
    """The same for core unknowns; -1 for padding."""
    absorbed_kind: Codes
    border_rows: csr_array
    core_rows: csr_array
    absorbed_rows: csr_array
    """Which unknowns each row touches, first its system; no absorbed unknowns where nothing is absorbed."""
    absorbed_core: csr_array
    absorbed_border: csr_array
    """How many rows each absorbed unknown shares with each of the others."""
    absorbed_size: Floats
    absorbed_class: Codes
    """The class of each absorbed unknown: its size and kind, an index of `sizes` and `size_kinds`."""
    sizes: Floats
    size_kinds: Codes
    """Class 0 of all terms is the plain cross-product, class 1 + i belongs to sizes[i] and size_kinds[i]."""
    core_terms: Terms
    mixed_terms: Terms
    border_terms: Terms
    buckets: tuple[Bucket, ...]
    core_index: CoreIndex
    """Where every core unknown, as `blocks` numbers them, has gone in the buckets."""

    @cached_property
    def core_absorbed(self) -> csc_array:
        """`absorbed_core` and `absorbed_border` transposed, which takes longer than a product with a small one."""
        return self.absorbed_core.T

    @cached_property
    def border_absorbed(self) -> csc_array:
        """See `core_absorbed`."""
        return self.absorbed_border.T

    @property
    def width(self) -> int:
        """Border unknowns and the one that padding points to."""
        return len(self.border_kind)

    @property
    def iterative(self) -> bool:
        """Whether the border is too large for a direct solution."""
        return self.width > DENSE_LIMIT


def lay_out(system: Codes, systems: int, effects: Sequence[Effect]) -> Layout:
    """Lay out the equations of a design."""
    unknowns = find_unknowns(effects)
    rows = len(system)
    # Systems come first; the rest of the border follows them, and behind it what padding points to.
    border_codes = [system, *(np.where(codes < 0, codes, codes + systems) for codes in unknowns.border.codes)]
    border_kind = np.concatenate([np.full(systems, -1), unknowns.border.kind])
    buckets, core_index = fill_buckets(unknowns, border_codes, len(border_kind))
    border_rows = indicator(border_codes, rows, len(border_kind) + 1)
    core_plain = indicator(unknowns.core.codes, rows, len(unknowns.core.kind))
    absorbed_rows = indicator(unknowns.absorbed.codes, rows, len(unknowns.absorbed.kind))
    size = np.asarray(absorbed_rows.sum(axis=0), dtype=np.float64)
    sizes, size_kinds, size_class = _size_classes(size, unknowns.absorbed.kind, len(unknowns.parts))
    by_level = absorbed_rows.T.tocsr()
    core_sum = by_level @ core_plain
    one_each = _rows_of_levels(unknowns.absorbed, border_codes)
    border_level = None if one_each is None else border_rows[one_each]
    border_sum = by_level @ border_rows if border_level is None else csr_array(diags_array(size) @ border_level)
    terms = gram_terms(
        Columns(core_plain, border_rows, border_level),
        Columns(core_sum, border_sum),
        size_class=size_class,
        sizes=len(sizes),
    )
    padded = sum(bucket.count * bucket.core for bucket in buckets)
    return Layout(
        rows=rows,
        systems=systems,
        parts=unknowns.parts,
        levels=unknowns.levels,
        border_kind=np.append(border_kind, -1),
        core_kind=_moved_kinds(unknowns.core.kind, core_index.vector, padded),
        absorbed_kind=unknowns.absorbed.kind,
        border_rows=border_rows,
        core_rows=moved(core_plain, core_index.vector, padded),
        absorbed_rows=absorbed_rows,
        absorbed_core=moved(core_sum, core_index.vector, padded),
        absorbed_border=border_sum,
        absorbed_size=size,
        absorbed_class=size_class,
        sizes=sizes,
        size_kinds=size_kinds,
        core_terms=terms.core(core_index),
        mixed_terms=terms.mixed(core_index),
        border_terms=terms.border(),
        buckets=buckets,
        core_index=core_index,
    )


def _rows_of_levels(absorbed: Group, border_codes: Sequence[Codes]) -> Codes | None:
    """A row of each absorbed level, where all rows of a level have the same border unknowns (as those of a page)."""
    if not absorbed.codes:
        return None
    level = absorbed.codes[0]
    row = np.empty(len(absorbed.kind), dtype=np.int64)
    row[level] = np.arange(len(level))
    return row if all((codes[row][level] == codes).all() for codes in border_codes) else None


def _size_classes(size: Floats, kind: Codes, kinds: int) -> tuple[Floats, Codes, Codes]:
    """The sizes and kinds that occur together, by class, and the class of each absorbed unknown."""
    classes, size_class = np.unique(size * kinds + kind, return_inverse=True)
    divisor = max(kinds, 1)
    return classes // divisor, (classes % divisor).astype(np.int64), size_class


def _moved_kinds(kind: Codes, position: Codes, length: int) -> Codes:
    """The kinds at other positions, -1 for the padding between them."""
    kinds = np.full(length, -1)
    kinds[position] = kind
    return kinds


def indicator(codes: Sequence[Codes], rows: int, columns: int) -> csr_array:
    """The sparse matrix with a one at (row, code) for every factor; a code of -1 is none."""
    if not codes:
        return csr_array((rows, columns))
    by_row = np.stack(codes, axis=1)
    present = by_row >= 0
    start = np.append(0, np.cumsum(present.sum(axis=1)))
    return csr_array((np.ones(start[-1]), by_row[present], start), shape=(rows, columns))


def moved(matrix: csr_array, position: Codes, columns: int) -> csr_array:
    """The same matrix with its columns at other positions."""
    return csr_array((matrix.data, position[matrix.indices], matrix.indptr), shape=(matrix.shape[0], columns))
