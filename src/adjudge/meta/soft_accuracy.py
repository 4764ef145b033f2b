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

    Segments that one of the two lacks count for nothing.
    """
    first, second = np.triu_indices(len(scores), 1)
    difference = np.nan_to_num(scores[first] - scores[second])
    observed = difference.sum(1)
    drawn = flips @ difference.T
    # Sums of the same numbers in another order may differ in the last digits.
    slack = 1e-9 * (1 + np.abs(difference).sum(1))
    p: NDArray[np.float64] = (1 + (drawn >= observed - slack).sum(0)) / (1 + len(flips))
    return p


def soft_pairwise_accuracy(
    human: NDArray[np.float64], metric: NDArray[np.float64], flips: NDArray[np.float64]
) -> float:
    """The soft pairwise accuracy of a metric; both are (systems, segments)."""
    return float(1 - np.abs(pair_p(human, flips) - pair_p(metric, flips)).mean())
