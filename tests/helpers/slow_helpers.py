"""Helpers by textbook formulas: whole matrices, one output at a time, nothing shared with the fast code but the folds.

The only other things taken from it are which random effects a design has, and the variances that were estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import norm, rankdata

from adjudge.mixed.design import MixedDesign
from adjudge.mixed.effects import identify
from adjudge.mixed.fit import MixedFit
from adjudge.mixed.helpers import Matched, folds_of
from tests.helpers.slow import slow_model

Floats = NDArray[np.float64]


def slow_numbers(given: Floats, *, normal: bool) -> Floats:
    """One helper's numbers of all outputs, output by output."""
    systems, segments = given.shape
    known = [(s, i) for s in range(systems) for i in range(segments) if not np.isnan(given[s, i])]
    values = [given[cell] for cell in known]
    if normal:
        values = list(norm.ppf((rankdata(values) - 0.5) / len(values)))
    score = dict(zip(known, values, strict=True))
    centred: dict[tuple[int, int], float] = {}
    for s in range(systems):
        own = [score[s, i] for i in range(segments) if (s, i) in score]
        for i in range(segments):
            if (s, i) in score:
                centred[s, i] = score[s, i] - sum(own) / len(own)
    numbers = np.zeros((systems, segments))
    for s in range(systems):
        for i in range(segments):
            others = [centred[t, i] for t in range(systems) if (t, i) in centred]
            filled = sum(others) / len(others) if others else 0.0
            numbers[s, i] = centred.get((s, i), filled)
        numbers[s] -= sum(numbers[s]) / segments
    spread = np.std([numbers[cell] for cell in known])
    return np.asarray(numbers / spread)


def slow_slopes(design: MixedDesign, helpers: Floats, ratios: Mapping[str, float]) -> Floats:
    """Slopes as a random effect of their own, by the restricted likelihood of the whole matrix."""
    effects = identify(design)
    slow = slow_model(design, effects.kept)
    V0 = slow.variance(np.append(effects.ratios(ratios), 1.0))
    freedom = len(design) - slow.X.shape[1]

    def criterion(V: Floats) -> float:
        inverse = np.linalg.inv(V)
        information = slow.X.T @ inverse @ slow.X
        rest = slow.y - slow.X @ np.linalg.solve(information, slow.X.T @ inverse @ slow.y)
        logs = np.linalg.slogdet(V)[1] + np.linalg.slogdet(information)[1]
        return float(logs + freedom * np.log(rest @ inverse @ rest))

    def at(log_ratio: float) -> float:
        return criterion(V0 + np.exp(log_ratio) * helpers @ helpers.T)

    ranges = [(float(start), float(start + 6)) for start in range(-24, 20, 5)]
    found = [minimize_scalar(at, bounds=ends, method="bounded", options={"xatol": 1e-9}) for ends in ranges]
    low = min(found, key=lambda one: float(one.fun))
    if low.fun >= criterion(V0):
        return np.zeros(helpers.shape[1])
    ratio = float(np.exp(low.x))
    inverse = np.linalg.inv(V0 + ratio * helpers @ helpers.T)
    system = np.linalg.solve(slow.X.T @ inverse @ slow.X, slow.X.T @ inverse @ slow.y)
    return np.asarray(ratio * helpers.T @ inverse @ (slow.y - slow.X @ system))


@dataclass(frozen=True)
class SlowHelp:
    """What the fast code must find."""

    slopes: Floats
    corrected: Floats
    effects: Floats
    covariance: Floats


def slow_help(design: MixedDesign, matched: Matched, without: MixedFit, helped: MixedFit, seed: int) -> SlowHelp:
    """Corrected scores, effects and covariance at the variances that the fast fits found."""
    whole = [slow_numbers(given, normal=design.model.normal) for given in matched.given]
    rows = np.array([
        [numbers[matched.system[r], matched.segment[r]] if matched.segment[r] >= 0 else 0.0 for numbers in whole]
        for r in range(len(design))
    ])  # fmt: skip
    fold = folds_of(design, seed)
    by_fold = []
    predicted = np.zeros(len(design))
    for number in range(fold.max() + 1):
        others = fold != number
        slopes = slow_slopes(design.subset(others), rows[others], without.ratios)
        by_fold.append(slopes)
        predicted[~others] = rows[~others] @ slopes
    mean = np.mean(by_fold, axis=0)
    corrected = replace(design, score=design.score - predicted)
    effects = identify(design)
    slow = slow_model(corrected, effects.kept)
    at = np.append(effects.ratios(helped.ratios), 1.0)
    added = _factor(design, predicted, without) * _of_means(mean, whole, matched.document)
    return SlowHelp(
        mean, corrected.score, slow.effects(at), slow.covariance(at * slow.residual_variance(at[:-1])) + added
    )  # fmt: skip


def _factor(design: MixedDesign, predicted: Floats, without: MixedFit) -> float:
    """2c - 1, where c is the slope of human scores on what is predicted of a document; at least 1."""
    effects = identify(design)
    slow = slow_model(design, effects.kept)
    inverse = np.linalg.inv(slow.variance(np.append(effects.ratios(without.ratios), 1.0)))
    means = np.zeros(len(design))
    text = design.document if design.document is not None else design.segment
    assert text is not None
    for row in range(len(design)):
        together = (design.system == design.system[row]) & (text == text[row])
        means[row] = predicted[together].mean()
    table = np.column_stack([slow.X, means])
    slope = np.linalg.lstsq(table.T @ inverse @ table, table.T @ inverse @ slow.y, rcond=None)[0][-1]
    return float(max(2 * slope - 1, 1.0))


def _of_means(slopes: Floats, whole: Sequence[Floats], document: NDArray[np.int64]) -> Floats:
    """The covariance of the systems' means over the test set: every document's part of them, summed up."""
    predicted = np.sum([slope * numbers for slope, numbers in zip(slopes, whole, strict=True)], axis=0)
    segments = predicted.shape[1]

    def by(units: Sequence[Sequence[int]], part: Floats) -> Floats:
        centred = part - part.mean(axis=1, keepdims=True)
        of_units = [centred[:, list(unit)].sum(axis=1) / part.shape[1] for unit in units]
        total = np.sum([np.outer(one, one) for one in of_units], axis=0)
        return np.asarray(total * len(units) / (len(units) - 1))

    alone = by([[i] for i in range(segments)], predicted)
    known = [i for i in range(segments) if document[i] >= 0]
    names = sorted({int(document[i]) for i in known})
    units = [[known.index(i) for i in known if document[i] == name] for name in names]
    if len(known) == segments:
        return by(units, predicted)
    part = predicted[:, known]
    enlarged = _differences(by(units, part)) / _differences(by([[i] for i in range(len(known))], part))
    return np.asarray(alone * max(1.0, enlarged))


def _differences(covariance: Floats) -> float:
    """The sum of the variances of all differences."""
    size = len(covariance)
    return float(sum(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b] for a in range(size) for b in range(a)))
