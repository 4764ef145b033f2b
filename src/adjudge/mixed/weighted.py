"""Scores of segments that were chosen with unequal probabilities: weighted effects, and errors that know of the draw.

Each score counts w = 1 / probability. The effects solve the weighted equations of systems, annotators and tasks,

    sum over rows of w x (y - system - annotator - task) = 0,   annotators and tasks shrunken as the model has them,

a pseudo-likelihood: sums over the chosen segments, weighted so, estimate sums over all segments, whichever were chosen
(D. Pfeffermann 1993: The role of sampling weights when modeling survey data. International Statistical Review 61,
317-337). Differences between systems are those of all segments, however much the chosen ones were made to differ. The
random effects of documents, segments and pages are not in these equations: with them, segments that say more would
weigh more, and that is what the weights forbid.

Errors: what belongs to a document (its segments, pages, and how systems do on it) is taken from the residuals, document
by document, because chosen documents vary more than others; what reaches across documents (strictness, tastes, tasks)
from the model's variances. The variance of a contrast with coefficients b of the rows is

    sum over documents of (b'e)^2 + sum over effects k of s2_k |b'Z_k|^2 - s2_taste sum over documents of |b'Z_taste|^2

where the last sum is what the residuals e of single documents have of tastes already. Residuals are enlarged for what
the fit took of them (as in CR2: R. M. Bell, D. F. McCaffrey 2002. Survey Methodology 28, 169-181). Degrees of freedom
follow Satterthwaite from those of documents and of tastes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.effects import ACROSS, Effect, taste_degrees
from adjudge.table.judgments import renumber
from adjudge.table.maths import Codes, Floats, difference_variances

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp

    from adjudge.mixed.design import MixedDesign

_SHRUNKEN = ("annotator", "task")
_LARGEST_LEVERAGE = 0.95


@dataclass(frozen=True, eq=False)
class WeightedEffects:
    """Effects with their covariance, and the degrees of freedom of every difference."""

    effects: Floats
    covariance: Floats
    df: Floats


def weighted_effects(
    design: MixedDesign, effects: Sequence[Effect], score: Floats, ratios: Floats, residual_variance: float
) -> WeightedEffects:
    """The weighted effects of a design's systems.

    Args:
        design: with weights; calibration items are further systems of weight 1.
        effects: the random effects of the model.
        score: of all rows, calibration items after the others.
        ratios: variance over residual variance, of each effect.
        residual_variance: in the unit of the scores, squared.
    """
    rows = design.stacked()
    systems, weight = len(design.systems), np.ones(len(rows)) if rows.weight is None else rows.weight
    across = [pair for pair in zip(effects, ratios.tolist(), strict=True) if set(pair[0].parts) & set(ACROSS)]
    # Those that are in the equations, so that the residuals are without them.
    shrunken = [(effect, ratio) for effect, ratio in across if set(effect.parts) & set(_SHRUNKEN)]
    solution, coefficient, residual = _solve(rows, weight, score, shrunken)
    coefficient = coefficient[:systems]
    # Documents; segments where documents are not known; every row by itself where neither is.
    known = next((codes for codes in (rows.document, rows.segment) if codes is not None), None)
    cluster = np.arange(len(rows)) if known is None else renumber(known)
    by_document = _sums(coefficient * residual * _enlarged(rows, weight, cluster, shrunken), cluster)
    documents = by_document @ by_document.T
    # What strictness, tastes and tasks add beyond what the residuals of single documents show of them.
    people = np.zeros_like(documents)
    for effect, ratio in across:
        whole = _sums(coefficient, effect.codes)
        people += ratio * (whole @ whole.T)
        if not set(effect.parts) & set(_SHRUNKEN):
            within = _sums(coefficient, renumber(effect.codes * (int(cluster.max()) + 1) + cluster))
            people -= ratio * (within @ within.T)
    people *= residual_variance
    of_tastes = np.inf if rows.annotator is None else float(max(taste_degrees(rows, strictness=True), 1))
    degrees = _degrees(documents, people, _document_degrees(coefficient, cluster), of_tastes)
    return WeightedEffects(solution[:systems], documents + people, degrees)


def _solve(
    rows: MixedDesign, weight: Floats, score: Floats, shrunken: Sequence[tuple[Effect, float]]
) -> tuple[Floats, Floats, Floats]:
    """The effects of all systems, as sums of scores with these coefficients (systems, rows), and the residuals."""
    import scipy.sparse as sp
    from scipy.sparse.linalg import splu

    systems = len(rows.systems)
    parts = [_incidence(rows.system, systems), *(_incidence(effect.codes, effect.levels) for effect, _ in shrunken)]
    penalty = [np.zeros(systems), *(np.full(effect.levels, 1 / ratio) for effect, ratio in shrunken)]
    table = sp.hstack(parts).tocsc()
    weighted = table.multiply(weight[:, None]).tocsc()
    matrix = (table.T @ weighted + sp.diags_array(np.concatenate(penalty))).tocsc()
    factors = splu(matrix)
    unit = np.zeros((matrix.shape[0], systems))
    unit[np.arange(systems), np.arange(systems)] = 1.0
    # The matrix is symmetric, so that the first rows of its inverse are its first columns.
    coefficient = np.asarray((weighted @ factors.solve(unit)).T)
    solution = factors.solve(weighted.T @ score)
    return solution[:systems], coefficient, score - np.asarray(table @ solution)


def _incidence(codes: Codes, levels: int) -> sp.csc_array:
    import scipy.sparse as sp

    count = len(codes)
    return sp.csc_array((np.ones(count), (np.arange(count), codes)), shape=(count, levels))


def _enlarged(rows: MixedDesign, weight: Floats, cluster: Codes, shrunken: Sequence[tuple[Effect, float]]) -> Floats:
    """1 / sqrt(1 - h), where h is the share of a system's, and of an annotator's, weight that lies in the document."""
    fitted = [(rows.system, np.inf), *((effect.codes, ratio) for effect, ratio in shrunken)]
    leverage = np.zeros(len(rows))
    for codes, ratio in fitted:
        cell = renumber(codes * (int(cluster.max()) + 1) + cluster)
        leverage += np.bincount(cell, weight)[cell] / (np.bincount(codes, weight)[codes] + 1 / ratio)
    return np.asarray(1 / np.sqrt(1 - np.minimum(leverage, _LARGEST_LEVERAGE)))


def _sums(coefficient: Floats, codes: Codes) -> Floats:
    """The coefficients summed within the levels of an effect: (systems, levels)."""
    return np.asarray(coefficient @ _incidence(codes, int(codes.max()) + 1))


def _document_degrees(coefficient: Floats, cluster: Codes) -> Floats:
    """How many documents of equal weight stand behind the variance of each difference, less 1."""
    size = len(coefficient)
    degrees = np.full((size, size), np.inf)
    for first in range(size):
        for second in range(first):
            share = np.bincount(cluster, (coefficient[first] - coefficient[second]) ** 2)
            degrees[first, second] = degrees[second, first] = max(share.sum() ** 2 / (share @ share) - 1, 1.0)
    return degrees


def _degrees(documents: Floats, across: Floats, of_documents: Floats, of_tastes: float) -> Floats:
    """Satterthwaite's degrees of freedom of the sum of two variances."""
    first, second = (difference_variances(part) for part in (documents, across))
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = (first + second) ** 2 / (first**2 / of_documents + second**2 / of_tastes)
    np.fill_diagonal(degrees, np.inf)
    return np.maximum(np.nan_to_num(degrees, nan=1.0, posinf=np.inf), 1.0)
