"""Henderson's mixed-model equations at given ratios of variances: factor them once, then solve and take traces.

    y = W u + e,   u_k ~ N(0, ratio_k s2),   e ~ N(0, s2)        (systems are fixed: no penalty)

For right-hand sides r the equations give the best linear unbiased estimates and predictions, and r' P r, where P is the
residual projection weighted by the inverse covariance. See `layout` for the order of elimination.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dtrtri

from adjudge.rank.mixed.border import DenseBorder, IterativeBorder, scatter_add
from adjudge.rank.mixed.terms import weighted_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.mixed.border import Border
    from adjudge.rank.mixed.buckets import Bucket
    from adjudge.rank.mixed.layout import Layout


_SMALL_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Solution:
    """Estimates for k right-hand sides, one column each, and the matrix r' P r of all pairs of them."""

    border: Floats
    core: Floats
    absorbed: Floats
    quadratic: Floats


@dataclass(frozen=True, eq=False)
class _Factored:
    """A bucket's blocks: the inverse of each Cholesky factor, and that times the border columns."""

    bucket: Bucket
    inverse_factor: Floats
    half: Floats


class Equations:
    """The equations of a layout at given ratios of variance to residual variance, one per effect."""

    def __init__(self, layout: Layout, ratios: Floats) -> None:
        self.layout = layout
        self.ratios = ratios
        self._kind_ratio = layout.parts @ ratios
        self._penalty = 1 / self._kind_ratio
        own = layout.parts * ratios * self._penalty[:, None]
        self._own_part = np.vstack([own, np.zeros(len(ratios))])
        """Which part of the variance of each kind of unknown belongs to each effect; systems and padding have none."""
        self._absorbed_weight = 1 / (layout.absorbed_size + self._penalty[layout.absorbed_kind])
        class_weight = 1 / (layout.sizes + self._penalty[layout.size_kinds])
        self._weight = np.concatenate([[1.0], -class_weight])
        self._weight_slope = np.concatenate([[0.0], class_weight**2])
        self._factored = self._factor_blocks()
        self.border = self._make_border()

    def _penalties(self, kind: NDArray[np.int64], otherwise: float) -> Floats:
        """The penalty of each unknown by its kind; systems and padding have none of their own."""
        return np.append(self._penalty, otherwise)[kind]

    def _factor_blocks(self) -> list[_Factored]:
        layout = self.layout
        squares = layout.core_terms.total(self._weight)
        oblongs = layout.mixed_terms.total(self._weight)
        ridge = self._penalties(layout.core_kind, 1.0)
        factored = []
        for bucket in layout.buckets:
            square = bucket.square(squares)
            own = np.arange(bucket.core)
            square[:, own, own] += bucket.vector(ridge)[:, :, 0]
            inverse_factor = _inverse_factor(square)
            factored.append(_Factored(bucket, inverse_factor, inverse_factor @ bucket.oblong(oblongs)))
        return factored

    def _make_border(self) -> Border:
        layout = self.layout
        ridge = self._penalties(layout.border_kind, 0.0)
        ridge[-1] = 1.0
        reduced = [(blocks.bucket, blocks.half) for blocks in self._factored]
        kind = IterativeBorder if layout.iterative else DenseBorder
        return kind(layout.border_terms, self._weight, ridge, reduced)

    @property
    def log_determinant(self) -> float:
        """Of the whole matrix of coefficients and of the effects' relative covariance; NaN where it is not known."""
        total = self.border.log_determinant - float(np.log(self._absorbed_weight).sum())
        for blocks in self._factored:
            total -= 2 * float(np.log(np.diagonal(blocks.inverse_factor, axis1=1, axis2=2)).sum())
        return total + float(np.log(self._kind_ratio) @ self.layout.levels)

    def solve(self, right: Floats) -> Solution:
        """Solve for right-hand sides given as rows of the data: (rows, k)."""
        layout, weight = self.layout, self._absorbed_weight[:, None]
        sums = layout.absorbed_rows.T @ right
        shared = right - layout.absorbed_rows @ (weight * sums)
        core_right = layout.core_rows.T @ shared
        border_right = layout.border_rows.T @ shared
        quadratic = right.T @ shared
        solution = self._back_substitute(core_right, border_right, quadratic)
        return self._with_absorbed(solution, sums)

    def _with_absorbed(self, solution: Solution, sums: Floats) -> Solution:
        """The absorbed effect from the sums of its rows and from what the others explain of them."""
        layout = self.layout
        explained = layout.absorbed_core @ solution.core + layout.absorbed_border @ solution.border
        absorbed = self._absorbed_weight[:, None] * (sums - explained)
        return Solution(solution.border, solution.core, absorbed, solution.quadratic)

    def _back_substitute(self, core_right: Floats, border_right: Floats, quadratic: Floats) -> Solution:
        """Solve, once the finest effect is absorbed."""
        halves = []
        for blocks in self._factored:
            half = blocks.inverse_factor @ blocks.bucket.vector(core_right)
            scatter_add(border_right, blocks.bucket, -(blocks.half.transpose(0, 2, 1) @ half))
            quadratic = quadratic - np.einsum("bik,bil->kl", half, half)
            halves.append(half)
        border = self.border.solve(border_right)
        core = np.zeros_like(core_right)
        for blocks, half in zip(self._factored, halves, strict=True):
            rest = half - blocks.half @ border[blocks.bucket.border_index]
            blocks.bucket.vector(core)[:] = blocks.inverse_factor.transpose(0, 2, 1) @ rest
        return Solution(border, core, np.empty((0, 0)), quadratic - border_right.T @ border)

    def system_inverse(self) -> Solution:
        """The columns of the inverse that belong to the systems: their covariance, and that with all other effects."""
        layout = self.layout
        unit = np.zeros((layout.width, layout.systems))
        unit[: layout.systems] = np.eye(layout.systems)
        core = np.zeros((len(layout.core_kind), layout.systems))
        solution = self._back_substitute(core, unit, np.zeros((layout.systems, layout.systems)))
        return self._with_absorbed(solution, np.zeros((len(layout.absorbed_size), layout.systems)))

    def _groups(self, values: Solution) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        """The kinds and values of the unknowns in each group."""
        layout = self.layout
        yield layout.border_kind, values.border
        yield layout.core_kind, values.core
        yield layout.absorbed_kind, values.absorbed

    def squares(self, values: Solution) -> Floats:
        """Each effect's sum of squares over its variance, for a solution with one column."""
        squares = np.zeros(len(self.layout.levels))
        for kind, value in self._groups(values):
            squares += self._sums(kind, value[:, 0] ** 2)
        return (self._penalty * squares) @ self._own_part[:-1]

    def crossed(self, values: Solution, columns: int) -> list[Floats]:
        """For each effect the products of the first columns of a solution, over its variance: (columns, columns)."""
        crossed = np.zeros((len(self.ratios), columns, columns))
        penalty = np.append(self._penalty, 0.0)
        for kind, value in self._groups(values):
            own = value[:, :columns]
            weight = penalty[kind, None] * self._own_part[kind]
            for effect in range(len(self.ratios)):
                here = np.flatnonzero(weight[:, effect])
                crossed[effect] += own[here].T @ (weight[here, effect, None] * own[here])
        return list(crossed)

    def rows_by_effect(self, values: Solution) -> Floats:
        """What each effect adds to every row, for a solution with one column: (rows, effects)."""
        layout = self.layout
        border, core, absorbed = (self._own_part[kind] * value[:, :1] for kind, value in self._groups(values))
        added: Floats = layout.border_rows @ border + layout.core_rows @ core + layout.absorbed_rows @ absorbed
        return added

    def freedoms(self) -> Floats:
        """For each effect how many of its levels the scores determine: levels less the trace of what is unknown."""
        layout = self.layout
        return (layout.levels - self._penalty * self._traces()) @ self._own_part[:-1]

    def _traces(self) -> Floats:
        """For each kind the trace of its diagonal block of the inverse of the whole matrix."""
        layout, border = self.layout, self.border
        squares = np.empty(layout.core_terms.length)
        oblongs = np.empty(layout.mixed_terms.length)
        diagonal = np.empty((len(layout.core_kind), 1))
        for blocks in self._factored:
            back = blocks.inverse_factor.transpose(0, 2, 1)
            solved = back @ blocks.half
            spread = solved @ border.inverse_blocks(blocks.bucket)
            inverse = back @ blocks.inverse_factor + spread @ solved.transpose(0, 2, 1)
            blocks.bucket.square(squares)[:] = inverse
            blocks.bucket.oblong(oblongs)[:] = -spread
            blocks.bucket.vector(diagonal)[:, :, 0] = np.diagonal(inverse, axis1=1, axis2=2)
        traces = self._sums(layout.core_kind, diagonal[:, 0]) + self._sums(
            layout.border_kind, border.inverse_diagonal()
        )
        return traces + self._absorbed_traces(squares, oblongs)

    def _sums(self, kind: NDArray[np.int64], values: Floats) -> Floats:
        """Sums of values by kind, those without one left out."""
        return weighted_count(kind + 1, values, len(self.layout.levels) + 1)[1:]

    def _absorbed_traces(self, squares: Floats, oblongs: Floats) -> Floats:
        layout, classes = self.layout, len(self._weight)
        border = layout.border_terms
        by_class = (
            layout.core_terms.by_class(squares[layout.core_terms.position], classes)
            + 2 * layout.mixed_terms.by_class(oblongs[layout.mixed_terms.position], classes)
            + border.by_class(self.border.inverse_entries(border.position), classes)
        )
        shared = self._sums(layout.size_kinds, (by_class * self._weight_slope)[1:])
        return shared + self._sums(layout.absorbed_kind, self._absorbed_weight)


def _inverse_factor(square: Floats) -> Floats:
    """The inverses of the Cholesky factors of matrices (count, m, m)."""
    factor = np.linalg.cholesky(square)
    if factor.shape[1] <= _SMALL_BLOCK:
        return np.asarray(np.linalg.inv(factor), dtype=np.float64)
    return np.stack([dtrtri(lower, lower=1)[0] for lower in factor])
