"""Blocks of cells at known ratios of variances, once everything that stays inside them is eliminated: W and h.

See `projection`, which goes on from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.mixed.solver.layout import indicator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.known_ratios.cells import CellBucket


@dataclass(frozen=True, eq=False)
class Grouping:
    """An effect of cells: its ratio, the level of each cell, and which cells of a block share a level inside it."""

    ratio: float
    codes: Codes
    levels: int
    same: tuple[Bools, ...]
    """By bucket, (blocks, cells, cells)."""


class Groupings:
    """All effects of cells."""

    def __init__(self, each: Sequence[Grouping], cells: int) -> None:
        self.each = each
        self.start = np.cumsum([0, *(grouping.levels for grouping in each)])
        codes = [grouping.codes + start for grouping, start in zip(each, self.start, strict=False)]
        self.levels = indicator(codes, cells, int(self.start[-1]))
        """(cells, levels of all effects) with a one at the levels of each cell."""
        self.sums = self.levels.T.tocsr()
        """Takes values of cells to their sums by level."""
        self.ratio = np.repeat([grouping.ratio for grouping in each], np.diff(self.start))
        """Of each level."""


@dataclass(frozen=True, eq=False)
class SolvedBlocks:
    """A bucket's blocks, once everything inside them is eliminated."""

    counts: Floats
    inner: Floats
    """Kb, (blocks, cells, cells)."""
    weights: Floats
    """W."""
    forward: Floats
    """h, (blocks, cells)."""
    segment_size: Floats
    segment_sums: Floats
    """The number and the sum of the scores of each segment, (blocks, segments)."""
    square: Floats
    """What is left of y' y in each block, apart from the squares themselves."""

    def weighted(self, values: Floats) -> Floats:
        """W times values (blocks, cells, k)."""
        return np.asarray(self.weights @ values)

    def pulled(self, values: Floats) -> Floats:
        """Kb times values (blocks, cells)."""
        return times(self.inner, values)


def solve_blocks(bucket: CellBucket, kept: Bools, inner: Floats, segment_ratio: float) -> SolvedBlocks:
    """Eliminate what stays inside blocks, for the cells that are kept."""
    here = np.append(kept, False)[bucket.cells][:, :, None]
    counts, sums = bucket.counts * here, bucket.sums * here
    size, total = counts.sum(axis=1), sums.sum(axis=1)
    shrunk = segment_ratio / (1 + segment_ratio * size)
    shared = counts * shrunk[:, None, :]
    information = -(shared @ counts.transpose(0, 2, 1))
    diagonal = np.arange(information.shape[1])
    information[:, diagonal, diagonal] += counts.sum(axis=2)
    right = sums.sum(axis=2) - times(shared, total)
    # The inverse and a product take two thirds of the time of solving for all columns.
    weights = np.linalg.inv(np.eye(len(diagonal)) + information @ inner) @ information
    weights = (weights + weights.transpose(0, 2, 1)) / 2
    pulled = times(inner, right)
    forward = right - times(weights, pulled)
    square = -(shrunk * total**2).sum(axis=1) - (pulled * forward).sum(axis=1)
    return SolvedBlocks(counts, inner, weights, forward, size, total, square)


def times(matrices: Floats, vectors: Floats) -> Floats:
    """Matrices (blocks, m, n) times vectors (blocks, n)."""
    product: Floats = (matrices @ vectors[:, :, None])[:, :, 0]
    return product
