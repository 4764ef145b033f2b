"""Scott's pi (1955): chance follows the distribution of categories over all annotations together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.check.coefficients.chance import above_chance, ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def scott_pi(observed: float, counts: ArrayLike) -> float:
    """Pi from the observed agreement and how often each category was used."""
    return above_chance(observed, chance_of(counts))


def chance_of(counts: ArrayLike) -> float:
    """P(E) of two draws from the distribution of these counts."""
    number = np.asarray(counts, dtype=float)
    return float((ratio(number, number.sum()) ** 2).sum())
