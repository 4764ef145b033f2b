"""Krippendorff's alpha (2018): 1 - observed / expected disagreement, for any number of annotators and missing values.

Everything is a sum over units (the things judged), so no table of values x values is needed:

- interval: the squared differences within a unit of m values add up to 2 m sum(x^2) - 2 sum(x)^2;
- ordinal: the ordinal distance of two values is the difference of their mid-ranks among all values, so ordinal alpha is
  interval alpha of the mid-ranks;
- nominal: the pairs that differ follow from how often each value occurs in the unit.

A unit with one value says nothing and is left out, as in the definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.check.coefficients.chance import ratio
from adjudge.core.errors import UsageError, unknown_choice

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def alpha(units: ArrayLike, values: ArrayLike, *, level: Level = "interval") -> float:
    """Alpha of values in long form: `values[i]` was given to the thing `units[i]`.

    Args:
        units: what was judged: whole numbers (fast) or anything that can be told apart.
        values: the values given; NaN is a missing value.
        level: `nominal` (equal or not), `ordinal` (order counts), `interval` (differences count).

    Returns:
        1 for perfect agreement, 0 for chance, NaN where no unit has two values or all values are equal.
    """
    if level not in LEVELS:
        raise unknown_choice("level", level, LEVELS)
    code, given = _pairable(np.asarray(units), np.asarray(values))
    if len(given) == 0:
        return float("nan")
    if level == "nominal":
        return _nominal(code, given)
    return _interval(code, _mid_ranks(given) if level == "ordinal" else given.astype(float))


def nominal_alpha(
    counts: NDArray[np.float64], pairs: NDArray[np.float64], agreeing: NDArray[np.float64]
) -> tuple[float, float]:
    """Nominal alpha and its P(E) from a table units x categories.

    `pairs` and `agreeing` say which pairs within a unit count (say, those of different annotators). A unit weighs as
    many times as it has values, which is Krippendorff's definition where all its pairs count.
    """
    used = pairs > 0
    sizes = counts[used].sum(-1)
    total = np.array(sizes.sum())
    disagreement = ratio(np.array((sizes * (1 - agreeing[used] / pairs[used])).sum()), total)
    number = counts[used].sum(0)
    chance = ratio(np.array((number * (number - 1)).sum()), total * (total - 1))
    return float(1 - ratio(disagreement, 1 - chance)), float(chance)


def _pairable(units: NDArray[np.generic], values: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.generic]]:
    """Codes of units and values, without missing values and without units that have one value only."""
    if units.shape != values.shape:
        raise UsageError(f"{units.size} units and {values.size} values were given; each value needs its unit")
    if values.dtype.kind == "f" and np.isnan(values).any():
        kept = ~np.isnan(values)
        units, values = units[kept], values[kept]
    code = _unit_codes(units)
    single = np.bincount(code) == 1 if len(code) else np.zeros(0, dtype=bool)
    if not single.any():
        return code, values
    kept = ~single[code]
    return code[kept], values[kept]


def _unit_codes(units: NDArray[np.generic]) -> NDArray[np.int64]:
    if units.dtype.kind in "biuf":
        return _codes(units)
    number: dict[object, int] = {}
    return np.array([number.setdefault(unit, len(number)) for unit in units.tolist()], dtype=np.int64)


def _codes(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """Numbers from 0 that keep the order of the values. Whole numbers close together need no sorting."""
    if values.dtype.kind in "biuf" and len(values):
        whole = values.astype(np.int64) if values.dtype.kind != "f" or np.abs(values).max() < 2**53 else None
        if whole is not None and np.array_equal(whole, values):
            low, high = int(whole.min()), int(whole.max())
            if high - low <= 10 * len(values):
                return whole - low
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def _interval(unit: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    # Alpha does not change when all values are shifted; around the mean, squares lose no digits.
    centred = values - values.mean()
    sizes = np.bincount(unit).astype(float)
    sums = np.bincount(unit, weights=centred)
    squares = np.bincount(unit, weights=centred * centred)
    used = sizes > 1
    sizes, sums, squares = sizes[used], sums[used], squares[used]
    n = sizes.sum()
    observed = (2 * (sizes * squares - sums**2) / (sizes - 1)).sum() / n
    expected = 2 * (n * squares.sum() - sums.sum() ** 2) / (n * (n - 1))
    return float(1 - ratio(np.array(observed), np.array(expected)))


def _mid_ranks(values: NDArray[np.generic]) -> NDArray[np.float64]:
    code = _codes(values)
    number = np.bincount(code)
    middle = np.cumsum(number) - number / 2
    return np.asarray(middle[code], dtype=float)


def _nominal(unit: NDArray[np.int64], values: NDArray[np.generic]) -> float:
    value = _codes(values)
    kinds = int(value.max()) + 1
    sizes = np.bincount(unit).astype(float)
    cell, times = _occupied(unit * kinds + value, len(sizes) * kinds)
    # Ordered pairs that agree, each weighing 1 / (m - 1) by the size m of its unit.
    agreement = (times * (times - 1.0) / (sizes[cell // kinds] - 1)).sum() / len(value)
    number = np.bincount(value).astype(float)
    chance = (number * (number - 1)).sum() / (len(value) * (len(value) - 1.0))
    return float(1 - ratio(np.array(1 - agreement), np.array(1 - chance)))


def _occupied(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys that occur and how often: by counting where the table is small enough, by sorting otherwise."""
    if size <= 20 * len(key):
        times = np.bincount(key)
        found = np.flatnonzero(times)
        return found, times[found]
    return np.unique(key, return_counts=True)
