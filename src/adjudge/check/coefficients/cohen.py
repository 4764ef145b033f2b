"""Cohen's kappa (1960): chance follows each annotator's own distribution of categories.

It is a coefficient for two annotators. For more, the two-annotator quantities are pooled over all pairs of annotators,
each pair of annotators weighing as many times as it has shared annotations:

    kappa = sum n_ab (P_o,ab - P_e,ab) / sum n_ab (1 - P_e,ab)

With two annotators this is Cohen's kappa itself. A plain mean of the pairs' kappas would let two people who share three
items weigh as much as two who share three hundred (and is undefined where they happen to agree on one category).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.check.coefficients.chance import above_chance, ratio
from adjudge.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def cohen_kappa(first: Sequence[object], second: Sequence[object]) -> float:
    """Kappa of two annotators' categories for the same items, in the same order."""
    if len(first) != len(second):
        raise UsageError(f"the annotators have {len(first)} and {len(second)} annotations; give one each per item")
    code = {category: i for i, category in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(code), len(code)))
    np.add.at(table, ([code[one] for one in first], [code[one] for one in second]), 1)
    return kappa_of_table(table)


def kappa_of_table(table: ArrayLike) -> float:
    """Kappa of a square table: how often the first annotator chose row i where the second chose column j."""
    counts = np.asarray(table, dtype=float)
    total = np.array(counts.sum())
    observed = ratio(np.array(np.trace(counts)), total)
    expected = ratio(np.array(counts.sum(1) @ counts.sum(0)), total**2)
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
    chance = float(ratio(np.array((pairs * expected).sum()), total))
    return above_chance(float(ratio(np.array((pairs * observed).sum()), total)), chance), chance
