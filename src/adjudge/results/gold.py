"""Gold standards: human scores of documents or segments, and how well a second run reproduces them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.results.result import Result, to_plain
from adjudge.results.table import Table, number, tabulate, text

if TYPE_CHECKING:
    from adjudge.results.audit.sampling import Correlation


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


@dataclass(frozen=True, kw_only=True)
class Gold(Result):
    """The gold standard of the first run, and its replication by an optional second run."""

    verb: ClassVar[str] = "gold"

    runs: tuple[GoldRun, ...]
    level: str
    """`documents` or `segments`."""
    scores: tuple[GoldScore, ...]
    second: tuple[GoldScore, ...] = ()
    correlation: Correlation | None = None
    curve: tuple[CurvePoint, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: the scores are under `documents` or `segments`."""
        plain = super().to_dict()
        scores = plain.pop("scores")
        return {**plain, self.level: scores, "runs": to_plain(self.runs)}

    def tables(self) -> tuple[Table, ...]:
        """The runs, their correlation, and the scores."""
        counts = {name: number(name, 0) for name in ("annotators", "kept", "judgments")}
        tables = [tabulate("Runs", self.runs, {"name": text("run"), **counts})]
        if self.correlation is not None:
            tables.append(_correlation_table(self.correlation, self.level))
        if self.curve:
            tables.append(_curve_table(self.curve, self.level))
        return (*tables, _scores_table(self.scores, self.level))


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
