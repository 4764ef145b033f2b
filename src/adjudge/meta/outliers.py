"""Outlier systems, whose presence alone makes a correlation high (Mathur, Baldwin and Cohn 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CUTOFF = 2.5
# Makes the median absolute deviation of normal data its standard deviation.
NORMAL = 1.483


def outliers(human: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Systems whose human score lies more than 2.5 robust standard deviations from the median."""
    known = human[~np.isnan(human)]
    middle = np.median(known)
    spread = NORMAL * np.median(np.abs(known - middle))
    far: NDArray[np.bool_] = (
        np.abs(human - middle) > CUTOFF * spread if spread > 0 else np.zeros(len(human), dtype=bool)
    )
    return far
