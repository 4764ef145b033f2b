"""Intervals by resampling texts: documents, or segments where documents are not named.

What human and metric think of one segment of a document, they also think of its others, so that its segments are drawn
together.

Most coefficients are functions of sums over segments, drawn again together. Rank coefficients over all scores are sums
over pairs of scores, gathered by pairs of segments: a resample that draws segment a w(a) times weighs a pair of scores
by w(a) w(b). So the sum over all pairs is w'Mw, where M holds the sums over the pairs of each two segments: made once,
it serves every resample. Pairs of copies of one score are ties on both sides, which tau-b leaves out and which count
for no accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import divide, expanded_tail, varies

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats, Ints
    from adjudge.meta.coefficients import Coefficient


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
