"""Which metric is better than which: Williams' test and permutation tests for every pair, corrected together."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.metrics.levels import item_parts
from adjudge.metrics.results import MetricComparison
from adjudge.ranking.decisions import benjamini_hochberg, holm
from adjudge.table.maths import Bools, Floats, Ints, pearson, student_tail, varies
from adjudge.table.rng import generator
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from adjudge.metrics.join import Scores

    _Pairs = list[tuple[int, int]]
    _Prepared = tuple[Callable[[_Pairs], "Differences"], int]


# Permutation tests between metrics: without a difference, scores could be exchanged between the two.
#
# `PERM-BOTH` (Deutsch et al. 2021): the two metrics, standardised, exchange scores at random, those whose sign is
# minus. Pearson's r needs the sums of a metric's scores, of their squares and of their products with the human. After
# an exchange each is the first metric's sum over the plus signs and the second's over the minus signs. So one product
# of signs and scores per metric serves all pairs of metrics. Accuracies are sums over groups, which exchange whole.
#
# Over all scores, the scores of one document (of one segment, where documents are not known) exchange together: what a
# metric gets wrong in a text it gets wrong in every system's translation of it, so they are not as many separate draws.
# Within an item every score exchanges by itself.
#
# The smallest p is 1 / (1 + permutations), and Holm multiplies it by the number of pairs: 1,000 permutations cannot
# reach .05 from 11 metrics on. So pairs go on being permuted as long as Holm may still call them different, up to
# `enough_permutations`. A pair that stops earlier has a p that is too large for that; for every level up to .05 the
# test is as exact as with all permutations.
#
# Pairs that are far apart need not go on. What exchanges, a group of scores g with the difference d(g), has either
# sign equally often, so that P(|sum of d(g)| >= t) <= 3.18 P(|N| >= t) for a normal N with the variance sum of d(g)^2
# (V. Bentkus, D. Dzindzalieta 2015. Bernoulli 21, 1231-1237). Where this is at most 1 / (1 + all permutations) for the
# largest sum of squares that was drawn, that is the p.
#
# Permutations are drawn in blocks, each from a seed of its own, so that several processes can share them.


@dataclass(frozen=True)
class Draw:
    """So many random exchanges; none but the scores as they are where no numbers are drawn."""

    size: int = 1
    rng: np.random.Generator | None = None

    def signs(self, scores: int) -> Floats:
        """The sign of each score in each exchange: (size, scores)."""
        shape = self.size, scores
        if self.rng is None:
            return np.ones(shape)
        return np.asarray(1.0 - 2.0 * self.rng.integers(2, size=shape, dtype=np.int8), dtype=np.float64)

    def patterns(self, scores: int) -> Ints:
        """The same as numbers whose bits are 1 where the sign is minus."""
        return np.zeros(self.size, np.int64) if self.rng is None else self.rng.integers(1 << scores, size=self.size)


Differences = Callable[[Draw], tuple[Floats, Floats]]
"""The differences of all pairs (pairs, exchanges) when scores exchange; and for each pair the largest sum of squared
differences of what exchanges, infinite where that was not taken."""

PER_PAIR = 40
"""Permutations for every pair of metrics that is tested: the smallest p is then .025 after Holm's correction."""
LEVEL = 0.05
HARDLY = 0.001
"""A pair stops where its extreme permutations would be so improbable if its p were small enough for Holm."""
TAIL_BOUND = 3.18
"""The tail of a sum with random signs is at most so many times that of a normal number with its variance."""
BLOCK = 125
"""Permutations of the first block."""
MORE = 5
"""After each look there are so many times as many permutations."""
# A block has about so many signs and differences, to bound memory. No number here may depend on the number of workers.
MOST_SIGNS = 4_000_000
MOST_DIFFERENCES = 4_000_000
CACHED = 16_000
"""So many differences are computed together, which a processor's cache holds."""
NO_SPREAD = 1e-12


@dataclass(frozen=True)
class PermutationTest:
    """Two metrics: the first minus the second, and the two-sided p (the data count as one draw, so never 0)."""

    first: str
    second: str
    difference: float
    p: float


def enough_permutations(metrics: int, permutations: int) -> int:
    """Return how many permutations let every pair of metrics be significant after Holm's correction."""
    return max(permutations, PER_PAIR * (metrics * (metrics - 1) // 2))


def permute_pearson(
    human: Floats,
    metrics: Mapping[str, Floats],
    *,
    by_item: bool,
    permutations: int,
    rng: np.random.Generator,
    texts: Ints | None = None,
) -> tuple[PermutationTest, ...]:
    """Test all pairs of metrics by Pearson's r, pooled or averaged over items; all arrays are (systems, segments).

    Two metrics are compared on the scores that both and the human have. Pooled scores of one text exchange together:
    `texts` holds the text of each segment as a code; every segment is one where it is left out.
    """
    known = {name: ~(np.isnan(human) | np.isnan(scores)) for name, scores in metrics.items()}

    def prepare(names: list[str], mask: Bools) -> _Prepared | None:
        stacked = np.stack([_standardise(metrics[name], mask) for name in names])
        groups = list(_items(human, stacked, mask)) if by_item else _pooled(human, stacked, mask, texts)
        if not groups:
            return None
        return partial(_PearsonDifferences, groups), max(group.exchanged for group in groups)

    return _test_all(known, prepare, permutations, rng)


def permute_groups(
    values: Mapping[str, Floats], *, permutations: int, rng: np.random.Generator
) -> tuple[PermutationTest, ...]:
    """Test all pairs of metrics by the mean of their values of groups, which exchange whole; NaN where none is."""
    known = {name: ~np.isnan(of_items) for name, of_items in values.items()}

    def prepare(names: list[str], mask: Bools) -> _Prepared | None:
        groups = int(mask.sum())
        if not groups:
            return None
        return partial(_GroupDifferences, np.stack([values[name][mask] for name in names]) / groups), groups

    return _test_all(known, prepare, permutations, rng)


def _test_pairs(
    differences_of: Callable[[_Pairs], Differences],
    pairs: _Pairs,
    *,
    others: int,
    permutations: int,
    exchanged: int,
    rng: np.random.Generator,
) -> list[tuple[float, float]]:
    """The observed difference and p of every pair; those that Holm may call different are permuted further.

    Args:
        differences_of: makes the function that gives the differences of some pairs.
        pairs: the pairs of metrics.
        others: how many more pairs Holm corrects for.
        permutations: the number that every pair has.
        exchanged: how many scores, or groups of them, exchange.
        rng: of all draws.
    """
    from scipy.special import ndtr, pdtrc

    most = max(permutations, PER_PAIR * (len(pairs) + others))
    observed, p = np.empty(len(pairs)), np.ones(len(pairs))
    extreme = np.zeros(len(pairs), dtype=np.int64)
    going, stopped = np.arange(len(pairs)), 0
    drawn, number = 0, min(BLOCK, permutations)
    while len(going) and number > 0:
        drawn += number
        block = max(1, min(MOST_SIGNS // exchanged, MOST_DIFFERENCES // len(going), max(BLOCK, number // 2)))
        differences = differences_of([pairs[pair] for pair in going])
        observed[going], counts, squares = _count_extreme(differences, number, block, rng)
        extreme[going] += counts
        p[going] = (1 + extreme[going]) / (1 + drawn)
        with np.errstate(divide="ignore", invalid="ignore"):
            far = TAIL_BOUND * 2 * ndtr(-np.abs(observed[going]) / np.sqrt(squares)) <= 1 / (1 + most)
        p[going[far]] = 1 / (1 + most)
        going = going[~far]
        if drawn >= permutations:
            ends = p[going] > LEVEL
            # Holm divides the level by no less than the number of pairs that are not called different.
            smallest = LEVEL / (1 + stopped + ends.sum())
            ends |= (extreme[going] > 0) & (pdtrc(extreme[going] - 1, smallest * drawn) < HARDLY)
            stopped, going = stopped + int(ends.sum()), going[~ends]
        # Those that are far apart are called different first, so that Holm multiplies the others by fewer.
        enough = max(permutations, PER_PAIR * (len(going) + stopped + others))
        number = min(enough, permutations if drawn < permutations else MORE * drawn) - drawn
    return list(zip(observed.tolist(), p.tolist(), strict=True))


def _count_extreme(
    differences: Differences, number: int, block: int, rng: np.random.Generator
) -> tuple[Floats, Ints, Floats]:
    """The observed differences, how many of `number` permuted ones are at least as large, and their sums of squares."""
    observed = differences(Draw())[0][:, 0]
    sizes = [min(block, number - start) for start in range(0, number, block)]
    tasks = zip(sizes, rng.integers(2**63, size=len(sizes)).tolist(), strict=True)

    def count(task: tuple[int, int]) -> tuple[Ints, Floats]:
        size, seed = task
        drawn, squares = differences(Draw(size, generator(seed)))
        # Sums of the same numbers in another order may differ in the last digits.
        return np.asarray((np.abs(drawn) >= np.abs(observed)[:, None] - 1e-12).sum(1)), squares

    counts, squares = zip(*map_tasks(count, tasks, what="permutations"), strict=True)
    return observed, np.sum(counts, axis=0), np.max(squares, axis=0)


def _test_all(
    known: Mapping[str, Bools],
    prepare: Callable[[list[str], Bools], _Prepared | None],
    permutations: int,
    rng: np.random.Generator,
) -> tuple[PermutationTest, ...]:
    """Test all pairs of metrics; those with the same scores in common are tested together, by the same draws.

    Args:
        known: which scores each metric has.
        prepare: makes, for some metrics and the scores in common, the function that gives the differences of pairs,
            and the number of scores that exchange; None where nothing can be compared.
        permutations: the number asked for.
        rng: of all draws.
    """
    names = list(known)
    families: dict[bytes, _Pairs] = {}
    masks: dict[bytes, Bools] = {}
    for i, j in combinations(range(len(names)), 2):
        mask = known[names[i]] & known[names[j]]
        key = mask.tobytes()
        masks[key] = mask
        families.setdefault(key, []).append((i, j))
    tests: dict[tuple[int, int], PermutationTest] = {}
    for key, pairs in families.items():
        used = sorted({i for pair in pairs for i in pair})
        prepared = prepare([names[i] for i in used], masks[key])
        results = [(np.nan, np.nan)] * len(pairs)
        if prepared is not None:
            local = [(used.index(i), used.index(j)) for i, j in pairs]
            of_pairs, exchanged = prepared
            others = len(names) * (len(names) - 1) // 2 - len(pairs)
            results = _test_pairs(
                of_pairs, local, others=others, permutations=permutations, exchanged=exchanged, rng=rng
            )
        for (i, j), (difference, p) in zip(pairs, results, strict=True):
            tests[i, j] = PermutationTest(names[i], names[j], difference, p)
    return tuple(tests[pair] for pair in combinations(range(len(names)), 2))


@dataclass(frozen=True, eq=False)
class _Group:
    """Scores whose correlation with the human is taken: those of an item, or all."""

    human: Floats
    """(scores,), less their mean."""
    metrics: Floats
    """(metrics, scores)."""
    starts: Ints | None = None
    """Where each text begins, whose scores exchange together; None where every score exchanges by itself."""

    @property
    def exchanged(self) -> int:
        """The number of signs that an exchange needs."""
        return len(self.human) if self.starts is None else len(self.starts)

    def of(self, metrics: Ints) -> _Group:
        """Keep some of the metrics."""
        return replace(self, metrics=self.metrics[metrics])

    def sums(self) -> Floats:
        """Sum what r is made of, (3, metrics, exchanged): scores, their squares, their products with the human.

        They are on such scales that r is the third over the root of the second less the first squared.
        """
        scores = self.metrics / math.sqrt(len(self.human))
        kinds = np.stack([scores, self.metrics**2, self.metrics * self.human / math.sqrt(self.human @ self.human)])
        return kinds if self.starts is None else np.add.reduceat(kinds, self.starts, axis=-1)


def _items(human: Floats, metrics: Floats, mask: Bools) -> Iterator[_Group]:
    """A group for each segment on which the human tells translations apart."""
    for segment in range(human.shape[1]):
        known = mask[:, segment]
        scores = human[known, segment]
        if varies(scores):
            yield _Group(scores - scores.mean(), metrics[:, known, segment])


def _pooled(human: Floats, metrics: Floats, mask: Bools, texts: Ints | None) -> list[_Group]:
    """All scores as one group, text by text; none where the human tells nothing apart."""
    scores = human[mask]
    if not varies(scores):
        return []
    segments = np.arange(human.shape[1]) if texts is None else texts
    text = np.broadcast_to(segments, human.shape)[mask]
    order = np.argsort(text, kind="stable")
    starts = np.flatnonzero(np.diff(text[order], prepend=-1))
    return [_Group((scores - scores.mean())[order], metrics[:, mask][:, order], starts)]


def _standardise(scores: Floats, mask: Bools) -> Floats:
    known = scores[mask]
    if not varies(known):
        return np.zeros_like(scores)
    return np.asarray((scores - known.mean()) / known.std())


class _GroupDifferences:
    """The differences of pairs of metrics whose values of groups exchange."""

    def __init__(self, values: Floats, pairs: _Pairs) -> None:
        first, second = np.array(pairs).T
        self.difference = values[first] - values[second]

    def __call__(self, draw: Draw) -> tuple[Floats, Floats]:
        return self.difference @ draw.signs(self.difference.shape[1]).T, (self.difference**2).sum(1)


class _PearsonDifferences:
    """The differences of r of pairs of metrics (mean over groups) when standardised scores exchange."""

    def __init__(self, groups: list[_Group], pairs: _Pairs) -> None:
        used, codes = np.unique(np.array(pairs), return_inverse=True)
        self.groups = [group.of(used) for group in groups]
        self.first, self.second = codes.reshape(-1, 2).T

    def __call__(self, draw: Draw) -> tuple[Floats, Floats]:
        pairs = len(self.first)
        total = np.zeros((pairs, draw.size))
        # The squares are asked for once, and take as long as the rest of a draw.
        once = draw.size <= BLOCK
        squares = np.zeros_like(total) if once else np.full((pairs, 1), np.inf)
        for group in self.groups:
            exchange = _Exchange.of(draw, group.exchanged)
            half = group.sums() / 2
            whole, change = half.sum(-1)[:, :, None], half @ exchange.signs.T
            width = max(1, CACHED // len(exchange.signs))
            for start in range(0, pairs, width):
                part = slice(start, start + width)
                apart = exchange.of_draws(_exchanged(whole, change, self.first[part], self.second[part]))
                total[part] += apart
                if once:
                    squares[part] += apart**2
        return total / len(self.groups), squares.max(1) / len(self.groups) ** 2


def _exchanged(whole: Floats, change: Floats, first: Ints, second: Ints) -> Floats:
    """R of the first of each pair less that of the second when they exchange: (pairs, signs).

    Each has half of the sums of both, and what exchanges is added to the one and taken from the other.
    """
    # In place, because allocating large arrays costs more than the arithmetic.
    scores, squares, products = whole[:, first] + whole[:, second]
    moved = change[:, first]
    moved -= change[:, second]
    by_scores, by_squares, by_products = moved
    # (scores +- by_scores)^2, taken from squares +- by_squares: what both have, and what adds to one alone.
    by_squares -= 2 * scores * by_scores
    by_scores *= by_scores
    both = np.subtract(squares - scores**2, by_scores, out=by_scores)
    one, other = products + by_products, np.subtract(products, by_products, out=by_products)
    one /= _root(both + by_squares)
    other /= _root(np.subtract(both, by_squares, out=both))
    one -= other
    return np.asarray(one)


def _root(spread: Floats) -> Floats:
    """The root, in place; infinite where there is no spread, so that r is 0."""
    if spread.min() < NO_SPREAD:
        spread[spread < NO_SPREAD] = np.inf
    return np.sqrt(spread, out=spread)


@dataclass(frozen=True, eq=False)
class _Exchange:
    """How the scores of a group exchange: different signs, and which of them each draw has."""

    signs: Floats
    place: Ints | None = None
    """None where each draw has signs of its own; otherwise those from half on are the opposite ones, in turn."""

    @classmethod
    def of(cls, draw: Draw, scores: int) -> _Exchange:
        """Few scores exchange in few ways, so that many draws repeat them."""
        if draw.size <= 1 << (scores - 1):
            return cls(draw.signs(scores))
        return cls(_all_signs(scores), draw.patterns(scores))

    def of_draws(self, values: Floats) -> Floats:
        """The values of each draw, from those of the different signs (pairs, signs)."""
        if self.place is None:
            return values
        # Opposite signs have opposite differences.
        return np.take(np.concatenate([values, -values[:, ::-1]], axis=1), self.place, axis=1)


@cache
def _all_signs(scores: int) -> Floats:
    """All ways to exchange so few scores, of which the last stays: (ways, scores)."""
    return np.where(np.arange(1 << (scores - 1))[:, None] & (1 << np.arange(scores)), -1.0, 1.0)


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
        _williams_test(first, second, *scores.match_means(first, second))
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
