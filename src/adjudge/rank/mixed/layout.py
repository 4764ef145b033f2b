"""How the model's equations are laid out for fast elimination. Knows the design, not the variances.

The unknowns of Henderson's mixed-model equations are taken in three groups:

*absorbed*  the finest effect inside documents (usually pages). Each row has one level, so this block is diagonal.
*core*      the other effects inside documents (document, segment, system:document). Given the border they are
            block-diagonal: one small dense block per document.
*border*    systems, annotators and tasks, which reach across documents.

Absorbing the pages changes the other equations by rank-one terms with the weight 1 / (size + residual/variance). Pages
of one size share that weight, so one sum of products per size is kept, and equations at other variances are a weighted
sum of stored numbers. Blocks of similar size are padded to one shape and handled together (a bucket).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from adjudge.rank.mixed.blocks import find_blocks
from adjudge.rank.mixed.border import DENSE_LIMIT
from adjudge.rank.mixed.buckets import Bucket, CoreIndex, fill_buckets
from adjudge.rank.mixed.terms import Terms, gram_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Codes, Floats
    from adjudge.rank.mixed.effects import Effect


@dataclass(frozen=True, eq=False)
class Layout:
    """Everything about the equations that does not depend on the variances. Effects are meant by their number."""

    rows: int
    systems: int
    levels: tuple[int, ...]
    absorbed_effect: int | None
    border_owner: Codes
    """The effect that each border unknown belongs to; -1 for systems and for the padding at the end."""
    core_owner: Codes
    """The same for core unknowns; -1 for padding."""
    border_rows: csr_array
    core_rows: csr_array
    absorbed_rows: csr_array
    """Which unknowns each row touches; no absorbed unknowns where nothing is absorbed."""
    absorbed_core: csr_array
    absorbed_border: csr_array
    """How many rows each absorbed unknown shares with each of the others."""
    absorbed_size: Floats
    sizes: Floats
    """The distinct sizes. Class 0 of all terms is the plain cross-product, class 1 + i belongs to sizes[i]."""
    core_terms: Terms
    mixed_terms: Terms
    border_terms: Terms
    buckets: tuple[Bucket, ...]
    core_index: CoreIndex
    """Where every core unknown, as the effects number them, has gone in the buckets."""

    @property
    def width(self) -> int:
        """Border unknowns and the one that padding points to."""
        return len(self.border_owner)

    @property
    def iterative(self) -> bool:
        """Whether the border is too large for a direct solution."""
        return self.width > DENSE_LIMIT


def lay_out(system: Codes, systems: int, effects: Sequence[Effect]) -> Layout:
    """Lay out the equations of a design."""
    blocks = find_blocks(effects)
    rows = len(system)
    border_codes, border_owner = _stacked([(-1, system, systems)], blocks.border, effects)
    core_codes, core_owner = _stacked([], blocks.core, effects)
    buckets, core_index = fill_buckets(blocks, core_codes, len(core_owner), border_codes, len(border_owner))
    border_rows = indicator(border_codes, rows, len(border_owner) + 1)
    core_plain = indicator(core_codes, rows, len(core_owner))
    absorbed = blocks.absorbed
    absorbed_rows = indicator([] if absorbed is None else [effects[absorbed].codes], rows, _levels(absorbed, effects))
    size = np.asarray(absorbed_rows.sum(axis=0), dtype=np.float64)
    sizes, size_class = np.unique(size, return_inverse=True)
    by_level = absorbed_rows.T.tocsr()
    core_sum, border_sum = by_level @ core_plain, by_level @ border_rows
    terms = gram_terms(
        core_plain, border_rows, core_sum=core_sum, border_sum=border_sum, size_class=size_class, sizes=len(sizes)
    )
    padded = sum(bucket.count * bucket.core for bucket in buckets)
    owner = np.full(padded, -1)
    owner[core_index.vector] = core_owner
    return Layout(
        rows=rows,
        systems=systems,
        levels=tuple(effect.levels for effect in effects),
        absorbed_effect=absorbed,
        border_owner=np.append(border_owner, -1),
        core_owner=owner,
        border_rows=border_rows,
        core_rows=moved(core_plain, core_index.vector, padded),
        absorbed_rows=absorbed_rows,
        absorbed_core=moved(core_sum, core_index.vector, padded),
        absorbed_border=border_sum,
        absorbed_size=size,
        sizes=sizes,
        core_terms=terms.core(core_index),
        mixed_terms=terms.mixed(core_index),
        border_terms=terms.border(),
        buckets=buckets,
        core_index=core_index,
    )


def _stacked(
    first: list[tuple[int, Codes, int]], chosen: Sequence[int], effects: Sequence[Effect]
) -> tuple[list[Codes], Codes]:
    """The codes of several factors in one numbering, and the owner of each number."""
    factors = first + [(number, effects[number].codes, effects[number].levels) for number in chosen]
    codes: list[Codes] = []
    owner: list[Codes] = []
    start = 0
    for number, own, levels in factors:
        codes.append(own + start)
        owner.append(np.full(levels, number))
        start += levels
    return codes, np.concatenate(owner) if owner else np.empty(0, dtype=np.int64)


def _levels(effect: int | None, effects: Sequence[Effect]) -> int:
    return 0 if effect is None else effects[effect].levels


def indicator(codes: Sequence[Codes], rows: int, columns: int) -> csr_array:
    """The sparse matrix with a one at (row, code) for every factor."""
    if not codes:
        return csr_array((rows, columns))
    start = np.arange(0, rows * len(codes) + 1, len(codes))
    return csr_array((np.ones(rows * len(codes)), np.stack(codes, axis=1).ravel(), start), shape=(rows, columns))


def moved(matrix: csr_array, position: Codes, columns: int) -> csr_array:
    """The same matrix with its columns at other positions."""
    return csr_array((matrix.data, position[matrix.indices], matrix.indptr), shape=(matrix.shape[0], columns))
