"""Human scores and metric scores side by side, as matrices of systems by segments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.maths import divide

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.arrays import Bools, Floats, Ints


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

    def matched_means(self, *names: str) -> tuple[Floats, ...]:
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
