"""Permutation tests between metrics: were it luck, it would not matter which of the two made which score.

`PERM-BOTH` (Deutsch et al. 2021): the two metrics, standardised, exchange scores at random. Pearson's r is then linear
in the signs of the exchange: with a the mean and d half the difference of two metrics, m1 = a + s d and m2 = a - s d,
so the sums of m, of m squared and of m times the human are constants plus s.d, 2 s.(a d) and s.(g d). One product of
matrices serves all pairs of metrics. Accuracies are sums over groups, which exchange whole.

The smallest p is 1 / (1 + permutations), and Holm multiplies it by the number of pairs: 1,000 permutations cannot reach
.05 from 11 metrics on. So pairs go on being permuted as long as their p is at most .05, up to `enough_permutations`. A
pair that stops earlier has a p above .05; for every level up to .05 the test is as exact as with all permutations.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import varies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    _Tested = tuple[float, NDArray[np.float64]] | None
    _Counted = tuple[float, float] | None

PER_PAIR = 40
"""Permutations for every pair of metrics that is tested: the smallest p is then .025 after Holm's correction."""
LEVEL = 0.05
# Permuted differences are held in slices of about this many.
HELD = 5_000_000
# Signs are drawn in slices of about this many, to bound memory.
SLICE = 10_000_000


@dataclass(frozen=True)
class PermutationTest:
    """Two metrics: the first minus the second, and the two-sided p (the data count as one draw, so never 0)."""

    first: str
    second: str
    difference: float
    p: float


def enough_permutations(metrics: int, permutations: int) -> int:
    """How many permutations let every pair of so many metrics be significant after Holm's correction."""
    return max(permutations, PER_PAIR * (metrics * (metrics - 1) // 2))


def permute_pearson(
    human: NDArray[np.float64],
    metrics: Mapping[str, NDArray[np.float64]],
    *,
    by_item: bool,
    permutations: int,
    rng: np.random.Generator,
) -> tuple[PermutationTest, ...]:
    """Test all pairs of metrics by Pearson's r, pooled or averaged over items; all arrays are (systems, segments).

    Two metrics are compared on the scores that both and the human have.
    """
    known = {name: ~(np.isnan(human) | np.isnan(scores)) for name, scores in metrics.items()}

    def tested(names: list[str], pairs: list[tuple[int, int]], mask: NDArray[np.bool_]) -> list[_Counted]:
        standard = [_standard(metrics[name], mask) for name in names]
        groups = list(_groups(human, np.stack(standard), mask, by_item=by_item))
        most = enough_permutations(len(known), permutations)
        return _counted(lambda own, number: _pearson_differences(groups, own, number, rng), pairs, permutations, most)

    return _by_common_scores(known, tested)


def permute_groups(
    values: Mapping[str, NDArray[np.float64]], *, permutations: int, rng: np.random.Generator
) -> tuple[PermutationTest, ...]:
    """Test all pairs of metrics by the mean of their values of groups, which exchange whole; NaN where none is."""
    known = {name: ~np.isnan(own) for name, own in values.items()}

    def tested(names: list[str], pairs: list[tuple[int, int]], mask: NDArray[np.bool_]) -> list[_Counted]:
        n = int(mask.sum())
        parts = np.stack([values[name][mask] for name in names]) / max(n, 1)

        def permuted(own: list[tuple[int, int]], number: int) -> list[_Tested]:
            difference = np.stack([parts[i] - parts[j] for i, j in own])
            flips = rng.choice(np.array([-1.0, 1.0]), size=(number, n))
            drawn = flips @ difference.T
            return [(float(pair.sum()), drawn[:, k]) if n else None for k, pair in enumerate(difference)]

        return _counted(permuted, pairs, permutations, enough_permutations(len(known), permutations))

    return _by_common_scores(known, tested)


def _counted(
    permuted: Callable[[list[tuple[int, int]], int], list[_Tested]],
    pairs: list[tuple[int, int]],
    permutations: int,
    most: int,
) -> list[_Counted]:
    """The observed difference and p of every pair; pairs whose p is at most .05 are permuted further, up to `most`."""
    counted: dict[tuple[int, int], _Counted] = {}
    extreme = dict.fromkeys(pairs, 0)
    going, drawn, number = pairs, 0, permutations
    while going and number > 0:
        drawn += number
        for pair, result in zip(going, permuted(going, number), strict=True):
            if result is None:
                counted[pair] = None
                continue
            extreme[pair] += _number_as_extreme(*result)
            counted[pair] = (result[0], (1 + extreme[pair]) / (1 + drawn))
        going = [pair for pair in going if (own := counted[pair]) is not None and own[1] <= LEVEL]
        number = min(most - drawn, max(permutations, HELD // max(len(going), 1)))
    return [counted[pair] for pair in pairs]


def _by_common_scores(
    known: Mapping[str, NDArray[np.bool_]],
    tested: Callable[[list[str], list[tuple[int, int]], NDArray[np.bool_]], list[_Counted]],
) -> tuple[PermutationTest, ...]:
    """All pairs of metrics; those with the same scores in common are tested together, by the same draws."""
    names = list(known)
    families: dict[bytes, list[tuple[int, int]]] = {}
    masks: dict[bytes, NDArray[np.bool_]] = {}
    for i, j in combinations(range(len(names)), 2):
        mask = known[names[i]] & known[names[j]]
        key = mask.tobytes()
        masks[key] = mask
        families.setdefault(key, []).append((i, j))
    tests: dict[tuple[int, int], PermutationTest] = {}
    for key, pairs in families.items():
        used = sorted({i for pair in pairs for i in pair})
        local = [(used.index(i), used.index(j)) for i, j in pairs]
        results = tested([names[i] for i in used], local, masks[key])
        for (i, j), result in zip(pairs, results, strict=True):
            difference, p = (np.nan, np.nan) if result is None else result
            tests[i, j] = PermutationTest(names[i], names[j], difference, p)
    return tuple(tests[pair] for pair in combinations(range(len(names)), 2))


def _groups(
    human: NDArray[np.float64], metrics: NDArray[np.float64], mask: NDArray[np.bool_], *, by_item: bool
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Human scores (n) and metric scores (metrics, n) of each group in which the human tells translations apart."""
    if not by_item:
        groups = [(human[mask], metrics[:, mask])]
    else:
        items = range(human.shape[1])
        groups = [(human[mask[:, c], c], metrics[:, mask[:, c], c]) for c in items]
    return ((x, y) for x, y in groups if varies(x))


def _standard(scores: NDArray[np.float64], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    own = scores[mask]
    if not varies(own):
        return np.zeros_like(scores)
    return np.asarray((scores - own.mean()) / own.std())


def _number_as_extreme(observed: float, drawn: NDArray[np.float64]) -> int:
    """How many permuted differences are at least as large as the observed one."""
    return int((np.abs(drawn) >= abs(observed) - 1e-12).sum())


def _pearson_differences(
    groups: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
    pairs: list[tuple[int, int]],
    permutations: int,
    rng: np.random.Generator,
) -> list[_Tested]:
    """For each pair the difference of r (mean over groups) as observed, and permuted; None where there is no group."""
    if not groups:
        return [None] * len(pairs)
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    observed = np.zeros(len(pairs))
    drawn = np.zeros((permutations, len(pairs)))
    for scores, metrics in groups:
        human = scores - scores.mean()
        own, two = metrics[first], metrics[second]
        half, middle = (own - two) / 2, (own + two) / 2
        observed += _difference(human, middle, half, np.ones((1, len(human))))[0]
        step = max(1, SLICE // len(human))
        for start in range(0, permutations, step):
            rows = slice(start, min(start + step, permutations))
            signs = rng.choice(np.array([-1.0, 1.0]), size=(rows.stop - rows.start, len(human)))
            drawn[rows] += _difference(human, middle, half, signs)
    observed, drawn = observed / len(groups), drawn / len(groups)
    return [(float(value), drawn[:, k]) for k, value in enumerate(observed)]


def _difference(
    human: NDArray[np.float64], middle: NDArray[np.float64], half: NDArray[np.float64], signs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """R of the first minus r of the second metric for each row of signs: (signs, pairs)."""
    n = len(human)
    spread = np.sqrt(human @ human)
    shift, square, product = (signs @ part.T for part in (half, middle * half, half * human))
    middle_sum, middle_product = middle.sum(1), middle @ human
    squares = (middle**2 + half**2).sum(1)
    result = np.zeros_like(shift)
    for sign in (1.0, -1.0):
        total = middle_sum + sign * shift
        variance = squares + 2 * sign * square - total**2 / n
        covariance = middle_product + sign * product
        r = np.divide(
            covariance, np.sqrt(np.maximum(variance, 0)) * spread, out=np.zeros_like(total), where=variance > 1e-12
        )
        result += sign * r
    return result
