"""Blocks of similar size, padded to one shape so that all of them are handled in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.rank.mixed.blocks import Blocks

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

GROWTH = 1.25
"""Blocks within this factor in both sizes share a bucket, so padding costs little."""
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
    """(count, border) places in the border; padding points behind the last."""

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
class Places:
    """Where a core unknown lies in the flat arrays."""

    vector: Codes
    square_row: Codes
    """Start of its row in the (core, core) matrices; add `local` of the other unknown."""
    oblong_row: Codes
    local: Codes
    block: Codes
    pair_key: Codes
    """Sorted keys block * columns + border unknown of all pairs that meet, and the place within the block."""
    pair_local: Codes
    columns: int
    squares: int
    oblongs: int

    def in_square(self, row: Codes, column: Codes) -> Codes:
        """The place of (core, core) entries."""
        return self.square_row[row] + self.local[column]

    def in_oblong(self, row: Codes, border: Codes) -> Codes:
        """The place of (core, border) entries."""
        key = self.block[row] * self.columns + border
        return self.oblong_row[row] + self.pair_local[np.searchsorted(self.pair_key, key)]


def fill_buckets(
    blocks: Blocks, core_codes: Sequence[Codes], cores: int, border_codes: Sequence[Codes], columns: int
) -> tuple[tuple[Bucket, ...], Places]:
    """Put the blocks into buckets, and say where every core unknown has gone."""
    if not core_codes:
        empty = np.empty(0, dtype=np.int64)
        return (), Places(empty, empty, empty, empty, empty, empty, empty, columns, 0, 0)
    number = int(blocks.block.max()) + 1
    block_of_core = np.empty(cores, dtype=np.int64)
    for codes in core_codes:
        block_of_core[codes] = blocks.block
    core_count, core_local = _counted(block_of_core, number)
    pair_key = np.unique(np.concatenate([blocks.block * columns + codes for codes in border_codes]))
    border_count, pair_local = _counted(pair_key // columns, number)
    buckets, where = _shaped(core_count, border_count)
    index = [np.full((bucket.count, bucket.border), columns) for bucket in buckets]
    _set_border_index(index, where, pair_key, pair_local, columns)
    filled = tuple(
        Bucket(b.count, b.core, b.border, b.core_start, b.square_start, b.oblong_start, own)
        for b, own in zip(buckets, index, strict=True)
    )
    core, border, start = (np.array([getattr(b, name) for b in filled]) for name in ("core", "border", "core_start"))
    square, oblong = (np.array([getattr(b, name) for b in filled]) for name in ("square_start", "oblong_start"))
    home, slot = where.bucket[block_of_core], where.slot[block_of_core]
    within = slot * core[home] + core_local
    places = Places(
        vector=start[home] + within,
        square_row=square[home] + within * core[home],
        oblong_row=oblong[home] + within * border[home],
        local=core_local,
        block=block_of_core,
        pair_key=pair_key,
        pair_local=pair_local,
        columns=columns,
        squares=sum(b.count * b.core**2 for b in filled),
        oblongs=sum(b.count * b.core * b.border for b in filled),
    )
    return filled, places


def _counted(group: Codes, groups: int) -> tuple[Codes, Codes]:
    """How many members each group has, and the number of each member within its group."""
    count = np.bincount(group, minlength=groups)
    order = np.argsort(group, kind="stable")
    local = np.empty_like(group)
    local[order] = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    return count, local


@dataclass(frozen=True, eq=False)
class _Where:
    bucket: Codes
    slot: Codes


def _shaped(core: Codes, border: Codes) -> tuple[list[Bucket], _Where]:
    """Buckets of blocks with similar sizes, and where each block went."""
    grades = [np.ceil(np.log(np.maximum(one, 1)) / np.log(GROWTH)).astype(np.int64) for one in (core, border)]
    grade = grades[0] * 1000 + grades[1]
    where = _Where(np.empty(len(core), dtype=np.int64), np.empty(len(core), dtype=np.int64))
    buckets: list[Bucket] = []
    core_start = square_start = oblong_start = 0
    for one in np.unique(grade):
        members = np.flatnonzero(grade == one)
        m, n = int(core[members].max()), int(border[members].max())
        most = max(1, BUCKET_NUMBERS // max(m, n) ** 2)
        for first in range(0, len(members), most):
            part = members[first : first + most]
            where.bucket[part], where.slot[part] = len(buckets), np.arange(len(part))
            buckets.append(Bucket(len(part), m, n, core_start, square_start, oblong_start, part))
            core_start += len(part) * m
            square_start += len(part) * m * m
            oblong_start += len(part) * m * n
    return buckets, where


def _set_border_index(index: list[Codes], where: _Where, key: Codes, local: Codes, columns: int) -> None:
    block, border = np.divmod(key, columns)
    home = where.bucket[block]
    for number, own in enumerate(index):
        mine = home == number
        own[where.slot[block[mine]], local[mine]] = border[mine]
