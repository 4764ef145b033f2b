"""`meta`: metrics and quality estimation against human scores, at every level, with honest significance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.meta import MetaEvaluation, MetricAtLevel
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.meta import resample
from adjudge.meta.compare import compare_segments, compare_systems, metric_clusters
from adjudge.meta.levels import at_segment_level, at_system_level
from adjudge.meta.outliers import outliers
from adjudge.meta.soft_accuracy import signs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.judgments import SetAside
    from adjudge.core.meta import MetricComparison, Perturbation
    from adjudge.meta.scores import Scores

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
        permutations: of every permutation test.
        resamples: of segments, for intervals.
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
    drawn = resample.weights(resamples, len(scores.segments), rng) if len(scores.segments) > 1 else np.empty((0, 1))
    flips = signs(permutations, len(scores.segments), rng) if len(scores.segments) > 1 else None
    far = outliers(scores.system_means(scores.human))
    names = tuple(name for name, out in zip(scores.systems, far, strict=True) if out)
    levels = _levels(scores, drawn, flips, set(names))
    comparisons = compare_systems(scores)
    if len(scores.segments) > 1:
        comparisons += compare_segments(scores, permutations, rng)
    return MetaEvaluation(
        settings={"permutations": permutations, "resamples": resamples, "seed": seed, **(made_with or {})},
        data=data,
        set_aside=set_aside,
        notes=(*_notes(scores, names), *notes),
        metrics=levels,
        comparisons=comparisons,
        clusters=_clusters(levels, comparisons),
        outliers=names,
        perturbations=perturbations,
    )


def _levels(
    scores: Scores, drawn: np.ndarray, flips: np.ndarray | None, far: set[str]
) -> dict[str, dict[str, MetricAtLevel]]:
    without = scores.without(far) if far and len(scores.systems) - len(far) > 2 else None
    documents = scores.by_document() if len({one for one in scores.documents if one is not None}) > 1 else None
    levels: dict[str, dict[str, MetricAtLevel]] = {}
    for name, metric in scores.metrics.items():
        levels[name] = {"system": at_system_level(scores, name, drawn, flips)}
        if without is not None:
            levels[name]["system without outliers"] = at_system_level(without, name, drawn, flips)
        if documents is not None:
            levels[name]["document"] = at_segment_level(documents, documents.metrics[name], np.empty((0, 1)))
        if len(scores.segments) > 1:
            levels[name]["segment"] = at_segment_level(scores, metric, drawn)
    return levels


def _clusters(
    levels: Mapping[str, Mapping[str, MetricAtLevel]], comparisons: tuple[MetricComparison, ...]
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Clusters by Williams' test at system level, and by permutation of accuracy (by item) at segment level."""
    clusters: dict[str, tuple[tuple[str, ...], ...]] = {}
    by_pearson = sorted(levels, key=lambda name: -levels[name]["system"].values["pearson"])
    clusters["system"] = metric_clusters([one for one in comparisons if one.level == "system"], by_pearson)
    test = "permutation of tie-calibrated accuracy by item"
    if any(one.test == test for one in comparisons):
        accuracy = {name: one["segment"].groups["by_item"]["tie_calibrated_accuracy"] for name, one in levels.items()}
        order = sorted(levels, key=lambda name: -accuracy[name])
        clusters["segment"] = metric_clusters([one for one in comparisons if one.test == test], order)
    return clusters


def _notes(scores: Scores, far: tuple[str, ...]) -> tuple[str, ...]:
    notes = [MAE_NOTE] if len(scores.segments) > 1 else []
    if len(scores.systems) < FEW_SYSTEMS:
        notes.append(f"only {len(scores.systems)} systems: correlations at system level say little")
    if far:
        notes.append(
            f"outlier systems ({', '.join(far)}) raise correlations at system level; see the level without them"
        )
    return tuple(notes)
