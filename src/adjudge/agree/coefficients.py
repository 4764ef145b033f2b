"""Coefficients of agreement. All but alpha have the form (observed - expected) / (1 - expected).

S (Bennett, Alpert and Goldstein 1954): all categories are equally likely by chance. For preferences from rank labels
this overstates chance ties: somebody who clicks labels at random on a scale of k labels ties two systems with
probability 1/k, not 1/3 (Bojar et al. 2011, section 2.2.2). `random_clicker` gives that chance agreement; with five
labels it is .36.

Scott's pi (1955): chance follows the distribution of categories over all annotations together.

Cohen's kappa (1960): chance follows each annotator's own distribution of categories. It is a coefficient for two
annotators. For more, the two-annotator quantities are pooled over all pairs of annotators, each pair weighing as many
times as it has shared annotations:

    kappa = sum n_ab (P_o,ab - P_e,ab) / sum n_ab (1 - P_e,ab)

With two annotators this is Cohen's kappa itself. A plain mean of the pairs' kappas would let two people who share three
items weigh as much as two who share three hundred (and is undefined where they happen to agree on one category).

Fleiss' kappa (1971): Scott's pi for many annotators, every item weighing the same. Observed agreement is the mean over
items of the share of agreeing pairs of annotations, so items may have different numbers of annotations; items with
fewer than two say nothing and are left out.

Krippendorff's alpha (2018): 1 - observed / expected disagreement, for any number of annotators and missing values.
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

from adjudge.core.errors import UsageError, unknown_choice
from adjudge.core.maths import divide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def above_chance(observed: float, expected: float) -> float:
    """(observed - expected) / (1 - expected); NaN where chance alone would agree always, or nothing was observed."""
    return float(above_chance_all(np.array([observed]), np.array([expected]))[0])


def above_chance_all(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for many at once."""
    return divide(observed - expected, 1 - expected)


def random_clicker(labels: int) -> float:
    """P(E) of better/tie/worse between two people who choose among so many rank labels at random."""
    tie = 1 / labels
    return tie**2 + 2 * ((1 - tie) / 2) ** 2


def chance_of(counts: ArrayLike) -> float:
    """P(E) of two draws from the distribution of these counts."""
    number = np.asarray(counts, dtype=float)
    return float((divide(number, number.sum()) ** 2).sum())


def cohen_kappa(first: Sequence[object], second: Sequence[object]) -> float:
    """Kappa of two annotators' categories for the same items, in the same order."""
    if len(first) != len(second):
        raise UsageError(f"the annotators have {len(first)} and {len(second)} annotations; give one each per item")
    code = {category: i for i, category in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(code), len(code)))
    np.add.at(table, ([code[category] for category in first], [code[category] for category in second]), 1)
    return kappa_of_table(table)


def kappa_of_table(table: ArrayLike) -> float:
    """Kappa of a square table: how often the first annotator chose row i where the second chose column j."""
    counts = np.asarray(table, dtype=float)
    total = np.array(counts.sum())
    observed = divide(np.array(np.trace(counts)), total)
    expected = divide(np.array(counts.sum(1) @ counts.sum(0)), total**2)
    return above_chance(float(observed), float(expected))


def pooled_cohen_kappa(
    pairs: NDArray[np.float64], observed: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[float, float]:
    """Kappa pooled over pairs of annotators, and its P(E).

    Args:
        pairs: how many annotations each two annotators share.
        observed: the share of them that agree.
        expected: the agreement that the two annotators' own distributions would give by chance.

    Returns:
        Kappa and the pooled P(E).
    """
    total = np.array(pairs.sum())
    chance = float(divide(np.array((pairs * expected).sum()), total))
    return above_chance(float(divide(np.array((pairs * observed).sum()), total)), chance), chance


def fleiss_kappa(counts: ArrayLike) -> float:
    """Kappa of a table items x categories: how many annotators put the item into the category."""
    table = np.asarray(counts, dtype=float)
    pairs, agreeing = pairs_within(table)
    return fleiss_parts(table, pairs, agreeing)[0]


def fleiss_parts(
    counts: NDArray[np.float64], pairs: NDArray[np.float64], agreeing: NDArray[np.float64]
) -> tuple[float, float]:
    """Kappa and its P(E), where only some pairs within an item count (say, those of different annotators)."""
    used = pairs > 0
    observed = float(divide(np.array((agreeing[used] / pairs[used]).sum()), np.array(used.sum())))
    expected = chance_of(counts[used].sum(0)) if used.any() else float("nan")
    return above_chance(observed, expected), expected


def pairs_within(counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each row of a table items x categories: the pairs of annotations, and those that agree."""
    total = counts.sum(-1)
    return total * (total - 1) / 2, (counts * (counts - 1)).sum(-1) / 2


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
    disagreement = divide(np.array((sizes * (1 - agreeing[used] / pairs[used])).sum()), total)
    number = counts[used].sum(0)
    chance = divide(np.array((number * (number - 1)).sum()), total * (total - 1))
    return float(1 - divide(disagreement, 1 - chance)), float(chance)


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
    return float(1 - divide(np.array(observed), np.array(expected)))


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
    return float(1 - divide(np.array(1 - agreement), np.array(1 - chance)))


def _occupied(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys that occur and how often: by counting where the table is small enough, by sorting otherwise."""
    if size <= 20 * len(key):
        times = np.bincount(key)
        occupied = np.flatnonzero(times)
        return occupied, times[occupied]
    return np.unique(key, return_counts=True)
