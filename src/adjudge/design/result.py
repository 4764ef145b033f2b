"""The result of designing tasks: what will be judged, by whom, and how far the design itself could mislead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from adjudge.results.result import Result
from adjudge.results.table import Table, number, percent, shown_name, text


@dataclass(frozen=True)
class DesignedSystem:
    """How often a system is judged; `shared` are texts that another system produced exactly the same."""

    system: str
    human: bool
    judgments: int
    segments: int
    documents: int
    tasks: int
    shared: int


@dataclass(frozen=True)
class ControlCount:
    """Items of a control: planned per task, and made in all tasks."""

    kind: str
    per_task: float
    made: int


@dataclass(frozen=True)
class Spread:
    """The least, the middle and the most of a count."""

    least: float
    median: float
    most: float


@dataclass(frozen=True)
class Meetings:
    """How often systems meet. The diagonal of `matrix` counts where a system is at all.

    `cv` is the standard deviation of the pairs' counts in units of their mean. `least_share` is the smallest share of
    its own tasks (or screens) in which a system meets another one; `least_pair` says which.
    """

    where: str
    systems: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    least: int
    most: int
    cv: float | None
    least_share: float | None
    least_pair: tuple[str, str] | None


@dataclass(frozen=True)
class DesignBias:
    """What the design alone adds to the difference of two systems, in `unit`: typically (`rms`), for the worst pair.

    `spread` is the standard deviation assumed for what is unevenly distributed (`varies`).
    """

    source: str
    varies: str
    spread: float
    unit: str
    rms: float
    worst: float
    pair: tuple[str, str] | None


@dataclass(frozen=True)
class Workload:
    """The work planned for one person."""

    annotator: str
    tasks: int
    items: int
    judgments: int


@dataclass(frozen=True)
class Selection:
    """Segments chosen with known, unequal probabilities.

    `worth` is how many segments of equal weight the chosen ones count for where outputs differ alike on all of them;
    what is gained on segments that differ more comes on top.
    """

    by: str
    segments: int
    of: int
    least: float
    most: float
    worth: float


@dataclass(frozen=True, kw_only=True)
class DesignReport(Result):
    """The balance of a design. `warnings` are its notes."""

    verb: ClassVar[str] = "design"

    campaign: str
    protocol: str
    structure: str
    tasks: int
    screens: int
    items: int
    judgments: int
    """Of all people together, without answers to controls and examples, as the export counts them."""
    control_judgments: int
    annotators: int
    systems: tuple[DesignedSystem, ...]
    controls: tuple[ControlCount, ...]
    task_items: Spread
    systems_per_task: Spread
    meetings: tuple[Meetings, ...]
    bias: tuple[DesignBias, ...]
    workload: tuple[Workload, ...]
    connected_systems: int
    connected_annotators: int
    selection: Selection | None = None
    """None where all segments are judged, or were as likely to be chosen."""

    def to_dict(self) -> dict[str, Any]:
        """The report for machines; the notes are repeated as `warnings`."""
        return {**super().to_dict(), "warnings": list(self.notes)}

    def tables(self) -> tuple[Table, ...]:
        """Counts, systems, balance of meetings, and what the design adds to differences."""
        tables = [self._counts(), self._systems()]
        if self.selection is not None:
            tables.append(_selection_table(self.selection))
        if self.meetings:
            tables.append(self._meetings())
        if self.bias:
            tables.append(self._bias())
        return tuple(tables)

    def _counts(self) -> Table:
        loads = [person.judgments for person in self.workload]
        rows: list[tuple[str, float | None]] = [
            ("tasks", self.tasks),
            ("screens", self.screens),
            ("items", self.items),
            ("judgments (all people together)", self.judgments),
            ("answers to controls and examples besides", self.control_judgments),
            ("annotators", self.annotators),
            ("items per task, least", self.task_items.least),
            ("items per task, most", self.task_items.most),
            ("systems per task, least", self.systems_per_task.least),
            ("systems per task, most", self.systems_per_task.most),
        ]
        if loads:
            rows += [("answers per annotator, least", min(loads)), ("answers per annotator, most", max(loads))]
        rows += [
            (f"{control.kind} (planned per task: {control.per_task:g})", control.made) for control in self.controls
        ]
        return Table(f"Design of {self.campaign} ({self.structure})", (text("what"), number("count", 0)), tuple(rows))

    def _systems(self) -> Table:
        rows = tuple(
            (shown_name(row.system, row.human), row.judgments, row.segments, row.documents, row.tasks, row.shared)
            for row in self.systems
        )
        columns = (
            text("system"),
            number("judgments", 0),
            number("segments", 0),
            number("documents", 0),
            number("tasks", 0),
            number("shared", 0, help="texts that another system produced exactly the same"),
        )
        return Table("Systems", columns, rows)

    def _meetings(self) -> Table:
        rows = tuple(
            (
                meeting.where,
                meeting.least,
                meeting.most,
                meeting.cv,
                meeting.least_share,
                " – ".join(meeting.least_pair or ()),
            )
            for meeting in self.meetings
        )
        columns = (
            text("two systems meet in the same"),
            number("least", 0),
            number("most", 0),
            number("cv", help="standard deviation of the pairs' counts over their mean"),
            percent("least share", help="smallest share of its own tasks or screens where a system meets another"),
            text("pair"),
        )
        return Table("Who meets whom", columns, rows)

    def _bias(self) -> Table:
        rows = tuple((row.source, row.rms, row.worst, row.unit, " – ".join(row.pair or ())) for row in self.bias)
        columns = (
            text("source"),
            number("typical", help="root mean square over pairs of systems"),
            number("worst pair"),
            text("unit"),
            text("pair"),
        )
        assumed = dict.fromkeys(f"{row.varies} {row.spread:g}" for row in self.bias)
        note = f"Standard deviations assumed: {', '.join(assumed)}."
        return Table("What the design alone adds to the difference of two systems", columns, rows, note)


def _selection_table(chosen: Selection) -> Table:
    rows = (
        ("segments chosen", float(chosen.segments)),
        ("of segments that could be judged", float(chosen.of)),
        ("smallest probability", chosen.least),
        ("largest probability", chosen.most),
        ("segments of equal weight that they are worth", chosen.worth),
    )
    note = "Each score counts 1 / probability when systems are ranked, so that differences are those of all segments."
    return Table(f"Segments chosen by {chosen.by}", (text("what"), number("value", 3)), rows, note)
