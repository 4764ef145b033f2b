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
from scipy.stats import t as student

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


def slow_gain(
    design: MixedDesign, matched: Matched, without: MixedFit, slow: SlowHelp, seed: int
) -> tuple[float, float, float]:
    """The gain and its interval: every part of the documents left out and fitted anew, pair by pair."""
    part = folds_of(design, seed, 40)
    whole = [slow_numbers(given, normal=design.model.normal) for given in matched.given]
    everywhere = np.sum([slope * numbers for slope, numbers in zip(slow.slopes, whole, strict=True)], axis=0)
    segments, pairs = everywhere.shape[1], [(a, b) for a in range(len(design.systems)) for b in range(a)]
    of_segment = {int(matched.segment[r]): int(part[r]) for r in range(len(design)) if matched.segment[r] >= 0}

    def effects_of(rows: NDArray[np.bool_], score: Floats) -> Floats:
        rest = replace(design, score=score).subset(rows)
        kept = identify(rest)
        return slow_model(rest, kept.kept).effects(np.append(kept.ratios(without.ratios), 1.0))

    count = int(part.max()) + 1
    fits = [[effects_of(part != g, score) for g in range(count)] for score in (design.score, slow.corrected)]
    influence = [(np.mean(each, axis=0) - np.array(each)) * (count - 1) / count for each in fits]
    for g in range(count):
        mine = [i for i, number in of_segment.items() if number == g]
        influence[1][g] += everywhere[:, mine].sum(axis=1) / segments
    squares = [
        [np.mean([(one[a] - one[b]) ** 2 for a, b in pairs]) * count / (count - 1) for one in each]
        for each in influence
    ]
    means = _of_means(slow.slopes, whole, matched.document)
    unjudged = _differences(means) / len(pairs) * (segments - len(of_segment)) / segments
    people = _people(design, without, pairs)
    assert design.annotator is not None
    freedom = (len(np.unique(design.annotator)) - 1) * (len(design.systems) - 1)
    before, after = sum(squares[0]), sum(squares[1]) + unjudged
    doubt = np.sqrt(2 / freedom) * (people + before)

    def interval(lasting: float) -> tuple[float, float]:
        logs = []
        for g in range(count):
            fewer = [sum(each[:g] + each[g + 1 :]) * count / (count - 1) + lasting for each in squares]
            logs.append(np.log(fewer[0] / (fewer[1] + unjudged)))
        spread = np.sqrt((count - 1) / count * sum((one - np.mean(logs)) ** 2 for one in logs))
        middle = np.log((before + lasting) / (after + lasting))
        reach = student.ppf(0.975, count - 1) * spread
        return float(np.exp(middle - reach)), float(np.exp(middle + reach))

    above = (before - after) / (people + after) / (1 + (doubt / (people + after)) ** 2)
    return 1 + above, interval(people + doubt)[0], interval(max(people - doubt, 0.0))[1]


def _people(design: MixedDesign, without: MixedFit, pairs: Sequence[tuple[int, int]]) -> float:
    """The part of the variance of differences that annotators, tastes and tasks make."""
    effects = identify(design)
    slow = slow_model(design, effects.kept)
    ratios = effects.ratios(without.ratios)
    inverse = np.linalg.inv(slow.variance(np.append(ratios, 1.0)))
    weights = np.linalg.solve(slow.X.T @ inverse @ slow.X, slow.X.T @ inverse)[: len(design.systems)]
    total = 0.0
    for effect, ratio in zip(effects.kept, ratios, strict=True):
        if set(effect.parts) & {"annotator", "annotator:system", "task"}:
            of_levels = np.array([weights[:, effect.codes == level].sum(axis=1) for level in range(effect.levels)])
            total += ratio * np.mean([((of_levels[:, a] - of_levels[:, b]) ** 2).sum() for a, b in pairs])
    return float(total * slow.residual_variance(ratios))


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
    by_segment = _differences(by([[i] for i in range(len(known))], part))
    # Nothing is enlarged where the helper predicts the same of all segments that were judged.
    return np.asarray(alone * max(1.0, _differences(by(units, part)) / by_segment) if by_segment > 0 else alone)


def _differences(covariance: Floats) -> float:
    """The sum of the variances of all differences."""
    size = len(covariance)
    return float(sum(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b] for a in range(size) for b in range(a)))
