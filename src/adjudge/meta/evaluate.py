"""`meta`: metrics and quality estimation against human scores, at every level, with valid tests of significance."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.core.wording import counted
from adjudge.meta import resampling
from adjudge.meta.accuracy import signs
from adjudge.meta.levels import MOST_PAIRS, at_segment_level, at_system_level, outliers
from adjudge.meta.metric_tests import compare_segments, compare_systems, metric_clusters
from adjudge.meta.permutation_tests import enough_permutations
from adjudge.results.meta import MetaEvaluation, MetricAtLevel, descending
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.judgments import SetAside
    from adjudge.meta.resampling import Draws
    from adjudge.meta.scores import Scores
    from adjudge.results.meta import MetricComparison, Perturbation

MAE_NOTE = (
    "mae rewards a metric for using the scale of the human scores, not for ordering translations: do not rank by it"
)
FEW_SYSTEMS = 10


def evaluate(
    scores: Scores,
    *,
    permutations: int = 1000,
    resamples: int = 500,
    seed: int = DEFAULT_SEED,
    data: str = "",
    set_aside: tuple[SetAside, ...] = (),
    perturbations: tuple[Perturbation, ...] = (),
    made_with: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> MetaEvaluation:
    """Evaluate every metric at the levels that the scores allow, and compare every two of them.

    Args:
        scores: human and metric scores side by side.
        permutations: of every permutation test; more where there are many metrics.
        resamples: of documents, or of segments where documents are not named, for intervals.
        seed: of both.
        data: fingerprint of the data.
        set_aside: scores that could not be joined.
        perturbations: what becomes of the metrics when the human data are changed, where that is known.
        made_with: how metric scores were made, where adjudge made them.
        notes: what else is to be known of the scores.
    """
    if len(scores.systems) < 2:
        raise DataError("at least two systems are needed to say anything about a metric")
    rng = generator(seed)
    drawn = resampling.draws(resamples, scores.texts(), rng)
    flips = signs(permutations, len(scores.segments), rng) if len(scores.segments) > 1 else None
    far = outliers(scores.system_means(scores.human))
    names = tuple(name for name, out in zip(scores.systems, far, strict=True) if out)
    levels = _evaluate_levels(scores, drawn, flips, set(names), rng)
    comparisons = compare_systems(scores)
    if (of_segments := scores.of_segments()) is not None:
        comparisons += compare_segments(of_segments, permutations, rng)
    return MetaEvaluation(
        settings={"permutations": permutations, "resamples": resamples, "seed": seed, **(made_with or {})},
        data=data,
        set_aside=set_aside,
        notes=(
            *_note_systems(scores, names),
            *_note_more_permutations(scores, permutations),
            *_note_missing_segments(scores),
            *_note_negative(levels),
            *_note_left_out_accuracies(levels),
            *notes,
        ),
        metrics=levels,
        comparisons=comparisons,
        clusters=_find_clusters(levels, comparisons),
        outliers=names,
        perturbations=perturbations,
    )


def _evaluate_levels(
    scores: Scores, drawn: Draws | None, flips: np.ndarray | None, far: set[str], rng: np.random.Generator
) -> dict[str, dict[str, MetricAtLevel]]:
    without = scores.without(far) if far and len(scores.systems) - len(far) > 2 else None
    several = len({document for document in scores.documents if document is not None}) > 1
    documents = scores.by_document() if several else None
    resamples = 0 if drawn is None else len(drawn.weights)
    redrawn = None if documents is None else resampling.draws(resamples, documents.texts(), rng)

    def evaluate_metric(name: str) -> dict[str, MetricAtLevel]:
        levels = {"system": at_system_level(scores, name, drawn, flips)}
        if without is not None:
            levels["system without outliers"] = at_system_level(without, name, drawn, flips)
        if not scores.has_segments(name):
            return levels
        if documents is not None:
            matched = documents if not scores.missing(name).any() else scores.matched(name).by_document()
            levels["document"] = at_segment_level(matched, matched.metrics[name], redrawn)
        if len(scores.segments) > 1:
            levels["segment"] = at_segment_level(scores, scores.metrics[name], drawn)
        return levels

    return dict(zip(scores.metrics, map_tasks(evaluate_metric, scores.metrics, what="metrics"), strict=True))


def _find_clusters(
    levels: Mapping[str, Mapping[str, MetricAtLevel]], comparisons: tuple[MetricComparison, ...]
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Clusters by Williams' test at system level, and by permutation of accuracy (by item) at segment level."""
    clusters: dict[str, tuple[tuple[str, ...], ...]] = {}
    by_pearson = sorted(levels, key=lambda name: descending(levels[name]["system"].values["pearson"]))
    clusters["system"] = metric_clusters(
        [comparison for comparison in comparisons if comparison.level == "system"], by_pearson
    )
    test = "permutation of tie-calibrated accuracy by item"
    if any(comparison.test == test for comparison in comparisons):
        by_item = {
            name: at_levels["segment"].groups["by_item"] for name, at_levels in levels.items() if "segment" in at_levels
        }
        order = sorted(by_item, key=lambda name: descending(by_item[name]["tie_calibrated_accuracy"]))
        clusters["segment"] = metric_clusters(
            [comparison for comparison in comparisons if comparison.test == test], order
        )
    return clusters


def _note_more_permutations(scores: Scores, permutations: int) -> tuple[str, ...]:
    """Note if there are too many metrics to reach .05 after Holm's correction with the permutations asked for."""
    most = enough_permutations(len(scores.metrics), permutations)
    if most == permutations or len(scores.segments) < 2:
        return ()
    often = f"pairs whose p is at most .05 are permuted up to {most:,} times"
    return (f"with {len(scores.metrics)} metrics, {often}, so that Holm's correction can be met",)


def _note_missing_segments(scores: Scores) -> tuple[str, ...]:
    """Metrics without scores of some judged segments, among the systems that they scored at all."""
    lacking = []
    for name in scores.metrics:
        scored = ~np.isnan(scores.metrics[name]).all(axis=1)
        missing, judged = scores.missing(name)[scored], ~np.isnan(scores.human[scored])
        if missing.any():
            lacking.append(f"{name} {missing.sum():,} of {judged.sum():,}")
    if not lacking:
        return ()
    same = "where a metric is averaged over segments, human scores are averaged over the segments that it scored"
    return (f"judged segments of systems without a score by the metric ({', '.join(lacking)}): {same}",)


def _note_negative(levels: Mapping[str, Mapping[str, MetricAtLevel]]) -> tuple[str, ...]:
    """Metrics that fall where the human rises at every level: probably they count errors."""
    negative = [
        name for name, at_levels in levels.items() if all(level.values["pearson"] < 0 for level in at_levels.values())
    ]
    if not negative:
        return ()
    hint = f"if lower is better there, reverse them with --lower-is-better {shlex.quote(negative[0])}"
    return (f"negative correlations at every level ({', '.join(negative)}): {hint}",)


def _note_left_out_accuracies(levels: Mapping[str, Mapping[str, MetricAtLevel]]) -> tuple[str, ...]:
    """Note where there were too many pairs of scores to form them all."""
    at_segments = [at_levels["segment"] for at_levels in levels.values() if "segment" in at_levels]
    values = {
        "pooled": [level.values for level in at_segments],
        "by_system": [level.groups["by_system"] for level in at_segments],
    }
    left = [where for where, several in values.items() if any("pairwise_accuracy" not in each for each in several)]
    if not left:
        return ()
    what = " and ".join(where.replace("_", " ") for where in left)
    return (f"accuracies {what} are left out, as there are more than {MOST_PAIRS:,} pairs of scores; see by item",)


def _note_systems(scores: Scores, far: tuple[str, ...]) -> tuple[str, ...]:
    notes = [MAE_NOTE] if len(scores.segments) > 1 else []
    if len(scores.systems) < FEW_SYSTEMS:
        notes.append(f"only {counted(len(scores.systems), 'system')}: correlations at system level say little")
    if far:
        notes.append(
            f"outlier systems ({', '.join(far)}) raise correlations at system level; see the level without them"
        )
    return tuple(notes)
