"""Shares, rates of false alarms and correlations with their 95% intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from adjudge.table.maths import NORMAL_95, pearson, spearman

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class AARate:
    """How often one test said "different" at .05 and at .01, and an interval of the former.

    The interval (Wilson, 95%) is for further random splits of the same judgments.
    """

    tests: int
    rate_05: float
    rate_01: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation over systems, its 95% interval (Fisher's z) and Spearman's; NaN where not defined."""

    pearson: float
    interval: tuple[float, float]
    spearman: float
    n: int


@dataclass(frozen=True)
class Proportion:
    """A share with its 95% interval (Wilson)."""

    share: float
    interval: tuple[float, float]
    n: int


def proportion(part: int, whole: int) -> Proportion:
    """The share and its 95% interval by Wilson's score method (1927), which is honest for few observations."""
    if whole == 0:
        nan = float("nan")
        return Proportion(nan, (nan, nan), 0)
    share, z2 = part / whole, NORMAL_95**2
    middle = (share + z2 / (2 * whole)) / (1 + z2 / whole)
    reach = NORMAL_95 * sqrt(share * (1 - share) / whole + z2 / (4 * whole**2)) / (1 + z2 / whole)
    low = 0.0 if part == 0 else max(0.0, middle - reach)
    high = 1.0 if part == whole else min(1.0, middle + reach)
    return Proportion(share, (low, high), whole)


def false_alarms(p: NDArray[np.float64]) -> AARate:
    """How often a test of equal halves said "different", from its p-values; NaN is no test."""
    known = p[~np.isnan(p)]
    at_05, at_01 = (proportion(int((known < level).sum()), len(known)) for level in (0.05, 0.01))
    return AARate(len(known), at_05.share, at_01.share, at_05.interval)


def correlate(x: NDArray[np.float64], y: NDArray[np.float64]) -> Correlation:
    """Pearson's correlation with a 95% interval by Fisher's z, and Spearman's; pairs with a gap are left out."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    r = pearson(x, y)
    return Correlation(r, _fisher(r, len(x)), spearman(x, y), len(x))


def _fisher(r: float, n: int) -> tuple[float, float]:
    if n < 4 or not abs(r) < 1:
        return (float("nan"), float("nan"))
    middle, reach = np.arctanh(r), NORMAL_95 / np.sqrt(n - 3)
    return (float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))
