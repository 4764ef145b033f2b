"""A design by cells: rows that agree in everything but the segment, taken together.

Where a page holds many segments, all that a model says of its rows, other than the segment and the residual, is one
number per cell. With R = I + ratio Z Z' for the segments (Z) and C for the cells, the scores enter the equations by

    A = C' inv(R) C   and   b = C' inv(R) y,

which fall into small blocks, one per document: A is diag(rows) - M diag(ratio / (1 + ratio n)) M', where M counts the
rows of each cell in each segment, and n those of each segment. A part of the rows that cuts no cell has M with some
rows set to zero, and needs no layout of its own. `model` fits the model to cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.mixed.design import combine, levels_of
from adjudge.rank.mixed.effects import ACROSS
from adjudge.rank.mixed.solver.blocks import components, inside_blocks
from adjudge.rank.mixed.solver.terms import weighted_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.effects import Effect
    from adjudge.rank.mixed.fit import Prepared

SEGMENT = "segment"
GROWTH = 1.3
"""Blocks within this factor of cells share a bucket."""
MOST_PRODUCTS = 100_000_000
"""Products in the blocks of one fit beyond which pairs of cells are not looked at."""
MOST_COUNTS = 20_000_000
"""Counts of scores by cell and segment of a large campaign that are kept in memory."""


@dataclass(frozen=True, eq=False)
class CellBucket:
    """Blocks of similar size, padded to one shape (blocks, cells) and (blocks, segments)."""

    cells: Codes
    """The number of each cell; padding points behind the last."""
    counts: Floats
    """(blocks, cells, segments): how many scores each cell has in each segment."""
    sums: Floats
    """The sums of these scores."""
    same: tuple[Bools, ...]
    """For each effect (blocks, cells, cells): whether two cells share a level that stays inside the block.

    None of a large campaign, where this would be too much.
    """


@dataclass(frozen=True, eq=False)
class Cells:
    """A design with its effects, by cells."""

    design: MixedDesign
    """One row per cell, without segments."""
    of_row: Codes
    """The cell of each score."""
    segment: Codes | None
    """The segment of each score, where the model has that effect."""
    scores: Codes
    """How many scores each cell holds; `low` and `high` are the lowest and highest as given."""
    low: Floats
    high: Floats
    squares: Floats
    """The sum of the squares of each cell's standardised scores."""
    effects: tuple[Effect, ...]
    """All effects but the segment."""
    block: Codes
    inside: tuple[Bools, ...]
    """For each effect which of its levels stay inside one block."""
    buckets: tuple[CellBucket, ...]
    large: bool
    """Whether pairs of cells are too many to be looked at; `large_model` fits the model then."""

    def __len__(self) -> int:
        return len(self.scores)

    def same(self, effect: int) -> tuple[Bools, ...]:
        """By bucket, whether two cells share a level of an effect inside their block; none of a large campaign."""
        return tuple(bucket.same[effect] for bucket in self.buckets if bucket.same)

    def whole(self, rows: Bools) -> Bools | None:
        """The cells that some of the rows make up; None where they cut a cell."""
        kept = np.zeros(len(self), dtype=bool)
        kept[self.of_row[rows]] = True
        return kept if (kept[self.of_row] == rows).all() else None

    def values_of(self, codes: Codes) -> Codes | None:
        """A code of rows by cell; None where rows of one cell differ."""
        by_cell = np.empty(len(self), dtype=np.int64)
        by_cell[self.of_row] = codes
        return by_cell if (by_cell[self.of_row] == codes).all() else None


def cells_of(prepared: Prepared, standard: Floats) -> Cells | None:
    """The cells of a design with standardised scores; None where these are no use.

    That is so with calibration items or weights, where segments have no variance of their own although they are
    named, and where their counts would take too much memory.
    """
    design, kept = prepared.design, prepared.effects.kept
    named = [effect for effect in kept if SEGMENT in effect.parts]
    if not _has_cells(design, named):
        return None
    cell = _first_seen(combine(design.system, *(effect.codes for effect in kept if SEGMENT not in effect.parts)))
    segment = named[0].codes if named else None
    first = _first_rows(cell)
    # Scores of a cell are never apart, also where no effect but the segment keeps them together.
    together = [effect.codes for effect in kept if effect.parts[0] not in ACROSS]
    block = components([cell, *together], len(cell))[first]
    large = prepared.layout.iterative or _products(block) > MOST_PRODUCTS
    if large and _counts(block, cell, segment) > MOST_COUNTS:
        return None
    effects = tuple(replace(effect, codes=effect.codes[first]) for effect in kept if SEGMENT not in effect.parts)
    inside = tuple(inside_blocks(effect, block) for effect in effects)
    low, high = _ranges(cell, design.as_given)
    one_each = np.zeros(len(cell), dtype=bool)
    one_each[first] = True
    return Cells(
        design=replace(design.subset(one_each), segment=None),
        of_row=cell,
        segment=segment,
        scores=np.bincount(cell),
        low=low,
        high=high,
        squares=weighted_count(cell, standard**2, len(first)),
        effects=effects,
        block=block,
        inside=inside,
        buckets=tuple(_buckets(_Rows.of(cell, segment, standard, block), () if large else effects, inside)),
        large=large,
    )


def _has_cells(design: MixedDesign, segments: Sequence[Effect]) -> bool:
    """Whether the scores of a cell differ in their segment alone, given the effects that segments are part of."""
    plain = design.linking is None and design.weight is None and all(len(effect.parts) == 1 for effect in segments)
    return plain and (design.segment is None or bool(segments))


def _ranges(cell: Codes, scores: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest score of each cell."""
    cells = int(cell.max()) + 1
    low, high = np.full(cells, np.inf), np.full(cells, -np.inf)
    np.minimum.at(low, cell, scores)
    np.maximum.at(high, cell, scores)
    return low, high


def _products(block: Codes) -> float:
    """The products in the blocks of a fit, if all pairs of cells are looked at."""
    return float((np.bincount(block).astype(np.float64) ** 3).sum())


def _counts(block: Codes, cell: Codes, segment: Codes | None) -> float:
    """The counts of scores by cell and segment in all blocks."""
    segment_block = block[cell] if segment is None else block[cell][np.unique(segment, return_index=True)[1]]
    cells = np.bincount(block).astype(np.float64)
    return float(cells @ np.bincount(segment_block, minlength=len(cells)))


def _first_seen(codes: Codes) -> Codes:
    """The same partition, numbered in the order in which its levels occur."""
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[code]


def _first_rows(codes: Codes) -> Codes:
    return np.unique(codes, return_index=True)[1]


@dataclass(frozen=True, eq=False)
class _Rows:
    """The cell, the segment and the standardised score of each row, and the block of each cell and segment."""

    cell: Codes
    segment: Codes
    score: Floats
    block: Codes
    segment_block: Codes

    @classmethod
    def of(cls, cell: Codes, segment: Codes | None, score: Floats, block: Codes) -> _Rows:
        # Without the effect, all scores of a block are those of one segment that nothing depends on.
        known = block[cell] if segment is None else segment
        segment_block = np.zeros(levels_of(known), dtype=np.int64)
        segment_block[known] = block[cell]
        return cls(cell, known, score, block, segment_block)


def _buckets(rows: _Rows, effects: Sequence[Effect], inside: Sequence[Bools]) -> Iterator[CellBucket]:
    """The blocks, those of similar size together."""
    grade = np.ceil(np.log(np.bincount(rows.block)) / np.log(GROWTH)).astype(np.int64)
    for value in np.unique(grade):
        members = np.flatnonzero(grade == value)
        cells, cell_place = _padded(rows.block, members)
        segments, segment_place = _padded(rows.segment_block, members)
        here = np.flatnonzero(np.isin(rows.block[rows.cell], members))
        cell, segment = rows.cell[here], rows.segment[here]
        shape = (*cells.shape, segments.shape[1])
        slot = np.searchsorted(members, rows.block[cell])
        flat = np.ravel_multi_index((slot, cell_place[cell], segment_place[segment]), shape)
        length = int(np.prod(shape))
        yield CellBucket(
            cells=cells,
            counts=weighted_count(flat, np.ones(len(flat)), length).reshape(shape),
            sums=weighted_count(flat, rows.score[here], length).reshape(shape),
            same=tuple(same_levels(effect.codes, stays, cells) for effect, stays in zip(effects, inside, strict=False)),
        )


def same_levels(codes: Codes, inside: Bools, cells: Codes) -> Bools:
    """Whether two cells of a block (blocks, cells) share a level that stays inside."""
    level = np.append(np.where(inside[codes], codes, -1), -1)[cells]
    same: Bools = (level[:, :, None] == level[:, None, :]) & (level >= 0)[:, :, None]
    return same


def _padded(owner: Codes, members: Codes) -> tuple[Codes, Codes]:
    """What belongs to each of the members, one line each, and the place of everything within its line."""
    order = np.argsort(owner, kind="stable")
    count = np.bincount(owner, minlength=int(members.max()) + 1)
    place = np.empty(len(owner), dtype=np.int64)
    place[order] = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    lines = np.full((len(members), int(count[members].max())), len(owner))
    here = np.isin(owner, members)
    lines[np.searchsorted(members, owner[here]), place[here]] = np.flatnonzero(here)
    return lines, place
