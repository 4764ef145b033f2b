"""Metrics against relative judgments: does a metric prefer the translation that people preferred?

Every comparison that an annotator decided counts once; comparisons that people left tied, that show a human
translation, or of which the metric scored only one side are left out. With c comparisons in which the metric agrees, d
in which it prefers the other and t in which its scores are equal, metrics tasks have used

`tau_ties_against`  (c - d - t) / (c + d + t), where ties of the metric count as errors: the tasks of 2010 to 2012
                    (their script `wmt10_segTau.pl`; C. Callison-Burch and others 2012, section 4.2)
`tau_ties_ignored`  (c - d) / (c + d): the task of 2013 (M. Macháček and O. Bojar 2013)
`tau_ties_zero`     (c - d) / (c + d + t): the task of 2014 and later ones (M. Macháček and O. Bojar 2014, section 4)

They are the variants `wmt12`, `wmt13` and `wmt14` of the script with which the task of 2014 computed them.

Intervals come from drawing annotators and texts again, independently of each other; texts are documents, or segments
where documents are not named. Two metrics are compared by `tau_ties_zero` on the comparisons that both scored; whole
texts change sides in the permutations.

At the level of systems, the order that people gave is only partly certain. `separated systems` counts the pairs of
systems that the ranking decides, from rankings or from scores, and how many of them the metric orders the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.metrics.join import HUMAN
from adjudge.metrics.levels import interval
from adjudge.metrics.results import DECIDED, SEPARATED, MetaEvaluation, MetricAtLevel, MetricComparison, descending
from adjudge.metrics.significance import PermutationTest, adjust_tests, metric_clusters
from adjudge.ranking.methods import RankSettings, rank
from adjudge.readers.metric_scores import MetricScore, score_cells, segment_namer
from adjudge.table.comparisons import comparisons, segment_keys
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.maths import Codes, Floats, divide
from adjudge.table.rng import generator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.ranking.ranking import Ranking
    from adjudge.readers.metric_scores import Cells

TAU_TEST = "permutation of tau (ties 0)"
_STREAM = 71


@dataclass(frozen=True, eq=False)
class _Decided:
    """The comparisons that people decided: who, where, and by metric 1, 0 or -1 (NaN where it is not known)."""

    annotator: Codes
    text: Codes
    """The document, or the segment where documents are not named."""
    agrees: Mapping[str, Floats]


def add_relative_levels(
    result: MetaEvaluation,
    judgments: Judgments,
    ranking: Ranking,
    metrics: Sequence[MetricScore],
    *,
    permutations: int,
    resamples: int,
    seed: int,
) -> MetaEvaluation:
    """The evaluation with the levels of relative judgments: decided comparisons, and systems told apart."""
    levels = {name: dict(at_level) for name, at_level in result.metrics.items()}
    for name, at_level in _evaluate_separated(ranking, metrics).items():
        levels.setdefault(name, {})[SEPARATED] = at_level
    if not any(score.segment is not None for score in metrics):
        return replace(result, metrics=levels)
    decided, aside = _find_decided(judgments, metrics)
    drawn = _draw(decided, resamples, seed)
    for name, agrees in decided.agrees.items():
        levels.setdefault(name, {})[DECIDED] = _evaluate_taus(agrees, drawn)
    compared = _compare_metrics(decided, permutations, seed)
    order = sorted(decided.agrees, key=lambda name: descending(levels[name][DECIDED].values["tau_ties_zero"]))
    return replace(
        result,
        metrics=levels,
        comparisons=(*result.comparisons, *compared),
        clusters={**result.clusters, DECIDED: metric_clusters(compared, order)},
        set_aside=(*result.set_aside, *aside),
    )


def add_separated_level(
    result: MetaEvaluation, judgments: Judgments, metrics: Sequence[MetricScore], *, seed: int
) -> MetaEvaluation:
    """The evaluation with the pairs of systems that judgments of scores tell apart; all others count as ties.

    Where the judgments cannot be ranked, there is no such level.
    """
    try:
        ranking = rank(judgments, method=None, settings=RankSettings(seed=seed))
    except DataError:
        return result
    levels = {name: dict(at_level) for name, at_level in result.metrics.items()}
    for name, at_level in _evaluate_separated(ranking, metrics).items():
        levels.setdefault(name, {})[SEPARATED] = at_level
    return replace(result, metrics=levels)


def _evaluate_separated(ranking: Ranking, metrics: Sequence[MetricScore]) -> dict[str, MetricAtLevel]:
    """Compute the share of pairs separated by the ranking that each metric orders in the same way."""
    from adjudge.metrics.join import system_means

    human = {system.system for system in ranking.systems if system.human}
    certain = [pair for pair in ranking.comparisons if pair.decided and not {pair.better, pair.worse} & human]
    levels = {}
    for name, means in system_means(metrics).items():
        known = [pair for pair in certain if pair.better in means and pair.worse in means]
        if known:
            differences = np.array([means[pair.better] - means[pair.worse] for pair in known])
            share = float((differences > 0).mean())
            levels[name] = MetricAtLevel(len(known), {"accuracy": share, "ties": float((differences == 0).mean())})
    return levels


def _find_decided(judgments: Judgments, metrics: Sequence[MetricScore]) -> tuple[_Decided, tuple[SetAside, ...]]:
    """Every comparison that people decided, with what each metric says of it."""
    compared = comparisons(judgments)
    whole = len(compared)
    compared = compared.without(compared.human)
    keys = segment_keys(judgments).select("document", "segment").rows()
    judged = [MetricScore(HUMAN, "", segment, document, None) for document, segment in keys]
    segments = [score for score in metrics if score.segment is not None and score.score is not None]
    named = segment_namer(judged, segments)
    ahead = compared.outcome != 0
    where, first, second = compared.segment[ahead], compared.first[ahead], compared.second[ahead]
    cells, _ = score_cells(segments, named)
    agrees: dict[str, Floats] = {}
    for name, scores in cells.items():
        matrix = _matrix(scores, compared.systems, [named(score) for score in judged])
        agrees[name] = np.sign(matrix[first, where] - matrix[second, where]) * compared.outcome[ahead]
    if not any((~np.isnan(verdicts)).any() for verdicts in agrees.values()):
        raise DataError(
            "people and metrics share no comparison of two systems on one segment; check names on both sides"
        )
    unscored = int(np.isnan(np.stack(list(agrees.values()))).all(0).sum())
    counted = {
        "comparison with a human translation, which metrics are not asked about": whole - len(compared),
        "comparison that people left tied": int((~ahead).sum()),
        "comparison of which no metric scored both sides": unscored,
    }
    aside = tuple(SetAside(reason, rows) for reason, rows in counted.items() if rows)
    text = compared.segment if compared.document is None else compared.document
    return _Decided(compared.annotator[ahead], text[ahead], agrees), aside


def _matrix(scores: Cells, systems: Sequence[str], segments: Sequence[str]) -> Floats:
    """(systems, segments): the scores of a metric, NaN where it gave none."""
    values = [[scores.get((system, segment), np.nan) for segment in segments] for system in systems]
    return np.array(values, dtype=np.float64).reshape(len(systems), len(segments))


@dataclass(frozen=True, eq=False)
class _Draws:
    """How often each cell of annotator and text counts in each resample, and the cell of every comparison."""

    cell: Codes
    weights: Floats
    """(resamples, cells)"""
    units: int
    """How many annotators were drawn, or texts where they are fewer."""


def _draw(decided: _Decided, resamples: int, seed: int) -> _Draws:
    rng = generator(seed, _STREAM)
    pairs = np.stack([decided.annotator, decided.text])
    (people, texts), cell = np.unique(pairs, axis=1, return_inverse=True)
    weights = np.ones((resamples, len(people)))
    units = []
    for codes in (people, texts):
        used, position = np.unique(codes, return_inverse=True)
        if len(used) > 1:
            weights *= rng.multinomial(len(used), np.full(len(used), 1 / len(used)), size=resamples)[:, position]
            units.append(len(used))
    return _Draws(cell.reshape(-1), weights, min(units, default=2))


def taus(agree: Floats, against: Floats, tied: Floats) -> dict[str, Floats]:
    """The coefficients from counts; NaN where nothing was counted."""
    return {
        "tau_ties_against": divide(agree - against - tied, agree + against + tied),
        "tau_ties_ignored": divide(agree - against, agree + against),
        "tau_ties_zero": divide(agree - against, agree + against + tied),
    }


def _evaluate_taus(agrees: Floats, drawn: _Draws) -> MetricAtLevel:
    counted = [agrees == 1, agrees == -1, agrees == 0]
    values = {name: float(value) for name, value in taus(*(np.array(float(part.sum())) for part in counted)).items()}
    n = int((~np.isnan(agrees)).sum())
    accuracy = float(divide(counted[0].sum(), n))
    cells = drawn.weights.shape[1]
    by_cell = [np.bincount(drawn.cell, part.astype(float), cells) for part in counted]
    resampled = taus(*(drawn.weights @ counts for counts in by_cell))
    intervals = {
        name: middle
        for name, again in resampled.items()
        if (middle := interval(again, units=drawn.units, fewest=2)) is not None
    }
    return MetricAtLevel(n, {**values, "accuracy": accuracy}, intervals)


def _compare_metrics(decided: _Decided, permutations: int, seed: int) -> tuple[MetricComparison, ...]:
    """Every two metrics; whole texts change sides at random."""
    rng = generator(seed, _STREAM, 1)
    tests = []
    for first, second in combinations(decided.agrees, 2):
        difference = decided.agrees[first] - decided.agrees[second]
        known = ~np.isnan(difference)
        by_text = np.bincount(decided.text[known], difference[known])
        by_text = by_text[by_text != 0] / max(int(known.sum()), 1)
        observed = float(by_text.sum())
        signs = rng.choice((-1.0, 1.0), size=(permutations, len(by_text)))
        as_far = int((np.abs(signs @ by_text) >= abs(observed) - 1e-12).sum())
        p = (1 + as_far) / (1 + permutations) if known.any() else float("nan")
        tests.append(PermutationTest(first, second, observed, p))
    return adjust_tests(DECIDED, TAU_TEST, tests)
