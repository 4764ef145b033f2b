"""Correction for chance, the form that all coefficients of agreement share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def above_chance(observed: float, expected: float) -> float:
    """(observed - expected) / (1 - expected); NaN where chance alone would agree always, or nothing was observed."""
    return float(above_chance_all(np.array([observed]), np.array([expected]))[0])


def above_chance_all(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for many at once."""
    return ratio(observed - expected, 1 - expected)


def ratio(part: ArrayLike, whole: ArrayLike) -> NDArray[np.float64]:
    """The quotient, and NaN (not a warning) where there is nothing to divide by."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=float), np.asarray(whole, dtype=float))
    return np.asarray(np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0))
