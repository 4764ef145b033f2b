"""The equations of the border (systems, annotators, tasks), once everything inside documents is eliminated.

Up to `DENSE_LIMIT` unknowns they are solved directly. Above, by conjugate gradients; the inverse, of which only traces
are needed, is then replaced by the mean of outer products of draws whose covariance it is (`draws.ErrorDraws`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.sparse import coo_array, csr_array, diags_array, hstack
from scipy.sparse.linalg import splu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from adjudge.mixed.layout import Bucket, Terms
    from adjudge.table.maths import Bools, Floats


DENSE_LIMIT = 1500
TOLERANCE = 1e-10
"""Conjugate gradients stop where the residual has fallen to this share of the right-hand side."""
COARSE = 1e-5
"""The same for products of two solutions, whose error is the product of two errors."""


def border_matrix(terms: Terms, weight: Floats, ridge: Floats, reduced: Sequence[tuple[Bucket, Floats]]) -> Floats:
    """The matrix S of the border: its own terms and penalties, less what the blocks explain."""
    width = len(ridge)
    flat = terms.total(weight)
    flat[:: width + 1] += ridge
    for bucket, half in reduced:
        index = bucket.border_index
        position = index[:, :, None] * width + index[:, None, :]
        np.subtract.at(flat, position.ravel(), (half.transpose(0, 2, 1) @ half).ravel())
    return flat.reshape(width, width)


class DenseBorder:
    """Solved by one Cholesky factor; the matrix is overwritten."""

    def __init__(self, matrix: Floats) -> None:
        self.converged = True
        self._factor = cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    @property
    def log_determinant(self) -> float:
        """Of S."""
        return float(2 * np.log(np.diag(self._factor)).sum())

    def solve(self, right: Floats, *, tolerance: float = TOLERANCE) -> Floats:  # noqa: ARG002
        """Solve for one or more right-hand sides."""
        solution: Floats = cho_solve((self._factor, True), right, check_finite=False)
        return solution

    def quadratic(self, right: Floats) -> Floats:
        """The products r' inv(S) r of all pairs of right-hand sides."""
        half = solve_triangular(self._factor, right, lower=True, check_finite=False)
        product: Floats = half.T @ half
        return product

    def times(self, vectors: Floats) -> Floats:
        """S times vectors."""
        product: Floats = np.tril(self._factor) @ (np.tril(self._factor).T @ vectors)
        return product

    def first_columns(self, columns: int) -> Floats:
        """The first columns of the inverse."""
        return self.solve(np.eye(len(self._factor), columns))

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of S."""
        lower = dpotri(self._factor, lower=1)[0]
        inverse: Floats = lower + lower.T
        inverse[np.diag_indices(len(lower))] /= 2
        return inverse

    def inverse_diagonal(self) -> Floats:
        """The diagonal of the inverse."""
        return np.diag(self.inverse)

    def inverse_entries(self, position: NDArray[np.int64]) -> Floats:
        """Entries of the inverse."""
        return self.inverse.ravel()[position]

    def times_inverse(self, bucket: Bucket, left: Floats) -> Floats:
        """Matrices times the inverse restricted to what each block touches."""
        index = bucket.border_index
        product: Floats = left @ self.inverse[index[:, :, None], index[:, None, :]]
        return product


FEW_COLUMNS = 8
"""Up to so many columns are added up one by one, more by a sparse matrix."""


def scatter_add(target: Floats, bucket: Bucket, values: Floats) -> None:
    """Add (count, border, k) values of a bucket's blocks to border vectors (width, k)."""
    index = bucket.border_index.ravel()
    flat = values.reshape(len(index), -1)
    if flat.shape[1] > FEW_COLUMNS:
        target += bucket.sums @ flat
        return
    for column in range(flat.shape[1]):
        target[:, column] += np.bincount(index, flat[:, column], minlength=len(target))


MOST_STEPS = 500
CACHED = 50_000
"""About so many numbers stay in a processor's cache between two products."""
THIN_BLOCK = 8
"""Blocks of at most so many unknowns are handled as one sparse matrix: there may be many thousands of them."""
LARGEST_OWN_ORDER = 500
"""Up to so many unknowns of an annotator, the order of their elimination is found by their neighbours alone."""


@dataclass(frozen=True, eq=False)
class Iterated:
    """A solution x of S x = r, and the rest r - S x."""

    x: Floats
    rest: Floats
    converged: bool


def conjugate_gradients(
    times: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    start: Floats,
    right: Floats,
    *,
    tolerance: float,
) -> Iterated:
    """Solve S x = r for all right-hand sides at once, by conjugate gradients.

    Args:
        times: takes vectors (width, k) to S times them.
        precondition: solves a matrix similar to S.
        start: a first guess, 0 for none.
        right: r, one column each.
        tolerance: where to stop, the share of the right-hand side that may be left.
    """
    x = start.copy()
    residual = right - times(x) if x.any() else right.copy()
    goal = tolerance**2 * np.maximum((right * precondition(right)).sum(axis=0), 1e-300)
    z = precondition(residual)
    direction = z.copy()
    rho = (residual * z).sum(axis=0)
    for _ in range(MOST_STEPS):
        if (rho <= goal).all():
            return Iterated(x, residual, converged=True)
        image = times(direction)
        curvature = (direction * image).sum(axis=0)
        step = np.where(rho > goal, rho / np.where(curvature > 0, curvature, 1.0), 0.0)
        x += step * direction
        residual -= step * image
        z = precondition(residual)
        previous, rho = rho, (residual * z).sum(axis=0)
        direction = z + direction * (rho / np.maximum(previous, 1e-300))
    return Iterated(x, residual, converged=False)


class IterativeBorder:
    """Solved by conjugate gradients, with the border before elimination (sparse) as preconditioner."""

    def __init__(self, terms: Terms, weight: Floats, ridge: Floats, reduced: Sequence[tuple[Bucket, Floats]]) -> None:
        width = len(ridge)
        row, column = np.divmod(terms.position, width)
        value = terms.value * weight[terms.size_class]
        plain = coo_array((value, (row, column)), shape=(width, width)).tocsc()
        self._before = (plain + diags_array(ridge)).tocsr()
        self._thick = [(bucket, half) for bucket, half in reduced if bucket.core > THIN_BLOCK]
        self._thin = _as_sparse([(bucket, half) for bucket, half in reduced if bucket.core <= THIN_BLOCK], width)
        self._sums = hstack([csr_array((width, 0)), *(bucket.sums for bucket, _ in self._thick)], format="csr")
        self._preconditioner = Preconditioner(self._before, ridge == 0)
        self._width = width
        self._draws = np.empty((width, 0))
        self.converged = True

    @property
    def log_determinant(self) -> float:
        """Not known: it would need the factor that this class avoids."""
        return float("nan")

    @property
    def draws(self) -> Floats:
        """The vectors that stand for the inverse."""
        return self._draws

    def use_draws(self, draws: Floats) -> None:
        """Take these vectors (width, k), whose covariance is the inverse of S, for the inverse from now on."""
        self._draws = draws

    def inverse_diagonal(self) -> Floats:
        """The diagonal of the inverse, by draws."""
        mean: Floats = (self._draws**2).mean(axis=1)
        return mean

    def inverse_entries(self, position: NDArray[np.int64]) -> Floats:
        """Entries of the inverse, by draws."""
        row, column = np.divmod(position, self._width)
        entries = np.zeros(len(position))
        for draw in self._draws.T:
            entries += draw[row] * draw[column]
        return entries / self._draws.shape[1]

    def times_inverse(self, bucket: Bucket, left: Floats) -> Floats:
        """Matrices (count, m, border) times the inverse restricted to what each block touches, by draws."""
        local = self._draws[bucket.border_index]
        product: Floats = (left @ local) @ local.transpose(0, 2, 1) / self._draws.shape[1]
        return product

    def solve(self, right: Floats, *, tolerance: float = TOLERANCE) -> Floats:
        """Solve for one or more right-hand sides."""
        return self.solve_from(np.zeros_like(right), right, tolerance=tolerance)[0]

    def quadratic(self, right: Floats) -> Floats:
        """The products r' inv(S) r of all pairs of right-hand sides."""
        product: Floats = right.T @ self.solve(right, tolerance=COARSE)
        return product

    def first_columns(self, columns: int) -> Floats:
        """The first columns of the inverse, of which the entries of the same rows are the most accurate.

        For a solution X with residuals R = U - S X of the unit vectors U, U'X + X'R differs from U' inv(S) U by the
        product of two errors of X, so that a coarse solution is enough.
        """
        unit = np.eye(self._width, columns)
        x, residual = self.solve_from(np.zeros_like(unit), unit, tolerance=COARSE)
        x[:columns] += x.T @ residual
        return x

    def solve_from(self, start: Floats, right: Floats, *, tolerance: float) -> tuple[Floats, Floats]:
        """Solve from a first guess, up to the tolerance as a share of the right-hand side: solution and rest."""
        solution = conjugate_gradients(self.times, self._preconditioner.solve, start, right, tolerance=tolerance)
        self.converged &= solution.converged
        return solution.x, solution.rest

    def times(self, vectors: Floats) -> Floats:
        """S times vectors (width, k)."""
        image: Floats = self._before @ vectors
        if self._thin is not None:
            image -= self._thin.T @ (self._thin @ vectors)
        if self._thick:
            back = np.empty((self._sums.shape[1], vectors.shape[1]))
            start = 0
            for bucket, half in self._thick:
                length = bucket.count * bucket.border
                part = back[start : start + length].reshape(bucket.count, bucket.border, -1)
                # So few blocks at a time that the second product finds them where the first one left them.
                step = max(1, CACHED // (bucket.core * bucket.border))
                for first in range(0, bucket.count, step):
                    few, index = half[first : first + step], bucket.border_index[first : first + step]
                    np.matmul(few.transpose(0, 2, 1), few @ vectors[index], out=part[first : first + step])
                start += length
            image -= self._sums @ back
        return image


Border = DenseBorder | IterativeBorder
"""The border's equations S x = r, and entries of the inverse of S."""


class Preconditioner:
    """Solves a sparse symmetric matrix directly.

    Without the fixed effects it falls apart into one small block per annotator. These are eliminated first, in each
    the unknowns with the fewest neighbours first, so that little is filled in. Where blocks are large, the library
    looks for a good order, which takes ten times as long as all the rest.
    """

    def __init__(self, matrix: csr_array, fixed: Bools) -> None:
        from scipy.sparse.csgraph import connected_components

        free = np.flatnonzero(~fixed)
        inner = matrix[free][:, free]
        block = connected_components(inner, directed=False)[1]
        small = len(free) > 0 and int(np.bincount(block).max()) <= LARGEST_OWN_ORDER
        chosen = np.lexsort((np.diff(inner.indptr), block)) if small else np.arange(len(free))
        self._order = np.concatenate([free[chosen], np.flatnonzero(fixed)])
        self._factor = splu(
            matrix[self._order][:, self._order].tocsc(),
            permc_spec="NATURAL" if small else "MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def solve(self, right: Floats) -> Floats:
        """Solve for right-hand sides (width, k)."""
        solution = np.empty_like(right)
        solution[self._order] = self._factor.solve(right[self._order])
        return solution


def _as_sparse(reduced: Sequence[tuple[Bucket, Floats]], width: int) -> csr_array | None:
    """Blocks of few unknowns as one sparse matrix: (all core unknowns, width)."""
    if not reduced:
        return None
    row, column, value = [], [], []
    start = 0
    for bucket, half in reduced:
        cores = bucket.count * bucket.core
        row.append(np.repeat(np.arange(start, start + cores), bucket.border))
        column.append(np.repeat(bucket.border_index, bucket.core, axis=0).ravel())
        value.append(half.ravel())
        start += cores
    coordinates = (np.concatenate(row), np.concatenate(column))
    return coo_array((np.concatenate(value), coordinates), shape=(start, width)).tocsr()
