"""What a ranking says of all pairs at once: lines between clusters, p-values for many questions, and rank sets.

Lines. The rules in use differ, so each has a name, and the result says which one drew them:

`official`   after a system whose number of significant wins (over anyone) equals exactly the number of systems below
`scipy-1.6`  after a system whose p against every system below is under the level, p being half the two-sided value,
             whatever the direction
`scipy-1.7`  the same with the two-sided p
`strict`     where everyone above is significantly better than everyone below
`holm`       the same with Holm's adjustment over all pairs
`rank-sets`  where no system's rank set reaches across
`none`       nowhere: for judgments of one person, which say nothing of others

Corrections of p-values for many questions: Holm (family-wise error), Benjamini-Hochberg (false discovery rate).
S. Holm (1979): A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.
Y. Benjamini and Y. Hochberg (1995): Controlling the false discovery rate. Journal of the Royal Statistical Society B
57, 289-300.

Rank sets: the ranks that the data leave possible for each system, and intervals of all differences at once. Of
estimates with a joint covariance, after M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm (2024): Inference for ranks with
applications to mobility across neighbourhoods and academic achievement across countries. Review of Economic Studies 91,
476-518. A system's rank can be as high as the number of systems that are surely better leaves it, and as low as the
number that are surely worse; "surely" holds for all of them at once, by the quantile of the largest statistic, in steps
that leave out what is already decided. A difference divided by its standard error is first turned from Student's t into
the normal quantile of the same probability, so that the joint distribution needs only the covariance. Of other methods,
by resampling: the ranks over resamples, trimmed at both ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.table.errors import DataError, unknown_choice
from adjudge.table.maths import Contrasts, Floats, normal_quantile, student_quantile, student_tail
from adjudge.table.rng import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from adjudge.ranking.counts import Tally
    from adjudge.ranking.significance import PairTests


RULES = ("official", "scipy-1.6", "scipy-1.7", "strict", "holm", "rank-sets", "none")
DRAWS = 10_000
_CHUNK_NUMBERS = 200_000
_STREAM = 4


def check_rule(rule: str) -> None:
    """Refuse a rule that does not exist."""
    if rule not in RULES:
        raise unknown_choice("rule for lines", rule, RULES)


def line_after(
    rule: str, order: NDArray[np.int64], tests: PairTests, rank_sets: NDArray[np.int64], level: float
) -> NDArray[np.bool_]:
    """For each position in the order except the last: does a line stand after it?

    Args:
        rule: a name from `RULES`.
        order: the systems' indices, the best first.
        tests: p-values of all pairs.
        rank_sets: (n, 2) lowest and highest possible rank of each system, by index.
        level: the significance level.
    """
    check_rule(rule)
    n = len(order)
    if rule == "none":
        return np.zeros(n - 1, dtype=bool)
    if rule == "rank-sets":
        low, high = rank_sets[order].T
        return np.array([high[: i + 1].max() <= i + 1 < low[i + 1 :].min() for i in range(n - 1)], dtype=bool)
    greater = tests.greater[np.ix_(order, order)]
    two_sided = tests.two_sided[np.ix_(order, order)]
    if rule == "official":
        wins = (np.nan_to_num(greater, nan=1.0) < level).sum(1)
        return np.array([wins[i] == n - 1 - i for i in range(n - 1)], dtype=bool)
    if rule in ("scipy-1.6", "scipy-1.7"):
        value = two_sided / 2 if rule == "scipy-1.6" else two_sided
        below = _below(value, level)
        return np.array([below[i, i + 1 :].all() for i in range(n - 1)], dtype=bool)
    value = greater if rule == "strict" else tests.holm_greater()[np.ix_(order, order)]
    below = _below(value, level)
    return np.array([below[: i + 1, i + 1 :].all() for i in range(n - 1)], dtype=bool)


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


@dataclass(frozen=True, eq=False)
class RankSets:
    """Lowest and highest possible rank of each system, (n, 2)."""

    marginal: NDArray[np.int64]
    """Each system's set holds its rank with the confidence asked for."""
    simultaneous: NDArray[np.int64]
    """All sets hold all ranks together with the confidence asked for."""


def rank_sets(
    compared: Contrasts, covariance: Floats, *, level: float = 0.05, seed: int = 1, draws: int = DRAWS
) -> RankSets:
    """Marginal and simultaneous rank sets."""
    noise = _noise(covariance, seed, draws)
    n = len(covariance)
    everyone = ~np.eye(n, dtype=bool)
    statistic = _as_normal(compared)
    simultaneous = _ranks(_decided(statistic, compared.se, noise, everyone, level))
    marginal = np.empty_like(simultaneous)
    for i in range(n):
        pairs_of_system = np.zeros((n, n), dtype=bool)
        pairs_of_system[i, :] = pairs_of_system[:, i] = True
        pairs_of_system[i, i] = False
        marginal[i] = _ranks(_decided(statistic, compared.se, noise, pairs_of_system, level))[i]
    return RankSets(marginal, simultaneous)


def simultaneous_interval(
    compared: Contrasts, covariance: Floats, *, level: float = 0.05, seed: int = 1, draws: int = DRAWS
) -> tuple[Floats, Floats]:
    """All differences at once: with confidence 1 - level every interval holds its difference."""
    from scipy.special import ndtr

    everyone = ~np.eye(len(covariance), dtype=bool)
    quantile = _largest_quantile(_noise(covariance, seed, draws), compared.se, everyone, level)
    half = compared.se * student_quantile(ndtr(-quantile), compared.df)
    return compared.difference - half, compared.difference + half


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


def _noise(covariance: Floats, seed: int, draws: int) -> Floats:
    """Draws of estimation errors, (n, draws)."""
    value, vector = np.linalg.eigh((covariance + covariance.T) / 2)
    half = vector * np.sqrt(np.maximum(value, 0.0))
    errors = generator(seed, _STREAM).standard_normal((draws, len(covariance))) @ half.T
    return np.ascontiguousarray(errors.T)


def _decided(
    statistic: Floats, se: Floats, noise: Floats, family: NDArray[np.bool_], level: float
) -> NDArray[np.bool_]:
    """Which of the ordered pairs in the family are decided (row better than column), all at once, in steps."""
    open_ = family.copy()
    decided = np.zeros_like(family)
    while open_.any():
        beyond = open_ & (statistic > _largest_quantile(noise, se, open_, level))
        if not beyond.any():
            break
        decided |= beyond
        open_ &= ~beyond
    return decided


def _as_normal(compared: Contrasts) -> Floats:
    """The normal quantile of the same tail probability as t, in the direction of the difference."""
    tail = student_tail(np.abs(compared.t), compared.df)
    quantile: Floats = -np.sign(compared.t) * normal_quantile(tail)
    return np.nan_to_num(quantile, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _largest_quantile(noise: Floats, se: Floats, family: NDArray[np.bool_], level: float) -> float:
    """The 1 - level quantile of the largest standardised error in the family: a value that occurs."""
    row, column = np.nonzero(family)
    scale = 1 / se[row, column]
    largest = np.full(noise.shape[1], -np.inf)
    step = max(1, _CHUNK_NUMBERS // len(largest))
    for start in range(0, len(row), step):
        pairs = slice(start, start + step)
        errors = (noise[row[pairs]] - noise[column[pairs]]) * scale[pairs, None]
        np.maximum(largest, errors.max(axis=0), out=largest)
    # The method "higher" of `numpy.quantile`, which takes longer than the rest.
    position = int(np.ceil((len(largest) - 1) * (1 - level)))
    return float(np.partition(largest, position)[position])


def _ranks(better: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Lowest and highest rank of each system, given who is surely better than whom (row than column)."""
    return np.stack([1 + better.sum(axis=0), len(better) - better.sum(axis=1)], axis=1)


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
