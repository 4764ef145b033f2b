"""Errors of strengths where judgments hang together: those of one annotator, and those of several on one text.

By annotator: a covariance from the residuals of clusters, with corrections for small numbers of them.
The sandwich of Liang and Zeger is too small where clusters are few or unequal. "CR2" of Bell and McCaffrey (2002)
multiplies each cluster's residual by a matrix that makes the sandwich unbiased under a working covariance, and gives
every contrast degrees of freedom by Satterthwaite's rule. As in Pustejovsky and Tipton (2018), for weighted fits:

    r_g = u_g - W_g delta,    Var(r_g) = W_g - W_g A+ W_g = B_g,    K_g B_g K_g = W_g,
    C = A+ (sum K_g r_g r_g' K_g) A+,

where u_g is the weighted score of cluster g with variance W_g, A the sum of all W_g and A+ its inverse.

By text: what annotators who judge the same source segments have in common, and how much it widens the errors.
A system does better on some segments than on others. Where several annotators judge the same segment, they see the same
luck, and their judgments are not independent, however many people there are. A system has on every segment a deviation
with standard deviation sigma (log-odds). The scores of two annotators on one segment then have the covariance
sigma^2 H_g H_h, from which sigma^2 is estimated by moments over all such pairs of annotators; and the strengths get

    sigma^2 A+ [sum over segments of sum over g != h of N_g N_h'] A+,    N_g = M_g H_g,

where H_g is the information of annotator g on the segment and M_g how g's scores are weighted. Pairs of judgments of
one annotator are left out: how they hang together is part of the annotators' own covariance.

The segments of one document have luck in common too: a system that suits a text, or misreads it, does so throughout.
Where documents are named, the same is done with documents in the place of segments. The variance in documents comes
from pairs of annotators who judged different segments of one document; what pairs on the same segment have in common
beyond it is that of segments.
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

SMALLEST_EIGENVALUE = 1e-8
"""Eigenvalues below this share of the largest are rounding."""
SMALLEST_DIFFERENCE = 1e-12
"""Differences below this share of what is subtracted are rounding."""
# Contrasts and texts are taken in slices of about so many numbers, to bound memory.
CONTRASTS_SLICE = 4_000_000
TEXTS_SLICE = 8_000_000


def clustered_covariance(
    weights: Floats, residuals: Floats, inverse: Floats, contrasts: Floats
) -> tuple[Floats, Floats]:
    """The covariance by clusters, and the degrees of freedom of each contrast.

    Args:
        weights: W_g (clusters, n, n).
        residuals: r_g (clusters, n).
        inverse: A+ (n, n).
        contrasts: (contrasts, n), whose rows add up to 0.
    """
    correction = corrections(weights, inverse)
    corrected = np.einsum("gij,gj->gi", correction, residuals)
    covariance = inverse @ (corrected.T @ corrected) @ inverse
    step = max(1, CONTRASTS_SLICE // max(1, residuals.size))
    df = [
        _degrees(weights, correction, inverse, contrasts[start : start + step])
        for start in range(0, len(contrasts), step)
    ]
    return covariance, np.concatenate(df)


def corrections(weights: Floats, inverse: Floats) -> Floats:
    """K_g (clusters, n, n): symmetric, with K_g B_g K_g = W_g where B_g is the variance of the residual."""
    root = _power(weights, 0.5)
    left = weights - weights @ inverse @ weights
    return root @ _power(root @ left @ root, -0.5) @ root


def _power(matrices: Floats, exponent: float) -> Floats:
    """A power of symmetric matrices, of what is not 0 of them."""
    value, vector = np.linalg.eigh(matrices)
    seen = value > SMALLEST_EIGENVALUE * np.maximum(value[..., -1:], 1e-12)
    power = np.where(seen, np.maximum(value, 1e-300) ** exponent, 0.0)
    result: Floats = (vector * power[..., None, :]) @ np.swapaxes(vector, -1, -2)
    return result


def _degrees(weights: Floats, correction: Floats, inverse: Floats, contrasts: Floats) -> Floats:
    """Satterthwaite's degrees of freedom: (sum of variances)^2 / sum of squared covariances of p_g' r_g.

    With p_g = K_g A+ c the covariance of two clusters is d_g - q_g' q_g on the diagonal and -q_g' q_h off it, where
    d_g = p_g' W_g p_g and q_g = (A+)^(1/2) W_g p_g; so nothing of clusters times clusters is needed.
    """
    direction = np.einsum("gij,cj->cgi", correction, contrasts @ inverse)
    weighted = np.einsum("gij,cgj->cgi", weights, direction)
    of_cluster = (direction * weighted).sum(-1)
    shared = weighted @ _power(inverse, 0.5)
    length = (shared**2).sum(-1)
    crossed = np.einsum("cgi,cgj->cij", shared, shared, optimize=True)
    above = (of_cluster - length).sum(-1) ** 2
    below = (of_cluster**2 - 2 * of_cluster * length).sum(-1) + (crossed**2).sum((1, 2))
    degrees: Floats = np.maximum(above / np.maximum(below, 1e-300), 1.0)
    return degrees


@dataclass(frozen=True, eq=False)
class SharedEffect:
    """The deviations of systems on texts: their standard deviation, and what they add to the sum of scores."""

    sd: float
    added: Floats
    """(n, n): the variance that they add to the weighted sum of all scores."""
    texts: float
    """How many texts with several annotators there are, as if all were judged alike."""

    def widened(self, covariance: Floats, df: Floats, inverse: Floats, contrasts: Floats) -> tuple[Floats, Floats]:
        """The covariance of strengths with this effect in it, and the degrees of freedom of the contrasts."""
        added = inverse @ self.added @ inverse
        total = covariance + added
        before, after = (np.einsum("ci,ij,cj->c", contrasts, matrix, contrasts) for matrix in (covariance, total))
        by_texts = np.maximum(after - before, 0.0)
        degrees = max(self.texts - 1, 1.0)
        spread = before**2 / df + by_texts**2 / degrees
        widened = np.where(spread > 0, after**2 / np.maximum(spread, 1e-300), df)
        # The variance between few texts is hardly known, and may be more than it came out as: as a share of all, up to
        # twice its standard error, sqrt(2 / known).
        known = degrees * max(len(covariance) - 1, 1)
        return total, np.minimum(widened, known / min(8 / known, 1.0))


@dataclass(frozen=True, eq=False)
class SharedEffects:
    """What several annotators have in common on segments and in documents; None where they share none."""

    segments: SharedEffect | None
    documents: SharedEffect | None

    @property
    def known(self) -> tuple[SharedEffect, ...]:
        """Those that can be told."""
        return tuple(effect for effect in (self.segments, self.documents) if effect is not None)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Scores and information by text (segment or document) and annotator, sorted by text; one row per cell."""

    text: Integers
    annotator: Integers
    score: sp.csr_array
    information: sp.csr_array
    """Rows of n * n numbers."""


def shared_effects(
    blocks: Comparisons, annotator: Integers, strength: Floats, log_tie: float, weighting: Floats
) -> SharedEffects:
    """Estimate the deviations on segments and, where documents are named, those in documents.

    Args:
        blocks: the comparisons.
        annotator: who made each of them, as an index of `weighting`.
        strength: of the systems.
        log_tie: the parameter of ties.
        weighting: M_g (people, n, n).
    """

    def shared(text: NDArray[np.int32] | None) -> _Shared | None:
        if text is None or len(blocks) == 0 or text.max() == text.min():
            return None
        return _Shared.of(_cells(blocks, text, annotator, strength, log_tie))

    segments, documents = shared(blocks.segment), shared(blocks.document)
    if documents is not None and segments is not None and not documents.holds_more_than(segments):
        documents = None
    in_documents = 0.0 if documents is None else documents.variance_beyond(segments)
    on_segments = 0.0 if segments is None else max(segments.variance_beyond(None) - in_documents, 0.0)
    return SharedEffects(
        None if segments is None else segments.effect(on_segments, weighting),
        None if documents is None else documents.effect(in_documents, weighting),
    )


@dataclass(frozen=True, eq=False)
class _Shared:
    """Texts that several annotators judged: products of their scores, and of their information, summed."""

    cells: _Cells
    scores: float
    information: float
    number: float

    @classmethod
    def of(cls, cells: _Cells) -> _Shared | None:
        """None where no two annotators judged a system on the same text."""
        cells = _with_several(cells)
        if len(cells.text) == 0:
            return None
        information = _between(cells.information, cells.text)
        if information <= 0:
            # Annotators share texts, but on none of them a system.
            return None
        return cls(cells, _between(cells.score, cells.text), information, _effective_texts(cells))

    def holds_more_than(self, parts: _Shared) -> bool:
        """Whether annotators share these texts without sharing one of the parts."""
        return self.information - parts.information > SMALLEST_DIFFERENCE * self.information

    def variance_beyond(self, parts: _Shared | None) -> float:
        """The variance of deviations on these texts, from pairs of annotators who do not share one of the parts."""
        scores, information = self.scores, self.information
        if parts is not None:
            scores, information = scores - parts.scores, information - parts.information
        if self.number <= 1:
            return 0.0
        # Fitted strengths take up what all texts have in common.
        return max(scores / information / (1 - 1 / self.number), 0.0)

    def effect(self, variance: float, weighting: Floats) -> SharedEffect:
        """What deviations with this variance add."""
        n = weighting.shape[1]
        middle = sum(_crossed(self.cells, weighting), start=np.zeros((n, n)))
        value, vector = np.linalg.eigh((middle + middle.T) / 2)
        added: Floats = variance * (vector * np.maximum(value, 0.0)) @ vector.T
        return SharedEffect(float(np.sqrt(variance)), added, self.number)


def _cells(
    blocks: Comparisons, text: NDArray[np.int32], annotator: Integers, strength: Floats, log_tie: float
) -> _Cells:
    from scipy.sparse import coo_array

    n, people = len(strength), int(annotator.max()) + 1
    mean, variance = expectations(strength, log_tie)
    key, row = np.unique(text.astype(np.int64) * people + annotator, return_inverse=True)
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


def _with_several(cells: _Cells) -> _Cells:
    """The cells of texts that several annotators judged."""
    _, code, times = np.unique(cells.text, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(times[code] > 1)
    return _Cells(cells.text[kept], cells.annotator[kept], cells.score[kept], cells.information[kept])


def _between(matrix: sp.csr_array, text: Integers) -> float:
    """The sum of products of rows of different annotators on the same text; exactly 0 where they share nothing."""
    from scipy.sparse import coo_array

    _, code = np.unique(text, return_inverse=True)
    rows = np.arange(len(code))
    joining = coo_array((np.ones(len(code)), (code, rows)), shape=(int(code.max()) + 1, len(code))).tocsr()
    whole, within = float((joining @ matrix).power(2).sum()), float(matrix.power(2).sum())
    return 0.0 if abs(whole - within) < SMALLEST_DIFFERENCE * within else whole - within


def _effective_texts(cells: _Cells) -> float:
    """The number of texts, weighed by the information on them."""
    n = cells.score.shape[1]
    weight = np.asarray(cells.information[:, np.arange(n) * (n + 1)].sum(axis=1)).ravel()
    _, code = np.unique(cells.text, return_inverse=True)
    by_text = np.bincount(code, weights=weight)
    return float(by_text.sum() ** 2 / (by_text**2).sum())


def _crossed(cells: _Cells, weighting: Floats) -> Iterator[Floats]:
    """Slice by slice, the sum over texts of N_g N_h' over different annotators g and h."""
    n = weighting.shape[1]
    starts = np.flatnonzero(np.diff(cells.text, prepend=-1))
    ends = np.append(starts[1:], len(cells.text))
    step = max(1, TEXTS_SLICE // (n * n * max(1, int((ends - starts).max()))))
    for begin in range(0, len(starts), step):
        low, high = starts[begin], ends[min(begin + step, len(ends)) - 1]
        information = cells.information[low:high].toarray().reshape(-1, n, n)
        weighted = weighting[cells.annotator[low:high]] @ information
        whole = np.add.reduceat(weighted, starts[begin : begin + step] - low, axis=0)
        flat, total = (part.transpose(1, 0, 2).reshape(n, -1) for part in (weighted, whole))
        yield total @ total.T - flat @ flat.T
