"""Lines between clusters by the rules in use, and corrections of p-values for many questions.

Lines. The rules in use differ, so each has a name, and the result says which one drew them:

`decided`    where everyone above is decided better than everyone below (`ranking.decisions`): the default
`official`   after a system whose number of significant wins (over anyone) equals exactly the number of systems below
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
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adjudge.table.errors import DataError, unknown_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from adjudge.ranking.counts import Tally
    from adjudge.ranking.decisions import PairTests
    from adjudge.table.maths import Floats


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


RULES = ("decided", "official", "scipy-1.6", "scipy-1.7", "strict", "holm", "rank-sets", "none")


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
    if rule == "official":
        wins = (np.nan_to_num(greater, nan=1.0) < level).sum(1)
        return np.array([wins[i] == n - 1 - i for i in range(n - 1)], dtype=bool)
    if rule in ("scipy-1.6", "scipy-1.7"):
        value = two_sided / 2 if rule == "scipy-1.6" else two_sided
        below = _below(value, level)
        return np.array([below[i, i + 1 :].all() for i in range(n - 1)], dtype=bool)
    if rule in ("decided", "rank-sets"):
        below = better[np.ix_(order, order)]
    else:
        below = _below(greater if rule == "strict" else tests.holm_greater()[np.ix_(order, order)], level)
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
