"""Human scores and metric scores joined by system and segment, each once; what cannot be joined is counted."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.judgments import SetAside
from adjudge.meta.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.formats.metric_scores import MetricScore

    Cells = dict[tuple[str, str], float]
    Naming = Callable[[MetricScore], str]
    from collections.abc import Iterable

    from numpy.typing import NDArray


def place_of(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> Naming:
    """What names the segment of a score: its own name, or document and segment where names start again."""
    twice = _in_two_documents(human) or _in_two_documents(metrics)
    if twice is None:
        return lambda one: str(one.segment)
    for whose, scores in (("human", human), ("metric", metrics)):
        if any(one.document is None for one in scores):
            segment, first, second = twice
            raise DataError(
                f"segment '{segment}' is in the documents '{first}' and '{second}', but {whose} scores do not all say "
                "their document; give a column 'document', or number the segments through"
            )
    return lambda one: f"{one.document}:{one.segment}"


def _in_two_documents(scores: Sequence[MetricScore]) -> tuple[str, str, str] | None:
    seen: dict[str | None, str] = {}
    for one in scores:
        if one.document is not None and seen.setdefault(one.segment, one.document) != one.document:
            return str(one.segment), seen[one.segment], one.document
    return None


def score_cells(scores: Sequence[MetricScore], named: Naming) -> tuple[dict[str, Cells], int]:
    """By metric, the score of every system and segment; and how many scores repeat another exactly."""
    found: dict[str, Cells] = {}
    repeated = 0
    for one in scores:
        if one.score is None:
            continue
        cells, place = found.setdefault(one.metric, {}), (one.system, named(one))
        if place not in cells:
            cells[place] = one.score
        elif cells[place] == one.score:
            repeated += 1
        else:
            raise DataError(
                f"'{one.metric}' has two scores of segment '{place[1]}' by system '{one.system}' "
                f"({cells[place]:g} and {one.score:g}); keep one, or give their mean"
            )
    return found, repeated


HUMAN = "human"
MOST_NAMED = 5


def join(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> tuple[Scores, tuple[SetAside, ...]]:
    """Matrices over the systems and segments that both sides know.

    Where a metric has scores of segments and of whole test sets, the latter count at system level. A metric that has
    only the latter stands at system level alone.
    """
    if not any(one.score is not None for one in metrics):
        raise DataError("there is no metric to compare with the human scores; check the columns of the scores")
    of_segments = [one for one in metrics if one.segment is not None and one.score is not None]
    gold = [one for one in human if one.segment is not None and one.score is not None]
    if not gold or not of_segments:
        return _system_level(human, metrics)
    named = place_of(gold, of_segments)
    people, again = score_cells(gold, named)
    cells, more = score_cells(of_segments, named)
    own = {place for one in people.values() for place in one}
    whole, unused = _usable(_whole(metrics), {name: {system for system, _ in one} for name, one in cells.items()})
    scored = {system for one in cells.values() for system, _ in one} | {name for one in whole.values() for name in one}
    systems = sorted({system for system, _ in own} & scored)
    theirs = {segment for one in cells.values() for _, segment in one}
    segments = [name for name in dict.fromkeys(named(one) for one in gold) if name in theirs]
    if len(systems) < 2 or not segments:
        raise DataError("human and metric scores share fewer than two systems or no segment; check names on both sides")
    documents = {named(one): one.document for one in [*of_segments, *gold] if one.document is not None}
    names = list(dict.fromkeys(one.metric for one in metrics if one.score is not None))
    scores = Scores(
        tuple(systems),
        tuple(segments),
        _matrix(next(iter(people.values())), systems, segments),
        {name: _matrix(cells.get(name, {}), systems, segments) for name in names},
        tuple(documents.get(segment) for segment in segments),
        {name: _column(whole[name], systems) for name in names if name in whole},
    )
    left = sum(one.segment is None and one.score is not None for one in human)
    found = (
        ("human score that is missing (None or empty)", sum(one.score is None for one in human)),
        (
            "metric score that is missing (None or empty)",
            sum(one.score is None for one in metrics if one.metric in names),
        ),
        ("score that repeats another of the same system and segment", again + more),
        ("human score of a whole test set, beside scores of segments", left),
        ("metric score of a whole test set where some systems have none, so that means of segments count", unused),
    )
    nothing = sorted({one.metric for one in metrics} - set(names))
    named_aside = [
        (f"metric without any score: {name}", sum(one.metric == name for one in metrics)) for name in nothing
    ]
    aside = tuple(SetAside(reason, rows) for reason, rows in (*found, *named_aside) if rows)
    return scores, (*aside, *_strangers(own, cells, whole, set(systems)))


def _whole(metrics: Iterable[MetricScore]) -> dict[str, dict[str, float]]:
    """Scores of whole test sets: of every metric that has some, by system."""
    found: dict[str, dict[str, float]] = {}
    for one in metrics:
        if one.segment is None and one.score is not None:
            own = found.setdefault(one.metric, {})
            if own.setdefault(one.system, one.score) != one.score:
                raise DataError(
                    f"'{one.metric}' has two scores of the whole test set by '{one.system}' "
                    f"({own[one.system]:g} and {one.score:g}); keep one"
                )
    return found


def _usable(
    whole: dict[str, dict[str, float]], segmented: dict[str, set[str]]
) -> tuple[dict[str, dict[str, float]], int]:
    """Whole scores of metrics that have one for each system they scored at all, and how many others there are.

    Some systems by their whole and others by the mean of their segments would not be one scale.
    """
    kept = {name: own for name, own in whole.items() if segmented.get(name, set()) <= own.keys()}
    return kept, sum(len(own) for name, own in whole.items() if name not in kept)


def _system_level(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> tuple[Scores, tuple[SetAside, ...]]:
    """Scores of whole test sets: one column, which stands for the test set."""
    gold = _means(human)
    by_metric = system_means(metrics)
    scored = {name for means in by_metric.values() for name in means}
    systems = sorted(set(gold) & scored)
    if len(systems) < 2:
        raise DataError("human and metric scores share fewer than two systems; check the names on both sides")
    columns = {name: _column(means, systems)[:, None] for name, means in sorted(by_metric.items())}
    lost = (
        _systems_aside(gold, set(systems), "human", "metric"),
        _systems_aside(scored, set(systems), "metric", "human"),
    )
    aside = tuple(one for one in lost if one is not None)
    return Scores(tuple(systems), ("all",), _column(gold, systems)[:, None], columns), aside


def system_means(scores: Sequence[MetricScore]) -> dict[str, dict[str, float]]:
    """The score of every system by every metric: of the whole test set where there is one, else the mean."""
    by_metric: dict[str, list[MetricScore]] = {}
    for one in scores:
        by_metric.setdefault(one.metric, []).append(one)
    segments = {name: [one for one in own if one.segment is not None] for name, own in by_metric.items()}
    systems = {name: {one.system for one in own if one.score is not None} for name, own in segments.items()}
    whole, _ = _usable(_whole(scores), systems)
    return {name: whole.get(name) or _means(segments[name]) for name in by_metric}


def _means(scores: Sequence[MetricScore]) -> dict[str, float]:
    parts: dict[str, list[float]] = {}
    for one in scores:
        if one.score is not None:
            parts.setdefault(one.system, []).append(one.score)
    return {system: float(np.mean(values)) for system, values in parts.items()}


def _column(values: dict[str, float], systems: list[str]) -> NDArray[np.float64]:
    return np.array([values.get(system, np.nan) for system in systems])


def _matrix(cells: Cells, systems: list[str], segments: list[str]) -> NDArray[np.float64]:
    row, column = {name: i for i, name in enumerate(systems)}, {name: i for i, name in enumerate(segments)}
    matrix = np.full((len(systems), len(segments)), np.nan)
    for (system, segment), score in cells.items():
        if system in row and segment in column:
            matrix[row[system], column[segment]] = score
    return matrix


def _strangers(
    gold: set[tuple[str, str]], metrics: dict[str, Cells], whole: dict[str, dict[str, float]], systems: set[str]
) -> tuple[SetAside, ...]:
    """Systems that one side lacks by name, then single scores without a counterpart."""
    every = {place for one in metrics.values() for place in one}
    judged = [system for system, _ in gold]
    scored = [system for one in metrics.values() for system, _ in one]
    scored += [system for one in whole.values() for system in one]
    found = [_systems_aside(judged, systems, "human", "metric"), _systems_aside(scored, systems, "metric", "human")]
    unscored = sum(place[0] in systems and place not in every for place in gold)
    unjudged = sum(place[0] in systems and place not in gold for one in metrics.values() for place in one)
    if unscored:
        found.append(SetAside("human score without a metric score", unscored))
    if unjudged:
        found.append(SetAside("metric score without a human score", unjudged))
    return tuple(one for one in found if one is not None)


def _systems_aside(of_rows: Iterable[str], kept: set[str], whose: str, other: str) -> SetAside | None:
    """The rows of systems that the other side lacks, with their names."""
    rows = [system for system in of_rows if system not in kept]
    lost = sorted(set(rows))
    if not lost:
        return None
    more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
    return SetAside(
        f"{whose} score of a system without {other} scores: {', '.join(lost[:MOST_NAMED])}{more}", len(rows)
    )


def fingerprint(scores: Iterable[MetricScore]) -> str:
    """Twelve hexadecimal digits that identify the scores, whatever their order."""
    lines = sorted(f"{one.metric}\t{one.system}\t{one.segment}\t{one.document}\t{one.score}" for one in scores)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
