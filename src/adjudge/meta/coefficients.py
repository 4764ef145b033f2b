"""Correlations of metric and human scores, pooled or averaged over groups (systems, or segments called items)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Coefficient = Callable[[NDArray[np.float64], NDArray[np.float64]], float]

Grouping = Literal["pooled", "system", "item"]
GROUPINGS: tuple[Grouping, ...] = ("pooled", "system", "item")


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Pearson's r; NaN where one side does not vary."""
    if len(x) < 2:
        return float("nan")
    a, b = x - x.mean(), y - y.mean()
    scale = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / scale) if scale > 0 else float("nan")


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Spearman's rho: Pearson's r of mean ranks."""
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y))


def kendall(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Kendall's tau-b."""
    from scipy.stats import kendalltau

    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(kendalltau(x, y).statistic)


COEFFICIENTS: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def groups(
    human: NDArray[np.float64], metric: NDArray[np.float64], grouping: Grouping
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The scores of each group that both sides have."""
    if grouping == "pooled":
        pairs = [(human.ravel(), metric.ravel())]
    elif grouping == "system":
        pairs = list(zip(human, metric, strict=True))
    else:
        pairs = list(zip(human.T, metric.T, strict=True))
    for x, y in pairs:
        known = ~(np.isnan(x) | np.isnan(y))
        yield x[known], y[known]


def grouped(
    coefficient: Coefficient, human: NDArray[np.float64], metric: NDArray[np.float64], grouping: Grouping
) -> float:
    """The coefficient pooled, or its mean over the groups where it is defined."""
    values = [coefficient(x, y) for x, y in groups(human, metric, grouping)]
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")
