"""Fits by cells at known ratios of variances: the algebra of `model`.

The model of `cells`, with K the covariance of all effects of cells relative to the residual's, has the projection

    C' P y = h - W L t,   W = inv(I + A Kb) A,   h = inv(I + A Kb) b = b - W Kb b,   S t = (L' W L + D) t = L' h.

Kb is the part of K that stays inside blocks, L has the columns of the border (what reaches across: annotators, tasks,
tastes) and of the systems, D their penalties (none for systems), and t their estimates. Errors and degrees of freedom
need sums of such projections over the levels of each effect: of W L inv(S) in the columns of the systems, whose own
part of inv(S) is their covariance, and of P y. All is the same as in `solver.equations`, eliminated in another order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.sparse import csr_array

from adjudge.rank.mixed.degrees import degrees_from_slopes, parameter_covariance, satterthwaite
from adjudge.rank.mixed.known_ratios.blocks import times
from adjudge.rank.mixed.solver.terms import weighted_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.known_ratios.blocks import Groupings, SolvedBlocks
    from adjudge.rank.mixed.known_ratios.large_blocks import LargeBlocks
    from adjudge.rank.mixed.known_ratios.model import KnownModel


Blocks: TypeAlias = "SolvedBlocks | LargeBlocks"


@dataclass(frozen=True, eq=False)
class Systems:
    """The systems' columns of a solution, beside those of the scores."""

    relative: Floats
    """Their covariance, relative to the residual variance."""
    estimates: Floats
    reached: Floats
    """L inv(S) in the columns of the systems and, last, L t: (cells, systems + 1)."""
    variance: float
    """Of the residual."""
    freedom: int


class Projection:
    """Values of cells in blocks that are solved, and what degrees of freedom need of them."""

    def __init__(self, model: KnownModel, system: Codes, groupings: Groupings, blocks: Sequence[Blocks]) -> None:
        self.model, self.system, self.groupings, self.blocks = model, system, groupings, blocks
        self.forward = self.gathered([block.forward[:, :, None] for block in blocks])

    def gathered(self, parts: Sequence[Floats]) -> Floats:
        """Values (blocks, cells, k) of all buckets, by cell."""
        whole = np.zeros((len(self.model.cells) + 1, parts[0].shape[2]))
        for bucket, part in zip(self.model.cells.buckets, parts, strict=True):
            whole[bucket.cells] = part
        return whole[:-1]

    def in_blocks(self, values: Floats) -> list[Floats]:
        """Values by cell (cells, k) as (blocks, cells, k) of each bucket."""
        padded = np.vstack([values, np.zeros(values.shape[1])])
        return [padded[bucket.cells] for bucket in self.model.cells.buckets]

    def weighted(self, values: Floats) -> Floats:
        """W times values of cells."""
        parts = zip(self.blocks, self.in_blocks(values), strict=True)
        return self.gathered([block.weighted(part) for block, part in parts])

    def quadratic(self, values: Floats) -> Floats:
        """V' L inv(S) L' v."""
        raise NotImplementedError

    def degrees(self, systems: Systems) -> Floats:
        """Satterthwaite's degrees of freedom of every difference of two systems."""
        columns = np.column_stack([systems.relative, -systems.estimates])
        crossed, spread = self._slopes(systems, columns, systems.reached, _all_products)
        return satterthwaite(systems.relative, crossed, spread)

    def degrees_of_pairs(self, systems: Systems, first: Codes, second: Codes) -> tuple[Floats, Floats]:
        """Variances, relative to the residual's, and degrees of freedom of some differences alone."""
        relative, reached = systems.relative, systems.reached
        columns = np.column_stack([relative[:, first] - relative[:, second], -systems.estimates])
        pairs = np.arange(len(first))
        variance = columns[first, pairs] - columns[second, pairs]
        reached = np.hstack([reached[:, first] - reached[:, second], reached[:, -1:]])
        slopes, spread = self._slopes(systems, columns, reached, _squared_lengths)
        return variance, degrees_from_slopes([variance, *slopes], spread)

    def _slopes(
        self, systems: Systems, columns: Floats, reached: Floats, multiply: Callable[[Floats], Floats]
    ) -> tuple[list[Floats], Floats]:
        """Products of columns for each effect, and the covariance of the variance parameters.

        Args:
            systems: the solution.
            columns: inv(S) in the rows of the systems; last, their estimates times -1.
            reached: L times inv(S) in the same columns; last, L t.
            multiply: makes products of columns.
        """
        crossed, squares, products = self._products(columns, reached, multiply)
        squares, products = squares / systems.variance, products / systems.variance
        freedom = np.array([[float(systems.freedom)]])
        information = np.block([[freedom, squares[None, :]], [squares[:, None], products]])
        return crossed, parameter_covariance(information, self.model.ratios)

    def _products(
        self, columns: Floats, reached: Floats, multiply: Callable[[Floats], Floats]
    ) -> tuple[list[Floats], Floats, Floats]:
        """For each effect products of the columns, and the squared length of its estimates over the ratio.

        Last, the products of what each pair of effects adds to the scores, after projection.
        """
        k = columns.shape[1] - 1
        projected = self.weighted(reached)
        projected[:, k:] = self.forward - projected[:, k:]
        # What is left for the segments: the systems' columns, and the scores less the systems' effects.
        left = columns[self.system]
        crossed, squares, added = [], [], []
        every = self.groupings.sums @ projected
        for grouping, (start, end) in zip(self.groupings.each, pairwise(self.groupings.start), strict=True):
            sums = every[start:end]
            crossed.append(grouping.ratio * multiply(sums[:, :k]))
            squares.append(grouping.ratio * float(sums[:, k] @ sums[:, k]))
            added.append(grouping.ratio * sums[grouping.codes, k])
        left -= self.groupings.levels @ (self.groupings.ratio[:, None] * every)
        directions = np.stack(added, axis=1) if added else np.zeros((len(left), 0))
        moved = self.weighted(directions)
        inner = directions.T @ moved
        if self.model.segment is not None:
            segments = self._segments(left, multiply)
            crossed.insert(self.model.segment, segments.crossed)
            squares.insert(self.model.segment, segments.square)
            moved, inner = _inserted(self.model.segment, directions, moved, inner, segments)
        return crossed, np.array(squares), inner - self.quadratic(moved)

    def _segments(self, left: Floats, multiply: Callable[[Floats], Floats]) -> Segments:
        """What segments contribute, once it is known what the effects of cells leave of each column."""
        k, ratio = left.shape[1] - 1, self.model.segment_ratio
        crossed, square, inner = [], 0.0, 0.0
        parts = []
        for block, part in zip(self.blocks, self.in_blocks(left), strict=True):
            shrunk = 1 / (1 + ratio * block.segment_size)
            sums = block.counts.transpose(0, 2, 1) @ part
            sums[:, :, k] += block.segment_sums
            sums *= shrunk[:, :, None]
            flat = sums.reshape(-1, k + 1)
            crossed.append(ratio * multiply(flat[:, :k]))
            square += ratio * float(flat[:, k] @ flat[:, k])
            estimate = ratio * sums[:, :, k]
            right = times(block.counts, shrunk * estimate)
            pulled = block.pulled(right)
            forward = right - block.weighted(pulled[:, :, None])[:, :, 0]
            inner += float((block.segment_size * shrunk * estimate**2).sum()) - float((pulled * forward).sum())
            parts.append(forward[:, :, None])
        return Segments(sum(crossed[1:], crossed[0]), square, inner, self.gathered(parts))


def _all_products(columns: Floats) -> Floats:
    """Of every two columns."""
    products: Floats = columns.T @ columns
    return products


def _squared_lengths(columns: Floats) -> Floats:
    """Of each column with itself alone."""
    lengths: Floats = np.einsum("ij,ij->j", columns, columns)
    return lengths


@dataclass(frozen=True, eq=False)
class Segments:
    """Of the segments: products of the systems' columns, squared length of the estimates, what they add to scores."""

    crossed: Floats
    square: float
    inner: float
    forward: Floats


def _inserted(
    number: int, directions: Floats, moved: Floats, inner: Floats, segments: Segments
) -> tuple[Floats, Floats]:
    """The columns and products of all effects, those of the segments in their place."""
    cross = directions.T @ segments.forward
    inner = np.block([[inner, cross], [cross.T, np.array([[segments.inner]])]])
    order = np.insert(np.arange(len(cross)), number, len(cross))
    return np.hstack([moved, segments.forward])[:, order], inner[np.ix_(order, order)]


class Solved(Projection):
    """The equations of some cells, solved for the border and the systems."""

    def __init__(
        self,
        model: KnownModel,
        kept: Bools,
        system: Codes,
        groupings: Groupings,
        blocks: Sequence[Blocks],
    ) -> None:
        super().__init__(model, system, groupings, blocks)
        self.systems = int(system.max()) + 1
        self.system_sums = summing(system, self.systems)
        self.used = model.border_sums @ kept > 0
        """Which columns of the border any of the cells touches."""
        self.width = int(self.used.sum())
        self.prepare()
        self.freedom = int(model.cells.scores[kept].sum()) - self.systems
        right = self.across(self.forward)
        self.solution = self.solve(right)
        square = float(model.cells.squares[kept].sum()) + sum(float(block.square.sum()) for block in blocks)
        self.variance = (square - float((right * self.solution).sum())) / self.freedom

    def prepare(self) -> None:
        """Factor the matrix of the border."""
        self.factor = cholesky(self._matrix().T, lower=False, overwrite_a=True, check_finite=False)

    @property
    def estimates(self) -> Floats:
        """Of the systems."""
        estimates: Floats = self.solution[self.width :, 0]
        return estimates

    def _matrix(self) -> Floats:
        """The lower triangle of S: first the border, then the systems."""
        columns, size = len(self.used), len(self.used) + self.systems
        weights = np.concatenate([cast("SolvedBlocks", block).weights.ravel() for block in self.blocks])
        source, target = self.model.border_entries(size)
        flat = weighted_count(target, weights[source], size**2)
        flat[: columns * size : size + 1] += self.model.penalty
        matrix = flat.reshape(size, size)
        if self.width < columns:
            kept = np.append(self.used, np.ones(self.systems, dtype=bool))
            matrix = matrix[np.ix_(kept, kept)]
        by_system = self.weighted((self.system[:, None] == np.arange(self.systems)).astype(np.float64))
        matrix[self.width :] = self.across(by_system).T
        return matrix

    def solve(self, right: Floats) -> Floats:
        """S x = r."""
        solution: Floats = cho_solve((self.factor, False), right, check_finite=False)
        return solution

    def _system_columns(self) -> Floats:
        """The columns of inv(S) that belong to the systems."""
        # With S = U'U, the columns of inv(U') are zero above the systems, which come last.
        columns = np.zeros((self.width + self.systems, self.systems))
        columns[self.width :] = np.linalg.inv(self.factor[self.width :, self.width :]).T
        inverse: Floats = solve_triangular(self.factor, columns, overwrite_b=True, check_finite=False)
        return inverse

    def across(self, values: Floats) -> Floats:
        """L' times values of cells."""
        border = self.model.border_sums @ values
        return np.vstack([border if self.width == len(self.used) else border[self.used], self.system_sums @ values])

    def reached(self, solution: Floats) -> Floats:
        """L times values of the border and the systems."""
        border = np.zeros((len(self.used), solution.shape[1]))
        border[self.used] = solution[: self.width]
        reached: Floats = self.model.border @ border + solution[self.width :][self.system]
        return reached

    def of_systems(self) -> Systems:
        """The columns of the systems."""
        inverse = self._system_columns()
        reached = self.reached(np.hstack([inverse, self.solution]))
        return Systems(inverse[self.width :], self.estimates, reached, self.variance, self.freedom)

    def quadratic(self, values: Floats) -> Floats:
        """V' L inv(S) L' v."""
        across = self.across(values)
        product: Floats = across.T @ self.solve(across)
        return product


def summing(codes: Codes, levels: int) -> csr_array:
    """The sparse matrix that takes values of cells to their sums by level; a code of -1 is none."""
    order = np.argsort(codes, kind="stable")
    start = np.searchsorted(codes[order], np.arange(levels + 1))
    return csr_array((np.ones(len(order) - start[0]), order[start[0] :], start - start[0]), shape=(levels, len(codes)))
