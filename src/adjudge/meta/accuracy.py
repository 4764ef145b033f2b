"""Pairwise accuracy of a metric: with ties, calibrated for ties, and soft.

Of two translations the human prefers one, or ties them; the metric is right if it does the same. A metric that never
ties is helped by a threshold: differences up to it count as ties. The best threshold is found exactly, by walking
through all differences in ascending order (Deutsch, Foster and Freitag 2023).

Soft pairwise accuracy (Thompson et al. 2024) asks whether the metric doubts where the human doubts. For
every two systems, a paired permutation test over segments gives the p that the first is better, once from human and
once from metric scores. The accuracy is 1 minus the mean distance of the two p. All pairs share the signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.meta.coefficients import groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Bools, Floats
    from adjudge.meta.coefficients import Grouping


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs within groups: human preference (-1, 0, 1), difference of the metric, and the group with its weight."""

    preference: NDArray[np.int8]
    difference: Floats
    group: NDArray[np.int32]
    weight: Floats
    """Of one pair in each group: groups weigh the same."""


@dataclass(frozen=True)
class Calibrated:
    """The best accuracy over all thresholds, and the smallest threshold that reaches it."""

    accuracy: float
    threshold: float


def number_of_pairs(human: Floats, metric: Floats, grouping: Grouping) -> int:
    """Count the pairs within groups."""
    return sum(len(x) * (len(x) - 1) // 2 for x, _ in groups(human, metric, grouping))


def pairs(human: Floats, metric: Floats, grouping: Grouping) -> Pairs:
    """Every pair of scores within each group that has at least two; each group weighs the same."""
    usable = [(x, y) for x, y in groups(human, metric, grouping) if len(x) > 1]
    sizes = np.array([len(x) * (len(x) - 1) // 2 for x, _ in usable], dtype=np.int64)
    preference, difference = np.empty(sizes.sum(), dtype=np.int8), np.empty(sizes.sum())
    start = 0
    for x, y in usable:
        # One score against all later ones: arrays of all pairs at once would need several times the memory.
        for i in range(len(x) - 1):
            end = start + len(x) - 1 - i
            preference[start:end] = np.sign(x[i] - x[i + 1 :])
            np.subtract(y[i], y[i + 1 :], out=difference[start:end])
            start = end
    each = np.repeat(np.arange(len(usable), dtype=np.int32), sizes)
    return Pairs(preference, difference, each, 1 / sizes / max(len(usable), 1))


def agreement(compared: Pairs, threshold: float = 0.0) -> Bools:
    """For each pair, whether the metric says what the human says, when differences up to the threshold are ties."""
    metric_preference = (compared.difference > threshold).astype(np.int8) - (compared.difference < -threshold)
    same: Bools = metric_preference == compared.preference
    return same


def accuracy(compared: Pairs, threshold: float = 0.0) -> float:
    """The share of pairs on which the metric is right, averaged over groups."""
    if not len(compared.weight):
        return float("nan")
    right = np.bincount(compared.group[agreement(compared, threshold)], minlength=len(compared.weight))
    return float(compared.weight @ right)


def calibrated(compared: Pairs) -> Calibrated:
    """The threshold that makes the metric's accuracy best."""
    if not len(compared.weight):
        return Calibrated(float("nan"), 0.0)
    start = accuracy(compared)
    human_tie, agrees = compared.preference == 0, agreement(compared)
    if not human_tie.any():
        return Calibrated(start, 0.0)
    # A threshold that passes a pair makes it a tie: then it is right if, and only if, the human tied.
    changes = human_tie != agrees
    size = np.abs(compared.difference[changes])
    gain = np.where(human_tie[changes], 1.0, -1.0) * compared.weight[compared.group[changes]]
    order = np.argsort(size, kind="stable")
    size, after = size[order], start + np.cumsum(gain[order])
    last = np.append(size[1:] != size[:-1], True)[: len(size)]
    thresholds = np.concatenate([[0.0], size[last]])
    values = np.concatenate([[start], after[last]])
    best = int(np.argmax(values > values.max() - 1e-12))
    return Calibrated(float(values[best]), float(thresholds[best]))


def signs(permutations: int, segments: int, rng: np.random.Generator) -> Floats:
    """Random signs: half of the differences, at random, change sides."""
    return rng.choice(np.array([-1.0, 1.0]), size=(permutations, segments))


def pair_p(scores: Floats, flips: Floats) -> Floats:
    """For every two systems i < j the one-sided p that i is better than j; never 0, because the data count as one draw.

    Segments that one of the two lacks count for nothing; two that share none have no p (NaN). Two without any
    difference are as likely better as worse: p is a half, whichever of them comes first.
    """
    first, second = np.triu_indices(len(scores), 1)
    apart = scores[first] - scores[second]
    difference = np.nan_to_num(apart)
    observed = difference.sum(1)
    drawn = flips @ difference.T
    # Sums of the same numbers in another order may differ in the last digits.
    slack = 1e-9 * (1 + np.abs(difference).sum(1))
    p: Floats = (1 + (drawn >= observed - slack).sum(0)) / (1 + len(flips))
    p[~difference.any(1)] = 0.5
    p[np.isnan(apart).all(1)] = np.nan
    return p


def soft_pairwise_accuracy(human: Floats, metric: Floats, flips: Floats) -> float:
    """The soft pairwise accuracy of a metric over the pairs of systems that both can tell; (systems, segments) each."""
    distance = np.abs(pair_p(human, flips) - pair_p(metric, flips))
    known = distance[~np.isnan(distance)]
    return float(1 - known.mean()) if len(known) else float("nan")
