"""The equations of the border (systems, annotators, tasks), once everything inside documents is eliminated.

Up to `DENSE_LIMIT` unknowns they are solved directly. Above, by conjugate gradients (`iterative`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.lapack import dpotri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.mixed.solver.buckets import Bucket
    from adjudge.rank.mixed.solver.terms import Terms


DENSE_LIMIT = 4000
TOLERANCE = 1e-10
"""Conjugate gradients stop where the residual has fallen to this share of the right-hand side."""
COARSE = 1e-6
"""The same for products of two solutions, whose error is the product of two errors."""


class Border(Protocol):
    """The border's equations S x = r, and entries of the inverse of S."""

    converged: bool

    @property
    def log_determinant(self) -> float:
        """Of S; NaN where it is not known."""

    def solve(self, right: Floats, *, tolerance: float = TOLERANCE) -> Floats:
        """Solve for one or more right-hand sides (width, k), iterative solutions up to the tolerance."""

    def times(self, vectors: Floats) -> Floats:
        """S times vectors (width, k)."""

    def first_columns(self, columns: int) -> Floats:
        """The first columns of the inverse."""

    def inverse_diagonal(self) -> Floats:
        """The diagonal of the inverse."""

    def inverse_entries(self, position: NDArray[np.int64]) -> Floats:
        """Entries of the inverse at positions row * width + column."""

    def times_inverse(self, bucket: Bucket, left: Floats) -> Floats:
        """Matrices (count, m, border) times the inverse restricted to what each block of the bucket touches."""


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


class _FullInverse:
    """What a border that holds its whole inverse reads from it."""

    @property
    def inverse(self) -> Floats:
        """The inverse of S."""
        raise NotImplementedError

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


class DenseBorder(_FullInverse):
    """Solved by one Cholesky factor; the matrix is overwritten."""

    def __init__(self, matrix: Floats) -> None:
        self.converged = True
        self._factor = cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        self._inverse: Floats | None = None

    @property
    def log_determinant(self) -> float:
        """Of S."""
        return float(2 * np.log(np.diag(self._factor)).sum())

    def solve(self, right: Floats, *, tolerance: float = TOLERANCE) -> Floats:  # noqa: ARG002
        """Solve for one or more right-hand sides."""
        solution: Floats = cho_solve((self._factor, True), right, check_finite=False)
        return solution

    def times(self, vectors: Floats) -> Floats:
        """S times vectors."""
        product: Floats = np.tril(self._factor) @ (np.tril(self._factor).T @ vectors)
        return product

    def first_columns(self, columns: int) -> Floats:
        """The first columns of the inverse."""
        return self.solve(np.eye(len(self._factor), columns))

    @property
    def inverse(self) -> Floats:
        """The inverse of S."""
        if self._inverse is None:
            lower = dpotri(self._factor, lower=1)[0]
            self._inverse = lower + lower.T
            self._inverse[np.diag_indices(len(lower))] /= 2
        return self._inverse


class ChangedBorder(_FullInverse):
    """A border S to which a matrix E is added at a few unknowns, solved by the inverse B of the other (Woodbury).

    inv(S + E) = B - B inv(I + E B) E B, where only the few rows and columns of E count.
    """

    def __init__(self, before: DenseBorder, index: NDArray[np.int64], added: Floats) -> None:
        self.converged = True
        self._before = before
        self._columns = before.inverse[:, index]
        self._index = index
        self._added = added
        inner = np.eye(len(index)) + added @ self._columns[index]
        self._change = np.linalg.solve(inner, added)
        self._log_change = float(np.linalg.slogdet(inner)[1])

    @property
    def log_determinant(self) -> float:
        """Of the changed matrix."""
        return self._before.log_determinant + self._log_change

    def solve(self, right: Floats, *, tolerance: float = TOLERANCE) -> Floats:  # noqa: ARG002
        """Solve for one or more right-hand sides."""
        solution: Floats = self._before.inverse @ right
        solution -= self._columns @ (self._change @ solution[self._index])
        return solution

    def times(self, vectors: Floats) -> Floats:
        """The changed matrix times vectors."""
        product = self._before.times(vectors)
        product[self._index] += self._added @ vectors[self._index]
        return product

    def first_columns(self, columns: int) -> Floats:
        """The first columns of the inverse."""
        before = self._before.inverse[:, :columns]
        return np.asarray(before - self._columns @ (self._change @ before[self._index]))

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of the changed matrix."""
        return self._before.inverse - self._columns @ self._change @ self._columns.T


def scatter_add(target: Floats, bucket: Bucket, values: Floats) -> None:
    """Add (count, border, k) values of a bucket's blocks to border vectors (width, k)."""
    index = bucket.border_index.ravel()
    flat = values.reshape(len(index), -1)
    for column in range(flat.shape[1]):
        target[:, column] += np.bincount(index, flat[:, column], minlength=len(target))
