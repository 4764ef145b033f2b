"""Pairwise accuracy with ties, and ties given to metrics that have none (Deutsch, Foster and Freitag 2023).

Of two translations the human prefers one, or ties them; the metric is right if it does the same. A metric that never
ties is helped by a threshold: differences up to it count as ties. The best threshold is found exactly, by walking
through all differences in ascending order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.meta.coefficients import groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.meta.coefficients import Grouping


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs within groups: human preference (-1, 0, 1), difference of the metric, weight 1 / pairs of the group."""

    preference: NDArray[np.int8]
    difference: NDArray[np.float64]
    weight: NDArray[np.float64]
    group: NDArray[np.int64]


@dataclass(frozen=True)
class Calibrated:
    """The best accuracy over all thresholds, and the smallest threshold that reaches it."""

    accuracy: float
    threshold: float


def pairs(human: NDArray[np.float64], metric: NDArray[np.float64], grouping: Grouping) -> Pairs:
    """Every pair of scores within each group that has at least two; each group weighs the same."""
    preference, difference, sizes = [], [], []
    for x, y in groups(human, metric, grouping):
        if len(x) > 1:
            i, j = np.triu_indices(len(x), 1)
            preference.append(np.sign(x[i] - x[j]).astype(np.int8))
            difference.append(y[i] - y[j])
            sizes.append(len(i))
    number = len(sizes)
    each = np.repeat(np.arange(number), sizes)
    empty = np.empty(0)
    return Pairs(
        np.concatenate(preference) if number else empty.astype(np.int8),
        np.concatenate(difference) if number else empty,
        (1 / np.array(sizes) / number)[each] if number else empty,
        each,
    )


def agreement(found: Pairs, threshold: float = 0.0) -> NDArray[np.bool_]:
    """For each pair, whether the metric says what the human says, when differences up to the threshold are ties."""
    said = np.where(np.abs(found.difference) <= threshold, 0, np.sign(found.difference))
    same: NDArray[np.bool_] = said == found.preference
    return same


def accuracy(found: Pairs, threshold: float = 0.0) -> float:
    """The share of pairs on which the metric is right, averaged over groups."""
    return float(found.weight @ agreement(found, threshold)) if len(found.weight) else float("nan")


def calibrated(found: Pairs) -> Calibrated:
    """The threshold that makes the metric's accuracy best."""
    if not len(found.weight):
        return Calibrated(float("nan"), 0.0)
    size = np.abs(found.difference)
    order = np.argsort(size, kind="stable")
    size = size[order]
    human_tie = found.preference[order] == 0
    agrees = np.sign(found.difference[order]) == found.preference[order]
    # Passing a pair turns it into a tie: it is now right if the human tied, and no longer if it agreed before.
    gain = found.weight[order] * (human_tie.astype(float) - agrees)
    start = float(found.weight[order] @ agrees)
    after = start + np.cumsum(gain)
    last = np.append(size[1:] != size[:-1], True)
    thresholds = np.concatenate([[0.0], size[last]])
    values = np.concatenate([[accuracy(found, 0.0)], after[last]])
    best = int(np.argmax(values > values.max() - 1e-12))
    return Calibrated(float(values[best]), float(thresholds[best]))
