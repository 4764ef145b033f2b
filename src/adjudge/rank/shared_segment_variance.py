"""What annotators who judge the same source segments have in common, and how much it widens the errors of strengths.

A system does better on some segments than on others. Where several annotators judge the same segment, they see the same
luck, and their judgments are not independent, however many people there are. A system has on every segment a deviation
with standard deviation sigma (log-odds). The scores of two annotators on one segment then have the covariance
sigma^2 H_g H_h, from which sigma^2 is estimated by moments over all such pairs of annotators; and the strengths get

    sigma^2 A+ [sum over segments of sum over g != h of N_g N_h'] A+,    N_g = M_g H_g,

where H_g is the information of annotator g on the segment and M_g how g's scores are weighted. Pairs of judgments of
one annotator are left out: how they hang together is part of the annotators' own covariance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.bradley_terry import expectations

if TYPE_CHECKING:
    from collections.abc import Iterator

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.core.comparisons import Comparisons

    Integers = NDArray[np.int64]

# Segments are taken in slices of about this many numbers, to bound memory.
SLICE = 8_000_000
SMALLEST_SHARE = 1e-12
"""Differences below this share of what is subtracted are rounding."""


@dataclass(frozen=True, eq=False)
class SegmentEffect:
    """The deviations of systems on segments: their standard deviation, and what they add to the sum of scores."""

    sd: float
    added: Floats
    """(n, n): the variance that they add to the weighted sum of all scores."""
    segments: float
    """How many segments with several annotators there are, as if all were judged alike."""

    def widened(self, covariance: Floats, df: Floats, inverse: Floats, contrasts: Floats) -> tuple[Floats, Floats]:
        """The covariance of strengths with this effect in it, and the degrees of freedom of the contrasts."""
        added = inverse @ self.added @ inverse
        total = covariance + added
        before, after = (np.einsum("ci,ij,cj->c", contrasts, matrix, contrasts) for matrix in (covariance, total))
        own = np.maximum(after - before, 0.0)
        spread = before**2 / df + own**2 / max(self.segments - 1, 1.0)
        return total, np.where(spread > 0, after**2 / np.maximum(spread, 1e-300), df)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Scores and information by segment and annotator, sorted by segment; one row per cell."""

    segment: Integers
    annotator: Integers
    score: sp.csr_array
    information: sp.csr_array
    """Rows of n * n numbers."""


def segment_effect(
    blocks: Comparisons, annotator: Integers, strength: Floats, log_tie: float, weighting: Floats
) -> SegmentEffect | None:
    """Estimate the effect; None where no two annotators judged a system on the same segment, or none is known.

    Args:
        blocks: the comparisons.
        annotator: who made each of them, as an index of `weighting`.
        strength: of the systems.
        log_tie: the parameter of ties.
        weighting: M_g (people, n, n).
    """
    if len(blocks) == 0 or blocks.segment.max() == blocks.segment.min():
        return None
    cells = _shared(_cells(blocks, annotator, strength, log_tie))
    if len(cells.segment) == 0:
        return None
    number = _effective_segments(cells)
    scores, information = (_between(matrix, cells.segment) for matrix in (cells.score, cells.information))
    if information <= 0:
        # Annotators share segments, but on none of them a system.
        return None
    # Fitted strengths take up what all segments have in common.
    variance = max(scores / information / (1 - 1 / number) if number > 1 else 0.0, 0.0)
    middle = sum(_crossed(cells, weighting), start=np.zeros((len(strength), len(strength))))
    value, vector = np.linalg.eigh((middle + middle.T) / 2)
    added: Floats = variance * (vector * np.maximum(value, 0.0)) @ vector.T
    return SegmentEffect(float(np.sqrt(variance)), added, number)


def _cells(blocks: Comparisons, annotator: Integers, strength: Floats, log_tie: float) -> _Cells:
    from scipy.sparse import coo_array

    n, people = len(strength), int(annotator.max()) + 1
    mean, variance = expectations(strength, log_tie)
    key, row = np.unique(blocks.segment.astype(np.int64) * people + annotator, return_inverse=True)
    first, second = blocks.first.astype(np.int64), blocks.second.astype(np.int64)
    residual = (blocks.outcome + 1) / 2 - mean[first, second]
    v = variance[first, second]
    score = coo_array(
        (np.concatenate([residual, -residual]), (np.tile(row, 2), np.concatenate([first, second]))),
        shape=(len(key), n),
    )
    column = np.concatenate([first * n + first, second * n + second, first * n + second, second * n + first])
    information = coo_array((np.concatenate([v, v, -v, -v]), (np.tile(row, 4), column)), shape=(len(key), n * n))
    return _Cells(key // people, key % people, score.tocsr(), information.tocsr())


def _shared(cells: _Cells) -> _Cells:
    """The cells of segments that several annotators judged."""
    _, code, times = np.unique(cells.segment, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(times[code] > 1)
    return _Cells(cells.segment[kept], cells.annotator[kept], cells.score[kept], cells.information[kept])


def _between(matrix: sp.csr_array, segment: Integers) -> float:
    """The sum of products of rows of different annotators on the same segment; exactly 0 where they share nothing."""
    from scipy.sparse import coo_array

    _, code = np.unique(segment, return_inverse=True)
    rows = np.arange(len(code))
    joining = coo_array((np.ones(len(code)), (code, rows)), shape=(int(code.max()) + 1, len(code))).tocsr()
    whole, own = float((joining @ matrix).power(2).sum()), float(matrix.power(2).sum())
    return 0.0 if abs(whole - own) < SMALLEST_SHARE * own else whole - own


def _effective_segments(cells: _Cells) -> float:
    """The number of segments, weighed by the information on them."""
    n = cells.score.shape[1]
    weight = np.asarray(cells.information[:, np.arange(n) * (n + 1)].sum(axis=1)).ravel()
    _, code = np.unique(cells.segment, return_inverse=True)
    by_segment = np.bincount(code, weights=weight)
    return float(by_segment.sum() ** 2 / (by_segment**2).sum())


def _crossed(cells: _Cells, weighting: Floats) -> Iterator[Floats]:
    """Slice by slice, the sum over segments of N_g N_h' over different annotators g and h."""
    n = weighting.shape[1]
    starts = np.flatnonzero(np.diff(cells.segment, prepend=-1))
    ends = np.append(starts[1:], len(cells.segment))
    step = max(1, SLICE // (n * n * max(1, int((ends - starts).max()))))
    for begin in range(0, len(starts), step):
        low, high = starts[begin], ends[min(begin + step, len(ends)) - 1]
        information = cells.information[low:high].toarray().reshape(-1, n, n)
        weighted = weighting[cells.annotator[low:high]] @ information
        whole = np.add.reduceat(weighted, starts[begin : begin + step] - low, axis=0)
        flat, total = (part.transpose(1, 0, 2).reshape(n, -1) for part in (weighted, whole))
        yield total @ total.T - flat @ flat.T
