"""Document-level quality estimation against post-edits: labels, the weight in them, and what the weight decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.results.result import Result
from adjudge.results.table import Cell, Table, comparison_table, number, percent, tabulate, text

if TYPE_CHECKING:
    from adjudge.results.audit.sampling import Correlation
    from adjudge.results.meta import MetricComparison

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
