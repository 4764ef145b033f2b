"""Fits without each annotator, or each document, of a campaign too large to be fitted again for each of them.

For rows D that are left out, with the residuals e of the whole fit and the weights B = W inv(C)_systems by which the
rows enter the effects of the systems (C the matrix of coefficients, W the rows' unknowns, P = I - W inv(C) W'):

    effects without D     = effects - B_D' inv(P_DD) e_D
    covariance without D  = covariance + B_D' inv(P_DD) B_D           (relative to the residual variance)
    y' P y without D      = y' P y - e_D' inv(P_DD) e_D

inv(P_DD) is the covariance of the scores left out given all others, which `UnitBlocks` has nearly: with an error of
some hundredths of a shift, and of 1e-5 of a covariance. One coarse solution of all equations for a unit makes the
former small: with Q for these blocks, B' Q e + (Q B)' (e - P_DD Q e) has the product of two errors, a thousandth of a
shift.

Such formulas for leaving out many rows at once are those of R. D. Cook and S. Weisberg (1982): Residuals and influence
in regression. New York: Chapman and Hall, section 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from adjudge.mixed.design import levels_of
from adjudge.mixed.equations import Solution, Totals, equations_at, totals
from adjudge.mixed.fit import MixedFit, PartFit, Prepared
from adjudge.mixed.layout import Layout, components, counted, inside_blocks
from adjudge.table.judgments import groups, renumber

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.mixed.effects import Effect
    from adjudge.table.maths import Bools, Codes, Floats


ROUGH = 0.001
"""The tolerance of the solutions for units that are refined."""
REFINED = 200
"""Units that are refined; each takes a coarse solution of all equations, some hundredths of a second."""
NOTE = (
    "the campaign is too large to be fitted again without each annotator and document: shifts are those of the model's "
    f"equations at the variances of the whole, for the {REFINED} annotators and {REFINED} documents with the most "
    "judgments or the largest shifts to about a thousandth, for others to a few hundredths; degrees of freedom are "
    "those of the whole"
)
BATCH = 64
"""Units that are refined together."""


@dataclass(frozen=True, eq=False)
class Deletions:
    """What leaving out each unit does, in the unit of the scores: first axis units."""

    shift: Floats
    """Of the effects of the systems."""
    covariance: Floats
    """Added to the relative covariance of the systems."""
    square: Floats
    """Taken from y' P y."""
    refined: Codes | None = None
    """The units that are computed more accurately."""


def fits_without_each(prepared: Prepared, fitted: MixedFit, unit: Codes) -> dict[int, PartFit]:
    """The fits without each unit, at the variances of the whole and with its degrees of freedom.

    Units without which a system would have no score, or the systems would share no unit, are not among them.
    """
    system, systems = prepared.design.system, len(fitted.systems)
    scale, standard = prepared.standardised(prepared.design.score)
    whole = WholeRows(prepared.layout, prepared.effects.kept, prepared.effects.ratios(fitted.ratios), standard)
    deletions = whole.without_each(unit)
    met = np.bincount(unit * systems + system, minlength=levels_of(unit) * systems).reshape(-1, systems)
    left = met.sum(axis=0) - met
    fits = {}
    for code in np.flatnonzero(_still_comparable(met)):
        variance = (whole.square - deletions.square[code]) / (int(left[code].sum()) - systems)
        covariance = (whole.relative + deletions.covariance[code]) * variance * scale.sd**2
        effects = fitted.effects + deletions.shift[code] * scale.sd
        fits[int(code)] = PartFit(fitted.systems, effects, (covariance + covariance.T) / 2, fitted.df)
    return fits


def _still_comparable(met: Codes) -> Bools:
    """For each unit (units, systems) whether all systems share units, directly or through others, without it."""
    shared = (met > 0).T.astype(np.int64) @ (met > 0)
    first, second = np.nonzero(shared > 1)
    # Systems that share two units still share one when any is left out.
    if len(groups(first, second, len(shared))) == 1 and (np.diag(shared) > 1).all():
        return np.ones(len(met), dtype=bool)
    unit, system = np.nonzero(met)
    alone = [groups(system[unit != code], unit[unit != code], met.shape[1]) for code in range(len(met))]
    every = met.sum(axis=0)
    return np.array([len(apart) == 1 and (every > met[code]).all() for code, apart in enumerate(alone)])


class WholeRows:
    """The fit to all rows at known variances, as seen by each row: its residual, and its weights in all systems."""

    def __init__(self, layout: Layout, effects: tuple[Effect, ...], ratios: Floats, standard: Floats) -> None:
        self.layout = layout
        self.effects = effects
        self.ratios = ratios
        self.equations = equations_at(layout, ratios)
        solution = self.equations.solve(totals(layout, standard[:, None]))
        inverse = self.equations.system_inverse()
        self.square = float(solution.quadratic[0, 0])
        self._border = solution.border[:, 0]
        self._touched = np.bincount(layout.border_rows.indices, minlength=layout.width)
        self.relative = inverse.border[: layout.systems]
        self.system: Codes = layout.border_rows.indices[layout.border_rows.indptr[:-1]].astype(np.int64)
        self.values = np.hstack([standard[:, None] - self._at_rows(solution), self._at_rows(inverse)])
        """(rows, 1 + systems): residuals e and weights B."""

    def _at_rows(self, solution: Solution) -> Floats:
        layout = self.layout
        rows: Floats = layout.border_rows @ solution.border
        rows += layout.core_rows @ solution.core
        rows += layout.absorbed_rows @ solution.absorbed
        return rows

    def without_each(self, unit: Codes, *, refined: int = REFINED) -> Deletions:
        """What leaving out each unit does.

        Args:
            unit: of each row.
            refined: so many units are computed more accurately: those with the most rows, and those that move the
                effects most.
        """
        effects = list(zip(self.effects, self.ratios.tolist(), strict=True))
        blocks = UnitBlocks(unit, effects, self.system, self.relative)
        solved = self.values + blocks.times(self.values)
        roughly = self._summed(unit, solved)
        chosen = self._chosen(unit, roughly, refined)
        if len(chosen):
            rest = self._residual(unit, chosen, solved[:, 0])
            solved[:, 0] += rest + blocks.times(rest[:, None])[:, 0]
        return replace(self._summed(unit, solved), refined=chosen)

    def _chosen(self, unit: Codes, deletions: Deletions, refined: int) -> Codes:
        """The units to be computed more accurately, half of them for their rows and half for their shifts."""
        count = np.bincount(unit)
        if refined >= len(count):
            return np.arange(len(count))
        shift = deletions.shift - deletions.shift.mean(axis=1, keepdims=True)
        moved = np.abs(shift / np.sqrt(np.diag(self.relative))).max(axis=1)
        largest = np.argsort(-count, kind="stable")[: refined // 2]
        others = np.setdiff1d(np.argsort(-moved, kind="stable"), largest, assume_unique=True)
        by_shift = np.argsort(-moved[others], kind="stable")[: refined - len(largest)]
        return np.sort(np.concatenate([largest, others[by_shift]]))

    def _summed(self, unit: Codes, solved: Floats) -> Deletions:
        """The sums over the rows of each unit of products of values with what they are once inv(P_DD) is applied."""
        order = np.argsort(unit, kind="stable")
        count = np.bincount(unit)
        products = np.empty((len(count), self.values.shape[1], self.values.shape[1]))
        values, solved = self.values[order], solved[order]
        for number, end in enumerate(np.cumsum(count)):
            rows = slice(end - count[number], end)
            products[number] = values[rows].T @ solved[rows]
        covariance = products[:, 1:, 1:]
        return Deletions(-products[:, 1:, 0], (covariance + covariance.transpose(0, 2, 1)) / 2, products[:, 0, 0])

    def _residual(self, unit: Codes, refined: Codes, solved: Floats) -> Floats:
        """E - P_DD z for a solution z of the rows of some units, 0 for the rest."""
        rest = np.zeros(len(unit))
        for first in range(0, len(refined), BATCH):
            column = np.full(int(unit.max()) + 1, -1)
            column[refined[first : first + BATCH]] = np.arange(len(refined[first : first + BATCH]))
            rows = np.flatnonzero(column[unit] >= 0)
            explained = self._explained(rows, column[unit[rows]], solved[rows])
            rest[rows] = self.values[rows, 0] - solved[rows] + explained
        return rest

    def _explained(self, rows: Codes, column: Codes, solved: Floats) -> Floats:
        """W_D inv(C) W_D' z at the rows, each unit a column of its own."""
        layout, columns = self.layout, int(column.max()) + 1
        spread = csr_array((solved, column, np.arange(len(rows) + 1)), shape=(len(rows), columns))
        parts = [matrix[rows] for matrix in (layout.border_rows, layout.core_rows, layout.absorbed_rows)]
        border, core, absorbed = ((part.T @ spread).toarray() for part in parts)
        right = Totals(border, core, absorbed, np.zeros((columns, columns)))
        solution = self.equations.solve(right, tolerance=ROUGH, near=self._own_border(parts[0], column, columns))
        explained = np.zeros(len(rows))
        for part, values in zip(parts, (solution.border, solution.core, solution.absorbed), strict=True):
            length = np.diff(part.indptr)
            row = np.repeat(np.arange(len(rows)), length)
            explained += np.bincount(row, values[part.indices, column[row]], minlength=len(rows))
        return explained

    def _own_border(self, border_rows: csr_array, column: Codes, columns: int) -> Floats:
        """What is known of the solution beforehand: unknowns of the unit alone are 0 without it, so they fall by all.

        With them the coarse solution has to find small changes only.
        """
        present = csr_array((np.ones(len(column)), column, np.arange(len(column) + 1)), shape=(len(column), columns))
        touched = (border_rows.T @ present).toarray()
        of_unit_alone = (touched == self._touched[:, None]) & (np.arange(len(touched)) >= self.layout.systems)[:, None]
        return np.asarray(of_unit_alone * self._border[:, None])


CHUNK_NUMBERS = 2_000_000
"""Numbers in the largest working array of a chunk of pairs."""


class UnitBlocks:
    """The covariance of the scores of each unit given all others, without the residuals' own, relative to theirs.

    Nearly, in small blocks: what belongs to the unit alone (of an annotator: strictness, tastes, tasks, pages) has its
    full variance without its scores. Of what others share, the documents with their segments, the uncertainty is that
    given the other scores of the same document, when the effects of other annotators are taken as known; for documents,
    the other way round. Systems add their own uncertainty. So there is one small block for each annotator and document
    that meet.
    """

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
