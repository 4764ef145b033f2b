"""Who is decided better than whom: one family of decisions. Lines, rank sets, letters and claims all follow from it.

A pair of systems is decided if its p-value, corrected for all pairs, is below the level. The correction is the
step-down procedure of the largest statistic. Errors of estimation with the covariance of the estimates are drawn; pairs
are taken from the strongest to the weakest, and the corrected p of a pair is the share of draws in which the largest
standardised error, over this pair and all weaker ones, reaches the pair's own statistic. Student's t is first turned
into the normal quantile of the same probability, so that the joint distribution needs only the covariance. The
procedure keeps the family-wise level and decides every pair that Holm's correction decides; methods without a
covariance use Holm's.

P. H. Westfall, S. S. Young (1993): Resampling-based multiple testing. Wiley. J. P. Romano, M. Wolf (2005): Exact and
approximate stepdown methods for multiple hypothesis testing. Journal of the American Statistical Association 100,
94-108. H.-P. Piepho (2004): An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
Computational and Graphical Statistics 13, 456-466.

Lines between clusters. The rules in use differ, so each has a name, and the result says which one drew them:

`decided`    where everyone above is decided better than everyone below : the default
`official`   after a system whose number of significant wins (over anyone) equals exactly the number of systems below
`fewest-wins` after a system if neither it nor anyone above has fewer significant wins than there are systems below
`ranges`     where no system's ranks reach across; they reach to the nearest systems that differ significantly
`scipy-1.6`  after a system whose p against every system below is under the level, p being half the two-sided value,
             whatever the direction
`scipy-1.7`  the same with the two-sided p
`strict`     where everyone above is significantly better than everyone below
`holm`       the same with Holm's adjustment over all pairs
`rank-sets`  where no system's rank set reaches across, which is the same as `decided`
`none`       nowhere

Corrections of p-values for many questions: Holm (family-wise error), Benjamini-Hochberg (false discovery rate).
S. Holm (1979): A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.
Y. Benjamini and Y. Hochberg (1995): Controlling the false discovery rate. Journal of the Royal Statistical Society B
57, 289-300.

Rank sets by resampling, for methods that have no model: the ranks over resamples, trimmed at both ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adjudge.table.errors import DataError, unknown_choice
from adjudge.table.maths import Bools, Floats, difference_variances, normal_quantile
from adjudge.table.rng import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from adjudge.ranking.counts import Tally

DRAWS = 10_000
FEWEST_DRAWS = 1_000
STRONG = 0.01
"""A claim holds only if its corrected p is below this."""
_MOST_NUMBERS = 100_000_000
"""Errors of pairs that are drawn in all: with very many systems, fewer draws are made."""
_AT_ONCE = 4_000_000
"""Errors of pairs that are held at one time."""
_STREAM = 4
_MOST_LETTERS = 200
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

Correction = Literal["step-down", "holm"]
Reading = Literal["typical", "average"]
"""Scores have two readings: their ranks among all scores, which say what is typical, and their mean in points."""
State = Literal["decided", "open", "typical only", "average only", "opposed"]
"""Of a pair: see `PairDecisions.state`."""


@dataclass(frozen=True, eq=False)
class PairTests:
    """p-values of all ordered pairs; NaN where a pair cannot be tested, and on the diagonal.

    `greater[i, j]` is the one-sided p that i is better than j, `two_sided` is symmetric; `alternative` says which of
    the two is the customary one to report.
    """

    greater: Floats
    two_sided: Floats
    alternative: Literal["greater", "two-sided"] = "two-sided"

    @property
    def reported(self) -> Floats:
        """The p-values that a ranking reports for (better, worse)."""
        return self.greater if self.alternative == "greater" else self.two_sided

    def without_claims(self, pairs: Bools) -> PairTests:
        """The same with nothing claimed of the marked pairs (symmetric): p is 1."""
        silent = pairs & ~np.isnan(self.two_sided)
        return replace(self, greater=np.where(silent, 0.5, self.greater), two_sided=np.where(silent, 1, self.two_sided))

    def holm_greater(self) -> Floats:
        """Two-sided p-values adjusted by Holm over all pairs, in the direction that the data show; 1 in the other."""
        n = len(self.two_sided)
        upper = np.triu_indices(n, 1)
        adjusted = np.full((n, n), np.nan)
        adjusted[upper] = holm(self.two_sided[upper])
        adjusted.T[upper] = adjusted[upper]
        with np.errstate(invalid="ignore"):
            return np.where(self.greater < self.greater.T, adjusted, np.where(np.isnan(self.greater), np.nan, 1.0))


@dataclass(frozen=True, eq=False)
class Corrected:
    """Symmetric matrices of all pairs."""

    p: Floats
    """Corrected for all pairs; NaN on the diagonal and where a pair cannot be tested."""
    needed: Floats
    """The normal statistic that would make the corrected p of the pair `STRONG`."""
    last: float
    """The normal statistic at which the pairs that stay open would be decided at .05."""
    name: Correction = "step-down"

    @property
    def critical(self) -> float | None:
        """`last`, where errors are of people and texts; None for tests that know only p-values."""
        return self.last if self.name == "step-down" else None


@dataclass(frozen=True, eq=False)
class PairDecisions:
    """What is decided of every pair of systems; rows are better than columns where `better` says so."""

    level: float
    p: Floats
    """Of each pair by itself, two-sided."""
    corrected: Corrected
    better: Bools
    reading: Reading | None = None
    """Which reading of the scores `p` is of, where there are two."""
    alone: Bools | None = None
    """Pairs that this reading would decide without the other (row better than column)."""
    other: Bools | None = None
    """Pairs that the other reading would decide without this one."""
    agreeing: Bools | None = None
    """Pairs in which both readings put the row first, the other one significantly by itself."""

    def state(self, first: int, second: int) -> State:
        """What is known of a pair: decided, open, or on which reading alone it would be decided.

        Opposed are systems of which one is better in typical scores, and the other on average.
        """
        if self.better[first, second] or self.better[second, first]:
            return "decided"
        if self.reading is None or self.alone is None or self.other is None:
            return "open"
        pairs = ((first, second), (second, first))
        ahead = [pair for pair in pairs if self.alone[pair]]
        if ahead and self.other[ahead[0][::-1]]:
            return "opposed"
        if ahead:
            return "typical only" if self.reading == "typical" else "average only"
        if any(self.other[pair] for pair in pairs):
            return "average only" if self.reading == "typical" else "typical only"
        return "open"

    def states(self, first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> list[State]:
        """The state of each of these pairs."""
        decided = (self.better | self.better.T)[first, second].tolist()
        if self.reading is None or self.alone is None or self.other is None:
            return ["decided" if is_decided else "open" for is_decided in decided]
        told = (self.alone | self.alone.T | self.other | self.other.T)[first, second].tolist()
        return [
            "decided" if is_decided else self.state(i, j) if is_told else "open"
            for i, j, is_decided, is_told in zip(first.tolist(), second.tolist(), decided, told, strict=True)
        ]

    @property
    def number(self) -> int:
        """How many pairs are decided."""
        return int(self.better.sum())

    @cached_property
    def rank_sets(self) -> NDArray[np.int64]:
        """The lowest and the highest rank that decided pairs leave to each system, (n, 2)."""
        return np.stack([1 + self.better.sum(axis=0), len(self.better) - self.better.sum(axis=1)], axis=1)

    def letters(self, order: NDArray[np.int64]) -> tuple[str, ...] | None:
        """The letters of each system, by index: systems that share a letter are not separated.

        None where so many letters would be needed that they say nothing.
        """
        groups = _largest_groups(~(self.better | self.better.T), order)
        if groups is None:
            return None
        names = [""] * len(order)
        for number, group in enumerate(groups):
            for system in group:
                names[system] += _letter(number)
        return tuple(names)


def decide(
    effects: Floats,
    p: Floats,
    covariance: Floats | None,
    *,
    level: float = 0.05,
    seed: int = 1,
    draws: int = DRAWS,
) -> PairDecisions:
    """Decide all pairs.

    Args:
        effects: of the systems; the larger is the better.
        p: two-sided p-values, symmetric; NaN where a pair cannot be tested.
        covariance: of the effects; None (or NaN) where it is not known, so that Holm's correction is used.
        level: family-wise, of all decisions together.
        seed: of the draws.
        draws: of errors.
    """
    known = covariance is not None and bool(np.isfinite(covariance).all())
    corrected = step_down(p, covariance, seed=seed, draws=draws) if known and covariance is not None else _by_holm(p)
    with np.errstate(invalid="ignore"):
        better = (effects[:, None] > effects[None, :]) & (corrected.p < level)
    return PairDecisions(level, p, corrected, better)


def decide_by_both(
    first: PairDecisions, second: PairDecisions, differences: tuple[Floats, Floats], reading: Reading
) -> PairDecisions:
    """Decide what the first reading decides and the second agrees with: same direction, and significant by itself.

    Only the first family is corrected for all pairs, so its level is that of all decisions.

    Args:
        first: the decisions of the reading that the pairs are tested by.
        second: those of the other reading.
        differences: by either reading.
        reading: what the first is called.
    """
    with np.errstate(invalid="ignore"):
        agreeing = (differences[0] > 0) & (differences[1] > 0) & (second.p < first.level)
    better = first.better & agreeing
    return replace(first, better=better, reading=reading, alone=first.better, other=second.better, agreeing=agreeing)


def step_down(p: Floats, covariance: Floats, *, seed: int = 1, draws: int = DRAWS) -> Corrected:
    """Correct p-values for all pairs by the largest statistic, in steps (see the module)."""
    row, column = np.triu_indices(len(p), 1)
    alone = p[row, column]
    statistic = -normal_quantile(np.maximum(alone, 1e-300) / 2)
    spread = np.sqrt(np.maximum(difference_variances(covariance)[row, column], 0.0))
    noise = _noise(covariance, seed, _affordable(draws, len(row)))
    count = noise.shape[1]
    largest, share, strong = np.zeros(count, dtype=noise.dtype), np.full(len(row), np.nan), np.full(len(row), np.nan)
    last = -float(normal_quantile(0.025))
    open_ = np.zeros(count, dtype=noise.dtype)
    asked = np.flatnonzero(~np.isnan(alone))
    ascending = asked[np.argsort(statistic[asked], kind="stable")]
    step = max(1, _AT_ONCE // count)
    for start in range(0, len(ascending), step):
        # The largest error among the pairs up to each, one row per pair.
        pairs = ascending[start : start + step]
        errors = np.abs(noise[row[pairs]] - noise[column[pairs]])
        known = spread[pairs] > 0
        np.divide(errors, spread[pairs].astype(noise.dtype)[:, None], out=errors, where=known[:, None])
        errors[~known] = 0
        errors[0] = np.maximum(errors[0], largest)
        running = np.maximum.accumulate(errors, axis=0, out=errors)
        largest = running[-1].copy()
        share[pairs] = (1 + (running >= statistic[pairs][:, None]).sum(1)) / (count + 1)
        if (weak := np.flatnonzero(share[pairs] >= 0.05)).size:
            open_ = running[weak[-1]].copy()
        clear = np.flatnonzero(alone[pairs] < 0.05)
        strong[pairs[clear]] = _upper_quantiles(running[clear], STRONG)
    if open_.any():
        last = float(_upper_quantiles(open_[None], 0.05)[0])
    # From the strongest pair to the weakest, a corrected p never falls.
    ranked = asked[np.argsort(-statistic[asked], kind="stable")]
    share[ranked] = np.maximum.accumulate(share[ranked])
    # Holm's correction is never below what infinitely many draws would give, and is not limited by their number.
    return Corrected(_symmetric(np.minimum(share, holm(alone)), len(p)), _symmetric(strong, len(p)), last)


def _by_holm(p: Floats) -> Corrected:
    """The same by Holm's correction, for methods that do not know how their errors go together."""
    upper = np.triu_indices(len(p), 1)
    alone = p[upper]
    asked = ~np.isnan(alone)
    # The strongest pair is corrected for all, the next for one less.
    place = np.empty(len(alone))
    place[np.argsort(np.where(asked, alone, np.inf), kind="stable")] = np.arange(len(alone))
    left = np.maximum(asked.sum() - place, 1)
    adjusted = holm(alone)
    open_ = int((adjusted[asked] >= 0.05).sum())
    needed = np.where(asked, -normal_quantile(STRONG / left / 2), np.nan)
    last = -float(normal_quantile(0.05 / max(open_, 1) / 2))
    return Corrected(_symmetric(adjusted, len(p)), _symmetric(needed, len(p)), last, "holm")


def _affordable(draws: int, pairs: int) -> int:
    return min(draws, max(FEWEST_DRAWS, _MOST_NUMBERS // max(pairs, 1)))


def _noise(covariance: Floats, seed: int, draws: int) -> NDArray[np.float32]:
    """Draws of estimation errors, (n, draws); single precision is far finer than their number."""
    value, vector = np.linalg.eigh((covariance + covariance.T) / 2)
    half = vector * np.sqrt(np.maximum(value, 0.0))
    errors = generator(seed, _STREAM).standard_normal((draws, len(covariance))) @ half.T
    return np.ascontiguousarray(errors.T, dtype=np.float32)


def _upper_quantiles(values: NDArray[np.float32], tail: float) -> NDArray[np.float32]:
    """Of each row the value that this share of draws exceeds: one that occurs."""
    position = int(np.ceil((values.shape[1] - 1) * (1 - tail)))
    return np.asarray(np.partition(values, position, axis=1)[:, position])


def _symmetric(upper: Floats, n: int) -> Floats:
    """The matrix of values of all pairs, NaN on the diagonal."""
    matrix = np.full((n, n), np.nan)
    row, column = np.triu_indices(n, 1)
    matrix[row, column] = matrix[column, row] = upper
    return matrix


def _largest_groups(alike: Bools, order: NDArray[np.int64]) -> list[list[int]] | None:
    """All largest sets of systems that are pairwise alike, the best systems first (Bron and Kerbosch's algorithm)."""
    neighbours = [set(np.flatnonzero(row).tolist()) - {i} for i, row in enumerate(alike)]
    place = {int(system): position for position, system in enumerate(order)}
    found: list[list[int]] = []

    def extend(chosen: list[int], possible: set[int], done: set[int]) -> bool:
        """Complete the chosen set in every way; False once there are too many."""
        if not possible and not done:
            found.append(sorted(chosen, key=place.__getitem__))
            return len(found) <= _MOST_LETTERS
        pivot = max(possible | done, key=lambda system: len(neighbours[system] & possible))
        for system in sorted(possible - neighbours[pivot], key=place.__getitem__):
            if not extend([*chosen, system], possible & neighbours[system], done & neighbours[system]):
                return False
            possible = possible - {system}
            done = done | {system}
        return True

    if not extend([], set(range(len(alike))), set()):
        return None
    return sorted(found, key=lambda group: [place[system] for system in group])


def _letter(number: int) -> str:
    """A to z, then a2 to z2 and so on."""
    round_, letter = divmod(number, len(_ALPHABET))
    return _ALPHABET[letter] + (str(round_ + 1) if round_ else "")


# How often other people would find the same: as many others, asked in the same way.


def find_again(difference: Floats, se: Floats, p: Floats, last: float) -> tuple[Floats, Floats]:
    """The probability that another campaign of the same size finds the same order, and that it decides the pair again.

    The size of a difference that was found large is overestimated, so it is shrunk towards 0 by the spread of all
    differences beyond their errors.

    Args:
        difference: of every pair.
        se: of these.
        p: two-sided, which gives the statistic of a pair.
        last: the normal statistic at which the pairs that stay open would be decided.
    """
    from scipy.special import ndtr

    upper = np.triu_indices(len(difference), 1)
    known = np.isfinite(difference[upper]) & np.isfinite(se[upper])
    beyond = difference[upper][known] ** 2 - se[upper][known] ** 2
    spread = max(float(beyond.mean()), 0.0) if len(beyond) else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = spread / (spread + se**2)
        statistic = -normal_quantile(np.maximum(p, 1e-300) / 2)
        scale = np.sqrt(1 + kept)
        return ndtr(kept * statistic / scale), ndtr((kept * statistic - last) / scale)


# Lines between clusters, corrections for many questions, and rank sets by resampling.


ROUNDING = 1e-11
"""Scores no further apart than this, in parts of the largest, are equal: their digits beyond come from rounding."""
NEGLIGIBLE = 1e-6
"""So are those no further apart than this, in standard errors: a search for variances ends no closer to the optimum."""


def levelled(scores: Floats, se: Floats | None = None) -> Floats:
    """The scores with those that only rounding, or where a search ended, tells apart made equal, to the largest.

    Args:
        scores: of the systems.
        se: standard errors of all differences, where they are known.
    """
    level = scores.copy()
    tolerance = np.full((len(scores), len(scores)), ROUNDING * float(np.nanmax(np.abs(scores), initial=1.0)))
    if se is not None:
        tolerance = np.maximum(tolerance, NEGLIGIBLE * np.where(np.isfinite(se), se, 0.0))
    for above, below in pairwise(np.argsort(-scores)):
        if level[above] - scores[below] <= tolerance[above, below]:
            level[below] = level[above]
    return level


def best_first(levelled_scores: Floats, names: Sequence[str]) -> list[int]:
    """The order of systems; equal scores by name, so that it never depends on the order of rows; NaN last."""
    keys = [(np.isnan(score), -score, name) for score, name in zip(levelled_scores, names, strict=True)]
    return sorted(range(len(keys)), key=keys.__getitem__)


RULES = (
    "decided",
    "official",
    "fewest-wins",
    "ranges",
    "scipy-1.6",
    "scipy-1.7",
    "strict",
    "holm",
    "rank-sets",
    "none",
)


def check_rule(rule: str) -> None:
    """Refuse a rule that does not exist."""
    if rule not in RULES:
        raise unknown_choice("rule for lines", rule, RULES)


def line_after(
    rule: str, order: NDArray[np.int64], tests: PairTests, better: NDArray[np.bool_], level: float
) -> NDArray[np.bool_]:
    """For each position in the order except the last: does a line stand after it?

    Args:
        rule: a name from `RULES`.
        order: the systems' indices, the best first.
        tests: p-values of all pairs.
        better: who is decided better than whom (row than column).
        level: the significance level.
    """
    check_rule(rule)
    n = len(order)
    if rule == "none":
        return np.zeros(n - 1, dtype=bool)
    greater = tests.greater[np.ix_(order, order)]
    two_sided = tests.two_sided[np.ix_(order, order)]
    if rule in ("official", "fewest-wins"):
        wins = _below(greater, level).sum(1)
        wins = wins if rule == "official" else np.minimum.accumulate(wins)
        return np.array([wins[i] == n - 1 - i for i in range(n - 1)], dtype=bool)
    if rule == "ranges":
        return _between_ranges(_below(greater, level))
    if rule in ("scipy-1.6", "scipy-1.7"):
        value = two_sided / 2 if rule == "scipy-1.6" else two_sided
        below = _below(value, level)
        return np.array([below[i, i + 1 :].all() for i in range(n - 1)], dtype=bool)
    if rule in ("decided", "rank-sets"):
        below = better[np.ix_(order, order)]
    else:
        below = _below(greater if rule == "strict" else tests.holm_greater()[np.ix_(order, order)], level)
    return np.array([below[: i + 1, i + 1 :].all() for i in range(n - 1)], dtype=bool)


def _between_ranges(better: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where no system's ranks reach across; they reach to the nearest systems, up and down, that differ from it."""
    n = len(better)
    up = [next((j + 1 for j in reversed(range(i)) if better[j, i]), 0) for i in range(n)]
    down = [next((j - 1 for j in range(i + 1, n) if better[i, j]), n - 1) for i in range(n)]
    return np.array([max(down[: i + 1]) <= i < min(up[i + 1 :]) for i in range(n - 1)], dtype=bool)


def _below(p: Floats, level: float) -> NDArray[np.bool_]:
    """Which p-values are below the level; what could not be tested is not."""
    with np.errstate(invalid="ignore"):
        return np.asarray(p < level)


def cluster_numbers(after: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The cluster of each position in the order, 1 first."""
    return 1 + np.concatenate([[0], np.cumsum(after)]).astype(np.int64)


def named_clusters(names: Sequence[str], clusters: NDArray[np.int64]) -> tuple[tuple[str, ...], ...]:
    """The names in every cluster, given them in order with the numbers of their clusters."""
    return tuple(
        tuple(name for name, cluster in zip(names, clusters, strict=True) if cluster == number)
        for number in range(1, int(clusters.max()) + 1)
    )


def holm(p: Floats) -> Floats:
    """Holm's step-down adjusted p-values; NaN stays NaN and does not count as a question asked."""
    return _adjusted(p, lambda ascending: np.maximum.accumulate(ascending * np.arange(len(ascending), 0, -1)))


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up adjusted p-values; NaN stays NaN and does not count as a question asked."""

    def rule(ascending: Floats) -> Floats:
        return np.minimum.accumulate((ascending * len(ascending) / np.arange(1, len(ascending) + 1))[::-1])[::-1]

    return _adjusted(p, rule)


def _adjusted(p: Floats, rule: Callable[[Floats], Floats]) -> Floats:
    asked = np.flatnonzero(~np.isnan(p))
    order = asked[np.argsort(p[asked], kind="stable")]
    result = np.full(len(p), np.nan)
    result[order] = np.minimum(rule(p[order]), 1.0)
    return result


def rank_bounds(scores: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Best and worst rank of each system in each row of scores (..., n): they differ where scores are equal.

    A system without a score could stand anywhere.
    """
    of_system, of_other = scores[..., :, None], scores[..., None, :]
    low = 1 + (of_other > of_system).sum(-1)
    high = scores.shape[-1] - (of_other < of_system).sum(-1)
    unknown = np.isnan(scores)
    return np.where(unknown, 1, low), np.where(unknown, scores.shape[-1], high)


def resampled_rank_sets(scores: Floats, resampled: Floats, level: float) -> NDArray[np.int64]:
    """For each system the range of its ranks over resamples, trimmed at both ends, widened to hold its own rank.

    Of R resamples, ceil(R level / 2) are trimmed at each end (Koehn 2012).
    """
    score_low, score_high = rank_bounds(scores)
    if len(resampled) == 0:
        return np.stack([np.ones_like(score_low), np.full_like(score_high, len(scores))], axis=1)
    low, high = rank_bounds(resampled)
    trim = min(math.ceil(len(resampled) * level / 2), (len(resampled) - 1) // 2)
    lowest = np.sort(low, axis=0)[trim]
    highest = np.sort(high, axis=0)[len(resampled) - 1 - trim]
    return np.stack([np.minimum(lowest, score_low), np.maximum(highest, score_high)], axis=1)


# Whether all systems met, directly or through others.


def check_connected(tally: Tally) -> None:
    """Refuse groups of systems that never met: no comparison says which of two such groups is better."""
    label = groups_that_met(tally)
    number = int(label.max()) + 1
    if number > 1:
        smallest = np.argmin(np.bincount(label))
        alone = ", ".join(name for name, group in zip(tally.systems, label, strict=True) if group == smallest)
        raise DataError(
            f"the systems fall into {number} groups that were never compared with each other "
            f"(one of them: {alone}), so they have no common ranking; collect comparisons between the groups"
        )


def groups_that_met(tally: Tally) -> NDArray[np.int32]:
    """The number of each system's group: between groups nobody ever met anybody."""
    from scipy.sparse.csgraph import connected_components

    label: NDArray[np.int32] = connected_components(tally.met > 0, directed=False)[1]
    return label
