"""Human scores and metric scores joined by system and segment, each once; what cannot be joined is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.readers.metric_scores import score_cells, segment_namer
from adjudge.table.errors import DataError, InputError
from adjudge.table.files import read_text
from adjudge.table.judgments import SetAside
from adjudge.table.maths import Bools, Floats, Ints, divide
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from adjudge.readers.metric_scores import Cells, MetricScore


# Human scores and metric scores side by side, as matrices of systems by segments.


@dataclass(frozen=True, eq=False)
class Scores:
    """`human` and every metric are (systems, segments); NaN where there is no score. Higher is better everywhere."""

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    human: Floats
    metrics: Mapping[str, Floats]
    documents: tuple[str | None, ...] = ()
    """The document of every segment, where known."""
    whole: Mapping[str, Floats] = field(default_factory=dict)
    """Scores of whole test sets by metric, one per system (NaN where there is none), for metrics that have them."""

    def __post_init__(self) -> None:
        if not self.metrics:
            raise DataError("there is no metric to compare with the human scores; check the columns of the scores")

    def system_means(self, scores: Floats) -> Floats:
        """The mean of each system over the segments that have a score."""
        return _nanmean(scores, axis=1)

    def system_scores(self, name: str) -> Floats:
        """A metric's score of each system: of the whole test set where it came with the data, else the mean."""
        return self.whole[name] if name in self.whole else self.system_means(self.metrics[name])

    def missing(self, name: str) -> Bools:
        """Mark what was judged but not scored by the metric: (systems, segments)."""
        unscored: Bools = ~np.isnan(self.human) & np.isnan(self.metrics[name])
        return unscored

    def matched(self, *names: str) -> Scores:
        """The scores of what none of these metrics is missing, on the human side too; unchanged where none is missing.

        The mean of a metric without scores of hard segments is high. Human means over all segments would differ from
        it for that reason alone.
        """
        missing = np.any([self.missing(name) for name in names], axis=0)
        if not missing.any():
            return self
        metrics = {name: np.where(missing, np.nan, self.metrics[name]) for name in names}
        return replace(self, human=np.where(missing, np.nan, self.human), metrics=metrics)

    def match_means(self, *names: str) -> tuple[Floats, ...]:
        """System scores of the human and of each of these metrics, averaged over the same segments.

        Metrics with scores of the whole test set ask for no segments: what they miss is not left out.
        """
        averaged = [name for name in names if name not in self.whole]
        human = self.matched(*averaged) if averaged else self
        means = (self.whole[name] if name in self.whole else human.system_scores(name) for name in names)
        return human.system_means(human.human), *means

    def has_segments(self, name: str) -> bool:
        """Whether the metric scored any segment that was judged; if not, it stands at system level alone."""
        return bool((~np.isnan(self.human) & ~np.isnan(self.metrics[name])).any())

    def of_segments(self) -> Scores | None:
        """Keep the metrics that scored segments; None if there are none, or one segment only."""
        metrics = {name: matrix for name, matrix in self.metrics.items() if self.has_segments(name)}
        return replace(self, metrics=metrics) if metrics and len(self.segments) > 1 else None

    def texts(self) -> Ints:
        """The text of each segment, as a code: its document; the segment itself where documents are not known."""
        if len({name for name in self.documents if name is not None}) < 2:
            return np.arange(len(self.segments))
        names = [
            (name is None, segment if name is None else name)
            for segment, name in zip(self.segments, self.documents, strict=True)
        ]
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        return np.array([codes[name] for name in names])

    def by_document(self) -> Scores:
        """Average the scores over the segments of each document."""
        names = tuple(dict.fromkeys(name for name in self.documents if name is not None))
        if len(names) < 2:
            raise DataError("documents are not known, so there is no document level; give a column 'document'")
        members = [np.array([i for i, document in enumerate(self.documents) if document == name]) for name in names]

        def pooled(scores: Floats) -> Floats:
            return np.stack([_nanmean(scores[:, columns], axis=1) for columns in members], axis=1)

        metrics = {name: pooled(scores) for name, scores in self.metrics.items()}
        return Scores(self.systems, names, pooled(self.human), metrics)

    def without(self, left_out: set[str]) -> Scores:
        """Leave out some systems."""
        kept = [i for i, name in enumerate(self.systems) if name not in left_out]
        metrics = {name: scores[kept] for name, scores in self.metrics.items()}
        systems = tuple(self.systems[i] for i in kept)
        whole = {name: scores[kept] for name, scores in self.whole.items()}
        return Scores(systems, self.segments, self.human[kept], metrics, self.documents, whole)


def _nanmean(values: Floats, axis: int) -> Floats:
    known = ~np.isnan(values)
    count = known.sum(axis)
    total = np.where(known, values, 0.0).sum(axis)
    means = divide(total, count)
    # Sums round: the mean of equal scores must be that score, or constant metrics seem to tell systems apart.
    low = np.where(known, values, np.inf).min(axis, initial=np.inf)
    high = np.where(known, values, -np.inf).max(axis, initial=-np.inf)
    return np.where(low == high, low, means)


HUMAN = "human"
MOST_NAMED = 5


def join(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> tuple[Scores, tuple[SetAside, ...]]:
    """Matrices over the systems and segments that both sides know, and what could not be joined.

    Where a metric has scores of segments and of whole test sets, the latter count at system level. A metric that has
    only the latter stands at system level alone.
    """
    if not any(score.score is not None for score in metrics):
        raise DataError("there is no metric to compare with the human scores; check the columns of the scores")
    gold, of_segments = (
        [score for score in side if score.segment is not None and score.score is not None] for side in (human, metrics)
    )
    if not gold or not of_segments:
        return _join_systems(human, metrics)
    named = segment_namer(gold, of_segments)
    gold_columns, gold_repeated = score_cells(gold, named)
    cells, repeated = score_cells(of_segments, named)
    gold_cells = next(iter(gold_columns.values()))
    judged = {cell for column in gold_columns.values() for cell in column}
    whole, unused = _drop_partial(
        _whole_scores(metrics), {name: {system for system, _ in scored} for name, scored in cells.items()}
    )
    scores = _make_scores(
        gold_cells, cells, whole, judged, order=[named(score) for score in gold], names=_metric_names(metrics)
    )
    documents = {named(score): score.document for score in [*of_segments, *gold] if score.document is not None}
    scores = replace(scores, documents=tuple(documents.get(segment) for segment in scores.segments))
    aside = _count_unused(human, metrics, repeated=gold_repeated + repeated, unused=unused)
    return scores, (*aside, *_count_strangers(judged, cells, whole, set(scores.systems)))


def _metric_names(metrics: Iterable[MetricScore]) -> list[str]:
    """The metrics that have any score."""
    return list(dict.fromkeys(score.metric for score in metrics if score.score is not None))


def _make_scores(
    gold: Cells,
    cells: dict[str, Cells],
    whole: dict[str, dict[str, float]],
    judged: set[tuple[str, str]],
    *,
    order: Sequence[str],
    names: Sequence[str],
) -> Scores:
    """The scores of the systems and segments that both sides have; segments in the order of the human scores."""
    scored = {system for scores in cells.values() for system, _ in scores} | {
        name for scores in whole.values() for name in scores
    }
    systems = sorted({system for system, _ in judged} & scored)
    known = {segment for scores in cells.values() for _, segment in scores}
    segments = [name for name in dict.fromkeys(order) if name in known]
    if len(systems) < 2 or not segments:
        raise DataError("human and metric scores share fewer than two systems or no segment; check names on both sides")
    return Scores(
        tuple(systems),
        tuple(segments),
        _matrix(gold, systems, segments),
        {name: _matrix(cells.get(name, {}), systems, segments) for name in names},
        whole={name: _column(whole[name], systems) for name in names if name in whole},
    )


def _count_unused(
    human: Sequence[MetricScore], metrics: Sequence[MetricScore], *, repeated: int, unused: int
) -> tuple[SetAside, ...]:
    """Scores that are missing, that repeat others, or that are not used."""
    names = set(_metric_names(metrics))
    missing = sum(score.score is None for score in metrics if score.metric in names)
    beside = sum(score.segment is None and score.score is not None for score in human)
    counted = [
        ("human score that is missing (None or empty)", sum(score.score is None for score in human)),
        ("metric score that is missing (None or empty)", missing),
        ("score that repeats another of the same system and segment", repeated),
        ("human score of a whole test set, beside scores of segments", beside),
        ("metric score of a whole test set where some systems have none, so that means of segments count", unused),
    ]
    counted += [
        (f"metric without any score: {name}", sum(score.metric == name for score in metrics))
        for name in sorted({score.metric for score in metrics} - names)
    ]
    return tuple(SetAside(reason, rows) for reason, rows in counted if rows)


def _whole_scores(metrics: Iterable[MetricScore]) -> dict[str, dict[str, float]]:
    """Scores of whole test sets: of every metric that has some, by system."""
    whole: dict[str, dict[str, float]] = {}
    for score in metrics:
        if score.segment is None and score.score is not None:
            by_system = whole.setdefault(score.metric, {})
            if by_system.setdefault(score.system, score.score) != score.score:
                raise DataError(
                    f"'{score.metric}' has two scores of the whole test set by '{score.system}' "
                    f"({by_system[score.system]:g} and {score.score:g}); keep one"
                )
    return whole


def _drop_partial(
    whole: dict[str, dict[str, float]], segmented: dict[str, set[str]]
) -> tuple[dict[str, dict[str, float]], int]:
    """Whole scores of metrics that have one for each system they scored at all, and how many others there are.

    Some systems by their whole and others by the mean of their segments would not be one scale.
    """
    kept = {name: by_system for name, by_system in whole.items() if segmented.get(name, set()) <= by_system.keys()}
    return kept, sum(len(by_system) for name, by_system in whole.items() if name not in kept)


def _join_systems(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> tuple[Scores, tuple[SetAside, ...]]:
    """Scores of whole test sets: one column, which stands for the test set."""
    gold = _means(human)
    by_metric = system_means(metrics)
    scored = {name for means in by_metric.values() for name in means}
    systems = sorted(set(gold) & scored)
    if len(systems) < 2:
        raise DataError("human and metric scores share fewer than two systems; check the names on both sides")
    columns = {name: _column(means, systems)[:, None] for name, means in sorted(by_metric.items())}
    lost = (
        _count_systems(gold, set(systems), "human", "metric"),
        _count_systems(scored, set(systems), "metric", "human"),
    )
    aside = tuple(part for part in lost if part is not None)
    return Scores(tuple(systems), ("all",), _column(gold, systems)[:, None], columns), aside


def system_means(scores: Sequence[MetricScore]) -> dict[str, dict[str, float]]:
    """The score of every system by every metric: of the whole test set where there is one, else the mean."""
    by_metric: dict[str, list[MetricScore]] = {}
    for score in scores:
        by_metric.setdefault(score.metric, []).append(score)
    segments = {name: [score for score in given if score.segment is not None] for name, given in by_metric.items()}
    systems = {name: {score.system for score in given if score.score is not None} for name, given in segments.items()}
    whole, _ = _drop_partial(_whole_scores(scores), systems)
    return {name: whole.get(name) or _means(segments[name]) for name in by_metric}


def _means(scores: Sequence[MetricScore]) -> dict[str, float]:
    parts: dict[str, list[float]] = {}
    for score in scores:
        if score.score is not None:
            parts.setdefault(score.system, []).append(score.score)
    return {system: float(np.mean(values)) for system, values in parts.items()}


def _column(values: dict[str, float], systems: list[str]) -> Floats:
    return np.array([values.get(system, np.nan) for system in systems])


def _matrix(cells: Cells, systems: list[str], segments: list[str]) -> Floats:
    row, column = {name: i for i, name in enumerate(systems)}, {name: i for i, name in enumerate(segments)}
    matrix = np.full((len(systems), len(segments)), np.nan)
    for (system, segment), score in cells.items():
        if system in row and segment in column:
            matrix[row[system], column[segment]] = score
    return matrix


def _count_strangers(
    gold: set[tuple[str, str]], metrics: dict[str, Cells], whole: dict[str, dict[str, float]], systems: set[str]
) -> tuple[SetAside, ...]:
    """Systems that one side lacks by name, then single scores without a counterpart."""
    every = {cell for scores in metrics.values() for cell in scores}
    judged = [system for system, _ in gold]
    scored = [system for scores in metrics.values() for system, _ in scores]
    scored += [system for scores in whole.values() for system in scores]
    aside = [_count_systems(judged, systems, "human", "metric"), _count_systems(scored, systems, "metric", "human")]
    unscored = sum(cell[0] in systems and cell not in every for cell in gold)
    unjudged = sum(cell[0] in systems and cell not in gold for scores in metrics.values() for cell in scores)
    if unscored:
        aside.append(SetAside("human score without a metric score", unscored))
    if unjudged:
        aside.append(SetAside("metric score without a human score", unjudged))
    return tuple(part for part in aside if part is not None)


def _count_systems(of_rows: Iterable[str], kept: set[str], whose: str, other: str) -> SetAside | None:
    """The rows of systems that the other side lacks, with their names."""
    rows = [system for system in of_rows if system not in kept]
    lost = sorted(set(rows))
    if not lost:
        return None
    more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
    return SetAside(
        f"{whose} score of a system without {other} scores: {', '.join(lost[:MOST_NAMED])}{more}", len(rows)
    )


# Keys: which document a segment belongs to, for judgments that do not say it.

# Names of the two columns in use, in order of preference.
SEGMENT = ("segment", "NEW.LN", "sid", "seg_id")
DOCUMENT = ("document", "ORIG.TRG.FN", "doc_id", "docid", "doc")


def read_keys(path: Path) -> dict[str, str]:
    """Segment to document, from a table with a header, separated by tabs, commas or blanks."""
    lines = [(i, line) for i, line in enumerate(read_text(path).splitlines(), start=1) if line.strip()]
    if len(lines) < 2:
        raise InputError("is empty; a header and one line per segment are needed", file=path)
    header = _split(lines[0][1])
    segment, document = _column_index(header, SEGMENT, path), _column_index(header, DOCUMENT, path)
    keys: dict[str, str] = {}
    for number, line in lines[1:]:
        fields = _split(line)
        if len(fields) <= max(segment, document):
            raise InputError(
                f"has {counted(len(fields), 'field')} where the header has {len(header)}", file=path, line=number
            )
        if keys.setdefault(fields[segment], fields[document]) != fields[document]:
            raise InputError(
                f"segment '{fields[segment]}' belongs to two documents; correct it", file=path, line=number
            )
    return keys


def _split(line: str) -> list[str]:
    separator = "\t" if "\t" in line else "," if "," in line else None
    fields = line.split(separator) if separator else re.split(r"\s+", line.strip())
    return [field.strip().strip('"') for field in fields]


def _column_index(header: list[str], names: tuple[str, ...], path: Path) -> int:
    for name in names:
        if name in header:
            return header.index(name)
    raise InputError(f"has no column '{names[0]}', it has {', '.join(header)}; name the columns so", file=path, line=1)
