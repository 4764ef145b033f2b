"""One metric against the human at each level: systems (with and without outliers), documents, segments."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.metrics.results import MetricAtLevel
from adjudge.table.maths import Bools, Floats, Ints, divide, expanded_tail, kendall, pearson, spearman, varies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from adjudge.metrics.join import Scores

    Coefficient = Callable[[Floats, Floats], float]


# Correlations of metric and human scores, pooled or averaged over groups (systems, or segments called items).

Grouping = Literal["pooled", "system", "item"]
GROUPINGS: tuple[Grouping, ...] = ("pooled", "system", "item")
COEFFICIENTS: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def groups(human: Floats, metric: Floats, grouping: Grouping) -> Iterator[tuple[Floats, Floats]]:
    """The scores of each group that both sides have."""
    if grouping == "pooled":
        pairs = [(human.ravel(), metric.ravel())]
    elif grouping == "system":
        pairs = list(zip(human, metric, strict=True))
    else:
        pairs = list(zip(human.T, metric.T, strict=True))
    for x, y in pairs:
        known = ~(np.isnan(x) | np.isnan(y))
        yield x[known], y[known]


def coefficients(human: Floats, metric: Floats, grouping: Grouping) -> dict[str, Floats]:
    """Every coefficient of every group; NaN where it is not defined."""
    scores = list(groups(human, metric, grouping))
    return {name: np.array([coefficient(x, y) for x, y in scores]) for name, coefficient in COEFFICIENTS.items()}


def mean_defined(values: Floats) -> float:
    """The mean over the groups where a coefficient is defined."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


# Pairwise accuracy of a metric: with ties, calibrated for ties, and soft.
#
# Of two translations the human prefers one, or ties them; the metric is right if it does the same. A metric that never
# ties is helped by a threshold: differences up to it count as ties. The best threshold is found exactly, by walking
# through all differences in ascending order (Deutsch, Foster and Freitag 2023).
#
# Soft pairwise accuracy (Thompson et al. 2024) asks whether the metric doubts where the human doubts. For
# every two systems, a paired permutation test over segments gives the p that the first is better, once from human and
# once from metric scores. The accuracy is 1 minus the mean distance of the two p. All pairs share the signs.


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs within groups: human preference (-1, 0, 1), difference of the metric, and the group with its weight."""

    preference: NDArray[np.int8]
    difference: Floats
    group: Ints
    weight: Floats
    """Of one pair in each group: groups weigh the same; 0 for those without any pair."""


@dataclass(frozen=True)
class Calibrated:
    """The best accuracy over all thresholds, and the smallest threshold that reaches it."""

    accuracy: float
    threshold: float
    without: float
    """The accuracy without a threshold."""


def number_of_pairs(human: Floats, metric: Floats, grouping: Grouping) -> int:
    """Count the pairs within groups."""
    return sum(len(x) * (len(x) - 1) // 2 for x, _ in groups(human, metric, grouping))


def pairs(human: Floats, metric: Floats, grouping: Grouping) -> Pairs:
    """Every pair of scores within each group that has at least two; each group weighs the same."""
    if grouping == "pooled":
        x, y = human.reshape(1, -1), metric.reshape(1, -1)
    else:
        x, y = (human, metric) if grouping == "system" else (human.T, metric.T)
    known = ~(np.isnan(x) | np.isnan(y))
    preference, difference, group = [], [], []
    # All groups at once: each score against the one that stands so many places further on.
    for lag in range(1, x.shape[1]):
        both = known[:, lag:] & known[:, :-lag]
        preference.append(np.sign(x[:, :-lag] - x[:, lag:])[both].astype(np.int8))
        difference.append((y[:, :-lag] - y[:, lag:])[both])
        group.append(np.nonzero(both)[0])
    if not group:
        return Pairs(np.empty(0, dtype=np.int8), np.empty(0), np.empty(0, dtype=np.int64), np.zeros(len(x)))
    joined = np.concatenate(group)
    sizes = np.bincount(joined, minlength=len(x))
    weight = divide(np.ones(len(x)), sizes * np.count_nonzero(sizes), otherwise=0.0)
    return Pairs(np.concatenate(preference), np.concatenate(difference), joined, weight)


def agreement(compared: Pairs, threshold: float = 0.0) -> Bools:
    """For each pair, whether the metric says what the human says, when differences up to the threshold are ties."""
    metric_preference = (compared.difference > threshold).astype(np.int8) - (compared.difference < -threshold)
    same: Bools = metric_preference == compared.preference
    return same


def accuracy(compared: Pairs, threshold: float = 0.0) -> float:
    """The share of pairs on which the metric is right, averaged over groups."""
    if not len(compared.group):
        return float("nan")
    right = np.bincount(compared.group[agreement(compared, threshold)], minlength=len(compared.weight))
    return float(compared.weight @ right)


def calibrated(compared: Pairs) -> Calibrated:
    """The threshold that makes the metric's accuracy best."""
    if not len(compared.group):
        return Calibrated(float("nan"), 0.0, float("nan"))
    start = accuracy(compared)
    human_tie, agrees = compared.preference == 0, agreement(compared)
    if not human_tie.any():
        return Calibrated(start, 0.0, start)
    # A threshold that passes a pair makes it a tie: then it is right if, and only if, the human tied.
    changes = human_tie != agrees
    size = np.abs(compared.difference[changes])
    gain = np.where(human_tie[changes], 1.0, -1.0) * compared.weight[compared.group[changes]]
    # Only sums at the last of equal sizes count, so that a sort which keeps no order among them, far quicker, serves.
    order = np.argsort(size)
    size, after = size[order], start + np.cumsum(gain[order])
    last = np.append(size[1:] != size[:-1], True)[: len(size)]
    thresholds = np.concatenate([[0.0], size[last]])
    values = np.concatenate([[start], after[last]])
    best = int(np.argmax(values > values.max() - 1e-12))
    return Calibrated(float(values[best]), float(thresholds[best]), start)


BINS = 1 << 16
"""Classes of sizes in which the pairs of pooled scores are counted before any of them are put in order."""


def calibrate_pooled(human: Floats, metric: Floats) -> Calibrated:
    """The same as `calibrated` for all scores pooled, of which there are millions of pairs.

    Pairs are counted by classes of sizes, which says how many are right at the end of each class, and how many at most
    within it. Only those of classes that may hold the best threshold are put in order.
    """
    known = ~(np.isnan(human) | np.isnan(metric))
    number = int(known.sum()) * (int(known.sum()) - 1) // 2
    if not number:
        return Calibrated(float("nan"), 0.0, float("nan"))
    spread = float(np.ptp(metric[known]))
    scale = (BINS - 1) / spread if spread > 0 else 0.0
    counts = np.zeros((4, BINS), dtype=np.int64)
    for size, kind in _sized_pairs(human, metric, known):
        place = (size * scale).astype(np.int64)
        place += kind.astype(np.int64) * BINS
        counts += np.bincount(place, minlength=4 * BINS).reshape(4, BINS)
    _, ties, lost, _ = counts
    start = int(counts[2:].sum())
    after = start + np.cumsum(ties - lost)
    before = np.append(start, after[:-1])
    hopeful = before + ties >= max(start, int(after.max()))
    sizes, gains = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for size, kind in _sized_pairs(human, metric, known):
        chosen = hopeful[(size * scale).astype(np.int64)] & ((kind == 1) | (kind == 2))
        sizes.append(size[chosen])
        gains.append(3 - 2 * kind[chosen].astype(np.int64))
    gained, size = np.concatenate(gains), np.concatenate(sizes)
    order = np.argsort(size)
    size, right = size[order], np.cumsum(gained[order])
    # What all smaller pairs gain, of which those of other classes were only counted.
    place = (size * scale).astype(np.int64)
    first = np.flatnonzero(np.append(True, place[1:] != place[:-1])[: len(place)])
    skipped = before[place[first]] - np.append(0, right)[first]
    right += np.repeat(skipped, np.diff(np.append(first, len(place))))
    last = np.append(size[1:] != size[:-1], True)[: len(size)]
    thresholds, values = np.append(0.0, size[last]), np.append(start, right[last])
    best = int(np.argmax(values))
    return Calibrated(float(values[best] / number), float(thresholds[best]), start / number)


def _sized_pairs(human: Floats, metric: Floats, known: Bools) -> Iterator[tuple[Floats, NDArray[np.int8]]]:
    """How far the metric sets each two scores apart, those of two systems at a time, and what a tie would change.

    This is 1 where only the human ties, 2 where both prefer the same, 3 where both tie, and 0 for other pairs.
    """
    for one, other in combinations_with_replacement(range(len(human)), 2):
        (x, a), (y, b) = ((human[system, known[system]], metric[system, known[system]]) for system in (one, other))
        # One after the other: within a system each pair once.
        whole = slice(None) if one != other else np.triu_indices(len(x), 1)
        apart, difference = (np.subtract.outer(*both)[whole].ravel() for both in ((x, y), (a, b)))
        same = ((apart > 0) == (difference > 0)) & ((apart < 0) == (difference < 0))
        yield np.abs(difference), (apart == 0) + 2 * same.astype(np.int8)


def signs(permutations: int, segments: int, rng: np.random.Generator) -> Floats:
    """Random signs: half of the differences, at random, change sides."""
    return rng.choice(np.array([-1.0, 1.0]), size=(permutations, segments))


def pair_p(scores: Floats, flips: Floats) -> Floats:
    """For every two systems i < j the one-sided p that i is better than j; never 0, because the data count as one draw.

    Segments that one of the two lacks count for nothing; two that share none have no p (NaN). Two without any
    difference are as likely better as worse: p is a half, whichever of them comes first.
    """
    first, second = np.triu_indices(len(scores), 1)
    apart = scores[first] - scores[second]
    difference = np.nan_to_num(apart)
    observed = difference.sum(1)
    drawn = flips @ difference.T
    # Sums of the same numbers in another order may differ in the last digits.
    slack = 1e-9 * (1 + np.abs(difference).sum(1))
    p: Floats = (1 + (drawn >= observed - slack).sum(0)) / (1 + len(flips))
    p[~difference.any(1)] = 0.5
    p[np.isnan(apart).all(1)] = np.nan
    return p


def soft_pairwise_accuracy(human: Floats, metric: Floats, flips: Floats) -> float:
    """The soft pairwise accuracy of a metric over the pairs of systems that both can tell; (systems, segments) each."""
    distance = np.abs(pair_p(human, flips) - pair_p(metric, flips))
    known = distance[~np.isnan(distance)]
    return float(1 - known.mean()) if len(known) else float("nan")


# Intervals by resampling texts: documents, or segments where documents are not named.
#
# What human and metric think of one segment of a document, they also think of its others, so that its segments are
# drawn together.
#
# Most coefficients are functions of sums over segments, drawn again together. Rank coefficients over all scores are
# sums over pairs of scores, gathered by pairs of segments: a resample that draws segment a w(a) times weighs a pair
# of scores by w(a) w(b). So the sum over all pairs is w'Mw, where M holds the sums over the pairs of each two
# segments: made once, it serves every resample. Pairs of copies of one score are ties on both sides, which tau-b
# leaves out and which count for no accuracy.

TAIL = 0.025
"""The share of values that a 95% interval leaves off at each end."""


@dataclass(frozen=True, eq=False)
class Draws:
    """How often each segment counts in each resample, and how many texts were drawn."""

    weights: Floats
    """(resamples, segments)"""
    texts: int


def draws(count: int, texts: Ints, rng: np.random.Generator) -> Draws | None:
    """Draw the texts again, whose codes the segments have; None where there is one only."""
    number = int(texts.max()) + 1
    if number < 2 or not count:
        return None
    drawn = rng.multinomial(number, np.full(number, 1 / number), size=count)
    return Draws(drawn.astype(float)[:, texts], number)


def interval(values: Floats, *, units: int, fewest: int = 20) -> tuple[float, float] | None:
    """The 95% interval of values over resamples of so many units; None where fewer than `fewest` are defined."""
    defined = values[np.isfinite(values)]
    if len(defined) < fewest:
        return None
    tail = expanded_tail(TAIL, units)
    low, high = np.quantile(defined, (tail, 1 - tail))
    return float(low), float(high)


def system_means(scores: Floats, drawn: Floats) -> Floats:
    """System means of every resample: (resamples, systems)."""
    known = (~np.isnan(scores)).astype(float)
    count = drawn @ known.T
    return divide(drawn @ np.nan_to_num(scores).T, count)


def system_level(coefficient: Coefficient, human: Floats, metric: Floats, drawn: Floats) -> Floats:
    """A coefficient at system level for every resample of segments, over the systems that have scores in it."""
    x, y = system_means(human, drawn), system_means(metric, drawn)
    known = ~(np.isnan(x) | np.isnan(y))
    return np.array([coefficient(a[row], b[row]) for a, b, row in zip(x, y, known, strict=True)])


def pooled_pearson(human: Floats, metric: Floats, drawn: Floats) -> Floats:
    """Pearson's r over all scores for every resample of segments, from sums per segment."""
    known = ~(np.isnan(human) | np.isnan(metric))
    if not (varies(human[known]) and varies(metric[known])):
        return np.full(len(drawn), np.nan)
    x, y = (np.where(known, scores - scores[known].mean(), 0.0) for scores in (human, metric))
    n, sx, sy, sxx, syy, sxy = (drawn @ part.sum(0) for part in (known.astype(float), x, y, x * x, y * y, x * y))
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = sxy - sx * sy / n
        spread = np.sqrt((sxx - sx**2 / n) * (syy - sy**2 / n))
        r: Floats = covariance / spread
    return r


def item_mean(values: Floats, drawn: Floats) -> Floats:
    """The mean over items for every resample; items without a value count for nothing."""
    known = ~np.isnan(values)
    count = drawn @ known.astype(float)
    return divide(drawn @ np.where(known, values, 0.0), count)


CHUNK = 500
"""The number of resamples whose weights are in memory at the same time."""


def pooled_pairs(human: Floats, metric: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """Kendall's tau-b and pairwise accuracy over all scores, for every resample of segments."""
    known = ~(np.isnan(human) | np.isnan(metric))
    segments = human.shape[1]
    concordant, apart_x, apart_y, same = (np.zeros((segments, segments), dtype=np.int32) for _ in range(4))
    for one, other in combinations_with_replacement(range(len(human)), 2):
        x, y = (_signs(scores[one], scores[other]) for scores in (human, metric))
        both = np.logical_and.outer(known[one], known[other])
        if one == other:
            np.fill_diagonal(both, val=False)
        x *= both
        y *= both
        for total, part in ((concordant, x * y), (apart_x, x != 0), (apart_y, y != 0), (same, (x == y) & both)):
            np.add(total, part, out=total)
            if one != other:
                np.add(total, part.T, out=total)
    gathered = (concordant, apart_x, apart_y, same)
    agreeing, untied_x, untied_y, equal = (((drawn @ part.astype(float)) * drawn).sum(1) for part in gathered)
    sizes = known.sum(0)
    pairs = (drawn @ sizes) ** 2 - drawn**2 @ sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        return agreeing / np.sqrt(untied_x * untied_y), equal / pairs


def _signs(one: Floats, other: Floats) -> NDArray[np.int8]:
    """Which of two scores is higher, for each of one against each of the others."""
    return np.greater.outer(one, other).astype(np.int8) - np.less.outer(one, other)


def pooled_spearman(human: Floats, metric: Floats, drawn: Floats) -> Floats:
    """Spearman's rho over all scores for every resample of segments: ranks are made anew in each."""
    known = ~(np.isnan(human) | np.isnan(metric)).T
    segment = np.nonzero(known)[0]
    values = []
    for start in range(0, len(drawn), CHUNK):
        # A row for each score, which is moved as a whole.
        weights = drawn[start : start + CHUNK].T[segment]
        x, y = (_weighted_ranks(scores.T[known], weights) for scores in (human, metric))
        parts = (np.einsum("ij,ij,ij->j", weights, *both) for both in ((x, y), (x, x), (y, y)))
        product, squares_x, squares_y = parts
        with np.errstate(invalid="ignore", divide="ignore"):
            values.append(product / np.sqrt(squares_x * squares_y))
    return np.concatenate(values)


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """Mean ranks of values that occur so many times, less the mean of all: (values, resamples)."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1])[: len(values)])
    times = np.add.reduceat(weights[order], starts, axis=0) if len(starts) < len(values) else weights[order]
    middle = np.cumsum(times, axis=0)
    whole = middle[-1].copy()
    times += whole
    times /= 2
    middle -= times
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
    return np.asarray(middle[group])


# More pairs of scores than this (from 6,000 pooled scores) would take gigabytes and are left out.
MOST_PAIRS = 18_000_000


def evaluate_systems(scores: Scores, name: str, drawn: Draws | None, flips: Floats | None) -> MetricAtLevel:
    """Correlations of system scores; soft pairwise accuracy where segments are known.

    A score of the whole test set is no mean of segments, so there is no interval from resampling them.
    Human scores are averaged over the segments that the metric scored.
    """
    human, means = scores.match_means(name)
    scores = scores.matched(name)
    metric = scores.metrics[name]
    known = ~(np.isnan(human) | np.isnan(means))
    x, y = human[known], means[known]
    values = {key: coefficient(x, y) for key, coefficient in COEFFICIENTS.items()}
    values["pairwise_accuracy"] = _pairwise(x, y)
    if flips is not None:
        values["soft_pairwise_accuracy"] = soft_pairwise_accuracy(scores.human, metric, flips)
    intervals = {
        key: interval(system_level(coefficient, scores.human, metric, drawn.weights), units=drawn.texts)
        for key, coefficient in {**COEFFICIENTS, "pairwise_accuracy": _pairwise}.items()
        if drawn is not None and name not in scores.whole
    }
    return MetricAtLevel(int(known.sum()), values, _drop_undefined(intervals))


def _pairwise(x: Floats, y: Floats) -> float:
    return accuracy(pairs(x[:, None], y[:, None], "pooled"))


def evaluate_segments(scores: Scores, metric: Floats, drawn: Draws | None) -> MetricAtLevel:
    """Correlations over all scores pooled, and averaged over systems and over items."""
    human = scores.human
    known = ~(np.isnan(human) | np.isnan(metric))
    by_group = {grouping: coefficients(human, metric, grouping) for grouping in GROUPINGS}
    values = {grouping: _values(human, metric, grouping, by_group[grouping]) for grouping in GROUPINGS}
    intervals = _segment_intervals(human, metric, by_group["item"], drawn)
    return MetricAtLevel(
        int(known.sum()),
        values["pooled"],
        intervals,
        {f"by_{grouping}": values[grouping] for grouping in GROUPINGS if grouping != "pooled"},
    )


def _values(human: Floats, metric: Floats, grouping: Grouping, by_group: Mapping[str, Floats]) -> dict[str, float]:
    values = {name: mean_defined(of_groups) for name, of_groups in by_group.items()}
    if number_of_pairs(human, metric, grouping) <= MOST_PAIRS:
        pooled = grouping == "pooled"
        best = calibrate_pooled(human, metric) if pooled else calibrated(pairs(human, metric, grouping))
        values["pairwise_accuracy"] = best.without
        values["tie_calibrated_accuracy"] = best.accuracy
        values["tie_threshold"] = best.threshold
    if grouping == "pooled":
        off = np.abs(human - metric)
        values["mae"] = float(off[~np.isnan(off)].mean()) if (~np.isnan(off)).any() else float("nan")
    return values


def _segment_intervals(
    human: Floats, metric: Floats, by_item: Mapping[str, Floats], drawn: Draws | None
) -> dict[str, tuple[float, float]]:
    if drawn is None:
        return {}
    weights = drawn.weights
    resampled = {"pearson": pooled_pearson(human, metric, weights)}
    if number_of_pairs(human, metric, "pooled") <= MOST_PAIRS:
        resampled["spearman"] = pooled_spearman(human, metric, weights)
        resampled["kendall"], resampled["pairwise_accuracy"] = pooled_pairs(human, metric, weights)
    items = {
        **by_item,
        "pairwise_accuracy": item_parts(human, metric, calibrate=False),
        "tie_calibrated_accuracy": item_parts(human, metric),
    }
    resampled |= {f"{name}_by_item": item_mean(values, weights) for name, values in items.items()}
    return _drop_undefined({name: interval(values, units=drawn.texts) for name, values in resampled.items()})


def item_parts(human: Floats, metric: Floats, *, calibrate: bool = True) -> Floats:
    """The accuracy of every item, at the tie threshold that is best over all, or at 0; NaN where no pair is known."""
    compared = pairs(human, metric, "item")
    right = agreement(compared, calibrated(compared).threshold if calibrate else 0.0)
    items = human.shape[1]
    return divide(np.bincount(compared.group, right, minlength=items), np.bincount(compared.group, minlength=items))


def _drop_undefined(intervals: dict[str, tuple[float, float] | None]) -> dict[str, tuple[float, float]]:
    return {name: interval for name, interval in intervals.items() if interval is not None}


CUTOFF = 2.5
# Makes the median absolute deviation of normal data its standard deviation.
MAD_TO_SD = 1.483


def outliers(human: Floats) -> Bools:
    """Systems whose human score lies more than 2.5 robust standard deviations from the median."""
    known = human[~np.isnan(human)]
    middle = np.median(known)
    spread = MAD_TO_SD * np.median(np.abs(known - middle))
    far: Bools = np.abs(human - middle) > CUTOFF * spread if spread > 0 else np.zeros(len(human), dtype=bool)
    return far
