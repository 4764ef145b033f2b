"""Mathematical functions that stages share: division, correlation, ranks, shares, normal and Student distributions.

`scipy.stats` takes half a second to import, longer than some commands; `scipy.special` has the same functions.
"""

from __future__ import annotations

import math
import weakref
from collections import deque
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from collections.abc import Callable


NORMAL_95 = 1.959963984540054
"""The normal quantile of 0.975: 95% of a normal distribution are within this many standard deviations."""
ROUNDING = 1e-12
"""Values that differ by at most this share of the largest are equal up to rounding."""
FEW = 100
"""Up to this many values, comparing all pairs is faster than sorting."""


def divide(part: ArrayLike, whole: ArrayLike, *, otherwise: float = float("nan")) -> Floats:
    """The quotient, or `otherwise` (without a warning) if the divisor is not positive."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=float), np.asarray(whole, dtype=float))
    return np.asarray(np.divide(part, whole, out=np.full(whole.shape, otherwise), where=whole > 0))


_Integer = TypeVar("_Integer", bound=np.integer[Any])


def distinct(values: NDArray[_Integer]) -> NDArray[_Integer]:
    """The different integers in order: by sorting, which numpy's hash table takes six times as long as at a million."""
    ordered = np.sort(values, axis=None)
    different: NDArray[_Integer] = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return different


def over_contrasts(matrix: Floats) -> Floats:
    """The form d'Md of every pair of systems (i < j), then of every system against the mean of all: (..., contrasts).

    Args:
        matrix: M, one or several (..., systems, systems).
    """
    first, second = np.triu_indices(matrix.shape[-1], 1)
    own = np.diagonal(matrix, axis1=-2, axis2=-1)
    crossed = matrix[..., first, second] + matrix[..., second, first]
    from_mean = own - matrix.mean(-1) - matrix.mean(-2) + matrix.mean((-2, -1))[..., None]
    return np.concatenate([own[..., first] + own[..., second] - crossed, from_mean], axis=-1)


def varies(values: Floats) -> bool:
    """Whether there are two different values, up to rounding."""
    return len(values) > 1 and bool(np.ptp(values) > ROUNDING * np.abs(values).max())


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r; NaN if one side is constant."""
    if not (varies(x) and varies(y)):
        return float("nan")
    a, b = x - x.mean(), y - y.mean()
    scale = np.sqrt((a @ a) * (b @ b))
    return float(np.clip(a @ b / scale, -1, 1)) if scale > 0 else float("nan")


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 1, the smallest value first; equal values share the mean of their ranks."""
    _, code, number = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(number) - (number - 1) / 2)[code], dtype=float)


def signs(values: Floats) -> Floats:
    """For every two values, whether the first is higher (1), equal (0) or lower (-1)."""
    return np.sign(values[:, None] - values)


def spearman(x: Floats, y: Floats) -> float:
    """Spearman's rho, which is Pearson's r of mean ranks; NaN if one side is constant."""
    if not (varies(x) and varies(y)):
        return float("nan")
    if len(x) <= FEW:
        # The number of values below minus the number above is twice the mean rank, apart from a constant.
        return pearson(signs(x).sum(1), signs(y).sum(1))
    return pearson(mean_ranks(x), mean_ranks(y))


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b, with the same digits as SciPy; NaN if one side is constant."""
    if not (varies(x) and varies(y)):
        return float("nan")
    if len(x) > FEW:
        from scipy.stats import kendalltau

        return float(kendalltau(x, y).statistic)
    a, b = signs(x), signs(y)
    # The matrices hold every pair twice.
    agreeing, apart_x, apart_y = (a * b).sum() / 2, np.count_nonzero(a) / 2, np.count_nonzero(b) / 2
    return float(np.clip(agreeing / np.sqrt(apart_x) / np.sqrt(apart_y), -1, 1))


def normal_quantile(probability: ArrayLike) -> Floats:
    """The value below which a standard normal variable lies with this probability."""
    from scipy.special import ndtri

    return np.asarray(ndtri(probability), dtype=float)


def student_tail(value: ArrayLike, df: ArrayLike) -> Floats:
    """The probability that Student's t lies above a value: what `scipy.stats.t.sf` computes in the end."""
    from scipy.special import stdtr

    return np.asarray(stdtr(df, -np.asarray(value, dtype=float)), dtype=float)


def student_below(probability: ArrayLike, df: ArrayLike) -> Floats:
    """The value below which Student's t lies with this probability: what `scipy.stats.t.ppf` computes in the end."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, probability), dtype=float)


def student_quantile(tail: ArrayLike, df: ArrayLike) -> Floats:
    """The value above which Student's t lies with this probability: what `scipy.stats.t.isf` computes in the end."""
    return -student_below(tail, df)


def difference_variances(covariance: Floats) -> Floats:
    """The variance of every difference of two estimates with this covariance; 0 on the diagonal."""
    variance = np.diag(covariance)
    return np.asarray(variance[:, None] + variance[None, :] - covariance - covariance.T)


def expanded_tail(tail: float, units: int) -> float:
    """The share of resampled values to leave off at each end, where `units` units were drawn again.

    The spread over resamples of k units is too small by sqrt((k - 1) / k), and few units need the quantiles of
    Student's t with k - 1 degrees of freedom. So wider percentiles are taken, which are right for a normal
    distribution: the expanded percentile interval of T. C. Hesterberg (2015): What teachers should know about the
    bootstrap. The American Statistician 69, 371-386.
    """
    from scipy.special import ndtr

    return float(ndtr(student_below(tail, units - 1) * np.sqrt(units / (units - 1))))


# Type aliases for arrays.

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int64]
"""Integer codes: each is an index into a list."""
Hashes = NDArray[np.uint64]
Bools = NDArray[np.bool_]
"""One boolean per row or cell, usable as an index."""


# A small cache of results computed from the same judgments: the sections of an audit need the same tables.

_Made = TypeVar("_Made")
_Given = ParamSpec("_Given")
LATEST = 3
"""Results that each function remembers, as long as their judgments are in use."""


def memoised(make: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Cache the latest results of a function of judgments. Callers must not change the arrays of a result."""
    latest: deque[tuple[weakref.ref[Any], dict[str, Any], _Made]] = deque(maxlen=LATEST)

    @wraps(make)
    def cached(*args: _Given.args, **settings: _Given.kwargs) -> _Made:
        (judgments,) = args
        for known, known_settings, kept_result in latest:
            if known() is judgments and known_settings == settings:
                return kept_result
        result = make(*args, **settings)
        latest.append((weakref.ref(judgments), dict(settings), result))
        return result

    return cached


# From estimates with a joint covariance to statements about pairs: differences with p-values, and equivalence.
#
# Every function takes effects, their covariance, and the degrees of freedom of each difference. A difference divided by
# its standard error is referred to Student's t. `ranking.decisions` looks at all differences at once.


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Row minus column, for every pair of systems; the diagonal is no contrast (NaN)."""

    difference: Floats
    se: Floats
    df: Floats
    t: Floats
    greater: Floats
    """One-sided p that the row's system is better than the column's."""
    two_sided: Floats
    lean: Floats | None = None
    """How skewed the estimate of each difference is, third cumulant / se^3; None where that is not known."""

    def part(self, systems: Codes) -> Contrasts:
        """The contrasts of some of the systems, in this order."""
        chosen = np.ix_(systems, systems)
        known = ((field.name, getattr(self, field.name)) for field in fields(self))
        return replace(self, **{name: values[chosen] for name, values in known if values is not None})

    def interval(self, level: float = 0.05) -> tuple[Floats, Floats]:
        """Each difference by itself: 1 - level confidence.

        With a quantile q and a skewness g, the end on the side of the tail lies |g| (1 + 2 q^2) / 6 standard errors
        further out: few of the rare failures seen mean both a small effect and a small error. (N. J. Johnson 1978:
        Modified t tests and confidence intervals for asymmetrical populations. Journal of the American Statistical
        Association 73, 536-544.)
        """
        quantile = student_quantile(level / 2, self.df)
        below = above = self.se * quantile
        if self.lean is not None:
            further = self.se * (1 + 2 * quantile**2) / 6
            below = below + further * np.maximum(-self.lean, 0.0)
            above = above + further * np.maximum(self.lean, 0.0)
        return self.difference - below, self.difference + above


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests: are two systems no further apart than a margin?"""

    difference: float
    low: float
    high: float
    """The 1 - 2 level interval: equivalence is shown where it lies inside the margins."""
    margin: float
    p: float


def contrasts(effects: Floats, covariance: Floats, df: Floats | float = np.inf) -> Contrasts:
    """All differences with standard errors and p-values."""
    se = np.sqrt(np.maximum(difference_variances(covariance), 0.0))
    difference = effects[:, None] - effects[None, :]
    degrees = np.broadcast_to(np.asarray(df, dtype=np.float64), difference.shape).copy()
    np.fill_diagonal(se, np.nan)
    np.fill_diagonal(degrees, np.inf)
    return _compare(difference, se, degrees)


def with_least_errors(compared: Contrasts, least: Floats, lean: Floats | None = None) -> Contrasts:
    """The same differences with standard errors that are at least these.

    Args:
        compared: the differences.
        least: standard errors.
        lean: how skewed estimates with these errors are (`Contrasts.lean`); with larger errors they are less so.
    """
    se = np.fmax(compared.se, least)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewed = None if lean is None else np.nan_to_num(lean * (least / se) ** 3)
    return _compare(compared.difference, se, compared.df, skewed)


def _compare(difference: Floats, se: Floats, df: Floats, lean: Floats | None = None) -> Contrasts:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = difference / se
    if lean is not None:
        ratio = _towards_zero(ratio, lean)
    return Contrasts(difference, se, df, ratio, student_tail(ratio, df), two_sided(ratio, df), lean)


def _towards_zero(t: Floats, lean: Floats) -> Floats:
    """The quantile z with which an interval just reaches 0: |t| = z + |g| (1 + 2 z^2) / 6 if its tail points there."""
    g = np.where(t * lean < 0, np.abs(lean), 0.0)
    left = np.maximum(np.abs(t) - g / 6, 0.0)
    return np.asarray(np.sign(t) * 2 * left / (1 + np.sqrt(1 + 4 / 3 * g * left)))


def two_sided(t: Floats, df: Floats) -> Floats:
    """The p-value of a difference divided by its standard error, without regard to its direction."""
    return np.minimum(2 * student_tail(np.abs(t), df), 1.0)


def equivalence(compared: Contrasts, first: int, second: int, *, margin: float, level: float = 0.05) -> Equivalence:
    """Test whether two systems differ by less than the margin: the larger p of two one-sided tests.

    A difference that is not significant is no evidence of equality; this is.
    """
    difference, se, df = (float(part[first, second]) for part in (compared.difference, compared.se, compared.df))
    tails = student_tail(np.array([difference + margin, margin - difference]) / se, df)
    half = se * float(student_quantile(level, df))
    return Equivalence(difference, difference - half, difference + half, margin, float(tails.max()))


# Shares and correlations with their 95% intervals.


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation over systems, its 95% interval (Fisher's z) and Spearman's; NaN where not defined."""

    pearson: float
    interval: tuple[float, float]
    spearman: float
    n: int


@dataclass(frozen=True)
class Proportion:
    """A share with its 95% interval (Wilson)."""

    share: float
    interval: tuple[float, float]
    n: int


def proportion(part: int, whole: int) -> Proportion:
    """The share and its 95% interval by Wilson's score method (1927), which is honest for few observations."""
    if whole == 0:
        nan = float("nan")
        return Proportion(nan, (nan, nan), 0)
    share, z2 = part / whole, NORMAL_95**2
    middle = (share + z2 / (2 * whole)) / (1 + z2 / whole)
    reach = NORMAL_95 * math.sqrt(share * (1 - share) / whole + z2 / (4 * whole**2)) / (1 + z2 / whole)
    low = 0.0 if part == 0 else max(0.0, middle - reach)
    high = 1.0 if part == whole else min(1.0, middle + reach)
    return Proportion(share, (low, high), whole)


def correlate(x: Floats, y: Floats) -> Correlation:
    """Pearson's correlation with a 95% interval by Fisher's z, and Spearman's; pairs with a gap are left out."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    r = pearson(x, y)
    return Correlation(r, _fisher(r, len(x)), spearman(x, y), len(x))


def _fisher(r: float, n: int) -> tuple[float, float]:
    if n < 4 or not abs(r) < 1:
        return (float("nan"), float("nan"))
    middle, reach = np.arctanh(r), NORMAL_95 / np.sqrt(n - 3)
    return (float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))
