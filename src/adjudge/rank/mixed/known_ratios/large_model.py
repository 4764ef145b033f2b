"""Fits by cells at known ratios, for campaigns whose border is too large for a matrix of its own.

The same as `model` otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack

from adjudge.rank.mixed.effects import Effect
from adjudge.rank.mixed.known_ratios.blocks import Grouping
from adjudge.rank.mixed.known_ratios.large_blocks import LargeBlocks, shared_levels, solve_large_blocks
from adjudge.rank.mixed.known_ratios.model import KnownModel
from adjudge.rank.mixed.known_ratios.projection import Solved, Systems
from adjudge.rank.mixed.solver.blocks import inside_blocks
from adjudge.rank.mixed.solver.border import TOLERANCE
from adjudge.rank.mixed.solver.iterative import Preconditioner, conjugate_gradients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.known_ratios.blocks import Groupings

COARSE = 1e-3
"""Of solutions whose products with each other are wanted, which then have the square of that error."""


class LargeSolved(Solved):
    """The equations of some cells, solved by conjugate gradients for the border and the systems.

    The preconditioner is the same matrix with the diagonal of W alone that documents and segments leave.
    """

    def prepare(self) -> None:
        """Find the preconditioner."""
        self.converged = True
        systems = self.system_sums.T
        columns = hstack([self.model.border[:, self.used], systems]).tocsr()
        diagonal = self.gathered([block.diagonal[:, :, None] for block in self._large_blocks])[:, 0]
        self._penalty = np.append(self.model.penalty[self.used], np.zeros(self.systems))
        matrix = (columns.T @ (diags_array(diagonal) @ columns) + diags_array(self._penalty)).tocsr()
        self._preconditioner = Preconditioner(csr_array(matrix), self._penalty == 0)

    @property
    def _large_blocks(self) -> Sequence[LargeBlocks]:
        return [block for block in self.blocks if isinstance(block, LargeBlocks)]

    def _times(self, vectors: Floats) -> Floats:
        image: Floats = self.across(self.weighted(self.reached(vectors)))
        image += self._penalty[:, None] * vectors
        return image

    def _solve(self, right: Floats, tolerance: float) -> tuple[Floats, Floats]:
        """S x = r, and what is left of r."""
        start = np.zeros_like(right)
        solution = conjugate_gradients(self._times, self._preconditioner.solve, start, right, tolerance=tolerance)
        self.converged &= solution.converged
        return solution.x, solution.rest

    def solve(self, right: Floats) -> Floats:
        """S x = r."""
        return self._solve(right, TOLERANCE)[0]

    def of_systems(self) -> Systems:
        """The columns of the systems; see `iterative.IterativeBorder.first_columns` for what is added."""
        unit = np.zeros((self.width + self.systems, self.systems))
        unit[self.width :] = np.eye(self.systems)
        inverse, rest = self._solve(unit, COARSE)
        inverse[self.width :] += inverse.T @ rest
        reached = self.reached(np.hstack([inverse, self.solution]))
        return Systems(inverse[self.width :], self.estimates, reached, self.variance, self.freedom)

    def quadratic(self, values: Floats) -> Floats:
        """V' L inv(S) L' v."""
        across = self.across(values)
        product: Floats = across.T @ self._solve(across, COARSE)[0]
        return product


class LargeModel(KnownModel):
    """A model by cells whose border is solved by conjugate gradients."""

    solver = LargeSolved

    def _regrouped(self, grouping: Grouping, effect: Effect) -> Grouping | None:
        if np.array_equal(grouping.codes, effect.codes):
            return grouping
        inside = inside_blocks(effect, self.cells.block)
        return Grouping(grouping.ratio, effect.codes, effect.levels, ()) if inside.all() else None

    def blocks(self, kept: Bools, groupings: Groupings) -> list[LargeBlocks]:
        """All blocks, solved for the cells that are kept."""
        cells = self.cells
        each = [(grouping, _inside(grouping, cells.block)) for grouping in groupings.each]
        return [
            solve_large_blocks(bucket, kept, shared, self.segment_ratio)
            for bucket, shared in zip(cells.buckets, shared_levels(cells.buckets, cells.block, each), strict=True)
        ]


def _inside(grouping: Grouping, block: Codes) -> Bools:
    """For each level whether it stays inside a block."""
    return inside_blocks(Effect((), grouping.codes, grouping.levels), block)
