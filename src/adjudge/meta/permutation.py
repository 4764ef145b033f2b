"""Permutation tests between metrics: were it luck, it would not matter which of the two made which score.

`PERM-BOTH` (Deutsch et al. 2021): the two metrics, standardised, exchange scores at random. Pearson's r is then linear
in the signs of the exchange: with a the mean and d half the difference of two metrics, m1 = a + s d and m2 = a - s d,
so the sums of m, of m squared and of m times the human are constants plus s.d, 2 s.(a d) and s.(g d). One product of
matrices serves all pairs of metrics. Accuracies are sums over groups, which exchange whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

# Signs are drawn in slices of about this many, to bound memory.
SLICE = 10_000_000


@dataclass(frozen=True)
class PermutationTest:
    """Two metrics: the first minus the second, and the two-sided p (the data count as one draw, so never 0)."""

    first: str
    second: str
    difference: float
    p: float


def permute_pearson(
    human: NDArray[np.float64],
    metrics: Mapping[str, NDArray[np.float64]],
    *,
    by_item: bool,
    permutations: int,
    rng: np.random.Generator,
) -> tuple[PermutationTest, ...]:
    """Test all pairs of metrics by Pearson's r, pooled or averaged over items; all arrays are (systems, segments)."""
    names = list(metrics)
    known = ~np.isnan(human) & ~np.any([np.isnan(scores) for scores in metrics.values()], axis=0)
    if by_item:
        complete = known.all(0)
        g = human[:, complete].T
        m = np.stack([_standard(scores[:, complete]).T for scores in metrics.values()])
    else:
        g = human[known][None, :]
        m = np.stack([_standard(scores[known])[None, :] for scores in metrics.values()])
    pairs = list(combinations(range(len(names)), 2))
    observed, drawn = _pearson_differences(g, m, pairs, permutations, rng)
    return tuple(
        PermutationTest(names[i], names[j], float(observed[k]), _two_sided(observed[k], drawn[:, k]))
        for k, (i, j) in enumerate(pairs)
    )


def permute_groups(
    values: Mapping[str, NDArray[np.float64]], *, permutations: int, rng: np.random.Generator
) -> tuple[PermutationTest, ...]:
    """Test all pairs of metrics whose score is a sum over groups; `values` are each metric's parts of the sum."""
    names = list(values)
    parts = np.stack([values[name] for name in names])
    pairs = list(combinations(range(len(names)), 2))
    difference = np.stack([parts[i] - parts[j] for i, j in pairs]) if pairs else np.empty((0, parts.shape[1]))
    observed = difference.sum(1)
    flips = rng.choice(np.array([-1.0, 1.0]), size=(permutations, parts.shape[1]))
    drawn = flips @ difference.T
    return tuple(
        PermutationTest(names[i], names[j], float(observed[k]), _two_sided(observed[k], drawn[:, k]))
        for k, (i, j) in enumerate(pairs)
    )


def _standard(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = np.nanstd(scores)
    return (scores - np.nanmean(scores)) / (spread if spread > 0 else 1.0)


def _two_sided(observed: float, drawn: NDArray[np.float64]) -> float:
    extreme = np.abs(drawn) >= abs(observed) - 1e-12
    return float((1 + extreme.sum()) / (1 + len(drawn)))


def _pearson_differences(
    g: NDArray[np.float64],
    m: NDArray[np.float64],
    pairs: list[tuple[int, int]],
    permutations: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Differences of r (mean over groups) as observed and permuted; g is (groups, n), m is (metrics, groups, n)."""
    first, second = (
        (np.array(side) for side in zip(*pairs, strict=True)) if pairs else (np.empty(0, int), np.empty(0, int))
    )
    observed = np.zeros(len(pairs))
    drawn = np.zeros((permutations, len(pairs)))
    used = 0
    for group in range(g.shape[0]):
        human = g[group] - g[group].mean()
        if not np.ptp(human):
            continue
        used += 1
        one, two = m[first, group], m[second, group]
        half, middle = (one - two) / 2, (one + two) / 2
        observed += _difference(human, middle, half, np.ones((1, g.shape[1])))[0]
        step = max(1, SLICE // g.shape[1])
        for start in range(0, permutations, step):
            rows = slice(start, min(start + step, permutations))
            signs = rng.choice(np.array([-1.0, 1.0]), size=(rows.stop - rows.start, g.shape[1]))
            drawn[rows] += _difference(human, middle, half, signs)
    return observed / max(used, 1), drawn / max(used, 1)


def _difference(
    human: NDArray[np.float64], middle: NDArray[np.float64], half: NDArray[np.float64], signs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """R of the first minus r of the second metric for each row of signs: (signs, pairs)."""
    n = len(human)
    spread = np.sqrt(human @ human)
    shift, square, product = (signs @ part.T for part in (half, middle * half, half * human))
    middle_sum, middle_product = middle.sum(1), middle @ human
    squares = (middle**2 + half**2).sum(1)
    result = np.zeros_like(shift)
    for sign in (1.0, -1.0):
        total = middle_sum + sign * shift
        variance = squares + 2 * sign * square - total**2 / n
        covariance = middle_product + sign * product
        r = np.divide(
            covariance, np.sqrt(np.maximum(variance, 0)) * spread, out=np.zeros_like(total), where=variance > 1e-12
        )
        result += sign * r
    return result
