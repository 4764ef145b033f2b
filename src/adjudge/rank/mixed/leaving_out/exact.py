"""Fits without an annotator or a document, from the solution for all rows: for audits that leave out one by one.

Once the absorbed unknowns (pages) are eliminated, the equations C u = r of all other unknowns are sums over rows and
absorbed levels. Rows that are left out take G from C and d from r, at the unknowns T that they touch. With M for the
part of inv(C) at T, and Z for its columns of the systems there (Woodbury's identity),

    effects without them      = effects + Z' inv(I - G M) (G u - d)
    covariance without them   = covariance + Z' inv(I - G M) G Z              (relative to the residual variance)

and the sum of squares that is left follows likewise. Nothing but a matrix of the size of T is solved. Levels that lose
all their rows stay in the equations; nothing pulls on them. The degrees of freedom are those of the whole, since the
variances are; what is left only bounds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, hstack

from adjudge.rank.mixed.solver.equations import equations_at, totals

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.solver.equations import Equations
    from adjudge.rank.mixed.solver.layout import Layout

MOST_PRODUCTS = 20_000
"""For each row so many products take as long as to lay out and solve the equations of what is left."""
MOST_KEPT = 50_000_000
"""Numbers of what blocks need of the border's inverse that are kept in memory."""


@dataclass(frozen=True, eq=False)
class Remainder:
    """The solution for the rows that are left: all relative to standardised scores."""

    effects: Floats
    relative: Floats
    """The covariance of the effects, relative to the residual variance."""
    variance: float
    """Of the residual."""


class Whole:
    """The equations of all rows at known variances, from which some rows are taken away."""

    def __init__(self, layout: Layout, ratios: Floats, standard: Floats) -> None:
        self._layout, self._score = layout, standard
        equations = equations_at(layout, ratios)
        solution, inverse = equations.solve(totals(layout, standard[:, None])), equations.system_inverse()
        self._square = float(solution.quadratic[0, 0])
        self._solution = np.concatenate([solution.border[:, 0], solution.core[:, 0]])
        self._systems = np.concatenate([inverse.border, inverse.core])
        self._rows = csr_array(hstack([layout.border_rows, layout.core_rows], format="csr"))
        self._levels = csr_array(hstack([layout.absorbed_border, layout.absorbed_core], format="csr"))
        self._totals = layout.absorbed_rows.T @ standard
        self._weight = equations.variances.absorbed_weight(layout)
        self._inverse = _Inverse(equations)

    def without(self, gone: Bools) -> Remainder | None:
        """The solution without some rows; None where so many unknowns are touched that one made anew is quicker."""
        removed = self._removed(np.flatnonzero(gone))
        if len(removed.unknowns) ** 3 > MOST_PRODUCTS * len(gone):
            return None
        solution, systems = self._solution[removed.unknowns], self._systems[removed.unknowns]
        matrix = self._inverse.part(removed.unknowns)
        pull = removed.matrix @ solution - removed.right
        right = np.column_stack([pull, removed.matrix @ systems])
        solved = np.linalg.solve(np.eye(len(matrix)) - removed.matrix @ matrix, right)
        k = self._layout.systems
        square = (
            self._square
            - removed.square
            + float(solution @ (removed.right - pull))
            - float((matrix @ pull) @ solved[:, 0])
        )
        freedom = self._layout.rows - int(gone.sum()) - k
        return Remainder(
            effects=self._solution[:k] + systems.T @ solved[:, 0],
            relative=self._systems[:k] + systems.T @ solved[:, 1:],
            variance=square / freedom if freedom > 0 else 0.0,
        )

    def _removed(self, gone: Codes) -> _Removed:
        """What some rows add to the equations."""
        row, unknown, _ = _entries(self._rows, gone)
        absorbed_row, absorbed, _ = _entries(self._layout.absorbed_rows, gone)
        levels, level = np.unique(absorbed, return_inverse=True)
        of_level, level_unknown, count = _entries(self._levels, levels)
        unknowns = np.unique(np.concatenate([unknown, level_unknown]))
        rows = np.zeros((len(gone), len(unknowns)))
        rows[row, np.searchsorted(unknowns, unknown)] = 1.0
        before = np.zeros((len(levels), len(unknowns)))
        before[of_level, np.searchsorted(unknowns, level_unknown)] = count
        by_level = np.zeros((len(levels), len(gone)))
        by_level[level, absorbed_row] = 1.0
        score, total = self._score[gone], self._totals[levels]
        after, left = before - by_level @ rows, total - by_level @ score
        weight = self._weight[levels]
        weight_after = 1 / (1 / weight - by_level.sum(axis=1))
        # Pages are eliminated: the rows' own products, less those of their pages before, and with those after.
        lost, kept = weight[:, None] * before, weight_after[:, None] * after
        return _Removed(
            unknowns=unknowns,
            matrix=rows.T @ rows - before.T @ lost + after.T @ kept,
            right=score @ rows - total @ lost + left @ kept,
            square=float(score @ score - weight @ total**2 + weight_after @ left**2),
        )


def _entries(matrix: csr_array, rows: Codes) -> tuple[Codes, Codes, Floats]:
    """The entries of some rows of a sparse matrix: the place of each row among these, its columns, and the values."""
    length = np.diff(matrix.indptr)[rows]
    place = np.repeat(np.arange(len(rows)), length)
    index = np.arange(len(place)) + np.repeat(matrix.indptr[rows] - np.cumsum(length) + length, length)
    return place, matrix.indices[index], matrix.data[index]


@dataclass(frozen=True, eq=False)
class _Removed:
    """What some rows add to the equations, at the unknowns that they touch."""

    unknowns: Codes
    """T: numbers of border unknowns, and after them of those of the core."""
    matrix: Floats
    """G."""
    right: Floats
    """d."""
    square: float
    """What they add to the squares of the scores."""


@dataclass(frozen=True, eq=False)
class _Block:
    """Of the unknowns inside one document: their covariance given the border, and what the border means for them."""

    inner: Floats
    reach: Floats
    """The slopes on the border unknowns that the block touches."""
    border: Codes


class _Inverse:
    """The inverse of the matrix of coefficients once absorbed unknowns are eliminated, of which any part can be had."""

    def __init__(self, equations: Equations) -> None:
        layout = equations.layout
        self._border = equations.border.inverse
        self._width = layout.width
        self._blocks: list[_Block] = []
        self._block = np.zeros(len(layout.core_kind), dtype=np.int64)
        self._local = np.zeros(len(layout.core_kind), dtype=np.int64)
        for blocks in equations.factored:
            bucket = blocks.bucket
            here = slice(bucket.core_start, bucket.core_start + bucket.count * bucket.core)
            self._block[here] = np.repeat(np.arange(bucket.count), bucket.core) + len(self._blocks)
            self._local[here] = np.tile(np.arange(bucket.core), bucket.count)
            back = blocks.inverse_factor.transpose(0, 2, 1)
            self._blocks += map(_Block, back @ blocks.inverse_factor, -(back @ blocks.half), bucket.border_index)
        self._reached: dict[int, Floats] = {}
        self._room = MOST_KEPT

    def _reach(self, block: int) -> Floats:
        """The covariance of the unknowns of a block with all border unknowns."""
        if block in self._reached:
            return self._reached[block]
        of_block = self._blocks[block]
        reached: Floats = of_block.reach @ self._border[of_block.border]
        if reached.size <= self._room:
            self._room -= reached.size
            self._reached[block] = reached
        return reached

    def part(self, unknowns: Codes) -> Floats:
        """The rows and columns of some unknowns, which are in order."""
        border, core = unknowns[unknowns < self._width], unknowns[unknowns >= self._width] - self._width
        block, local = self._block[core], self._local[core]
        start = np.flatnonzero(np.diff(block, prepend=-1))
        ends = zip(start, np.append(start[1:], len(core)), strict=True)
        members = [(int(block[first]), slice(first, end), local[first:end]) for first, end in ends]
        reached = np.concatenate([np.empty((0, self._width)), *(self._reach(b)[chosen] for b, _, chosen in members)])
        whole = np.empty((len(unknowns), len(unknowns)))
        b = len(border)
        whole[:b, :b] = self._border[np.ix_(border, border)]
        whole[b:, :b] = reached[:, border]
        whole[:b, b:] = whole[b:, :b].T
        inner = whole[b:, b:]
        for number, place, chosen in members:
            of_block = self._blocks[number]
            inner[:, place] = reached[:, of_block.border] @ of_block.reach[chosen].T
            inner[place, place] += of_block.inner[np.ix_(chosen, chosen)]
        return whole
