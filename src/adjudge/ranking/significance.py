"""Tests between pairs of systems, and the form in which every method returns them.

Separation: where no judgment contradicts a lead, resamples cannot show how far it may be due to chance.

If no system of a group U ever lost to one outside, U's strengths have no finite best value: every resample shows the
same lead, by a size that the ridge alone bounds, and a spread of nearly nothing (Ford 1957). The doubt that remains is
how often it was seen. The two groups that such a lead of i over j rests on are those from which wins lead to i, and
those to which wins lead from j; the judgments between a group and the rest are all wins. Of these the most that any two
systems have between them is counted, because the judgments within one block are not independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.ranking.decisions import PairTests
from adjudge.table.maths import student_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray


CONTRADICTION_LEVEL = 0.05
# Below this, differences between resamples are rounding.
SMALLEST_SPREAD = 1e-9


def sign_tests(wins: NDArray[np.float64]) -> PairTests:
    """The exact sign test on each pair's own judgments: wins against losses, ties left out."""
    from scipy.special import bdtrc

    losses = wins.T
    decided = wins + losses
    # P(at least this many wins of the decided ones, if both were equally likely)
    greater = np.where(wins > 0, bdtrc(wins - 1, decided.astype(int), 0.5), 1.0)
    two_sided = np.minimum(1.0, 2 * np.minimum(greater, greater.T))
    nothing = decided == 0
    return PairTests(np.where(nothing, np.nan, greater), np.where(nothing, np.nan, two_sided))


def resampling_tests(
    scores: NDArray[np.float64], spread: NDArray[np.float64], units: int, wins: NDArray[np.float64]
) -> PairTests:
    """Tests of differences between scores: the difference against its spread over resamples, t with units - 1.

    Three things resamples cannot show. Where they do not vary at all, p is that of the sign test; where no judgment
    contradicts a lead, it is at least what so few judgments leave (see `separation` below); and where a pair's own
    judgments say the opposite, it is 1.
    """
    difference = scores[:, None] - scores[None, :]
    varies = spread > SMALLEST_SPREAD * (1 + np.abs(difference))
    ratio = np.divide(difference, spread, out=np.zeros_like(spread), where=varies)
    p = np.where(varies, 2 * student_tail(np.abs(ratio), max(units - 1, 1)), sign_tests(wins).two_sided)
    p[np.isnan(spread)] = np.nan
    two_sided = np.minimum(1.0, np.maximum(p, separation(wins).p))
    greater = np.where(difference >= 0, two_sided / 2, 1 - two_sided / 2)
    np.fill_diagonal(greater, np.nan)
    np.fill_diagonal(two_sided, np.nan)
    tests = PairTests(np.where(np.isnan(two_sided), np.nan, greater), two_sided)
    return tests.without_claims(contradicted(scores, wins))


def contradicted(scores: NDArray[np.float64], wins: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Pairs whose own judgments say, by a one-sided sign test, the opposite of their scores; symmetric.

    Scores that are equal claim nothing, so they are contradicted by every such pair.
    """
    better = np.nan_to_num(sign_tests(wins).greater, nan=1.0) < CONTRADICTION_LEVEL
    against: NDArray[np.bool_] = (scores[:, None] - scores[None, :] > -SMALLEST_SPREAD) & better.T
    return against | against.T


def circles(wins: NDArray[np.float64], level: float) -> list[list[int]]:
    """Groups of systems that beat each other in a circle, each lead being significant after Holm's correction."""
    from scipy.sparse.csgraph import connected_components

    leads = np.nan_to_num(sign_tests(wins).holm_greater(), nan=1.0) < level
    number, label = connected_components(leads, directed=True, connection="strong")
    groups = [np.flatnonzero(label == group).tolist() for group in range(number)]
    return [group for group in groups if len(group) > 1]


def difference_spread(resampled: NDArray[np.float64], units: int) -> NDArray[np.float64]:
    """The standard deviation over resamples of every difference of two scores, from their covariance.

    Resamples of k units vary by (k - 1) / k too little; the result is corrected for it.
    """
    if len(resampled) < 2:
        return np.full((resampled.shape[1],) * 2, np.nan)
    covariance = np.atleast_2d(np.cov(resampled, rowvar=False)) * small_sample_factor(units)
    variance = np.diag(covariance)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))


def small_sample_factor(units: int) -> float:
    """By how much the variance over resamples of so many units falls short."""
    return units / (units - 1) if units > 1 else 1.0


@dataclass(frozen=True, eq=False)
class Separation:
    """`p[i, j]`: what two-sided p for i against j cannot be below; 0 where judgments go both ways. Symmetric."""

    p: NDArray[np.float64]
    leads: NDArray[np.bool_]
    """`leads[i, j]`: i is ahead of j and no judgment says otherwise."""

    unconnected: NDArray[np.bool_]
    """`unconnected[i, j]`: wins lead neither from i to j nor back, so nothing says which is better."""

    @property
    def unbounded(self) -> NDArray[np.bool_]:
        """Systems that judgments do not hold to most of the others: they could be any distance away."""
        return np.asarray(2 * (self.p > 0).sum(axis=1) > len(self.p) - 1)

    def widened(self, sets: NDArray[np.int64], ranks: NDArray[np.int64], level: float) -> NDArray[np.int64]:
        """Rank sets that allow for leads, and lags, that were seen too seldom to be sure of.

        Each system above of which this is so may be below instead, and the other way round: a rank more for each.
        `sets` and `ranks` are (n, 2): the lowest and the highest rank, by resamples and of the ranking itself.
        """
        doubtful = self.p > level
        above, below = (ranks[None, :, 0] < ranks[:, :1]), (ranks[None, :, 1] > ranks[:, 1:])
        low = np.maximum(sets[:, 0] - (doubtful & above).sum(axis=1), 1)
        high = np.minimum(sets[:, 1] + (doubtful & below).sum(axis=1), len(sets))
        return np.stack([low, high], axis=1)


def separation(wins: NDArray[np.float64]) -> Separation:
    """What is separated in a table of wins (row over column)."""
    reaches = _reachable(wins > 0)
    # Column i: the group from which wins lead to i. Row j: the group to which wins lead from j.
    upper = _strongest(wins, reaches.T, ~reaches.T)
    lower = _strongest(wins, ~reaches, reaches)
    seen = np.maximum(upper[:, None], lower[None, :])
    leads = reaches & ~reaches.T
    p = np.where(leads, np.minimum(1.0, 2.0 * 0.5**seen), 0.0)
    p = np.maximum(p, p.T)
    unconnected = ~reaches & ~reaches.T
    p[unconnected] = 1.0
    np.fill_diagonal(p, 0.0)
    return Separation(p, leads, unconnected)


def _reachable(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a path leads from row to column; every system reaches itself."""
    reaches = edges | np.eye(len(edges), dtype=bool)
    for middle in range(len(edges)):
        reaches |= reaches[:, middle, None] & reaches[None, middle, :]
    return reaches


def _strongest(wins: NDArray[np.float64], above: NDArray[np.bool_], below: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each row of two groups, the most wins that one system above has over one below; 0 where a group is empty."""
    return np.array(
        [wins[np.ix_(upper, lower)].max(initial=0.0) for upper, lower in zip(above, below, strict=True)], dtype=float
    )


LEAST_TASTE_LOG_ODDS = 0.5
"""Annotators who agree show no taste; so much of it (log-odds) is allowed for where no judgment contradicts a lead."""
_NODES = 100


def unanimous_p(wins: NDArray[np.float64], taste: float) -> NDArray[np.float64]:
    """Two-sided p of leads that no judgment contradicts, from the wins of each annotator (people, n, n); symmetric.

    If two systems are equal, annotator g prefers the first with probability sigma(sqrt(2) tau z), z being standard
    normal, and m wins of m in a row have the probability E[sigma^m]. p is twice the product over annotators, for the
    pair across the gap that was judged most often. It is 1 where one of several annotators alone saw that pair: one
    person's taste has no bound that others confirm. NaN where judgments go both ways.
    """
    total = wins.sum(0)
    reaches = _reachable(total > 0)
    groups = [(reaches.T[i], ~reaches.T[i]) for i in range(len(total))]
    groups += [(~reaches[i], reaches[i]) for i in range(len(total))]
    seen, log_p = np.array([_streak(wins, total, *group, max(taste, LEAST_TASTE_LOG_ODDS)) for group in groups]).T
    n = len(total)
    # Column i: the group from which wins lead to i. Row j: the group to which wins lead from j.
    log_p = np.where(seen[:n, None] >= seen[None, n:], log_p[:n, None], log_p[None, n:])
    p = np.where(reaches & ~reaches.T, np.minimum(1.0, 2 * np.exp(log_p)), np.nan)
    return np.where(np.isnan(p), p.T, p)


def _streak(
    wins: NDArray[np.float64],
    total: NDArray[np.float64],
    above: NDArray[np.bool_],
    below: NDArray[np.bool_],
    taste: float,
) -> tuple[float, float]:
    """The most wins that one system above has over one below, and the log of their probability if both are equal."""
    if not above.any() or not below.any():
        return 0.0, 0.0
    upper, lower = np.flatnonzero(above), np.flatnonzero(below)
    between = total[np.ix_(upper, lower)]
    row, column = np.unravel_index(between.argmax(), between.shape)
    streaks = wins[:, upper[row], lower[column]]
    if (streaks > 0).sum() == 1:
        return float(between[row, column]), 0.0
    node, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    log_share = -np.logaddexp(0.0, -np.sqrt(2) * taste * node)
    means = [np.log((weight * np.exp(times * log_share)).sum() / weight.sum()) for times in streaks[streaks > 0]]
    return float(between[row, column]), float(np.sum(means))


# The Wilcoxon rank-sum (Mann-Whitney) test between all pairs of systems at once.
#
# Normal approximation, corrected for ties, continuity correction of one half: what R's `wilcox.test` and SciPy's
# `mannwhitneyu(method="asymptotic")` compute for each pair. All values are coded once by their order; the statistics of
# all pairs are then products of small matrices of counts.


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
