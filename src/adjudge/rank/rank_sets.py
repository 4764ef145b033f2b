"""Rank sets: the ranks that the data leave possible for each system, and intervals of all differences at once.

Of estimates with a joint covariance, after M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm (2024): Inference for ranks
with applications to mobility across neighbourhoods and academic achievement across countries. Review of Economic
Studies 91, 476-518. A system's rank can be as high as the number of systems that are surely better leaves it, and as
low as the number that are surely worse; "surely" holds for all of them at once, by the quantile of the largest
statistic, in steps that leave out what is already decided. A difference divided by its standard error is first turned
from Student's t into the normal quantile of the same probability, so that the joint distribution needs only the
covariance.

Of other methods, by resampling: the ranks over resamples, trimmed at both ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import normal_quantile, student_quantile, student_tail
from adjudge.core.rng import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.contrasts import Contrasts

DRAWS = 10_000
_CHUNK_NUMBERS = 200_000
_STREAM = 4


@dataclass(frozen=True, eq=False)
class RankSets:
    """Lowest and highest possible rank of each system, (n, 2)."""

    marginal: NDArray[np.int64]
    """Each system's set holds its rank with the confidence asked for."""
    simultaneous: NDArray[np.int64]
    """All sets hold all ranks together with the confidence asked for."""


def rank_sets(
    compared: Contrasts, covariance: Floats, *, level: float = 0.05, seed: int = 1, draws: int = DRAWS
) -> RankSets:
    """Marginal and simultaneous rank sets."""
    noise = _noise(covariance, seed, draws)
    n = len(covariance)
    everyone = ~np.eye(n, dtype=bool)
    statistic = _as_normal(compared)
    simultaneous = _ranks(_decided(statistic, compared.se, noise, everyone, level))
    marginal = np.empty_like(simultaneous)
    for i in range(n):
        own = np.zeros((n, n), dtype=bool)
        own[i, :] = own[:, i] = True
        own[i, i] = False
        marginal[i] = _ranks(_decided(statistic, compared.se, noise, own, level))[i]
    return RankSets(marginal, simultaneous)


def simultaneous_interval(
    compared: Contrasts, covariance: Floats, *, level: float = 0.05, seed: int = 1, draws: int = DRAWS
) -> tuple[Floats, Floats]:
    """All differences at once: with confidence 1 - level every interval holds its difference."""
    from scipy.special import ndtr

    everyone = ~np.eye(len(covariance), dtype=bool)
    quantile = _largest_quantile(_noise(covariance, seed, draws), compared.se, everyone, level)
    half = compared.se * student_quantile(ndtr(-quantile), compared.df)
    return compared.difference - half, compared.difference + half


def rank_bounds(scores: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Best and worst rank of each system in each row of scores (..., n): they differ where scores are equal.

    A system without a score could stand anywhere.
    """
    mine, theirs = scores[..., :, None], scores[..., None, :]
    low = 1 + (theirs > mine).sum(-1)
    high = scores.shape[-1] - (theirs < mine).sum(-1)
    unknown = np.isnan(scores)
    return np.where(unknown, 1, low), np.where(unknown, scores.shape[-1], high)


def resampled_rank_sets(scores: Floats, resampled: Floats, level: float) -> NDArray[np.int64]:
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


def _noise(covariance: Floats, seed: int, draws: int) -> Floats:
    """Draws of estimation errors, (n, draws)."""
    value, vector = np.linalg.eigh((covariance + covariance.T) / 2)
    half = vector * np.sqrt(np.maximum(value, 0.0))
    errors = generator(seed, _STREAM).standard_normal((draws, len(covariance))) @ half.T
    return np.ascontiguousarray(errors.T)


def _decided(
    statistic: Floats, se: Floats, noise: Floats, family: NDArray[np.bool_], level: float
) -> NDArray[np.bool_]:
    """Which of the ordered pairs in the family are decided (row better than column), all at once, in steps."""
    open_ = family.copy()
    decided = np.zeros_like(family)
    while open_.any():
        beyond = open_ & (statistic > _largest_quantile(noise, se, open_, level))
        if not beyond.any():
            break
        decided |= beyond
        open_ &= ~beyond
    return decided


def _as_normal(compared: Contrasts) -> Floats:
    """The normal quantile of the same tail probability as t, in the direction of the difference."""
    tail = student_tail(np.abs(compared.t), compared.df)
    quantile: Floats = -np.sign(compared.t) * normal_quantile(tail)
    return np.nan_to_num(quantile, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _largest_quantile(noise: Floats, se: Floats, family: NDArray[np.bool_], level: float) -> float:
    """The 1 - level quantile of the largest standardised error in the family: a value that occurs."""
    row, column = np.nonzero(family)
    scale = 1 / se[row, column]
    largest = np.full(noise.shape[1], -np.inf)
    step = max(1, _CHUNK_NUMBERS // len(largest))
    for start in range(0, len(row), step):
        pairs = slice(start, start + step)
        errors = (noise[row[pairs]] - noise[column[pairs]]) * scale[pairs, None]
        np.maximum(largest, errors.max(axis=0), out=largest)
    # The method "higher" of `numpy.quantile`, which takes longer than the rest.
    position = int(np.ceil((len(largest) - 1) * (1 - level)))
    return float(np.partition(largest, position)[position])


def _ranks(better: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Lowest and highest rank of each system, given who is surely better than whom (row than column)."""
    return np.stack([1 + better.sum(axis=0), len(better) - better.sum(axis=1)], axis=1)
