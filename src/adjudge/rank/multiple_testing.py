"""Corrections of p-values for many questions: Holm (family-wise error), Benjamini-Hochberg (false discovery rate).

S. Holm (1979): A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.
Y. Benjamini and Y. Hochberg (1995): Controlling the false discovery rate. Journal of the Royal Statistical Society B
57, 289-300.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.core.arrays import Floats


def holm(p: Floats) -> Floats:
    """Holm's step-down adjusted p-values; NaN stays NaN and does not count as a question asked."""
    return _adjusted(p, _holm)


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up adjusted p-values; NaN stays NaN and does not count as a question asked."""
    return _adjusted(p, _benjamini_hochberg)


def _holm(ascending: Floats) -> Floats:
    m = len(ascending)
    return np.maximum.accumulate(ascending * np.arange(m, 0, -1))


def _benjamini_hochberg(ascending: Floats) -> Floats:
    m = len(ascending)
    return np.minimum.accumulate((ascending * m / np.arange(1, m + 1))[::-1])[::-1]


def _adjusted(p: Floats, rule: Callable[[Floats], Floats]) -> Floats:
    asked = np.flatnonzero(~np.isnan(p))
    order = asked[np.argsort(p[asked], kind="stable")]
    result = np.full(len(p), np.nan)
    result[order] = np.minimum(rule(p[order]), 1.0)
    return result
