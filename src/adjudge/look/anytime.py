"""Confidence sequences: intervals that hold at all times at once, for those who look whenever they like.

With the normal mixture (Robbins 1970), for every nu > 0,

    P(exists k: |d_k - delta| >= se_k^2 sqrt((I_k + nu) ln((I_k + nu) / (nu a^2)))) <= a

for Gaussian increments, and asymptotically for averages (I. Waudby-Smith et al. 2024: Time-uniform central limit theory
and asymptotic confidence sequences. Annals of Statistics 52, 2613-2640). nu is chosen so that the interval is narrowest
at the planned information; there it is about 1.55 times as wide as an interval for one look.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np


def mixture_bound(fraction: float, level: float, share: float) -> float:
    """How many standard errors the interval reaches to either side.

    Args:
        fraction: information so far, as a fraction of the planned one.
        level: the two-sided level.
        share: nu as a fraction of the planned information, from `narrowest`.
    """
    ratio = share / fraction
    return float(np.sqrt((1 + ratio) * (np.log1p(1 / ratio) - 2 * np.log(level))))


@lru_cache(maxsize=64)
def narrowest(level: float) -> float:
    """The share of the planned information at which nu makes the interval narrowest when all judgments are in."""
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(lambda log: mixture_bound(1.0, level, float(np.exp(log))), bounds=(-10, 3), method="bounded")
    return float(np.exp(best.x))


def price(level: float = 0.05) -> float:
    """How much wider than an interval for one look the sequence is when all planned judgments are in."""
    from scipy.special import ndtri

    return mixture_bound(1.0, level, narrowest(level)) / float(-ndtri(level / 2))
