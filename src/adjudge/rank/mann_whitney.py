"""The Wilcoxon rank-sum (Mann-Whitney) test between all pairs of systems at once.

Normal approximation, corrected for ties, continuity correction of one half: what R's `wilcox.test` and SciPy's
`mannwhitneyu(method="asymptotic")` compute for each pair. All values are coded once by their order; the statistics of
all pairs are then products of small matrices of counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.rank.significance import PairTests

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Means that are equal on paper differ in the last digits; rounding restores the tie before ranks are taken.
DECIMALS = 10
EXACT_IN_SINGLE = 2**22
"""Sums of halves up to this are exact in single precision."""


def mann_whitney(
    values: NDArray[np.float64], system: NDArray[np.integer], systems: int, *, decimals: int | None = DECIMALS
) -> PairTests:
    """Tests of every system against every other one.

    Args:
        values: one value per segment of a system.
        system: which system each value belongs to, 0 to `systems` - 1.
        systems: how many systems there are; one without values cannot be tested.
        decimals: values are rounded to so many before they are compared; None compares them as they are.
    """
    from scipy.special import ndtr

    rounded = values if decimals is None else np.round(values, decimals)
    histogram = _histogram(rounded, system, systems)
    n = np.bincount(system, minlength=systems).astype(np.float64)
    product = n[:, None] * n[None, :]
    # How often a value of the first system lies above one of the second, ties counting one half.
    upto = np.cumsum(histogram, axis=0)
    upto -= histogram / 2
    above = (histogram.T @ upto).astype(np.float64)
    deviation = above - product / 2
    spread = _spread(histogram, n)
    untestable = product == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        greater = ndtr(-(deviation - 0.5) / spread)
        two_sided = np.minimum(1.0, 2 * ndtr(-np.maximum(np.abs(deviation) - 0.5, 0.0) / spread))
    all_equal = (spread == 0) & ~untestable
    greater, two_sided = np.where(all_equal, 1.0, greater), np.where(all_equal, 1.0, two_sided)
    for p in (greater, two_sided):
        p[untestable] = np.nan
        np.fill_diagonal(p, np.nan)
    return PairTests(greater, two_sided, alternative="greater")


def halves_differ(
    values: NDArray[np.float64], system: NDArray[np.integer], half: NDArray[np.integer], systems: int
) -> NDArray[np.float64]:
    """For each system the two-sided p of the test between its halves 0 and 1; NaN where one of them has no value.

    The same as `mann_whitney` of the two halves, for all systems in one go: by sums of ranks within each system.
    """
    from scipy.special import ndtr

    rounded = np.round(values, DECIMALS)
    order = np.argsort(rounded)
    # Few systems are sorted by counting them.
    order = order[np.argsort(system[order].astype(np.int16), kind="stable")]
    rounded, system, first = rounded[order], system[order], half[order] == 0
    starts = np.flatnonzero(np.append(True, (rounded[1:] != rounded[:-1]) | (system[1:] != system[:-1])))
    ties = np.diff(np.append(starts, len(rounded))).astype(np.float64)
    system_of_tie = system[starts]
    n = np.bincount(system, minlength=systems).astype(np.float64)
    n_first = np.bincount(system, weights=first, minlength=systems)
    middle = starts + (ties + 1) / 2 - (np.cumsum(n) - n)[system_of_tie]
    rank_sum = np.bincount(system, weights=np.repeat(middle, ties.astype(np.int64)) * first, minlength=systems)
    product = n_first * (n - n_first)
    deviation = rank_sum - n_first * (n_first + 1) / 2 - product / 2
    tie_cubes = np.bincount(system_of_tie, weights=ties**3, minlength=systems)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = product / 12 * (n + 1 - (tie_cubes - n) / (n * (n - 1)))
        spread = np.sqrt(np.maximum(np.nan_to_num(variance), 0.0))
        p = np.minimum(1.0, 2 * ndtr(-np.maximum(np.abs(deviation) - 0.5, 0.0) / spread))
    p[spread == 0] = 1.0
    p[product == 0] = np.nan
    return np.asarray(p, dtype=np.float64)


def _histogram(values: NDArray[np.float64], system: NDArray[np.integer], systems: int) -> NDArray[Any]:
    """How often each system has each distinct value, values in ascending order: (distinct values, systems)."""
    order = np.argsort(values)
    ascending = values[order]
    code = np.zeros(len(values), dtype=np.int64)
    np.cumsum(ascending[1:] != ascending[:-1], out=code[1:])
    distinct = int(code[-1]) + 1 if len(code) else 0
    cells = np.bincount(code * systems + system[order], minlength=systems * distinct)
    # Sums of so few halves are exact in single precision, which takes half the time.
    most = int(np.bincount(system, minlength=1).max())
    kind = (
        np.float32 if most**2 < EXACT_IN_SINGLE and int(cells.max(initial=0)) ** 2 * most < EXACT_IN_SINGLE else float
    )
    return cells.astype(kind).reshape(distinct, systems)


def _spread(histogram: NDArray[Any], n: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard deviation of the statistic under the hypothesis, for every pair."""
    mixed = ((histogram * histogram).T @ histogram).astype(np.float64)
    cubes = np.diag(mixed)
    # The sum of (a + b)^3 over distinct values, a and b being the two systems' counts of a value.
    tie_cubes = cubes[:, None] + cubes[None, :] + 3 * (mixed + mixed.T)
    total = n[:, None] + n[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        tie_term = (tie_cubes - total) / (total * (total - 1))
        variance = n[:, None] * n[None, :] / 12 * (total + 1 - tie_term)
    spread: NDArray[np.float64] = np.sqrt(np.maximum(np.nan_to_num(variance), 0.0))
    return spread
