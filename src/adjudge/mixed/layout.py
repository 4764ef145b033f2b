"""How the model's equations are laid out for fast elimination. Knows the design, not the variances.

The unknowns of Henderson's mixed-model equations are taken in three groups:

*absorbed*  the finest effect inside documents (usually pages). Each row has one level, so this block is diagonal.
*core*      what else stays inside documents (document, segment, system:document, tastes for one document). Given the
            border this part is block-diagonal: one small dense block per document.
*border*    what reaches across documents: systems, annotators, tasks, and tastes for several documents.

The place of every level is chosen by itself: most tastes are for one page or one document, and only those of annotators
who met a system in several documents reach across. Levels that hold the very same rows (a taste seen on one page, the
only task of an annotator) are one unknown whose variance is the sum of theirs: an unknown is of a *kind*, the effects
that it is the sum of. Both keep the border small, on which the time of a fit depends.

Absorbing the pages changes the other equations by rank-one terms with the weight 1 / (size + residual/variance). Pages
of one size and kind share that weight, so one sum of products for each is kept, and equations at other variances are a
weighted sum of stored numbers. Blocks of similar size are padded to one shape and handled together (a bucket).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, diags_array

from adjudge.mixed.border import DENSE_LIMIT
from adjudge.mixed.effects import ACROSS, TASTE, Effect
from adjudge.table.judgments import SPARSE, renumber

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from adjudge.table.maths import Bools, Codes, Floats


LARGEST_BLOCK = 3000
"""Core unknowns of one block above which its most numerous effect is moved to the border."""
_NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Group:
    """Some of the unknowns: for each effect that has any here the unknown of every row (-1: none), and their kinds."""

    codes: tuple[Codes, ...]
    kind: Codes


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The block of every row, the unknowns in each group, and what their kinds are.

    An unknown of a kind is the sum of the effects that `parts` (kinds, effects) marks by 1.
    """

    block: Codes
    core_block: Codes
    """The block of each unknown of the core."""
    border: Group
    core: Group
    absorbed: Group
    parts: Floats

    @property
    def levels(self) -> Codes:
        """How many unknowns there are of each kind."""
        every = np.concatenate([self.border.kind, self.core.kind, self.absorbed.kind])
        return np.bincount(every, minlength=len(self.parts))


def find_unknowns(effects: Sequence[Effect]) -> Unknowns:
    """Divide the unknowns. What is finest inside the blocks is absorbed, if something is left for the core."""
    levels = Levels(effects)
    effects = levels.effects
    inner = [number for number, effect in enumerate(effects) if effect.parts[0] not in ACROSS]
    while True:
        block = components([effects[number].codes for number in inner], levels.rows)
        inside = [inside_blocks(effect, block) if inner else np.zeros(effect.levels, dtype=bool) for effect in effects]
        whole = [number for number in range(len(effects)) if inside[number].all()]
        absorbed = max(reversed(whole), key=lambda number: effects[number].levels) if len(whole) > 1 else None
        core = levels.chosen(np.concatenate(inside or [np.zeros(0, dtype=bool)]), absorbed)
        core_block = _owners(core, block)
        if not core.codes or np.bincount(core_block).max() <= LARGEST_BLOCK:
            border = levels.chosen(~np.concatenate(inside or [np.zeros(0, dtype=bool)]), absorbed)
            return Unknowns(block, core_block, border, core, levels.whole(absorbed), levels.parts)
        moved = max(inner, key=lambda number: (number != absorbed, effects[number].levels))
        inner = [number for number in inner if number != moved]


class Levels:
    """The levels of all effects in one numbering, those that hold the same rows as one.

    What tastes for one system vary more has no levels of its own: some of those of all tastes are of it too.
    """

    def __init__(self, every: Sequence[Effect]) -> None:
        effects = self.effects = [effect for effect in every if effect.marked is None]
        self.rows = len(effects[0].codes) if effects else 0
        self.start = np.cumsum([0, *(effect.levels for effect in effects)])
        self.first = _first_alike(effects, self.start)
        """The first level that holds the same rows."""
        held = np.zeros(int(self.start[-1]), dtype=np.int64)
        for number, (start, end) in enumerate(pairwise(self.start)):
            # No two levels of one effect hold the same rows, so each bit is added once.
            held[self.first[start:end]] += 1 << number
        marks = [effect.marked for effect in every if effect.marked is not None]
        for number, marked in enumerate(marks, start=len(effects)):
            tastes = next(place for place, other in enumerate(effects) if TASTE in other.parts)
            held[self.first[self.start[tastes] + np.flatnonzero(marked)]] += 1 << number
        self.held = held[self.first]
        """Which effects have a level that holds the same rows, one bit each."""
        kinds, self.kind = np.unique(self.held, return_inverse=True)
        self.parts = (kinds[:, None] >> np.arange(len(every)) & 1).astype(np.float64)

    def chosen(self, wanted: Bools, absorbed: int | None) -> Group:
        """The wanted levels, each set of equal ones once, without those that are absorbed."""
        places = wanted & (self.first == np.arange(len(self.first)))
        if absorbed is not None:
            places &= (self.held >> absorbed & 1) == 0
        number = np.where(places, np.cumsum(places) - 1, _NOWHERE)
        codes = [
            number[start:end][effect.codes]
            for effect, (start, end) in zip(self.effects, pairwise(self.start), strict=True)
            if places[start:end].any()
        ]
        return Group(tuple(codes), self.kind[places])

    def whole(self, effect: int | None) -> Group:
        """All levels of one effect, or none."""
        if effect is None:
            return Group((), np.empty(0, dtype=np.int64))
        return Group((self.effects[effect].codes,), self.kind[self.start[effect] : self.start[effect + 1]])


def _first_alike(effects: Sequence[Effect], start: Codes) -> Codes:
    """For each level the first one, of any effect, that holds the same rows."""
    first = np.arange(int(start[-1]))
    sizes = [np.bincount(effect.codes, minlength=effect.levels) for effect in effects]
    for later in range(1, len(effects)):
        later_effect = effects[later]
        row = _one_row_each(later_effect)
        for earlier in reversed(range(later)):
            other = effects[earlier].codes
            met = other[row]
            alike = sizes[earlier][met] == sizes[later]
            if alike.any():
                alike &= _constant(later_effect, other, met)
                first[start[later] : start[later + 1]][alike] = first[start[earlier] + met[alike]]
    return first


def _one_row_each(effect: Effect) -> Codes:
    """A row of each level."""
    row = np.empty(effect.levels, dtype=np.int64)
    row[effect.codes] = np.arange(len(effect.codes))
    return row


def _constant(effect: Effect, codes: Codes, met: Codes) -> Bools:
    """For each level of an effect whether all its rows have the code met in one of them."""
    constant = np.ones(effect.levels, dtype=bool)
    constant[effect.codes[met[effect.codes] != codes]] = False
    return constant


def inside_blocks(effect: Effect, block: Codes) -> Bools:
    """For each level whether it does not reach across blocks."""
    return _constant(effect, block, block[_one_row_each(effect)])


def components(codes: Sequence[Codes], rows: int) -> Codes:
    """Rows that are linked by any of these effects are in one block."""
    from scipy.sparse.csgraph import connected_components

    if not codes:
        return np.zeros(rows, dtype=np.int64)
    if all(_nested(effect_codes, codes[0]) for effect_codes in codes[1:]):
        return renumber(codes[0])
    nodes = np.cumsum([0, *(int(effect_codes.max()) + 1 for effect_codes in codes)])
    start = np.concatenate([codes[0]] * (len(codes) - 1) or [codes[0]])
    end = np.concatenate([later + first for later, first in zip(codes[1:], nodes[1:], strict=False)] or [codes[0]])
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(nodes[-1], nodes[-1]))
    label: Codes = connected_components(graph, directed=False)[1].astype(np.int64)
    return np.unique(label[codes[0]], return_inverse=True)[1]


def _nested(codes: Codes, outer: Codes) -> bool:
    """Whether rows with the same code have the same one of another effect."""
    met = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    met[codes] = outer
    return bool((met[codes] == outer).all())


def _owners(core: Group, block: Codes) -> Codes:
    """The block of each unknown of the core."""
    owner = np.empty(len(core.kind), dtype=np.int64)
    for codes in core.codes:
        inside = codes >= 0
        owner[codes[inside]] = block[inside]
    return owner


GROWTH = 1.25
"""Blocks within this factor in both sizes share a bucket, so padding costs little."""
CALLS = 300_000
"""Buckets are joined where padding adds fewer products than this, which take as long as the calls for one bucket."""
BUCKET_NUMBERS = 4_000_000
"""Numbers in the largest working array of a bucket; more blocks than fit go to another bucket."""


@dataclass(frozen=True, eq=False)
class Bucket:
    """`count` blocks of `core` unknowns, each touching `border` unknowns outside."""

    count: int
    core: int
    border: int
    core_start: int
    """Where the bucket's part of the flat arrays starts: core vectors, (core, core), (core, border) matrices."""
    square_start: int
    oblong_start: int
    border_index: Codes
    """(count, border) positions in the border; padding points behind the last."""
    width: int
    """Border unknowns and the one that padding points to."""

    @cached_property
    def sums(self) -> csr_array:
        """The matrix (width, count * border) that adds up what the blocks say of each border unknown."""
        index = self.border_index.ravel()
        return coo_array((np.ones(len(index)), (index, np.arange(len(index)))), (self.width, len(index))).tocsr()

    def vector(self, flat: Floats) -> Floats:
        """This bucket's part of core vectors (all, k), as (count, core, k)."""
        return flat[self.core_start : self.core_start + self.count * self.core].reshape(self.count, self.core, -1)

    def square(self, flat: Floats) -> Floats:
        """This bucket's (count, core, core) matrices."""
        size = self.count * self.core * self.core
        return flat[self.square_start : self.square_start + size].reshape(self.count, self.core, self.core)

    def oblong(self, flat: Floats) -> Floats:
        """This bucket's (count, core, border) matrices."""
        size = self.count * self.core * self.border
        return flat[self.oblong_start : self.oblong_start + size].reshape(self.count, self.core, self.border)


@dataclass(frozen=True, eq=False)
class CoreIndex:
    """Where a core unknown lies in the flat arrays."""

    vector: Codes
    square_row: Codes
    """Start of its row in the (core, core) matrices; add `local` of the other unknown."""
    oblong_row: Codes
    local: Codes
    block: Codes
    pair_key: Codes
    """Sorted keys block * columns + border unknown of all pairs that meet, and the position within the block."""
    pair_local: Codes
    columns: int
    squares: int
    oblongs: int

    def in_square(self, row: Codes, column: Codes) -> Codes:
        """The position of (core, core) entries."""
        return self.square_row[row] + self.local[column]

    def in_oblong(self, row: Codes, border: Codes) -> Codes:
        """The position of (core, border) entries."""
        key = self.block[row] * self.columns + border
        most = int(self.pair_key[-1]) + 1 if len(self.pair_key) else 0
        if most > SPARSE * len(key):
            return self.oblong_row[row] + self.pair_local[np.searchsorted(self.pair_key, key)]
        place = np.empty(most, dtype=np.int64)
        place[self.pair_key] = self.pair_local
        return np.asarray(self.oblong_row[row] + place[key])


def fill_buckets(
    unknowns: Unknowns, border_codes: Sequence[Codes], columns: int
) -> tuple[tuple[Bucket, ...], CoreIndex]:
    """Put the blocks into buckets, and say where every core unknown has gone.

    Args:
        unknowns: of the core, and the block of every row.
        border_codes: the border unknowns of every row, -1 for none.
        columns: how many border unknowns there are.
    """
    if not len(unknowns.core.kind):
        empty = np.empty(0, dtype=np.int64)
        return (), CoreIndex(empty, empty, empty, empty, empty, empty, empty, columns, 0, 0)
    number = int(unknowns.block.max()) + 1
    block_of_core = unknowns.core_block
    core_count, core_local = counted(block_of_core, number)
    pair_key = _pairs_that_meet(unknowns.block, border_codes, columns)
    border_count, pair_local = counted(pair_key // columns, number)
    bucket, slot, count, core, border = _place_blocks(core_count, border_count)
    lengths = (count * core, count * core**2, count * core * border)
    core_start, square_start, oblong_start = (np.cumsum(length) - length for length in lengths)
    own = bucket[block_of_core]
    within = slot[block_of_core] * core[own] + core_local
    core_index = CoreIndex(
        vector=core_start[own] + within,
        square_row=square_start[own] + within * core[own],
        oblong_row=oblong_start[own] + within * border[own],
        local=core_local,
        block=block_of_core,
        pair_key=pair_key,
        pair_local=pair_local,
        columns=columns,
        squares=int(lengths[1].sum()),
        oblongs=int(lengths[2].sum()),
    )
    meeting, met = np.divmod(pair_key, columns)
    buckets = []
    for number in range(len(count)):
        here = bucket[meeting] == number
        border_index = np.full((count[number], border[number]), columns)
        border_index[slot[meeting[here]], pair_local[here]] = met[here]
        buckets.append(
            Bucket(
                count=int(count[number]),
                core=int(core[number]),
                border=int(border[number]),
                core_start=int(core_start[number]),
                square_start=int(square_start[number]),
                oblong_start=int(oblong_start[number]),
                border_index=border_index,
                width=columns + 1,
            )
        )
    return tuple(buckets), core_index


def _pairs_that_meet(block: Codes, border_codes: Sequence[Codes], columns: int) -> Codes:
    """The keys block * columns + border unknown of all pairs that share a row, in order."""
    keys = np.concatenate([block[codes >= 0] * columns + codes[codes >= 0] for codes in border_codes])
    most = int(keys.max()) + 1
    if most > SPARSE * len(keys):
        return np.unique(keys)
    met = np.zeros(most, dtype=bool)
    met[keys] = True
    return np.flatnonzero(met)


def counted(group: Codes, groups: int) -> tuple[Codes, Codes]:
    """How many members each group has, and the number of each member within its group."""
    count = np.bincount(group, minlength=groups)
    order = np.argsort(group, kind="stable")
    local = np.empty_like(group)
    local[order] = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    return count, local


def _place_blocks(core: Codes, border: Codes) -> tuple[Codes, Codes, Codes, Codes, Codes]:
    """Blocks of similar sizes into one bucket, unless that would grow too large.

    The bucket (-1 where all unknowns are absorbed) and the slot in it of every block; and by bucket, how many blocks of
    which sizes it holds.
    """
    bucket, slot = np.full_like(core, -1), np.zeros_like(core)
    sizes: list[tuple[int, int, int]] = []
    for members in _similar(core, border):
        m, n = int(core[members].max()), int(border[members].max())
        most = max(1, BUCKET_NUMBERS // max(m, n) ** 2)
        for first in range(0, len(members), most):
            part = members[first : first + most]
            bucket[part], slot[part] = len(sizes), np.arange(len(part))
            sizes.append((len(part), m, n))
    count, cores, borders = np.array(sizes, dtype=np.int64).T
    return bucket, slot, count, cores, borders


def _similar(core: Codes, border: Codes) -> list[Codes]:
    """The blocks with a core, those that are best handled in one call together."""
    grades = [np.ceil(np.log(np.maximum(sizes, 1)) / np.log(GROWTH)).astype(np.int64) for sizes in (core, border)]
    grade = grades[0] * 1000 + grades[1]
    groups: list[Codes] = []
    for value in np.unique(grade[core > 0]):
        members = np.flatnonzero((grade == value) & (core > 0))
        joined = np.concatenate([*groups[-1:], members])
        apart = sum(_products(core[part], border[part]) for part in (*groups[-1:], members))
        if groups and _products(core[joined], border[joined]) - apart < CALLS:
            groups[-1] = joined
        else:
            groups.append(members)
    return groups


def _products(core: Codes, border: Codes) -> int:
    """About how many products blocks take that are padded to one shape."""
    return len(core) * int(core.max()) * int(core.max() + border.max()) ** 2


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

    def by_class(self, factor: Floats, classes: int) -> Floats:
        """The sums of the entries of each class, each entry times its factor."""
        return weighted_count(self.size_class, self.value * factor, classes)


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
    sizes: Floats
    size_kinds: Codes
    """Class 0 of all terms is the plain cross-product, class 1 + i belongs to absorbed unknowns of sizes[i] and
    size_kinds[i]. Where ratios are known, their weights are in the terms, and class 0 is all."""
    core_terms: Terms
    mixed_terms: Terms
    border_terms: Terms
    buckets: tuple[Bucket, ...]

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


def lay_out(system: Codes, systems: int, effects: Sequence[Effect], ratios: Floats | None = None) -> Layout:
    """Lay out the equations of a design.

    Args:
        system: of every row.
        systems: how many there are.
        effects: the random effects.
        ratios: of each effect's variance to that of the residual, where no others will be asked for: there are far
            fewer terms then, but they do not tell the likelihood's slopes.
    """
    unknowns = find_unknowns(effects)
    rows = len(system)
    # Systems come first; the rest of the border follows them, and behind it what padding points to.
    border_codes = [system, *(np.where(codes < 0, codes, codes + systems) for codes in unknowns.border.codes)]
    border_kind = np.concatenate([np.full(systems, -1), unknowns.border.kind])
    width = len(border_kind) + 1
    buckets, core_index = fill_buckets(unknowns, border_codes, len(border_kind))
    border_rows = indicator(border_codes, rows, width)
    core_plain = indicator(unknowns.core.codes, rows, len(unknowns.core.kind))
    absorbed_rows = indicator(unknowns.absorbed.codes, rows, len(unknowns.absorbed.kind))
    size = np.asarray(absorbed_rows.sum(axis=0), dtype=np.float64)
    by_level = absorbed_rows.T.tocsr()
    core_sum = by_level @ core_plain
    one_each = _rows_of_levels(unknowns.absorbed, border_codes)
    # Where all rows of a level have the same border unknowns, sums over levels are far fewer than rows.
    border_level = None if one_each is None else border_rows[one_each]
    border_sum = by_level @ border_rows if border_level is None else csr_array(diags_array(size) @ border_level)
    sizes, size_kinds, size_class = _size_classes(size, unknowns.absorbed.kind, len(unknowns.parts))
    if ratios is not None:
        weight = 1 / (size + 1 / (unknowns.parts @ ratios)[unknowns.absorbed.kind])
        sizes, size_kinds = sizes[:0], size_kinds[:0]

    def terms(of_border: tuple[bool, bool], place: Callable[[Codes, Codes], Codes], length: int) -> Terms:
        """Cross-products of the rows, and of the sums over absorbed levels, of unknowns of the core or the border."""
        left, right = (border_sum if border else core_sum for border in of_border)
        if border_level is not None and of_border[1]:
            # With known weights both are one product.
            own = [left.T @ (border_level if ratios is None else _scale_rows(border_level, 1 - weight * size))]
        else:
            rows_left, rows_right = (border_rows if border else core_plain for border in of_border)
            own = [rows_left.T @ rows_right]
            if ratios is not None:
                own.append(left.T @ _scale_rows(right, -weight))
        # One copy of the columns per size class keeps the classes apart in a single product.
        by_class = [left.T @ _spread_columns(right, size_class, len(sizes))] if ratios is None else []
        parts = [product.tocoo() for product in (*own, *by_class)]
        count = sum(product.nnz for product in own)
        row, spread = (np.concatenate([part.coords[axis] for part in parts]).astype(np.int64) for axis in (0, 1))
        copy, column = np.divmod(spread, right.shape[1])
        copy[count:] += 1
        value = np.concatenate([part.data for part in parts])
        return Terms(place(row, column), value, copy.astype(np.int32), length)

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
        sizes=sizes,
        size_kinds=size_kinds,
        core_terms=terms((False, False), core_index.in_square, core_index.squares),
        mixed_terms=terms((False, True), core_index.in_oblong, core_index.oblongs),
        border_terms=terms((True, True), lambda row, column: row * width + column, width**2),
        buckets=buckets,
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


def _spread_columns(matrix: csr_array, row_class: Codes, classes: int) -> csr_array:
    """The same rows, each moved to the copy of the columns that belongs to its class."""
    columns = matrix.shape[1]
    moved = matrix.indices.astype(np.int64) + np.repeat(row_class, np.diff(matrix.indptr)) * columns
    return csr_array((matrix.data, moved, matrix.indptr), shape=(matrix.shape[0], columns * max(classes, 1)))


def _scale_rows(matrix: csr_array, factor: Floats) -> csr_array:
    """Every row times its factor."""
    data = matrix.data * np.repeat(factor, np.diff(matrix.indptr))
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


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
