"""Sections of an audit: what was judged. Which systems met in tasks or blocks, and how hard the documents are."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.core.wording import counted
from adjudge.results.table import Cell, Table, number, percent, tabulate, text


@dataclass(frozen=True)
class TaskComposition:
    """Which systems met in tasks: `matrix[i][j]` tasks, `shares[i][j]` of the tasks of system i."""

    unit: str
    """`task`, or `annotator` where tasks are not known."""
    units: int
    systems: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    systems_per_unit: tuple[int, float, int]
    """Fewest, mean and most systems in a task."""
    met_in_half: float
    """Share of ordered pairs of systems that met in at least half of the tasks of the first."""
    annotators: int
    annotators_with: dict[str, float]
    """Share of annotators who judged a reference, a degraded output, a human translation."""
    annotators_with_one_task: float | None

    def tables(self) -> tuple[Table, ...]:
        """The figures, then the matrix."""
        low, mean, high = self.systems_per_unit
        rows: list[tuple[Cell, ...]] = [
            (
                f"systems per {self.unit}, of {len(self.systems)}",
                f"{low}" if low == high else f"{low} to {high}, {mean:.1f} on average",
            ),
            (f"pairs that meet {self._in} half of their {self.unit}s", f"{100 * self.met_in_half:.0f}%"),
            *((f"annotators who judged {what}", f"{100 * share:.0f}%") for what, share in self.annotators_with.items()),
        ]
        if self.annotators_with_one_task is not None:
            rows.append(("annotators who did one task only", f"{100 * self.annotators_with_one_task:.0f}%"))
        figures = Table(
            f"Composition: what {self.unit}s {'judged' if self._by_people else 'are made of'}",
            (text("what"), text("found")),
            tuple(rows),
            self._warning(),
        )
        matrix: tuple[tuple[Cell, ...], ...] = tuple(
            (name, *counts) for name, counts in zip(self.systems, self.matrix, strict=True)
        )
        title = (
            f"Composition: {self.unit}s {'who judged both systems' if self._by_people else 'in which two systems met'}"
        )
        return figures, Table(title, (text("system"), *(number(name, 0) for name in self.systems)), matrix)

    @property
    def _by_people(self) -> bool:
        return self.unit == "annotator"

    @property
    def _in(self) -> str:
        return "with" if self._by_people else "in"

    def _warning(self) -> str:
        parts: list[str] = []
        if self.met_in_half < 0.5:
            half = f"{self._in} fewer than half of their {self.unit}s"
            parts.append(f"most systems meet {half}, so a score depends on the other systems")
        if self.annotators_with_one_task is not None and self.annotators_with_one_task > 0.5:
            parts.append("most annotators did one task, so an annotator's z-score is mostly a task's")
        return "; ".join(parts).capitalize() + "." if parts else ""


@dataclass(frozen=True)
class Opposition:
    """Whom a system met: how many others, how strong they are on average, how often a human translation."""

    system: str
    human: bool
    shown: int
    opponents: int
    opponent_score: float
    reference_share: float


@dataclass(frozen=True)
class Composition:
    """Which systems were shown together: `matrix[i][j]` blocks, `shares[i][j]` of the blocks of system i."""

    unit: str
    method: str
    systems: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    opposition: tuple[Opposition, ...]
    fewest: int
    most: int

    def tables(self) -> tuple[Table, ...]:
        """Whom each system met, then the matrix."""
        columns = {
            "system": text("system"),
            "shown": number(f"{self.unit}s", 0),
            "opponents": number("opponents", 0, help="different systems it was shown with"),
            "opponent_score": number(
                "opponents' score", help=f"mean score of those it was shown with, by {self.method}"
            ),
            "reference_share": percent("with reference"),
        }
        fewest = f"{self.fewest:,} to " if self.fewest < self.most else ""
        note = f"Two systems met in {fewest}{counted(self.most, self.unit)}."
        matrix: tuple[tuple[Cell, ...], ...] = tuple(
            (name, *counts) for name, counts in zip(self.systems, self.matrix, strict=True)
        )
        return (
            tabulate("Composition: whom each system met", self.opposition, columns, note),
            Table(
                f"Composition: {self.unit}s in which two systems were shown together",
                (text("system"), *(number(name, 0) for name in self.systems)),
                matrix,
            ),
        )


@dataclass(frozen=True)
class ExplainedSpread:
    """How much of the spread of raw scores a set of factors explains, allowing for how many levels they have."""

    factors: str
    r2: float
    adjusted_r2: float


@dataclass(frozen=True)
class Documents:
    """Documents by systems, easiest document and best system first; empty cells were not judged."""

    documents: tuple[str, ...]
    systems: tuple[str, ...]
    matrix: tuple[tuple[float | None, ...], ...]
    counts: tuple[tuple[int, ...], ...]
    difficulty: tuple[float, ...]
    """Mean score of each document."""
    coverage: float
    """Share of document-by-system cells that were judged."""
    explained: tuple[ExplainedSpread, ...]
    scale: str = "raw score"
    """What the matrix holds: means of raw scores or z-scores, estimates of a model, or a metric."""

    def tables(self) -> tuple[Table, ...]:
        """What explains the spread, then coverage by document."""
        spread = tabulate(
            "Documents: what explains the spread of raw scores",
            self.explained,
            {"factors": text("factors"), "r2": percent("R²"), "adjusted_r2": percent("adjusted R²")},
            "Where documents add little once annotators are known, documents differ mostly by who judged them.",
        )
        judged = tuple(sum(count > 0 for count in row) for row in self.counts)
        rows = tuple(
            (name, mean, systems, sum(row))
            for name, mean, systems, row in zip(self.documents, self.difficulty, judged, self.counts, strict=True)
        )
        columns = (
            text("document"),
            number("mean", 1 if self.scale == "raw score" else 2),
            number("systems", 0),
            number("judgments", 0),
        )
        what = "" if self.scale == "raw score" else f" Means are of the {self.scale}."
        note = f"{100 * self.coverage:.0f}% of document-by-system cells were judged.{what}"
        return spread, Table("Documents, the easiest first", columns, rows, note)
