"""Blocks of similar size, padded to one shape so that all of them are handled in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.integer_codes import SPARSE
from adjudge.rank.mixed.solver.blocks import blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Codes, Floats
    from adjudge.rank.mixed.solver.blocks import Unknowns


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
        return self.oblong_row[row] + place[key]


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
    block_of_core = blocks_of(unknowns.core, unknowns.block)
    core_count, core_local = counted(block_of_core, number)
    pair_key = _pairs_that_meet(unknowns.block, border_codes, columns)
    border_count, pair_local = counted(pair_key // columns, number)
    placed = _place_blocks(core_count, border_count)
    bucket = placed.bucket[block_of_core]
    within = placed.slot[block_of_core] * placed.core[bucket] + core_local
    core_index = CoreIndex(
        vector=placed.core_start[bucket] + within,
        square_row=placed.square_start[bucket] + within * placed.core[bucket],
        oblong_row=placed.oblong_start[bucket] + within * placed.border[bucket],
        local=core_local,
        block=block_of_core,
        pair_key=pair_key,
        pair_local=pair_local,
        columns=columns,
        squares=int((placed.count * placed.core**2).sum()),
        oblongs=int((placed.count * placed.core * placed.border).sum()),
    )
    return _buckets(placed, core_index), core_index


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


@dataclass(frozen=True, eq=False)
class _Placement:
    """The bucket and the slot in it of every block; and by bucket, how many blocks of which sizes it holds."""

    bucket: Codes
    slot: Codes
    count: Codes
    core: Codes
    border: Codes

    @property
    def core_start(self) -> Codes:
        return _starts(self.count * self.core)

    @property
    def square_start(self) -> Codes:
        return _starts(self.count * self.core**2)

    @property
    def oblong_start(self) -> Codes:
        return _starts(self.count * self.core * self.border)


def _starts(lengths: Codes) -> Codes:
    starts: Codes = np.cumsum(lengths) - lengths
    return starts


def _place_blocks(core: Codes, border: Codes) -> _Placement:
    """Blocks of similar sizes into one bucket, unless that would grow too large; -1 where all unknowns are absorbed."""
    bucket, slot = np.full_like(core, -1), np.zeros_like(core)
    sizes: list[tuple[int, int, int]] = []
    for members in _similar(core, border):
        m, n = int(core[members].max()), int(border[members].max())
        most = max(1, BUCKET_NUMBERS // max(m, n) ** 2)
        for first in range(0, len(members), most):
            part = members[first : first + most]
            bucket[part], slot[part] = len(sizes), np.arange(len(part))
            sizes.append((len(part), m, n))
    return _Placement(bucket, slot, *np.array(sizes, dtype=np.int64).T)


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


def _buckets(placed: _Placement, core_index: CoreIndex) -> tuple[Bucket, ...]:
    block, border = np.divmod(core_index.pair_key, core_index.columns)
    bucket = placed.bucket[block]
    buckets = []
    for number in range(len(placed.count)):
        index = np.full((placed.count[number], placed.border[number]), core_index.columns)
        of_bucket = bucket == number
        index[placed.slot[block[of_bucket]], core_index.pair_local[of_bucket]] = border[of_bucket]
        buckets.append(
            Bucket(
                count=int(placed.count[number]),
                core=int(placed.core[number]),
                border=int(placed.border[number]),
                core_start=int(placed.core_start[number]),
                square_start=int(placed.square_start[number]),
                oblong_start=int(placed.oblong_start[number]),
                border_index=index,
            )
        )
    return tuple(buckets)
