"""Correlation of two properties of systems, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.results.audit.sampling import Correlation

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMAL_95 = 1.959963984540054


def correlate(x: NDArray[np.float64], y: NDArray[np.float64]) -> Correlation:
    """Pearson's correlation with a 95% interval by Fisher's z, and Spearman's; pairs with a gap are left out."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    r = _pearson(x, y)
    return Correlation(r, _fisher(r, len(x)), _pearson(_ranks(x), _ranks(y)), len(x))


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, code, number = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(number) - (number - 1) / 2)[code], dtype=float)


def _fisher(r: float, n: int) -> tuple[float, float]:
    if n < 4 or not abs(r) < 1:
        return (float("nan"), float("nan"))
    middle, reach = np.arctanh(r), NORMAL_95 / np.sqrt(n - 3)
    return (float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))
