"""Human and metric scores joined by system and segment; what one side lacks is said, not guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.judgments import SetAside
from adjudge.meta.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.formats.metric_scores import MetricScore

HUMAN = "human"


def join(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> tuple[Scores, tuple[SetAside, ...]]:
    """Matrices over the systems and segments that both sides know.

    Where a metric has scores of segments and of whole test sets, the latter count at system level.
    """
    of_segments = [one for one in metrics if one.segment is not None]
    gold = [one for one in human if one.segment is not None and one.score is not None]
    if not gold or not of_segments:
        return _system_level(human, metrics)
    systems = sorted({one.system for one in gold} & {one.system for one in of_segments})
    named = dict.fromkeys(one.segment for one in gold if one.segment is not None)
    known: set[str | None] = {one.segment for one in of_segments if one.segment in named}
    segments = [segment for segment in named if segment in known]
    if len(systems) < 2 or not segments:
        raise DataError("human and metric scores share fewer than two systems or no segment; check names on both sides")
    documents = {one.segment: one.document for one in [*of_segments, *gold] if one.document is not None}
    names = list(dict.fromkeys(one.metric for one in of_segments))
    matrices = {name: _matrix([one for one in of_segments if one.metric == name], systems, segments) for name in names}
    scores = Scores(
        tuple(systems),
        tuple(segments),
        _matrix(gold, systems, segments),
        matrices,
        tuple(documents.get(segment) for segment in segments),
        _whole(metrics, names, systems),
    )
    return scores, _strangers(gold, of_segments, set(systems), known)


def _whole(metrics: Sequence[MetricScore], names: list[str], systems: list[str]) -> dict[str, NDArray[np.float64]]:
    """Scores of whole test sets, of metrics that have one for every system."""
    found: dict[str, dict[str, float]] = {}
    for one in metrics:
        if one.segment is None and one.score is not None:
            found.setdefault(one.metric, {})[one.system] = one.score
    return {
        name: np.array([found[name][system] for system in systems])
        for name in names
        if set(systems) <= set(found.get(name, {}))
    }


def _system_level(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> tuple[Scores, tuple[SetAside, ...]]:
    """Scores of whole test sets: one column, which stands for the test set."""
    gold = _means(human)
    by_metric = system_means(metrics)
    systems = sorted(set(gold) & {name for means in by_metric.values() for name in means})
    if len(systems) < 2:
        raise DataError("human and metric scores share fewer than two systems; check the names on both sides")
    column = {
        name: np.array([[means.get(system, np.nan)] for system in systems]) for name, means in sorted(by_metric.items())
    }
    return Scores(tuple(systems), ("all",), np.array([[gold[system]] for system in systems]), column), ()


def system_means(scores: Sequence[MetricScore]) -> dict[str, dict[str, float]]:
    """The score of every system by every metric: of the whole test set where there is one, else the mean."""
    names = dict.fromkeys(one.metric for one in scores)
    by_metric = {name: [one for one in scores if one.metric == name] for name in names}
    return {
        name: {**_means(own), **_means([one for one in own if one.segment is None])} for name, own in by_metric.items()
    }


def _means(scores: Sequence[MetricScore]) -> dict[str, float]:
    parts: dict[str, list[float]] = {}
    for one in scores:
        if one.score is not None:
            parts.setdefault(one.system, []).append(one.score)
    return {system: float(np.mean(values)) for system, values in parts.items()}


def _matrix(scores: Sequence[MetricScore], systems: list[str], segments: list[str]) -> NDArray[np.float64]:
    row, column = {name: i for i, name in enumerate(systems)}, {name: i for i, name in enumerate(segments)}
    matrix = np.full((len(systems), len(segments)), np.nan)
    for one in scores:
        if one.system in row and one.segment in column and one.score is not None:
            matrix[row[one.system], column[one.segment]] = one.score
    return matrix


def _strangers(
    gold: Sequence[MetricScore], metrics: Sequence[MetricScore], systems: set[str], segments: set[str | None]
) -> tuple[SetAside, ...]:
    def count(scores: Sequence[MetricScore]) -> int:
        return sum(one.system not in systems or one.segment not in segments for one in scores)

    found = (
        ("human score without a metric score", count(gold)),
        ("metric score without a human score", count(metrics)),
    )
    return tuple(SetAside(reason, rows) for reason, rows in found if rows)
