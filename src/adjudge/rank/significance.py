"""Tests between pairs of systems, and the form in which every method returns them.

Separation: where no judgment contradicts a lead, resamples cannot show how far it may be due to chance.

If no system of a group U ever lost to one outside, U's strengths have no finite best value: every resample shows the
same lead, by a size that the ridge alone bounds, and a spread of nearly nothing (Ford 1957). The doubt that remains is
how often it was seen. The two groups that such a lead of i over j rests on are those from which wins lead to i, and
those to which wins lead from j; the judgments between a group and the rest are all wins. Of these the most that any two
systems have between them is counted, because the judgments within one block are not independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.core.maths import student_tail
from adjudge.rank.lines_and_rank_sets import holm

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONTRADICTION_LEVEL = 0.05
# Below this, differences between resamples are rounding.
SMALLEST_SPREAD = 1e-9


@dataclass(frozen=True, eq=False)
class PairTests:
    """p-values of all ordered pairs; NaN where a pair cannot be tested, and on the diagonal.

    `greater[i, j]` is the one-sided p that i is better than j, `two_sided` is symmetric; `alternative` says which of
    the two is the customary one to report.
    """

    greater: NDArray[np.float64]
    two_sided: NDArray[np.float64]
    alternative: Literal["greater", "two-sided"] = "two-sided"

    @property
    def reported(self) -> NDArray[np.float64]:
        """The p-values that a ranking reports for (better, worse)."""
        return self.greater if self.alternative == "greater" else self.two_sided

    def without_claims(self, pairs: NDArray[np.bool_]) -> PairTests:
        """The same with nothing claimed of the marked pairs (symmetric): p is 1."""
        silent = pairs & ~np.isnan(self.two_sided)
        return replace(self, greater=np.where(silent, 0.5, self.greater), two_sided=np.where(silent, 1, self.two_sided))

    def holm_greater(self) -> NDArray[np.float64]:
        """Two-sided p-values adjusted by Holm over all pairs, in the direction that the data show; 1 in the other."""
        n = len(self.two_sided)
        upper = np.triu_indices(n, 1)
        adjusted = np.full((n, n), np.nan)
        adjusted[upper] = holm(self.two_sided[upper])
        adjusted.T[upper] = adjusted[upper]
        with np.errstate(invalid="ignore"):
            return np.where(self.greater < self.greater.T, adjusted, np.where(np.isnan(self.greater), np.nan, 1.0))


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
        """Rank sets that reach the ranks of systems whose lead, or lag, was seen too seldom to be sure of.

        `sets` and `ranks` are (n, 2): the lowest and the highest rank, by resamples and of the ranking itself.
        """
        doubtful = self.p > level
        low = np.where(doubtful, ranks[None, :, 0], sets[:, :1]).min(axis=1)
        high = np.where(doubtful, ranks[None, :, 1], sets[:, 1:]).max(axis=1)
        return np.stack([np.minimum(sets[:, 0], low), np.maximum(sets[:, 1], high)], axis=1)


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
