"""Metrics (or quality estimation) against human scores: how well each follows them, and which is better than which."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.results.result import Result, to_plain
from adjudge.results.table import Cell, Table, comparison_table, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping

LEVEL = 0.05
SEPARATED, DECIDED = "separated systems", "decided comparisons"
"""Levels of relative judgments: pairs of systems that a ranking tells apart, and what single people preferred."""
SYSTEM_LEVELS = ("system", "system without outliers")
CLUSTERED_BY = {
    "system": "williams",
    "segment": "permutation of tie-calibrated accuracy by item",
    DECIDED: "permutation of tau (ties 0)",
}
"""The test that the clusters of a level are made by."""
LEVELS = (*SYSTEM_LEVELS, SEPARATED, "document", "segment", DECIDED)


def descending(value: float | None) -> tuple[bool, float]:
    """A key that sorts from high to low, with what is not defined at the end."""
    unknown = value is None or math.isnan(value)
    return (unknown, 0.0 if value is None or unknown else -value)


@dataclass(frozen=True)
class MetricAtLevel:
    """One metric at one level: every coefficient by name, and intervals for those that have one."""

    n: int
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """At the level of segments: the coefficients averaged over systems (`by_system`) and over items (`by_item`)."""

    def to_dict(self) -> dict[str, Any]:
        """Flat: coefficients by name, intervals under `intervals`, groupings under their names."""
        plain: dict[str, Any] = to_plain({**self.values, "intervals": self.intervals, **self.groups})
        return {"n": self.n, **plain}


@dataclass(frozen=True)
class MetricComparison:
    """Two metrics at one level under one test; p is that of the hypothesis that they are equally good.

    A one-sided p is that of the direction seen, as metrics tasks print Williams' test. Because the other direction
    would have been tested as well, the two are told apart below half the level only.
    """

    level: str
    test: str
    better: str
    worse: str
    difference: float
    p: float | None
    p_holm: float | None
    p_bh: float | None
    one_sided: bool = False

    @property
    def told_apart(self) -> bool:
        """Whether Holm's correction leaves the one better than the other."""
        return self.p_holm is not None and self.p_holm < (LEVEL / 2 if self.one_sided else LEVEL)


@dataclass(frozen=True)
class Perturbation:
    """What becomes of the metrics when the human ranking is made from changed data."""

    change: str
    systems: int
    before: Mapping[str, float]
    """Pearson's r at system level with the original human scores, over the systems that are left."""
    after: Mapping[str, float]
    order_changed: bool


@dataclass(frozen=True, kw_only=True)
class MetaEvaluation(Result):
    """All metrics at all levels, compared."""

    verb: ClassVar[str] = "meta"

    metrics: Mapping[str, Mapping[str, MetricAtLevel]]
    comparisons: tuple[MetricComparison, ...]
    clusters: Mapping[str, tuple[tuple[str, ...], ...]]
    """At each level, metrics that no test separates, the best first."""
    outliers: tuple[str, ...]
    perturbations: tuple[Perturbation, ...] = ()

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels at which some metric was evaluated, the coarsest first."""
        levels = {level for metric in self.metrics.values() for level in metric}
        return tuple(level for level in LEVELS if level in levels)

    def leaders(self, level: str) -> list[str]:
        """The metrics that may be the best at a level: the test of its clusters shows no other one to be better.

        A cluster also holds metrics that its best ones beat, where others stand between them.
        """
        compared = [one for one in self.comparisons if one.level == level and one.test == CLUSTERED_BY.get(level)]
        beaten = {one.worse for one in compared if one.told_apart}
        return [name for cluster in self.clusters[level] for name in cluster if name not in beaten]

    def tables(self) -> tuple[Table, ...]:
        """One table per level, then the comparisons."""
        tables = [self._level_table(level) for level in self.levels]
        if self.comparisons:
            tables.append(self._comparison_table())
        if self.perturbations:
            tables.append(self._perturbation_table())
        return tuple(tables)

    def _level_table(self, level: str) -> Table:
        at_level = {name: levels[level] for name, levels in self.metrics.items() if level in levels}
        names = list(dict.fromkeys(name for metric in at_level.values() for name in metric.values))
        columns = [text("metric"), number("n", 0), *(number(name.replace("_", " ")) for name in names)]
        columns += [
            number(f"{name.replace('_', ' ')} by {group.removeprefix('by_')}")
            for group, name in self._shown_groups(at_level)
        ]
        rows: list[tuple[Cell, ...]] = []
        first = next((name for name in ("pearson", "tau_ties_zero") if name in names), names[0])
        for name, metric in sorted(at_level.items(), key=lambda item: descending(item[1].values.get(first))):
            grouped = (
                metric.groups.get(group, {}).get(coefficient) for group, coefficient in self._shown_groups(at_level)
            )
            rows.append((name, metric.n, *(metric.values.get(value) for value in names), *grouped))
        note = f"Outlier systems: {', '.join(self.outliers)}." if self.outliers and level in SYSTEM_LEVELS else ""
        return Table(level_title(level), tuple(columns), tuple(rows), note or _LEVEL_NOTES.get(level, ""))

    @staticmethod
    def _shown_groups(at_level: Mapping[str, MetricAtLevel]) -> list[tuple[str, str]]:
        wanted = (("by_item", "pearson"), ("by_item", "tie_calibrated_accuracy"))
        return [(g, c) for g, c in wanted if any(c in metric.groups.get(g, {}) for metric in at_level.values())]

    def _comparison_table(self) -> Table:
        compared = comparison_table("Metrics compared", self.comparisons)
        tests = tuple((comparison.level, comparison.test) for comparison in self.comparisons)
        rows = tuple((*test, *row) for test, row in zip(tests, compared.rows, strict=True))
        return replace(compared, columns=(text("level"), text("test"), *compared.columns), rows=rows)

    def _perturbation_table(self) -> Table:
        names = list(self.metrics)
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                perturbation.change,
                perturbation.systems,
                *(_arrow(perturbation.before.get(name), perturbation.after.get(name)) for name in names),
                perturbation.order_changed,
            )
            for perturbation in self.perturbations
        )
        columns = (text("change"), number("systems", 0), *(text(name) for name in names), text("order changed"))
        note = "Pearson's r at system level before and after the change to the human data."
        return Table("Metrics when the human ranking is perturbed", columns, rows, note)


_LEVEL_NOTES = {
    SEPARATED: "Of the pairs of systems that people's judgments tell apart (Holm), the share that the metric orders "
    "the same way.",
    DECIDED: "Kendall's tau over what people preferred. Equal scores of the metric count as errors, are left out, or "
    "count as 0: docs/meta.md says which metrics tasks did what.",
}


def level_title(level: str) -> str:
    """The title of a level's table."""
    return f"Metrics on {level}" if level in (SEPARATED, DECIDED) else f"Metrics at {level} level"


def _arrow(before: float | None, after: float | None) -> str:
    if before is None or after is None or math.isnan(before) or math.isnan(after):
        return "–"
    return f"{before:.3f} → {after:.3f}"
