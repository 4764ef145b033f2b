"""The covariance of the scores of each annotator, or each document, given all other scores: nearly, in small blocks.

What belongs to the unit alone (of an annotator: strictness, tastes, tasks, pages) has its full variance without its
scores. Of what others share, the documents with their segments, the uncertainty is that given the other scores of the
same document, when the effects of other annotators are taken as known; for documents, the other way round. Systems add
their own uncertainty. So there is one small block for each annotator and document that meet. See `each_unit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from adjudge.core.integer_codes import renumber
from adjudge.rank.mixed.solver.blocks import components, inside_blocks
from adjudge.rank.mixed.solver.buckets import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.effects import Effect

CHUNK_NUMBERS = 2_000_000
"""Numbers in the largest working array of a chunk of pairs."""


class UnitBlocks:
    """The covariance of the scores of each unit given all others, without the residuals' own, relative to theirs."""

    def __init__(self, unit: Codes, effects: Sequence[tuple[Effect, float]], system: Codes, relative: Floats) -> None:
        """Of the scores of all units.

        Args:
            unit: of each row.
            effects: with their ratios.
            system: of each row.
            relative: the covariance of the systems.
        """
        self._unit, self._system, self._relative = unit, system, relative
        self._own = [pair for pair in effects if inside_blocks(pair[0], unit).all()]
        self._rest = [pair for pair in effects if not inside_blocks(pair[0], unit).all()]
        self._block = components([effect.codes for effect, _ in self._rest], len(unit))
        self._local = [pair for pair in self._own if inside_blocks(pair[0], self._block).all()]
        self._number_unknowns()
        self._pair_rows()

    def _number_unknowns(self) -> None:
        """Where the unknowns that units share lie in flat arrays of square matrices, one for each block."""
        owner = [_block_of(effect, self._block) for effect, _ in self._rest]
        blocks = int(self._block.max(initial=-1)) + 1
        self._owner = np.concatenate([np.empty(0, dtype=np.int64), *owner])
        self._size, self._local_number = counted(self._owner, blocks)
        self._start = np.cumsum(self._size**2) - self._size**2
        first = np.cumsum([0, *(effect.levels for effect, _ in self._rest)])
        self._unknown = [
            self._local_number[first[number] + effect.codes] for number, (effect, _) in enumerate(self._rest)
        ]

    def _pair_rows(self) -> None:
        """The rows of each pair of unit and block, pairs of few rows first."""
        blocks = int(self._block.max(initial=-1)) + 1
        pair = renumber(self._unit * blocks + self._block)
        self._count = np.bincount(pair)
        self._row = np.argsort(pair, kind="stable")
        self._first_row = np.cumsum(self._count) - self._count
        self._by_count = np.argsort(self._count, kind="stable")

    def _chunks(self) -> Iterator[_Chunk]:
        """Pairs with similar numbers of rows, padded to one number."""
        count = self._count[self._by_count]
        begin = 0
        while begin < len(count):
            most = max(1, CHUNK_NUMBERS // int(count[begin] + 1) ** 2)
            similar = np.searchsorted(count[begin : begin + most], count[begin] * 1.25, side="right")
            end = begin + int(similar)
            yield self._chunk(self._by_count[begin:end])
            begin = end

    def _chunk(self, pairs: Codes) -> _Chunk:
        place = np.arange(self._count[pairs].max())
        present = place < self._count[pairs][:, None]
        row = self._row[np.where(present, self._first_row[pairs][:, None] + place, self._first_row[pairs][:, None])]
        both = present[:, :, None] & present[:, None, :]
        spread = np.eye(len(place)) + np.zeros(both.shape)
        for effect, ratio in self._local:
            code = effect.codes[row]
            spread += ratio * ((code[:, :, None] == code[:, None, :]) & both)
        block = self._block[row[:, 0]]
        corner, size = self._start[block][:, None, None], self._size[block][:, None, None]
        positions = [
            corner + first[row][:, :, None] * size + other[row][:, None, :]
            for first in self._unknown
            for other in self._unknown
        ]
        return _Chunk(row, present, both, spread, positions)

    @cached_property
    def _inverses(self) -> Floats:
        """The covariance of each block's unknowns given all scores, when what links the blocks is known."""
        matrices = np.zeros(int((self._size**2).sum()))
        penalty = np.concatenate([np.full(effect.levels, 1 / ratio) for effect, ratio in self._rest])
        matrices[self._start[self._owner] + self._local_number * (self._size[self._owner] + 1)] = penalty
        for chunk in self._chunks():
            weight = np.linalg.inv(chunk.spread) * chunk.both
            for position in chunk.positions:
                matrices += np.bincount(position.ravel(), weight.ravel(), minlength=len(matrices))
        for size in np.unique(self._size):
            place = self._start[self._size == size][:, None] + np.arange(size**2)
            matrices[place] = np.linalg.inv(matrices[place].reshape(-1, size, size)).reshape(place.shape)
        return matrices

    def times(self, values: Floats) -> Floats:
        """The covariance times values (rows, k), for each unit those of its own rows."""
        product = self._by_system(values)
        for effect, ratio in self._own:
            rows = _indicator(effect.codes, effect.levels)
            product += ratio * (rows @ (rows.T @ values))
        for chunk in self._chunks() if self._rest else ():
            explained = np.zeros(chunk.spread.shape)
            for position in chunk.positions:
                explained += self._inverses[position]
            explained *= chunk.both
            # Without the pair's own rows, by Woodbury's formula.
            given_others = explained + explained @ np.linalg.solve(chunk.spread - explained, explained)
            product[chunk.row[chunk.present]] += (given_others @ values[chunk.row])[chunk.present]
        return product

    def _by_system(self, values: Floats) -> Floats:
        """The share of the uncertainty of the systems."""
        systems, unit, system = len(self._relative), self._unit, self._system
        units = int(unit.max()) + 1
        sums = _indicator(unit * systems + system, units * systems).T @ values
        spread: Floats = self._relative @ sums.reshape(units, systems, -1)
        return np.asarray(spread[unit, system])


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Some pairs of unit and block: rows (pairs, n), which are no padding, and for each two of them ..."""

    row: Codes
    present: Bools
    both: Bools
    """... whether both are there, ..."""
    spread: Floats
    """... their covariance by what belongs to the pair alone, and ..."""
    positions: list[Codes]
    """... where the entries of their unknowns lie in the flat array of the blocks' matrices."""


def _block_of(effect: Effect, block: Codes) -> Codes:
    """The block of each level."""
    owner = np.empty(effect.levels, dtype=np.int64)
    owner[effect.codes] = block
    return owner


def _indicator(codes: Codes, levels: int) -> csr_array:
    return csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=(len(codes), levels))
