"""Fleiss' kappa (1971): Scott's pi for many annotators, every item weighing the same.

Observed agreement is the mean over items of the share of agreeing pairs of annotations, so items may have different
numbers of annotations; items with fewer than two say nothing and are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.check.coefficients.chance import above_chance, ratio
from adjudge.check.coefficients.scott import chance_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
    observed = float(ratio(np.array((agreeing[used] / pairs[used]).sum()), np.array(used.sum())))
    expected = chance_of(counts[used].sum(0)) if used.any() else float("nan")
    return above_chance(observed, expected), expected


def pairs_within(counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each row of a table items x categories: the pairs of annotations, and those that agree."""
    total = counts.sum(-1)
    return total * (total - 1) / 2, (counts * (counts - 1)).sum(-1) / 2
