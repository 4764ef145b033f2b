"""Which metric is better than which: Williams' test and permutation tests for every pair, corrected together."""

from __future__ import annotations

import math
import sys
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import pearson, student_tail
from adjudge.meta.levels import item_parts
from adjudge.meta.permutation_tests import PermutationTest, permute_groups, permute_pearson
from adjudge.rank.lines_and_rank_sets import benjamini_hochberg, holm
from adjudge.results.meta import MetricComparison
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.core.arrays import Floats
    from adjudge.meta.scores import Scores


def williams(r_first: float, r_second: float, r_between: float, n: int) -> float:
    """The one-sided p that the first correlation is higher.

    Args:
        r_first: correlation of the first metric with the human.
        r_second: correlation of the second metric with the human.
        r_between: correlation of the two metrics.
        n: how many pairs of scores.
    """
    if n < 4 or any(math.isnan(r) for r in (r_first, r_second, r_between)):
        return float("nan")
    k = 1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    below = 2 * k * (n - 1) / (n - 3) + (r_first + r_second) ** 2 / 4 * (1 - r_between) ** 3
    if below <= 0:
        return float("nan")
    statistic = (r_first - r_second) * math.sqrt((n - 1) * (1 + r_between)) / math.sqrt(below)
    # Never 0, even if the p-value underflows.
    return max(float(student_tail(statistic, n - 3)), sys.float_info.min)


def compare_systems(scores: Scores) -> tuple[MetricComparison, ...]:
    """Williams' test at system level, of two metrics by their means over the segments that both scored."""
    tests = [
        _williams_test(first, second, *scores.matched_means(first, second))
        for first, second in combinations(scores.metrics, 2)
    ]
    return adjust_tests("system", "williams", tests, one_sided=True)


def compare_segments(scores: Scores, permutations: int, rng: np.random.Generator) -> tuple[MetricComparison, ...]:
    """Williams' test on pooled scores; permutations of Pearson's r, pooled and by item, and of calibrated accuracy."""
    pooled = {name: metric.ravel() for name, metric in scores.metrics.items()}
    compared = list(adjust_tests("segment", "williams", _williams_tests(scores.human.ravel(), pooled), one_sided=True))
    for by_item, name in ((False, "permutation of pearson"), (True, "permutation of pearson by item")):
        tests = permute_pearson(
            scores.human, scores.metrics, by_item=by_item, permutations=permutations, rng=rng, texts=scores.texts()
        )
        compared += adjust_tests("segment", name, tests)
    calibrated = map_tasks(partial(item_parts, scores.human), scores.metrics.values(), what="accuracy of metrics")
    parts = dict(zip(scores.metrics, calibrated, strict=True))
    tests = permute_groups(parts, permutations=permutations, rng=rng)
    return (*compared, *adjust_tests("segment", "permutation of tie-calibrated accuracy by item", tests))


def compare_predictions(labels: Floats, predictions: Mapping[str, Floats]) -> tuple[MetricComparison, ...]:
    """Williams' test of quality estimation against labels of documents."""
    return adjust_tests("document", "williams", _williams_tests(labels, dict(predictions)), one_sided=True)


def _williams_tests(human: Floats, metrics: dict[str, Floats]) -> list[PermutationTest]:
    """Every two metrics against the same human scores."""
    return [
        _williams_test(first, second, human, metrics[first], metrics[second])
        for first, second in combinations(metrics, 2)
    ]


def _williams_test(first: str, second: str, human: Floats, a: Floats, b: Floats) -> PermutationTest:
    """The metric `first` with the scores `a` against `second` with the scores `b`."""
    known = ~(np.isnan(human) | np.isnan(a) | np.isnan(b))
    ra, rb = pearson(human[known], a[known]), pearson(human[known], b[known])
    between, n = pearson(a[known], b[known]), int(known.sum())
    return PermutationTest(first, second, ra - rb, williams(max(ra, rb), min(ra, rb), between, n))


def adjust_tests(
    level: str, test: str, tests: Sequence[PermutationTest], *, one_sided: bool = False
) -> tuple[MetricComparison, ...]:
    """Tests with their p-values corrected for all of them; `better` is who is ahead."""
    p = np.array([test.p for test in tests])
    p_holm, p_bh = holm(p), benjamini_hochberg(p)
    compared: list[MetricComparison] = []
    for k, tested in enumerate(tests):
        better, worse = (tested.second, tested.first) if tested.difference < 0 else (tested.first, tested.second)
        a, b, c = (None if np.isnan(value) else float(value) for value in (p[k], p_holm[k], p_bh[k]))
        compared.append(MetricComparison(level, test, better, worse, abs(tested.difference), a, b, c, one_sided))
    return tuple(compared)


def metric_clusters(comparisons: Sequence[MetricComparison], order: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Lines between metrics where everyone above is better than everyone below after Holm's correction."""
    better = {(comparison.better, comparison.worse) for comparison in comparisons if comparison.told_apart}
    clusters: list[list[str]] = [[]]
    for i, name in enumerate(order):
        if i and all((above, below) in better for above in order[:i] for below in order[i:]):
            clusters.append([])
        clusters[-1].append(name)
    return tuple(tuple(cluster) for cluster in clusters if cluster)
