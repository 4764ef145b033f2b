"""The equations of the border (systems, annotators, tasks), once everything inside documents is eliminated.

Up to `DENSE_LIMIT` unknowns they are solved directly. Above, by conjugate gradients, and the inverse, of which only
traces are needed, is replaced by the mean of outer products of draws whose covariance it is.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.lapack import dpotri
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import splu

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.mixed.buckets import Bucket
    from adjudge.rank.mixed.terms import Terms


DENSE_LIMIT = 4000
TOLERANCE = 1e-10
"""Conjugate gradients stop where the residual has fallen to this share of the right-hand side."""
MOST_STEPS = 500
THIN_BLOCK = 8
"""Blocks of at most so many unknowns are handled as one sparse matrix: there may be many thousands of them."""


class Border(Protocol):
    """The border's equations S x = r, and entries of the inverse of S."""

    converged: bool

    @property
    def log_determinant(self) -> float:
        """Of S; NaN where it is not known."""

    def solve(self, right: Floats) -> Floats:
        """Solve for one or more right-hand sides (width, k)."""

    def inverse_diagonal(self) -> Floats:
        """The diagonal of the inverse."""

    def inverse_entries(self, position: NDArray[np.int64]) -> Floats:
        """Entries of the inverse at positions row * width + column."""

    def inverse_blocks(self, bucket: Bucket) -> Floats:
        """The inverse restricted to what each block of the bucket touches: (count, border, border)."""


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
        self._inverse: Floats | None = None

    @property
    def log_determinant(self) -> float:
        """Of S."""
        return float(2 * np.log(np.diag(self._factor)).sum())

    def solve(self, right: Floats) -> Floats:
        """Solve for one or more right-hand sides."""
        solution: Floats = cho_solve((self._factor, True), right, check_finite=False)
        return solution

    @property
    def inverse(self) -> Floats:
        """The inverse of S."""
        if self._inverse is None:
            lower = dpotri(self._factor, lower=1)[0]
            self._inverse = lower + lower.T
            self._inverse[np.diag_indices(len(lower))] /= 2
        return self._inverse

    def inverse_diagonal(self) -> Floats:
        """The diagonal of the inverse."""
        return np.diag(self.inverse)

    def inverse_entries(self, position: NDArray[np.int64]) -> Floats:
        """Entries of the inverse."""
        return self.inverse.ravel()[position]

    def inverse_blocks(self, bucket: Bucket) -> Floats:
        """The inverse restricted to what each block touches."""
        index = bucket.border_index
        return self.inverse[index[:, :, None], index[:, None, :]]


class ChangedBorder:
    """A border S to which a matrix E is added at a few unknowns, solved by the inverse B of the other (Woodbury).

    inv(S + E) = B - B inv(I + E B) E B, where only the few rows and columns of E count.
    """

    def __init__(self, before: DenseBorder, index: NDArray[np.int64], added: Floats) -> None:
        self.converged = True
        self._before = before
        self._columns = before.inverse[:, index]
        self._index = index
        inner = np.eye(len(index)) + added @ self._columns[index]
        self._change = np.linalg.solve(inner, added)
        self._log_change = float(np.linalg.slogdet(inner)[1])

    @property
    def log_determinant(self) -> float:
        """Of the changed matrix."""
        return self._before.log_determinant + self._log_change

    def solve(self, right: Floats) -> Floats:
        """Solve for one or more right-hand sides."""
        solution: Floats = self._before.inverse @ right
        solution -= self._columns @ (self._change @ solution[self._index])
        return solution

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of the changed matrix."""
        return self._before.inverse - self._columns @ self._change @ self._columns.T

    def inverse_diagonal(self) -> Floats:
        """The diagonal of the inverse."""
        return np.diag(self.inverse)

    def inverse_entries(self, position: NDArray[np.int64]) -> Floats:
        """Entries of the inverse."""
        return self.inverse.ravel()[position]

    def inverse_blocks(self, bucket: Bucket) -> Floats:
        """The inverse restricted to what each block touches."""
        index = bucket.border_index
        return self.inverse[index[:, :, None], index[:, None, :]]


class IterativeBorder:
    """Solved by conjugate gradients, with the border before elimination (sparse) as preconditioner."""

    def __init__(self, terms: Terms, weight: Floats, ridge: Floats, reduced: Sequence[tuple[Bucket, Floats]]) -> None:
        width = len(ridge)
        row, column = np.divmod(terms.position, width)
        value = terms.value * weight[terms.size_class]
        plain = coo_array((value, (row, column)), shape=(width, width)).tocsc()
        self._before = (plain + diags_array(ridge)).tocsc()
        self._thick = [(bucket, half) for bucket, half in reduced if bucket.core > THIN_BLOCK]
        self._thin = _as_sparse([(bucket, half) for bucket, half in reduced if bucket.core <= THIN_BLOCK], width)
        self._preconditioner = splu(
            self._before, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        self._width = width
        self._draws = np.empty((width, 0))
        self.converged = True

    @property
    def log_determinant(self) -> float:
        """Not known: it would need the factor that this class avoids."""
        return float("nan")

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

    def inverse_blocks(self, bucket: Bucket) -> Floats:
        """The inverse restricted to what each block touches, by draws."""
        local = self._draws[bucket.border_index]
        blocks: Floats = local @ local.transpose(0, 2, 1) / self._draws.shape[1]
        return blocks

    def solve(self, right: Floats) -> Floats:
        """Preconditioned conjugate gradients, all right-hand sides at once."""
        x = np.zeros_like(right)
        rest = right.copy()
        z = self._preconditioner.solve(rest)
        direction = z.copy()
        rho = (rest * z).sum(axis=0)
        goal = TOLERANCE**2 * np.maximum(rho, 1e-300)
        for _ in range(MOST_STEPS):
            if (rho <= goal).all():
                break
            image = self._times(direction)
            curvature = (direction * image).sum(axis=0)
            step = np.where(rho > goal, rho / np.where(curvature > 0, curvature, 1.0), 0.0)
            x += step * direction
            rest -= step * image
            z = self._preconditioner.solve(rest)
            previous, rho = rho, (rest * z).sum(axis=0)
            direction = z + direction * (rho / np.maximum(previous, 1e-300))
        else:
            self.converged = False
        return x

    def _times(self, vectors: Floats) -> Floats:
        image: Floats = self._before @ vectors
        if self._thin is not None:
            image -= self._thin.T @ (self._thin @ vectors)
        for bucket, half in self._thick:
            back = half.transpose(0, 2, 1) @ (half @ vectors[bucket.border_index])
            scatter_add(image, bucket, -back)
        return image


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


def scatter_add(target: Floats, bucket: Bucket, values: Floats) -> None:
    """Add (count, border, k) values of a bucket's blocks to border vectors (width, k)."""
    index = bucket.border_index.ravel()
    flat = values.reshape(len(index), -1)
    for column in range(flat.shape[1]):
        target[:, column] += np.bincount(index, flat[:, column], minlength=len(target))
