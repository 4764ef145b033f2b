"""Rank sets: the ranks that the data leave possible for each system, from resamples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rank_bounds(scores: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Best and worst rank of each system in each row of scores (..., n): they differ where scores are equal.

    A system without a score could stand anywhere.
    """
    mine, theirs = scores[..., :, None], scores[..., None, :]
    low = 1 + (theirs > mine).sum(-1)
    high = scores.shape[-1] - (theirs < mine).sum(-1)
    unknown = np.isnan(scores)
    return np.where(unknown, 1, low), np.where(unknown, scores.shape[-1], high)


def rank_sets(scores: NDArray[np.float64], resampled: NDArray[np.float64], level: float) -> NDArray[np.int64]:
    """For each system the range of its ranks over resamples, trimmed at both ends, widened to hold its own rank.

    Of R resamples, ceil(R level / 2) are trimmed at each end (Koehn 2012).
    """
    own_low, own_high = rank_bounds(scores)
    if len(resampled) == 0:
        return np.stack([np.ones_like(own_low), np.full_like(own_high, len(scores))], axis=1)
    low, high = rank_bounds(resampled)
    trim = min(math.ceil(len(resampled) * level / 2), (len(resampled) - 1) // 2)
    lowest = np.sort(low, axis=0)[trim]
    highest = np.sort(high, axis=0)[len(resampled) - 1 - trim]
    return np.stack([np.minimum(lowest, own_low), np.maximum(highest, own_high)], axis=1)
