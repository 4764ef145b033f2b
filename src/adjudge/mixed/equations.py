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

from adjudge.mixed.border import TOLERANCE, Border, DenseBorder, IterativeBorder, border_matrix, scatter_add
from adjudge.mixed.layout import Bucket, Layout, weighted_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from adjudge.table.maths import Floats


_SMALL_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Totals:
    """Right-hand sides of the equations, one column each, and the matrix r' r of all pairs of them."""

    border: Floats
    core: Floats
    absorbed: Floats
    square: Floats


def totals(layout: Layout, right: Floats) -> Totals:
    """The right-hand sides that belong to (rows, k) numbers: their sums over the rows of each unknown."""
    return Totals(
        layout.border_rows.T @ right, layout.core_rows.T @ right, layout.absorbed_rows.T @ right, right.T @ right
    )


@dataclass(frozen=True, eq=False)
class Solution:
    """Estimates for k right-hand sides, one column each, and the matrix r' P r of all pairs of them."""

    border: Floats
    core: Floats
    absorbed: Floats
    quadratic: Floats


@dataclass(frozen=True, eq=False)
class FactoredBlocks:
    """A bucket's blocks: the inverse of each Cholesky factor, and that times the border columns."""

    bucket: Bucket
    inverse_factor: Floats
    half: Floats


class Variances:
    """What follows from the ratios of variance to residual variance, one per effect, for every kind of unknown."""

    def __init__(self, layout: Layout, ratios: Floats) -> None:
        self.ratios = ratios
        self.kind_ratio = layout.parts @ ratios
        self.penalty = 1 / self.kind_ratio
        share = layout.parts * ratios * self.penalty[:, None]
        self.own_part = np.vstack([share, np.zeros(len(ratios))])
        """Which part of the variance of each kind of unknown belongs to each effect; systems and padding have none."""
        class_weight = 1 / (layout.sizes + self.penalty[layout.size_kinds])
        self.weight = np.concatenate([[1.0], -class_weight])
        """Of each class of terms in the equations."""
        self.weight_slope = np.concatenate([[0.0], class_weight**2])

    def absorbed_weight(self, layout: Layout) -> Floats:
        """Of each absorbed unknown: the inverse of its place on the diagonal."""
        weight: Floats = 1 / (layout.absorbed_size + self.penalty[layout.absorbed_kind])
        return weight

    def penalties(self, kind: NDArray[np.int64], otherwise: float) -> Floats:
        """The penalty of each unknown by its kind; systems and padding have none of their own."""
        return np.append(self.penalty, otherwise)[kind]


def assemble_core(layout: Layout, variances: Variances) -> tuple[Floats, Floats]:
    """The (core, core) and (core, border) matrices of all blocks, flat."""
    squares = layout.core_terms.total(variances.weight)
    oblongs = layout.mixed_terms.total(variances.weight)
    ridge = variances.penalties(layout.core_kind, 1.0)
    for bucket in layout.buckets:
        diagonal = np.arange(bucket.core)
        bucket.square(squares)[:, diagonal, diagonal] += bucket.vector(ridge)[:, :, 0]
    return squares, oblongs


def factor(square: Floats, oblong: Floats) -> tuple[Floats, Floats]:
    """The inverse Cholesky factors of blocks (count, m, m), and these times (count, m, n)."""
    inverse_factor = _inverse_factor(square)
    return inverse_factor, inverse_factor @ oblong


def equations_at(layout: Layout, ratios: Floats) -> Equations:
    """The equations of a layout at given ratios, factored."""
    variances = Variances(layout, ratios)
    squares, oblongs = assemble_core(layout, variances)
    factored = [
        FactoredBlocks(bucket, *factor(bucket.square(squares), bucket.oblong(oblongs))) for bucket in layout.buckets
    ]
    ridge = variances.penalties(layout.border_kind, 0.0)
    ridge[-1] = 1.0
    reduced = [(blocks.bucket, blocks.half) for blocks in factored]
    if layout.iterative:
        return Equations(
            layout, variances, factored, IterativeBorder(layout.border_terms, variances.weight, ridge, reduced)
        )
    matrix = border_matrix(layout.border_terms, variances.weight, ridge, reduced)
    return Equations(layout, variances, factored, DenseBorder(matrix))


class Equations:
    """The equations of a layout at given ratios of variance to residual variance, one per effect."""

    def __init__(
        self, layout: Layout, variances: Variances, factored: Sequence[FactoredBlocks], border: Border
    ) -> None:
        self.layout = layout
        self.variances = variances
        self.factored = factored
        self.border = border
        self._absorbed_weight = variances.absorbed_weight(layout)

    @property
    def ratios(self) -> Floats:
        """Of each effect's variance to the residual variance."""
        return self.variances.ratios

    @property
    def log_determinant(self) -> float:
        """Of the whole matrix of coefficients and of the effects' relative covariance; NaN where it is not known."""
        total = self.border.log_determinant - float(np.log(self._absorbed_weight).sum())
        for blocks in self.factored:
            total -= 2 * float(np.log(np.diagonal(blocks.inverse_factor, axis1=1, axis2=2)).sum())
        return total + float(np.log(self.variances.kind_ratio) @ self.layout.levels)

    def solve(self, right: Totals, *, tolerance: float = TOLERANCE, near: Floats | None = None) -> Solution:
        """Solve for right-hand sides; iteratively up to the tolerance, as a share of what a border `near` leaves."""
        halves, border_right, quadratic = self._forward(right)
        if near is None:
            border = self.border.solve(border_right, tolerance=tolerance)
        else:
            border = near + self.border.solve(border_right - self.border.times(near), tolerance=tolerance)
        core = self._core_given(border, halves)
        absorbed = self._absorbed_weight[:, None] * (right.absorbed - self._explained(core, border))
        return Solution(border, core, absorbed, quadratic - border_right.T @ border)

    def _core_given(self, border: Floats, halves: Sequence[Floats | float]) -> Floats:
        """The core, once the border is known; `halves` are what forward elimination left of its right-hand sides."""
        core = np.zeros((len(self.layout.core_kind), border.shape[1]))
        for blocks, half in zip(self.factored, halves, strict=True):
            remainder = half - blocks.half @ border[blocks.bucket.border_index]
            blocks.bucket.vector(core)[:] = blocks.inverse_factor.transpose(0, 2, 1) @ remainder
        return core

    def _explained(self, core: Floats, border: Floats) -> Floats:
        """What the other unknowns explain of the sums of the absorbed ones."""
        explained: Floats = self.layout.absorbed_core @ core + self.layout.absorbed_border @ border
        return explained

    def quadratic(self, right: Totals) -> Floats:
        """The matrix r' P r of all pairs of right-hand sides, without solving for the rest."""
        _, border_right, quadratic = self._forward(right)
        return quadratic - self.border.quadratic(border_right)

    def reduced(self, right: Totals) -> Floats:
        """The right-hand sides of the border once the rest is eliminated."""
        return self._forward(right)[1]

    def _forward(self, right: Totals) -> tuple[list[Floats], Floats, Floats]:
        """Eliminate the absorbed unknowns and the core: what is left for the border, and of the products."""
        weighted = self._absorbed_weight[:, None] * right.absorbed
        core_right = right.core - self.layout.core_absorbed @ weighted
        border_right = right.border - self.layout.border_absorbed @ weighted
        quadratic = right.square - right.absorbed.T @ weighted
        halves = []
        for blocks in self.factored:
            half = blocks.inverse_factor @ blocks.bucket.vector(core_right)
            scatter_add(border_right, blocks.bucket, -(blocks.half.transpose(0, 2, 1) @ half))
            flat = half.reshape(-1, half.shape[2])
            quadratic = quadratic - flat.T @ flat
            halves.append(half)
        return halves, border_right, quadratic

    def system_inverse(self) -> Solution:
        """The columns of the inverse that belong to the systems: their covariance, and that with all other effects."""
        border = self.border.first_columns(self.layout.systems)
        core = self._core_given(border, [0.0] * len(self.factored))
        absorbed = -self._absorbed_weight[:, None] * self._explained(core, border)
        return Solution(border, core, absorbed, -border[: self.layout.systems])

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
        return (self.variances.penalty * squares) @ self.variances.own_part[:-1]

    def directions(self, values: Solution) -> Totals:
        """What each effect adds to the rows, f = W d, as right-hand sides f' P f, for a solution with one column.

        With the matrix of coefficients C = W'W + D, D the penalties, P = I - W inv(C) W' and so
        d' W' P W d = d' D d - d' D inv(C) D d: right-hand sides D d in place of W'W d, and no row is looked at.
        """
        penalty = np.append(self.variances.penalty, 0.0)
        pulls, square = [], np.zeros((len(self.ratios), len(self.ratios)))
        for kind, value in self._groups(values):
            added = self.variances.own_part[kind] * value[:, :1]
            pulled = penalty[kind, None] * added
            square += added.T @ pulled
            pulls.append(pulled)
        border, core, absorbed = pulls
        return Totals(border, core, absorbed, square)

    def crossed(self, values: Solution, columns: int) -> list[Floats]:
        """For each effect the products of the first columns of a solution, over its variance: (columns, columns)."""
        kinds = len(self.layout.levels)
        by_kind = np.zeros((kinds, columns, columns))
        for kind, value in self._groups(values):
            order = np.argsort(kind, kind="stable")
            ordered = value[order, :columns]
            border = np.searchsorted(kind[order], np.arange(kinds + 1))
            for number in np.flatnonzero(np.diff(border)):
                part = ordered[border[number] : border[number + 1]]
                by_kind[number] += part.T @ part
        own_part = self.variances.own_part[:-1] * self.variances.penalty[:, None]
        return list(np.tensordot(own_part.T, by_kind, 1))

    @property
    def levels(self) -> Floats:
        """Of each effect; of a level that is several effects' at once, each has its part."""
        return np.asarray(self.layout.levels @ self.variances.own_part[:-1], dtype=np.float64)

    def freedoms(self) -> Floats:
        """For each effect how many of its levels the scores determine: levels less the trace of what is unknown."""
        layout = self.layout
        return (layout.levels - self.variances.penalty * self._traces()) @ self.variances.own_part[:-1]

    def _traces(self) -> Floats:
        """For each kind the trace of its diagonal block of the inverse of the whole matrix."""
        layout, border = self.layout, self.border
        squares = np.empty(layout.core_terms.length)
        oblongs = np.empty(layout.mixed_terms.length)
        diagonal = np.empty((len(layout.core_kind), 1))
        for blocks in self.factored:
            back = blocks.inverse_factor.transpose(0, 2, 1)
            solved = back @ blocks.half
            spread = border.times_inverse(blocks.bucket, solved)
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
        layout, classes = self.layout, len(self.variances.weight)
        border = layout.border_terms
        by_class = (
            layout.core_terms.by_class(squares[layout.core_terms.position], classes)
            + 2 * layout.mixed_terms.by_class(oblongs[layout.mixed_terms.position], classes)
            + border.by_class(self.border.inverse_entries(border.position), classes)
        )
        shared = self._sums(layout.size_kinds, (by_class * self.variances.weight_slope)[1:])
        return shared + self._sums(layout.absorbed_kind, self._absorbed_weight)


def _inverse_factor(square: Floats) -> Floats:
    """The inverses of the Cholesky factors of matrices (count, m, m)."""
    factor = np.linalg.cholesky(square)
    if factor.shape[1] <= _SMALL_BLOCK:
        return np.asarray(np.linalg.inv(factor), dtype=np.float64)
    return np.stack([dtrtri(lower, lower=1)[0] for lower in factor])
