"""Metrics (or quality estimation) against human scores: how well each follows them, and which is better than which."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.table.results import Cell, Result, Table, comparison_table, number, percent, tabulate, text, to_plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.table.maths import Correlation


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
                *(_arrow(perturbation, name) for name in names),
                perturbation.order_changed,
            )
            for perturbation in self.perturbations
        )
        columns = (text("change"), number("systems", 0), *(text(name) for name in names), text("order changed"))
        note = "Pearson's r at system level before and after the change to the human data."
        return Table("Metrics when the human ranking is perturbed", columns, rows, note)


_LEVEL_NOTES = {
    SEPARATED: "Of the pairs of systems that people's judgments tell apart, the share that the metric orders "
    "the same way.",
    DECIDED: "Kendall's tau over what people preferred. Equal scores of the metric count as errors, are left out, or "
    "count as 0: docs/meta.md says which metrics tasks did what.",
}


def level_title(level: str) -> str:
    """The title of a level's table."""
    return f"Metrics on {level}" if level in (SEPARATED, DECIDED) else f"Metrics at {level} level"


def _arrow(perturbation: Perturbation, name: str) -> str:
    before, after = (found.get(name, math.nan) for found in (perturbation.before, perturbation.after))
    return "–" if math.isnan(before) or math.isnan(after) else f"{before:.3f} → {after:.3f}"


# Document-level quality estimation against post-edits: labels, the weight in them, and what the weight decides.

SHOWN_WEIGHTS = 12


@dataclass(frozen=True)
class DocumentLabel:
    """One document: edit rates of both post-editions (shares of words, 0 is no edit) and the label made of them."""

    document: str
    words: int
    """Words of the machine translation."""
    first: float
    """TER(PE1, MT): what a person changed who saw single sentences."""
    second: float | None
    """TER(PE2, PE1): what changed again when the whole document was seen."""
    label: float
    """W1 * first + W2 * second."""


@dataclass(frozen=True)
class ChosenWeight:
    """The weight of the second post-edition, and why this one."""

    weight: float
    reason: str
    ratio: float | None = None
    """Standard deviation of the baseline's predictions divided by their mean, at this weight."""
    gain: float | None = None
    """By how much the baseline's mean absolute error is below that of predicting the mean label."""


@dataclass(frozen=True)
class SystemSweep:
    """One quality-estimation system: its correlation with the label at every weight, and at the one chosen."""

    system: str
    pearson: Correlation
    """At the chosen weight."""
    by_weight: tuple[float | None, ...]
    direct: Correlation | None = None
    """With direct assessment, signs turned so that a good predictor is positive."""


@dataclass(frozen=True)
class OrderOfSystems:
    """Weights between which the ranking of systems stays the same."""

    low: float
    high: float
    order: tuple[str, ...]


@dataclass(frozen=True)
class Costs:
    """What the two kinds of gold standard cost, in one currency."""

    words: int
    assessing: float
    post_editing: tuple[float, float]
    """At the lower and at the higher price per word."""

    @property
    def times(self) -> tuple[float, float]:
        """How many times dearer post-editing is."""
        low, high = self.post_editing
        return low / self.assessing, high / self.assessing


@dataclass(frozen=True, kw_only=True)
class QualityEstimation(Result):
    """Labels from post-edits, and how quality-estimation systems fare against them as the weight grows."""

    verb: ClassVar[str] = "qe"

    documents: tuple[DocumentLabel, ...]
    weight: ChosenWeight
    weights: tuple[float, ...]
    systems: tuple[SystemSweep, ...]
    orders: tuple[OrderOfSystems, ...]
    comparisons: tuple[MetricComparison, ...] = ()
    costs: Costs | None = None

    @property
    def order_changes(self) -> bool:
        """Whether the ranking of systems depends on the weight."""
        return len(self.orders) > 1

    def to_dict(self) -> dict[str, Any]:
        """The documented keys, with a plain answer to whether the weight decides the ranking."""
        return {**super().to_dict(), "order_changes": self.order_changes}

    def tables(self) -> tuple[Table, ...]:
        """The systems, the sweep, the rankings along it, the comparisons, the costs and the labels."""
        tables: list[Table] = []
        if self.systems:
            tables += [self._systems_table(), self._sweep_table(), self._orders_table()]
        if self.comparisons:
            tables.append(comparison_table("Systems compared (Williams' test)", self.comparisons))
        if self.costs is not None:
            tables.append(_costs_table(self.costs))
        return (*tables, self._labels_table())

    def _systems_table(self) -> Table:
        columns = [text("system"), number("r"), number("low"), number("high"), number("Spearman"), number("n", 0)]
        columns.append(number("r, direct assessment"))
        rows: list[tuple[Cell, ...]] = []
        for system in self.systems:
            label, direct = system.pearson, None if system.direct is None else system.direct.pearson
            rows.append((system.system, label.pearson, *label.interval, label.spearman, label.n, direct))
        if all(system.direct is None for system in self.systems):
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        title = f"Correlation with the label at weight {self.weight.weight:g}"
        return Table(title, tuple(columns), tuple(rows), f"The weight: {self.weight.reason}.")

    def _sweep_table(self) -> Table:
        step = max(1, -(-len(self.weights) // SHOWN_WEIGHTS))
        steps = [i for i in range(len(self.weights)) if i % step == 0 or i == len(self.weights) - 1]
        columns = (number("weight", 2), *(number(system.system) for system in self.systems))
        rows = tuple((self.weights[i], *(system.by_weight[i] for system in self.systems)) for i in steps)
        note = "Pearson's r with the label as the second post-edition gains weight; all weights are in --json."
        return Table("Weight sweep", columns, rows, note)

    def _orders_table(self) -> Table:
        rows = tuple((order.low, order.high, " > ".join(order.order)) for order in self.orders)
        columns = (number("weight from", 2), number("to", 2), text("ranking of systems"))
        return Table("Rankings along the sweep", columns, rows)

    def _labels_table(self) -> Table:
        columns = {
            "document": text("document"), "words": number("words", 0), "first": percent("TER(PE1, MT)"),
            "second": percent("TER(PE2, PE1)"), "label": number("label"),
        }  # fmt: skip
        note = "Label: the first rate plus the weight times the second."
        return tabulate("Labels of documents", self.documents, columns, note)


def _costs_table(costs: Costs) -> Table:
    low, high = costs.post_editing
    rows: tuple[tuple[Cell, ...], ...] = (
        ("direct assessment", costs.assessing, costs.assessing, 1.0, 1.0),
        ("post-editing", low, high, *costs.times),
    )
    columns = (text("gold standard"), number("cost, low", 2), number("high", 2), number("times, low", 1),
               number("times, high", 1))  # fmt: skip
    return Table(f"Costs for {costs.words:,} words", columns, rows)


# Gold standards: human scores of documents or segments, and how well a second run reproduces them.


@dataclass(frozen=True)
class GoldScore:
    """One document (or segment) of one system: standardised and raw mean, and the number of judgments."""

    system: str
    document: str | None
    segment: str | None
    z: float | None
    raw: float
    n: int


@dataclass(frozen=True)
class GoldRun:
    """The size of a run, and how many annotators were kept."""

    name: str
    annotators: int
    kept: int
    judgments: int
    """Judgments of systems (including repeats) by annotators who are kept."""


@dataclass(frozen=True)
class CurvePoint:
    """The correlation after this many assignments of the second run, in the order submitted and over random orders."""

    assignments: int
    fewest: int
    """The smallest number of judgments of a document so far."""
    mean: float
    """Mean number of judgments per document (or segment) so far."""
    pearson: float | None
    random_mean: float | None
    random_low: float | None
    random_high: float | None


REPEATS = 15
"""Judgments of a segment from which its mean score is called reliable (Graham et al. 2015)."""


@dataclass(frozen=True)
class GoldReliability:
    """How reliable the scores of one run are, and how many judgments a reliability needs."""

    reliability: float
    """The expected correlation with the scores of as many judgments by other people."""
    judgments: float
    """Mean judgments per document (or segment)."""
    target: float
    needed: float | None
    """Judgments per document (or segment) for the target; None if nothing was told apart."""
    repeats: float
    """Mean judgments per output of a segment."""
    annotators: int


@dataclass(frozen=True, kw_only=True)
class Gold(Result):
    """The gold standard of the first run, and its replication by an optional second run."""

    verb: ClassVar[str] = "gold"

    runs: tuple[GoldRun, ...]
    level: str
    """`documents` or `segments`."""
    scores: tuple[GoldScore, ...]
    reliability: GoldReliability | None = None
    second: tuple[GoldScore, ...] = ()
    correlation: Correlation | None = None
    curve: tuple[CurvePoint, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: the scores are under `documents` or `segments`."""
        plain = super().to_dict()
        scores = plain.pop("scores")
        return {**plain, self.level: scores, "runs": to_plain(self.runs), "statement": self.statement}

    @property
    def statement(self) -> str:
        """What a paper says of the gold standard: who judged, how many judgments, how reliable the scores are."""
        run, found = self.runs[0], self.reliability
        said = (
            f"The gold standard has {len(self.scores)} {self.level} scored by direct assessment: {run.judgments:,} "
            f"judgments by {run.kept} of {run.annotators} annotators who pass the quality control, standardised by "
            "annotator, averaged by segment"
        )
        said += " and then by document." if self.level == "documents" else "."
        if found is not None:
            said += f" Its split-half reliability is {found.reliability:.2f} with {found.judgments:.0f} judgments each."
        if self.correlation is not None:
            low, high = self.correlation.interval
            said += f" A second run correlates with r = {self.correlation.pearson:.2f} (95% {low:.2f} to {high:.2f})."
        return said

    def tables(self) -> tuple[Table, ...]:
        """The runs, their correlation, and the scores."""
        counts = {name: number(name, 0) for name in ("annotators", "kept", "judgments")}
        tables = [tabulate("Runs", self.runs, {"name": text("run"), **counts})]
        if self.reliability is not None:
            tables.append(_reliability_table(self.reliability, self.level, self.statement))
        if self.correlation is not None:
            tables.append(_correlation_table(self.correlation, self.level))
        if self.curve:
            tables.append(_curve_table(self.curve, self.level))
        return (*tables, _scores_table(self.scores, self.level))


def _reliability_table(found: GoldReliability, level: str, statement: str) -> Table:
    one = level.removesuffix("s")
    columns = {
        "reliability": number("reliability", 2, help="by random halves of the annotators"),
        "judgments": number(f"judgments per {one}", 1),
        "target": number("target", 2),
        "needed": number("needed", 0, help=f"judgments per {one} for the target"),
        "repeats": number("judgments per segment", 1),
    }
    note = statement
    if level == "segments" and found.repeats < REPEATS:
        note += f" Segments have {found.repeats:.1f} judgments each; {REPEATS} are advised (Graham et al. 2015)."
    return tabulate("Reliability of the first run", (found,), columns, note)


def _correlation_table(correlation: Correlation, level: str) -> Table:
    low, high = correlation.interval
    columns = (number(level, 0), number("Pearson r"), number("low"), number("high"), number("Spearman"))
    return Table(
        "Replication by the second run",
        columns,
        ((correlation.n, correlation.pearson, low, high, correlation.spearman),),
    )


def _curve_table(curve: tuple[CurvePoint, ...], level: str) -> Table:
    per_item = f"judgments per {level.removesuffix('s')}"
    columns = {
        "assignments": number("assignments", 0), "fewest": number("fewest", 0),
        "mean": number("mean", 1, help=per_item), "pearson": number("r"), "random_mean": number("r, random orders"),
        "random_low": number("low"), "random_high": number("high"),
    }  # fmt: skip
    points = [point for i, point in enumerate(curve) if i % max(1, len(curve) // 10) == 0 or i == len(curve) - 1]
    note = "Every tenth part of the curve; all points are in --json. The band holds 95% of random orders."
    return tabulate("Correlation as the second run grows", points, columns, note)


def _scores_table(scores: tuple[GoldScore, ...], level: str) -> Table:
    names = {name: text(name) for name in ("system", "document", "segment")}
    columns = {**names, "z": number("z"), "raw": number("raw", 1), "n": number("n", 0)}
    return tabulate(f"Gold standard of {level}", scores, columns)
