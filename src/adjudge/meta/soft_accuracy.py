"""Soft pairwise accuracy (Thompson et al. 2024): does the metric doubt where the human doubts?

For every two systems, a paired permutation test over segments gives the p that the first is better, once from human
and once from metric scores. The accuracy is 1 minus the mean distance of the two p. All pairs share the signs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def signs(permutations: int, segments: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random signs: half of the differences, at random, change sides."""
    return rng.choice(np.array([-1.0, 1.0]), size=(permutations, segments))


def pair_p(scores: NDArray[np.float64], flips: NDArray[np.float64]) -> NDArray[np.float64]:
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
    p: NDArray[np.float64] = (1 + (drawn >= observed - slack).sum(0)) / (1 + len(flips))
    p[~difference.any(1)] = 0.5
    p[np.isnan(apart).all(1)] = np.nan
    return p


def soft_pairwise_accuracy(
    human: NDArray[np.float64], metric: NDArray[np.float64], flips: NDArray[np.float64]
) -> float:
    """The soft pairwise accuracy of a metric over the pairs of systems that both can tell; (systems, segments) each."""
    distance = np.abs(pair_p(human, flips) - pair_p(metric, flips))
    told = distance[~np.isnan(distance)]
    return float(1 - told.mean()) if len(told) else float("nan")
