"""One metric against the human at each level: systems (with and without outliers), documents, segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.metrics.results import MetricAtLevel
from adjudge.table.maths import Bools, Floats, Ints, divide, expanded_tail, kendall, pearson, spearman, varies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def item_coefficients(human: Floats, metric: Floats) -> dict[str, Floats]:
    """Every coefficient of every item (column); NaN where it is not defined."""
    items = list(groups(human, metric, "item"))
    return {name: np.array([coefficient(x, y) for x, y in items]) for name, coefficient in COEFFICIENTS.items()}


def grouped(coefficient: Coefficient, human: Floats, metric: Floats, grouping: Grouping) -> float:
    """The coefficient pooled, or its mean over the groups where it is defined."""
    values = [coefficient(x, y) for x, y in groups(human, metric, grouping)]
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


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
    group: NDArray[np.int32]
    weight: Floats
    """Of one pair in each group: groups weigh the same."""


@dataclass(frozen=True)
class Calibrated:
    """The best accuracy over all thresholds, and the smallest threshold that reaches it."""

    accuracy: float
    threshold: float


def number_of_pairs(human: Floats, metric: Floats, grouping: Grouping) -> int:
    """Count the pairs within groups."""
    return sum(len(x) * (len(x) - 1) // 2 for x, _ in groups(human, metric, grouping))


def pairs(human: Floats, metric: Floats, grouping: Grouping) -> Pairs:
    """Every pair of scores within each group that has at least two; each group weighs the same."""
    usable = [(x, y) for x, y in groups(human, metric, grouping) if len(x) > 1]
    sizes = np.array([len(x) * (len(x) - 1) // 2 for x, _ in usable], dtype=np.int64)
    preference, difference = np.empty(sizes.sum(), dtype=np.int8), np.empty(sizes.sum())
    start = 0
    for x, y in usable:
        # One score against all later ones: arrays of all pairs at once would need several times the memory.
        for i in range(len(x) - 1):
            end = start + len(x) - 1 - i
            preference[start:end] = np.sign(x[i] - x[i + 1 :])
            np.subtract(y[i], y[i + 1 :], out=difference[start:end])
            start = end
    each = np.repeat(np.arange(len(usable), dtype=np.int32), sizes)
    return Pairs(preference, difference, each, 1 / sizes / max(len(usable), 1))


def agreement(compared: Pairs, threshold: float = 0.0) -> Bools:
    """For each pair, whether the metric says what the human says, when differences up to the threshold are ties."""
    metric_preference = (compared.difference > threshold).astype(np.int8) - (compared.difference < -threshold)
    same: Bools = metric_preference == compared.preference
    return same


def accuracy(compared: Pairs, threshold: float = 0.0) -> float:
    """The share of pairs on which the metric is right, averaged over groups."""
    if not len(compared.weight):
        return float("nan")
    right = np.bincount(compared.group[agreement(compared, threshold)], minlength=len(compared.weight))
    return float(compared.weight @ right)


def calibrated(compared: Pairs) -> Calibrated:
    """The threshold that makes the metric's accuracy best."""
    if not len(compared.weight):
        return Calibrated(float("nan"), 0.0)
    start = accuracy(compared)
    human_tie, agrees = compared.preference == 0, agreement(compared)
    if not human_tie.any():
        return Calibrated(start, 0.0)
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
    return Calibrated(float(values[best]), float(thresholds[best]))


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


# The number of resamples whose weights are in memory at the same time.
CHUNK = 50


def pooled_pairs(human: Floats, metric: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """Kendall's tau-b and pairwise accuracy over all scores, for every resample of segments."""
    x, y, segment = _scores_by_segment(human, metric)
    starts = np.flatnonzero(np.append(True, segment[1:] != segment[:-1]))
    sizes = np.diff(np.append(starts, len(segment)))
    weights = drawn[:, segment[starts]]
    signs_x, other = _signs(x), _signs(y)
    agree = (signs_x == other).astype(np.int8)
    np.fill_diagonal(agree, 0)
    parts = (signs_x * other, signs_x * signs_x, other * other, agree)
    concordant, apart_x, apart_y, same = (_sum_over_pairs(part, starts, weights) for part in parts)
    pairs = (weights @ sizes) ** 2 - weights**2 @ sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        return concordant / np.sqrt(apart_x * apart_y), same / pairs


def pooled_spearman(human: Floats, metric: Floats, drawn: Floats) -> Floats:
    """Spearman's rho over all scores for every resample of segments: ranks are made anew in each."""
    x, y, segment = _scores_by_segment(human, metric)
    values = []
    for start in range(0, len(drawn), CHUNK):
        weights = drawn[start : start + CHUNK][:, segment]
        values.append(_weighted_pearson(_weighted_ranks(x, weights), _weighted_ranks(y, weights), weights))
    return np.concatenate(values)


def _scores_by_segment(human: Floats, metric: Floats) -> tuple[Floats, Floats, Ints]:
    """The scores that both sides have, segment by segment, with the place of the segment."""
    known = ~(np.isnan(human) | np.isnan(metric)).T
    return human.T[known], metric.T[known], np.nonzero(known)[0].astype(np.int64)


def _signs(values: Floats) -> NDArray[np.int8]:
    higher = values[:, None] > values
    return higher.astype(np.int8) - higher.T


def _sum_over_pairs(part: NDArray[np.int8], starts: Ints, weights: Floats) -> Floats:
    rows = np.add.reduceat(part, starts, axis=0, dtype=np.int32)
    gathered = np.add.reduceat(rows, starts, axis=1, dtype=np.int64).astype(float)
    return np.asarray(((weights @ gathered) * weights).sum(1))


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """Mean ranks of values that occur so many times: (resamples, values)."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
    times = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(times, axis=1) - (times - 1) / 2
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
    return np.asarray(middle[:, group])


def _weighted_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    n = weights.sum(1, keepdims=True)
    x, y = (values - (weights * values).sum(1, keepdims=True) / n for values in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(
            (weights * x * y).sum(1) / np.sqrt((weights * x * x).sum(1) * (weights * y * y).sum(1)), dtype=np.float64
        )


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
    grouped_values = {
        f"by_{grouping}": _values(human, metric, grouping) for grouping in GROUPINGS if grouping != "pooled"
    }
    return MetricAtLevel(
        int(known.sum()), _values(human, metric, "pooled"), _segment_intervals(human, metric, drawn), grouped_values
    )


def _values(human: Floats, metric: Floats, grouping: Grouping) -> dict[str, float]:
    values = {name: grouped(coefficient, human, metric, grouping) for name, coefficient in COEFFICIENTS.items()}
    if number_of_pairs(human, metric, grouping) <= MOST_PAIRS:
        compared = pairs(human, metric, grouping)
        best = calibrated(compared)
        values["pairwise_accuracy"] = accuracy(compared)
        values["tie_calibrated_accuracy"] = best.accuracy
        values["tie_threshold"] = best.threshold
    if grouping == "pooled":
        off = np.abs(human - metric)
        values["mae"] = float(off[~np.isnan(off)].mean()) if (~np.isnan(off)).any() else float("nan")
    return values


def _segment_intervals(human: Floats, metric: Floats, drawn: Draws | None) -> dict[str, tuple[float, float]]:
    if drawn is None:
        return {}
    weights = drawn.weights
    resampled = {"pearson": pooled_pearson(human, metric, weights)}
    if number_of_pairs(human, metric, "pooled") <= MOST_PAIRS:
        resampled["spearman"] = pooled_spearman(human, metric, weights)
        resampled["kendall"], resampled["pairwise_accuracy"] = pooled_pairs(human, metric, weights)
    items = {
        **item_coefficients(human, metric),
        "pairwise_accuracy": item_parts(human, metric, calibrate=False),
        "tie_calibrated_accuracy": item_parts(human, metric),
    }
    resampled |= {f"{name}_by_item": item_mean(values, weights) for name, values in items.items()}
    return _drop_undefined({name: interval(values, units=drawn.texts) for name, values in resampled.items()})


def item_parts(human: Floats, metric: Floats, *, calibrate: bool = True) -> Floats:
    """The accuracy of every item, at the tie threshold that is best over all, or at 0; NaN where no pair is known."""
    compared = pairs(human, metric, "item")
    right = agreement(compared, calibrated(compared).threshold if calibrate else 0.0)
    sizes = np.array([len(x) for x, _ in groups(human, metric, "item")])
    parts = np.full(human.shape[1], np.nan)
    if len(compared.group):
        parts[sizes > 1] = np.bincount(compared.group, weights=right) / np.bincount(compared.group)
    return parts


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
