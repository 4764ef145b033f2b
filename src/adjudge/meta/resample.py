"""Intervals by resampling segments: the coefficients are functions of sums over segments, drawn again together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.meta.coefficients import varies

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.meta.coefficients import Coefficient


def weights(count: int, segments: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each segment is drawn in each of `count` resamples."""
    return rng.multinomial(segments, np.full(segments, 1 / segments), size=count).astype(float)


def interval(values: NDArray[np.float64], level: float = 0.05) -> tuple[float, float] | None:
    """The middle of the resampled values; None where too few are defined."""
    defined = values[np.isfinite(values)]
    if len(defined) < 20:
        return None
    low, high = np.quantile(defined, [level / 2, 1 - level / 2])
    return float(low), float(high)


def system_means(scores: NDArray[np.float64], drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """System means of every resample: (resamples, systems)."""
    known = (~np.isnan(scores)).astype(float)
    count = drawn @ known.T
    means = np.full(count.shape, np.nan)
    np.divide(drawn @ np.nan_to_num(scores).T, count, out=means, where=count > 0)
    return means


def system_level(
    coefficient: Coefficient, human: NDArray[np.float64], metric: NDArray[np.float64], drawn: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A coefficient at system level for every resample of segments, over the systems that have scores in it."""
    x, y = system_means(human, drawn), system_means(metric, drawn)
    known = ~(np.isnan(x) | np.isnan(y))
    return np.array([coefficient(a[row], b[row]) for a, b, row in zip(x, y, known, strict=True)])


def pooled_pearson(
    human: NDArray[np.float64], metric: NDArray[np.float64], drawn: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Pearson's r over all scores for every resample of segments, from sums per segment."""
    known = ~(np.isnan(human) | np.isnan(metric))
    if not (varies(human[known]) and varies(metric[known])):
        return np.full(len(drawn), np.nan)
    x, y = (np.where(known, one - one[known].mean(), 0.0) for one in (human, metric))
    n, sx, sy, sxx, syy, sxy = (drawn @ part.sum(0) for part in (known.astype(float), x, y, x * x, y * y, x * y))
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = sxy - sx * sy / n
        spread = np.sqrt((sxx - sx**2 / n) * (syy - sy**2 / n))
        r: NDArray[np.float64] = covariance / spread
    return r


def item_mean(values: NDArray[np.float64], drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over items for every resample; items without a value count for nothing."""
    known = ~np.isnan(values)
    count = drawn @ known.astype(float)
    means = np.full(len(drawn), np.nan)
    np.divide(drawn @ np.where(known, values, 0.0), count, out=means, where=count > 0)
    return means
