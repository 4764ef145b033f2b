"""Bradley-Terry strengths with standard errors that hold for other annotators: random tastes and a sandwich, combined.

Annotators like some systems more than others, so the judgments of one person count for less than as many judgments of
many. Let t be the plain fit. Annotator g has the score s_g = sum (y - mu) of the likelihood at t, by system, and the
information H_g = sum m v (e_i - e_j)(e_i - e_j)'. With a taste of standard deviation tau (in log-odds) for every
system, and a dispersion phi of judgments within one block,

    s_g  =  H_g delta + error,    Var(error)  =  phi H_g + tau^2 H_g^2.

tau is estimated by restricted maximum likelihood, delta by generalised least squares; t + delta are the strengths, so
one busy annotator does not outvote the others. Its covariance is known in two ways. By the model, with a correction for
having estimated tau (of the kind of Kenward and Roger 1997), which is sharp and needs tastes as assumed; and by the
residuals of annotators (`clustered_covariance`), which assumes little and needs many people. They are averaged by their
degrees of freedom, as a variance with a prior is: the model counts as much as `MOST_PRIOR` people at most. Where
several people judge the same source segments or documents, what they have in common is added, from there too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.components import TASTE, VarianceComponent
from adjudge.ranking.bradley_terry import RIDGE, expectations, fit
from adjudge.ranking.counts import PeopleCounts, Units, people_counts, person_of, units_of
from adjudge.ranking.decisions import DRAWS, decide
from adjudge.ranking.ranking import Findings
from adjudge.ranking.significance import PairTests, Separation, contradicted, separation, sign_tests, unanimous_p
from adjudge.table.maths import Contrasts, Floats, contrasts, student_below, student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.ranking.methods import Method, RankSettings
    from adjudge.table.comparisons import Comparisons

    Integers = NDArray[np.int64]


# Errors of strengths where judgments hang together: those of one annotator, and those of several on one text.
#
# By annotator: a covariance from the residuals of clusters, with corrections for small numbers of them.
# The sandwich of Liang and Zeger is too small where clusters are few or unequal. "CR2" of Bell and McCaffrey (2002)
# multiplies each cluster's residual by a matrix that makes the sandwich unbiased under a working covariance, and gives
# every contrast degrees of freedom by Satterthwaite's rule. As in Pustejovsky and Tipton (2018), for weighted fits:
#
#     r_g = u_g - W_g delta,    Var(r_g) = W_g - W_g A+ W_g = B_g,    K_g B_g K_g = W_g,
#     C = A+ (sum K_g r_g r_g' K_g) A+,
#
# where u_g is the weighted score of cluster g with variance W_g, A the sum of all W_g and A+ its inverse.
#
# By text: what annotators who judge the same source segments have in common, and how much it widens the errors. A
# system does better on some segments than on others. Where several annotators judge the same segment, they see the
# same luck, and their judgments are not independent, however many people there are. A system has on every segment a
# deviation with standard deviation sigma (log-odds). The scores of two annotators on one segment then have the
# covariance sigma^2 H_g H_h, from which sigma^2 is estimated by moments over all such pairs of annotators; and the
# strengths get
#
#     sigma^2 A+ [sum over segments of sum over g != h of N_g N_h'] A+,    N_g = M_g H_g,
#
# where H_g is the information of annotator g on the segment and M_g how g's scores are weighted. Pairs of judgments of
# one annotator are left out: how they hang together is part of the annotators' own covariance.
#
# The segments of one document have luck in common too: a system that suits a text, or misreads it, does so throughout.
# Where documents are named, the same is done with documents in the place of segments. The variance in documents comes
# from pairs of annotators who judged different segments of one document; what pairs on the same segment have in common
# beyond it is that of segments.


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


MOST_PRIOR = 16.0
TASTES = np.concatenate([[0.0], np.geomspace(0.02, 4.0, 59)])
"""The tastes tau that are tried."""
TASTES_SLICE = 2_000_000
"""So many numbers are in memory while tastes are tried."""


@dataclass(frozen=True, eq=False)
class TasteFit:
    """Strengths with their joint covariance and the degrees of freedom of every difference."""

    strength: Floats
    covariance: Floats
    df: Floats
    """(n, n), of the difference between two systems; the diagonal is NaN."""
    df_system: Floats
    """(n,), of the difference between a system and the mean of all."""
    taste: float
    dispersion: float
    segment_sd: float | None
    """How much a system's strength differs between source segments, None where no two annotators share any."""
    document_sd: float | None
    """The same between documents, None where no two annotators share any or documents are not named."""

    def system_errors(self) -> Floats:
        """The standard error of each system's distance from the mean of all."""
        centre = np.eye(len(self.strength)) - 1 / len(self.strength)
        errors: Floats = np.sqrt(np.maximum(np.diag(centre @ self.covariance @ centre), 0.0))
        return errors


def fit_tastes(
    people: PeopleCounts,
    blocks: Comparisons | None = None,
    *,
    taste: float | None = None,
    most_prior: float = MOST_PRIOR,
) -> TasteFit:
    """Fit strengths with tastes.

    Args:
        people: counts of at least two annotators.
        blocks: the comparisons behind the counts, which tell what stood in one block and on one segment.
        taste: the standard deviation of tastes, where it is known; default: estimated.
        most_prior: how many degrees of freedom the model's covariance counts for at most.
    """
    plain = fit(people.wins.sum(0), people.ties.sum(0))
    strength, log_tie = plain.strength, float(plain.log_tie)
    scores, information = _moments(people, strength, log_tie)
    dispersion = 1.0 if blocks is None else block_dispersion(blocks, strength, log_tie, information.sum(0))
    parts = _Eigen.of(scores, information)
    if taste is None:
        taste = float(TASTES[np.argmax(_log_likelihoods(parts, strength, dispersion, TASTES))])
    best = _Weighted(parts, strength, dispersion, taste)
    contrasts = _contrasts(len(strength))
    by_model = best.model_covariance(contrasts)
    by_people = clustered_covariance(best.weights(), best.residuals(), best.inverse, contrasts)
    covariance, df = _combined(by_model, by_people, most_prior, len(strength))
    shared = SharedEffects(None, None)
    if blocks is not None:
        who = people.group[person_of(blocks)]
        shared = shared_effects(blocks, who, strength, log_tie, best.weighting())
    for effect in shared.known:
        covariance, df = effect.widened(covariance, df, best.inverse, contrasts)
    return TasteFit(
        strength=strength + best.delta,
        covariance=covariance,
        df=_over_pairs(df, len(strength)),
        df_system=df[-len(strength) :],
        taste=best.taste,
        dispersion=dispersion,
        segment_sd=None if shared.segments is None else shared.segments.sd,
        document_sd=None if shared.documents is None else shared.documents.sd,
    )


def refit(people: PeopleCounts, taste: float, dispersion: float) -> Floats:
    """The strengths alone, where taste and dispersion are known: for counts without one of the annotators."""
    plain = fit(people.wins.sum(0), people.ties.sum(0))
    parts = _Eigen.of(*_moments(people, plain.strength, float(plain.log_tie)))
    strength: Floats = plain.strength + _Weighted(parts, plain.strength, dispersion, taste).delta
    return strength


def predicted_tastes(people: PeopleCounts, fitted: TasteFit, log_tie: float) -> Floats:
    """The taste of every annotator for every system: tau^2 (phi + tau^2 H)^-1 s, with score s and information H."""
    scores, information = _moments(people, fitted.strength, log_tie)
    inflation = fitted.dispersion * np.eye(len(fitted.strength)) + fitted.taste**2 * information
    return np.asarray(fitted.taste**2 * np.linalg.solve(inflation, scores[..., None])[..., 0], dtype=np.float64)


def block_dispersion(blocks: Comparisons, strength: Floats, log_tie: float, information: Floats) -> float:
    """How much more the scores of whole blocks vary than independent comparisons would; at least 1.

    Comparisons within one ranking of five share its systems' outputs, and one output that is bad loses four of them.
    """
    from scipy.sparse import coo_array

    if len(blocks) == 0 or np.bincount(blocks.block).max(initial=0) < 2:
        return 1.0
    n = len(strength)
    mean, _ = expectations(strength, log_tie)
    residual = (blocks.outcome + 1) / 2 - mean[blocks.first, blocks.second]
    rows, columns = np.tile(blocks.block, 2), np.concatenate([blocks.first, blocks.second])
    shape = (int(blocks.block.max()) + 1, n)
    by_block = coo_array((np.concatenate([residual, -residual]), (rows, columns)), shape=shape).tocsr()
    inverse = centred_inverse(information + RIDGE * (np.eye(n) - 1 / n))
    return max(1.0, float(np.sum(inverse * (by_block.T @ by_block).toarray())) / (n - 1))


def centred_inverse(matrix: Floats) -> Floats:
    """The pseudoinverse of a matrix whose rows add up to 0 and that is of full rank otherwise."""
    n = len(matrix)
    scale = np.trace(matrix) / n
    even = np.full((n, n), 1 / n)
    inverse: Floats = np.linalg.inv(matrix + scale * even) - even / scale
    return inverse


def _moments(people: PeopleCounts, strength: Floats, log_tie: float) -> tuple[Floats, Floats]:
    """The score (people, n) and the information (people, n, n) of each annotator at these strengths."""
    mean, variance = expectations(strength, log_tie)
    met = people.wins + np.swapaxes(people.wins, 1, 2) + people.ties
    scores = (people.wins + people.ties / 2).sum(2) - (met * mean).sum(2)
    information = -met * variance
    index = np.arange(len(strength))
    information[:, index, index] = 0.0
    information[:, index, index] = -information.sum(2)
    return scores, information


@dataclass(frozen=True, eq=False)
class _Eigen:
    """Every annotator's information as values (people, n) and vectors (people, n, n), and the score along them."""

    value: Floats
    vector: Floats
    score: Floats

    @classmethod
    def of(cls, scores: Floats, information: Floats) -> _Eigen:
        value, vector = np.linalg.eigh(information)
        least = SMALLEST_EIGENVALUE * np.maximum(value[:, -1:], 1e-12)
        along = np.einsum("gik,gi->gk", vector, scores)
        return cls(np.where(value > least, value, 0.0), vector, along)

    def summed(self, factor: Floats) -> Floats:
        """The sum over annotators of vectors times their factors (people, n) times vectors: (n, n)."""
        rows = self.rows()
        total: Floats = (rows * factor.reshape(-1, 1)).T @ rows
        return total

    def rows(self) -> Floats:
        """The vectors of all annotators, one below the other: (people times n, n)."""
        return np.swapaxes(self.vector, 1, 2).reshape(-1, self.value.shape[1])

    def each(self, factor: Floats) -> Floats:
        """The same for each annotator: (people, n, n)."""
        matrices: Floats = (self.vector * factor[:, None, :]) @ np.swapaxes(self.vector, 1, 2)
        return matrices


class _Weighted:
    """Generalised least squares with a given taste. The ridge of the plain fit stays: without tastes delta is 0."""

    def __init__(self, parts: _Eigen, strength: Floats, dispersion: float, taste: float) -> None:
        self.parts, self.taste, self.dispersion = parts, taste, dispersion
        n = len(strength)
        self.inflation = dispersion + taste**2 * parts.value
        # a = L / (phi + tau^2 L): what is left of each eigenvalue as weight.
        self.factor = parts.value / self.inflation
        ridge = RIDGE / dispersion
        self.information = parts.summed(self.factor) + ridge * (np.eye(n) - 1 / n)
        self.inverse = centred_inverse(self.information)
        along = np.where(parts.value > 0, parts.score / self.inflation, 0.0)
        self.weighted_scores = np.einsum("gik,gk->gi", parts.vector, along)
        self.total = self.weighted_scores.sum(0) - ridge * strength
        self.delta = self.inverse @ self.total

    def weights(self) -> Floats:
        """W_g, what each annotator contributes to the information: (people, n, n)."""
        return self.parts.each(self.factor)

    def weighting(self) -> Floats:
        """M_g, by which each annotator's scores are weighted: (people, n, n)."""
        return self.parts.each(np.where(self.parts.value > 0, 1 / self.inflation, 0.0))

    def residuals(self) -> Floats:
        """The weighted scores of annotators that the strengths leave unexplained: (people, n)."""
        left: Floats = self.weighted_scores - self.weights() @ self.delta
        return left

    def model_covariance(self, contrasts: Floats) -> tuple[Floats, Floats]:
        """The covariance if tastes are as modelled, and the degrees of freedom of each contrast (Satterthwaite)."""
        a, inverse = self.factor, self.inverse
        first, second = self.parts.summed(a**2), self.parts.summed(a**3)
        lost = inverse @ first @ inverse
        known = 0.5 * float((a**2).sum() - 2 * np.sum(inverse * second) + np.sum(lost * first))
        known = max(known, 1e-12)
        covariance = inverse + 2 / known * inverse @ (second - first @ inverse @ first) @ inverse
        variance = np.einsum("ci,ij,cj->c", contrasts, inverse, contrasts)
        slope = np.einsum("ci,ij,cj->c", contrasts, lost, contrasts)
        df = 2 * known * variance**2 / np.maximum(slope**2, 1e-300)
        return covariance, np.clip(df, 1.0, 1e6)


def _log_likelihoods(parts: _Eigen, strength: Floats, dispersion: float, tastes: Floats) -> Floats:
    """The restricted log-likelihood of each taste, up to a constant: the sums of `_Weighted`, for many at a time."""
    rows = parts.rows()
    slices = -(-len(tastes) * rows.size * len(strength) // TASTES_SLICE)
    found = [
        _log_likelihoods_at_once(parts, rows, strength, dispersion, part)
        for part in np.array_split(tastes, min(max(slices, 1), len(tastes)))
    ]
    return np.concatenate(found)


def _log_likelihoods_at_once(
    parts: _Eigen, rows: Floats, strength: Floats, dispersion: float, tastes: Floats
) -> Floats:
    n, ridge = len(strength), RIDGE / dispersion
    value, score = parts.value.ravel(), parts.score.ravel()
    inflation = dispersion + tastes[:, None] ** 2 * value
    information = (rows.T * (value / inflation)[:, None]) @ rows + ridge * (np.eye(n) - 1 / n)
    seen = value > 0
    value, inflation, score, rows = value[seen], inflation[:, seen], score[seen], rows[seen]
    total = (score / inflation) @ rows - ridge * strength
    # Without the direction in which all strengths move alike, along which the total is 0.
    scale = np.trace(information, axis1=1, axis2=2) / n
    whole = information + (scale / n)[:, None, None]
    explained = (total * np.linalg.solve(whole, total[:, :, None])[:, :, 0]).sum(1)
    squares = (score**2 / (value * inflation)).sum(1) - explained
    determinant = np.linalg.slogdet(whole)[1] - np.log(scale)
    likelihoods: Floats = -0.5 * (np.log(value * inflation).sum(1) + determinant + squares)
    return likelihoods


def _contrasts(n: int) -> Floats:
    """All pairs (i < j), then every system against the mean of all: (contrasts, n)."""
    first, second = np.triu_indices(n, 1)
    pairs = np.zeros((len(first), n))
    row = np.arange(len(first))
    pairs[row, first], pairs[row, second] = 1.0, -1.0
    return np.concatenate([pairs, np.eye(n) - 1 / n])


def _over_pairs(values: Floats, n: int) -> Floats:
    """The values of pairs among those of all contrasts, as a matrix."""
    upper = np.triu_indices(n, 1)
    pairs = np.full((n, n), np.nan)
    pairs[upper] = values[: len(upper[0])]
    pairs.T[upper] = pairs[upper]
    return pairs


def _combined(
    model: tuple[Floats, Floats], clustered: tuple[Floats, Floats], most_prior: float, n: int
) -> tuple[Floats, Floats]:
    """The two covariances averaged by degrees of freedom, and those of the average."""
    (covariance_m, df_m), (covariance_c, df_c) = model, clustered
    pairs = n * (n - 1) // 2
    prior = min(most_prior, float(np.median(df_m[:pairs])))
    share = prior / (prior + float(np.median(df_c[:pairs])))
    covariance = share * covariance_m + (1 - share) * covariance_c
    # Two estimates of one variance from the same data: their errors are taken to go together as far as the better.
    spread = share**2 / df_m + (1 - share) ** 2 / df_c + 2 * share * (1 - share) / np.maximum(df_m, df_c)
    return covariance, np.maximum(1.0, np.minimum(prior + df_c, 1 / spread))


# Bradley-Terry strengths compared: p-values, intervals and rank sets that hold for other annotators than these.
#
# The covariance and the degrees of freedom come from `tastes`. Three things the model cannot know are added. A lead
# that no judgment contradicts has no size, so its p-value comes from how often each annotator saw it. Systems that no
# chain of wins connects have p = 1. And nothing is claimed against a pair's own judgments: where these say the
# opposite, p is 1.


FEWEST_DRAWS = 100
"""Fewer draws leave the quantile behind rank sets to chance."""


_DIFFERENTLY = "how differently a system does"


@dataclass(frozen=True, eq=False)
class ComparedStrengths:
    """A fit with tastes, and every pair of systems compared by it."""

    fit: TasteFit
    pairs: Contrasts
    apart: Separation
    contradicted: NDArray[np.bool_]
    """Pairs whose own judgments say the opposite of the strengths; symmetric."""


def compare_strengths(units: Units, blocks: Comparisons | None = None) -> ComparedStrengths:
    """Fit strengths with tastes and compare all pairs.

    Args:
        units: counts of at least two annotators.
        blocks: the comparisons behind them, where they are known one by one.
    """
    return compare_people(people_counts(units), blocks)


def compare_people(
    people: PeopleCounts, blocks: Comparisons | None = None, *, taste: float | None = None
) -> ComparedStrengths:
    """The same from counts by annotator, where the taste may be known."""
    fit = fit_tastes(people, blocks, taste=taste)
    wins = people.wins.sum(0)
    apart, against = separation(wins), contradicted(fit.strength, wins)
    pairs = contrasts(fit.strength, fit.covariance, fit.df)
    p = np.where(apart.leads | apart.leads.T, unanimous_p(people.wins, fit.taste), pairs.two_sided)
    p[apart.unconnected | against] = 1.0
    np.fill_diagonal(p, np.nan)
    return ComparedStrengths(fit, _with_p(pairs, p), apart, against)


def scores_of(method: Method, compared: Comparisons, rng: np.random.Generator) -> Floats:
    """The score of every system as a ranking by this method has it.

    Bradley-Terry strengths are those with tastes wherever two annotators or more are known, so that tournaments,
    split halves and comparisons of campaigns show the order of the ranking.
    """
    units = units_of(compared)
    if method.significance == "tastes" and units.kind == "annotators":
        return fit_tastes(people_counts(units), compared).strength
    return method.score(units.total(), rng)


def _with_p(pairs: Contrasts, p: Floats) -> Contrasts:
    """The contrasts with other two-sided p-values, and the statistics that belong to them."""
    size = student_quantile(np.maximum(p, 1e-300) / 2, pairs.df)
    ahead = pairs.difference >= 0
    t = np.where(p == pairs.two_sided, pairs.t, np.where(ahead, size, -size))
    return replace(pairs, two_sided=p, greater=np.where(ahead, p / 2, 1 - p / 2), t=t)


def strength_findings(units: Units, compared: ComparedStrengths, settings: RankSettings) -> Findings:
    """What a ranking is put together from."""
    tally, fit, pairs = units.total(), compared.fit, compared.pairs
    decisions = decide(
        fit.strength, pairs.two_sided, fit.covariance, level=settings.level, seed=settings.seed, draws=draws(settings)
    )
    counts = {"wins": tally.wins, "ties": tally.ties, "losses": tally.losses}
    low, high = _intervals(fit, settings.level)
    errors = {"se": fit.system_errors(), "low": low, "high": high}
    bounded = {name: np.where(compared.apart.unbounded, np.nan, values) for name, values in errors.items()}
    return Findings(
        systems=tally.systems,
        human=tally.human,
        scores=fit.strength,
        n=tally.met.sum(-1).astype(int),
        tests=PairTests(pairs.greater, pairs.two_sided),
        decisions=decisions,
        numbers={
            **{name: table.sum(-1).astype(np.int64) for name, table in counts.items()},
            **bounded,
        },
        pair_numbers={
            **{name: table.astype(np.int64) for name, table in counts.items()},
            "p_sign": sign_tests(tally.wins).two_sided,
            "se": pairs.se,
            "df": np.where(np.isfinite(pairs.df), pairs.df, np.nan),
        },
    )


def draws(settings: RankSettings) -> int:
    """How many draws rank sets are made from."""
    return DRAWS if settings.resamples is None else max(settings.resamples, FEWEST_DRAWS)


def _intervals(fit: TasteFit, level: float) -> tuple[Floats, Floats]:
    half = student_below(1 - level / 2, fit.df_system) * fit.system_errors()
    return fit.strength - half, fit.strength + half


def spread_components(fit: TasteFit, people: int, segments: int, documents: int) -> tuple[VarianceComponent, ...]:
    """Tastes, segments and documents as sources of spread, in log-odds."""
    sources = (
        (TASTE, fit.taste, people, "how differently annotators like systems"),
        ("system:segment", fit.segment_sd, segments, f"{_DIFFERENTLY} on segments that several annotators judged"),
        ("system:document", fit.document_sd, documents, f"{_DIFFERENTLY} in documents that several annotators judged"),
    )
    return tuple(
        VarianceComponent(effect, sd, None, None, levels, meaning, sd == 0)
        for effect, sd, levels, meaning in sources
        if sd is not None
    )
