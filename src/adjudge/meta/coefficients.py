"""Correlations of metric and human scores, pooled or averaged over groups (systems, or segments called items)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.core.maths import kendall, pearson, spearman

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adjudge.core.arrays import Floats

    Coefficient = Callable[[Floats, Floats], float]

Grouping = Literal["pooled", "system", "item"]
GROUPINGS: tuple[Grouping, ...] = ("pooled", "system", "item")
COEFFICIENTS: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def groups(human: Floats, metric: Floats, grouping: Grouping) -> Iterator[tuple[Floats, Floats]]:
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


def item_coefficients(human: Floats, metric: Floats) -> dict[str, Floats]:
    """Every coefficient of every item (column); NaN where it is not defined."""
    items = list(groups(human, metric, "item"))
    return {name: np.array([coefficient(x, y) for x, y in items]) for name, coefficient in COEFFICIENTS.items()}


def grouped(coefficient: Coefficient, human: Floats, metric: Floats, grouping: Grouping) -> float:
    """The coefficient pooled, or its mean over the groups where it is defined."""
    values = [coefficient(x, y) for x, y in groups(human, metric, grouping)]
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")
