"""One metric against the human at each level: systems (with and without outliers), documents, segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.meta import resampling
from adjudge.meta.accuracy import accuracy, agreement, calibrated, number_of_pairs, pairs, soft_pairwise_accuracy
from adjudge.meta.coefficients import COEFFICIENTS, GROUPINGS, grouped, groups, item_coefficients
from adjudge.meta.resampling import pooled_pairs, pooled_spearman
from adjudge.results.meta import MetricAtLevel

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools, Floats
    from adjudge.meta.coefficients import Grouping
    from adjudge.meta.resampling import Draws
    from adjudge.meta.scores import Scores


# More pairs of scores than this (from 6,000 pooled scores) would take gigabytes and are left out.
MOST_PAIRS = 18_000_000


def at_system_level(scores: Scores, name: str, drawn: Draws | None, flips: Floats | None) -> MetricAtLevel:
    """Correlations of system scores; soft pairwise accuracy where segments are known.

    A score of the whole test set is no mean of segments, so there is no interval from resampling them.
    Human scores are averaged over the segments that the metric scored.
    """
    human, means = scores.matched_means(name)
    scores = scores.matched(name)
    metric = scores.metrics[name]
    known = ~(np.isnan(human) | np.isnan(means))
    x, y = human[known], means[known]
    values = {key: coefficient(x, y) for key, coefficient in COEFFICIENTS.items()}
    values["pairwise_accuracy"] = _pairwise(x, y)
    if flips is not None:
        values["soft_pairwise_accuracy"] = soft_pairwise_accuracy(scores.human, metric, flips)
    intervals = {
        key: resampling.interval(
            resampling.system_level(coefficient, scores.human, metric, drawn.weights), units=drawn.texts
        )
        for key, coefficient in {**COEFFICIENTS, "pairwise_accuracy": _pairwise}.items()
        if drawn is not None and name not in scores.whole
    }
    return MetricAtLevel(int(known.sum()), values, _drop_undefined(intervals))


def _pairwise(x: Floats, y: Floats) -> float:
    return accuracy(pairs(x[:, None], y[:, None], "pooled"))


def at_segment_level(scores: Scores, metric: Floats, drawn: Draws | None) -> MetricAtLevel:
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
    resampled = {"pearson": resampling.pooled_pearson(human, metric, weights)}
    if number_of_pairs(human, metric, "pooled") <= MOST_PAIRS:
        resampled["spearman"] = pooled_spearman(human, metric, weights)
        resampled["kendall"], resampled["pairwise_accuracy"] = pooled_pairs(human, metric, weights)
    items = {
        **item_coefficients(human, metric),
        "pairwise_accuracy": item_parts(human, metric, calibrate=False),
        "tie_calibrated_accuracy": item_parts(human, metric),
    }
    resampled |= {f"{name}_by_item": resampling.item_mean(values, weights) for name, values in items.items()}
    return _drop_undefined({name: resampling.interval(values, units=drawn.texts) for name, values in resampled.items()})


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
