"""Lines between clusters.

The rules for lines in use differ, so each has a name, and the result says which one drew them:

`official`   after a system whose number of significant wins (over anyone) equals exactly the number of systems below
`scipy-1.6`  after a system whose p against every system below is under the level, p being half the two-sided value,
             whatever the direction
`scipy-1.7`  the same with the two-sided p
`strict`     where everyone above is significantly better than everyone below
`holm`       the same with Holm's adjustment over all pairs
`rank-sets`  where no system's rank set reaches across
`none`       nowhere: for judgments of one person, which say nothing of others
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import unknown_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.significance import PairTests


RULES = ("official", "scipy-1.6", "scipy-1.7", "strict", "holm", "rank-sets", "none")


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
