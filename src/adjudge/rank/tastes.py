"""Bradley-Terry strengths with standard errors that hold for other annotators: random tastes and a sandwich, combined.

Annotators like some systems more than others, so the judgments of one person count for less than as many judgments of
many. Let t be the plain fit. Annotator g has the score s_g = sum (y - mu) of the likelihood at t, by system, and the
information H_g = sum m v (e_i - e_j)(e_i - e_j)'. With a taste of standard deviation tau (in log-odds) for every
system, and a dispersion phi of judgments within one block,

    s_g  =  H_g delta + error,    Var(error)  =  phi H_g + tau^2 H_g^2.

tau is estimated by restricted maximum likelihood, delta by generalised least squares; t + delta are the strengths, so
one busy annotator does not outvote the others. Its covariance is known in two ways. By the model, with a correction for
having estimated tau (of the kind of Kenward and Roger 1997), which is sharp and needs tastes as assumed; and by the
residuals of annotators (`clustered_errors`), which assumes little and needs many people. They are averaged by their
degrees of freedom, as a variance with a prior is: the model counts as much as `MOST_PRIOR` people at most. Where
several people judge the same source segments or documents, what they have in common is added, from there too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.bradley_terry import RIDGE, expectations, fit
from adjudge.rank.clustered_errors import SMALLEST_EIGENVALUE, SharedEffects, clustered_covariance, shared_effects
from adjudge.rank.counts import PeopleCounts, person_of

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats
    from adjudge.core.comparisons import Comparisons


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
