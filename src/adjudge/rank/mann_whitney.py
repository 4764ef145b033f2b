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
    return RankSums(values, system, systems, decimals=decimals).tests()


class RankSums:
    """The statistics of all pairs of systems, from which those after a change of few values follow."""

    def __init__(
        self,
        values: NDArray[np.float64],
        system: NDArray[np.integer],
        systems: int,
        *,
        decimals: int | None = DECIMALS,
    ) -> None:
        self.value, self.system, self.systems, self.decimals = _rounded(values, decimals), system, systems, decimals
        self.n = np.bincount(system, minlength=systems).astype(np.float64)
        order = np.argsort(self.value)
        ascending = self.value[order]
        first = np.append(True, ascending[1:] != ascending[:-1])[: len(ascending)]
        self._distinct = ascending[first]
        code = np.cumsum(first) - 1
        self._histogram = _histogram(code * systems + system[order], len(self._distinct), self.n)
        upto = np.cumsum(self._histogram, axis=0)
        upto -= self._histogram / 2
        self._upto = upto
        """How many values of each system lie below each distinct value, equal ones counting one half."""
        self._above = (self._histogram.T @ upto).astype(np.float64)
        """How often a value of the first system lies above one of the second, ties counting one half."""
        self._ties = _tie_products(self._histogram)

    def tests(self) -> PairTests:
        """Every system against every other one."""
        return _tests(self._above, self._ties, self.n)

    def tests_after(self, changed: NDArray[np.integer], values: NDArray[np.float64]) -> PairTests:
        """The tests with other values in some places, NaN where there is none any more.

        The old values are taken away and the new ones added. What is counted between all others does not change, so
        that the time depends on how many change.
        """
        kept = ~np.isnan(values)
        value = np.concatenate([self.value[changed], _rounded(values[kept], self.decimals)])
        system = np.concatenate([self.system[changed], self.system[changed][kept]])
        sign = np.repeat([-1.0, 1.0], [len(changed), int(kept.sum())])
        added = (system[:, None] == np.arange(self.systems)) * sign[:, None]
        below = self._below(value)
        # Those that are added against all, all against them, and among themselves.
        above = self._above + added.T @ below + (added.T @ (self.n - below)).T + _above_among(value, added)
        return _tests(above, self._ties_after(value, added), self.n + added.sum(axis=0))

    def _below(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many values of each system lie below each of these, equal ones counting one half."""
        place = np.searchsorted(self._distinct, values)
        before = np.maximum(place - 1, 0)
        lower = np.where((place > 0)[:, None], self._upto[before] + self._histogram[before] / 2, 0.0)
        equal, at = self._equal(values)
        return np.where(equal[:, None], self._upto[at], lower).astype(np.float64)

    def _equal(self, values: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which values were there before, and where."""
        at = np.minimum(np.searchsorted(self._distinct, values), len(self._distinct) - 1)
        return self._distinct[at] == values, at

    def _ties_after(self, value: NDArray[np.float64], added: NDArray[np.float64]) -> NDArray[np.float64]:
        """The products for ties, of which those at the values concerned change."""
        touched, place = np.unique(value, return_inverse=True)
        equal, at = self._equal(touched)
        before = np.where(equal[:, None], self._histogram[at].astype(np.float64), 0.0)
        after = before.copy()
        np.add.at(after, place, added)
        return self._ties - _tie_products(before) + _tie_products(after)


def _rounded(values: NDArray[np.float64], decimals: int | None) -> NDArray[np.float64]:
    return values if decimals is None else np.round(values, decimals)


def _above_among(values: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often a value of the first system lies above one of the second among these, by their counts (values, n)."""
    higher = counts.T @ ((values[:, None] > values).astype(np.float64) @ counts)
    total = counts.sum(axis=0)
    # Of two different values one is higher, of two equal ones neither.
    above: NDArray[np.float64] = (np.outer(total, total) + higher - higher.T) / 2
    return above


def _tests(above: NDArray[np.float64], ties: NDArray[np.float64], n: NDArray[np.float64]) -> PairTests:
    from scipy.special import ndtr

    product = n[:, None] * n[None, :]
    deviation = above - product / 2
    spread = _spread(ties, n)
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


def _histogram(cells: NDArray[np.int64], distinct: int, n: NDArray[np.float64]) -> NDArray[Any]:
    """How often each system has each distinct value, values in ascending order: (distinct values, systems)."""
    counts = np.bincount(cells, minlength=len(n) * distinct)
    # Sums of so few halves are exact in single precision, which takes half the time.
    most = int(n.max(initial=0))
    few = most**2 < EXACT_IN_SINGLE and int(counts.max(initial=0)) ** 2 * most < EXACT_IN_SINGLE
    return counts.astype(np.float32 if few else np.float64).reshape(distinct, len(n))


def _tie_products(histogram: NDArray[Any]) -> NDArray[np.float64]:
    """The sum over distinct values of the first system's squared count times the second's."""
    products: NDArray[np.float64] = ((histogram * histogram).T @ histogram).astype(np.float64)
    return products


def _spread(ties: NDArray[np.float64], n: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard deviation of the statistic under the hypothesis, for every pair."""
    cubes = np.diag(ties)
    # The sum of (a + b)^3 over distinct values, a and b being the two systems' counts of a value.
    tie_cubes = cubes[:, None] + cubes[None, :] + 3 * (ties + ties.T)
    total = n[:, None] + n[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        tie_term = (tie_cubes - total) / (total * (total - 1))
        variance = n[:, None] * n[None, :] / 12 * (total + 1 - tie_term)
    spread: NDArray[np.float64] = np.sqrt(np.maximum(np.nan_to_num(variance), 0.0))
    return spread
