"""Blocks of cells of a large campaign at known ratios: W and h of `blocks` without matrices of pairs of cells.

Inside a document the scores of a cell share what belongs to the cell alone (its page), and with other cells the
document, the system's translation of it, and the segments. Given these few, cells are independent. So with n scores in
a cell and the ratio r of what is its own,

    W = diag(n / (1 + n r)) - H' H,

where H has one row for each of the few: the columns O of the equations between them and the cells, divided by the
Cholesky factor of their own matrix Q once the cells' own effects are eliminated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.mixed.solver.buckets import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.known_ratios.blocks import Grouping
    from adjudge.rank.mixed.known_ratios.cells import CellBucket


@dataclass(frozen=True, eq=False)
class SharedLevels:
    """What cells of a bucket share inside their blocks, segments apart."""

    member: Floats
    """(blocks, cells, levels): 1 where a cell has a level."""
    ratio: Floats
    """(blocks, levels), 1 for padding."""
    own_ratio: Floats
    """(blocks, cells): of what belongs to a cell alone."""


def shared_levels(
    buckets: Sequence[CellBucket], block: Codes, groupings: Sequence[tuple[Grouping, Bools]]
) -> Iterator[SharedLevels]:
    """For each bucket what its cells share inside their blocks.

    Args:
        buckets: of all cells.
        block: of each cell.
        groupings: the effects of cells, each with its levels that stay inside a block.
    """
    alone = np.zeros(len(block))
    owner, number = [np.empty(0, dtype=np.int64)], []
    for grouping, inside in groupings:
        several = inside & (np.bincount(grouping.codes, minlength=grouping.levels) > 1)
        alone += grouping.ratio * (inside & ~several)[grouping.codes]
        level_block = np.empty(grouping.levels, dtype=np.int64)
        level_block[grouping.codes] = block
        number.append(np.where(several, np.cumsum(several) - 1 + sum(map(len, owner)), -1))
        owner.append(level_block[several])
    count, local = counted(np.concatenate(owner), int(block.max(initial=-1)) + 1)
    for bucket in buckets:
        here = bucket.cells < len(block)
        levels = int(count[block[bucket.cells[:, 0]]].max(initial=0))
        member = np.zeros((*bucket.cells.shape, levels))
        ratio = np.ones((len(bucket.cells), levels))
        slot, cell = np.nonzero(here)
        for (grouping, _), level_number in zip(groupings, number, strict=True):
            level = level_number[grouping.codes[bucket.cells[here]]]
            known = level >= 0
            member[slot[known], cell[known], local[level[known]]] = 1.0
            ratio[slot[known], local[level[known]]] = grouping.ratio
        yield SharedLevels(member, ratio, np.append(alone, 0.0)[bucket.cells])


@dataclass(frozen=True, eq=False)
class LargeBlocks:
    """A bucket's blocks, once everything inside them is eliminated; as `blocks.SolvedBlocks`."""

    counts: Floats
    shared: SharedLevels
    diagonal: Floats
    """n / (1 + n r), (blocks, cells)."""
    half: Floats
    """H, (blocks, levels, cells)."""
    forward: Floats
    segment_size: Floats
    segment_sums: Floats
    square: Floats

    def weighted(self, values: Floats) -> Floats:
        """W times values (blocks, cells, k)."""
        product: Floats = self.diagonal[:, :, None] * values
        product -= self.half.transpose(0, 2, 1) @ (self.half @ values)
        return product

    def pulled(self, values: Floats) -> Floats:
        """Kb times values (blocks, cells)."""
        member = self.shared.member
        sums = self.shared.ratio * (member.transpose(0, 2, 1) @ values[:, :, None])[:, :, 0]
        return np.asarray(self.shared.own_ratio * values + (member @ sums[:, :, None])[:, :, 0])


def solve_large_blocks(bucket: CellBucket, kept: Bools, shared: SharedLevels, segment_ratio: float) -> LargeBlocks:
    """Eliminate what stays inside blocks, for the cells that are kept."""
    here = np.append(kept, False)[bucket.cells][:, :, None]
    counts, sums = bucket.counts * here, bucket.sums * here
    size, total = counts.sum(axis=2), sums.sum(axis=2)
    shrunk = 1 / (1 + size * shared.own_ratio)
    absorbed = shared.own_ratio * shrunk
    # Without an effect of segments, their columns have no place among what is shared.
    segments = counts if segment_ratio > 0 else counts[:, :, :0]
    columns = np.concatenate([segments, size[:, :, None] * shared.member], axis=2)
    right = np.concatenate(
        [sums.sum(axis=1)[:, : segments.shape[2]], (shared.member * total[:, :, None]).sum(axis=1)], axis=1
    )
    right -= (columns * (absorbed * total)[:, :, None]).sum(axis=1)
    factor = np.linalg.cholesky(_matrix(segments, shared, columns, absorbed, segment_ratio))
    solved = np.linalg.solve(
        factor, np.concatenate([(columns * shrunk[:, :, None]).transpose(0, 2, 1), right[:, :, None]], axis=2)
    )
    half, forward = solved[:, :, :-1], solved[:, :, -1]
    return LargeBlocks(
        counts=counts,
        shared=shared,
        diagonal=size * shrunk,
        half=np.ascontiguousarray(half),
        forward=total * shrunk - (half.transpose(0, 2, 1) @ forward[:, :, None])[:, :, 0],
        segment_size=counts.sum(axis=1),
        segment_sums=sums.sum(axis=1),
        square=-(absorbed * total**2).sum(axis=1) - (forward**2).sum(axis=1),
    )


def _matrix(segments: Floats, shared: SharedLevels, columns: Floats, absorbed: Floats, segment_ratio: float) -> Floats:
    """Q, the equations of what cells share: segments first, then levels."""
    member, first = shared.member, segments.shape[2]
    matrix = -(columns.transpose(0, 2, 1) @ (absorbed[:, :, None] * columns))
    across = segments.transpose(0, 2, 1) @ member
    matrix[:, :first, first:] += across
    matrix[:, first:, :first] += across.transpose(0, 2, 1)
    matrix[:, first:, first:] += columns[:, :, first:].transpose(0, 2, 1) @ member
    diagonal = np.arange(first)
    matrix[:, diagonal, diagonal] += segments.sum(axis=1) + (1 / segment_ratio if first else 0.0)
    rest = np.arange(first, matrix.shape[1])
    matrix[:, rest, rest] += 1 / shared.ratio
    return matrix
