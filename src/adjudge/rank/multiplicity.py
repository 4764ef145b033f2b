"""Corrections for asking many questions at once: Holm (family-wise) and Benjamini-Hochberg (false discovery rate)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's step-down adjusted p-values; NaN stays NaN and does not count as a question asked."""
    return _adjusted(p, _holm)


def benjamini_hochberg(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Benjamini and Hochberg's step-up adjusted p-values; NaN stays NaN and does not count as a question asked."""
    return _adjusted(p, _benjamini_hochberg)


def _holm(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    m = len(ascending)
    return np.maximum.accumulate(ascending * np.arange(m, 0, -1))


def _benjamini_hochberg(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    m = len(ascending)
    return np.minimum.accumulate((ascending * m / np.arange(1, m + 1))[::-1])[::-1]


def _adjusted(p: NDArray[np.float64], rule: object) -> NDArray[np.float64]:
    assert callable(rule)
    asked = np.flatnonzero(~np.isnan(p))
    order = asked[np.argsort(p[asked], kind="stable")]
    result = np.full(len(p), np.nan)
    result[order] = np.minimum(rule(p[order]), 1.0)
    return result
