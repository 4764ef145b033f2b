"""The result of checking annotators: what was found about each, and who is kept by which rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from adjudge.results.result import Result
from adjudge.results.table import Table, number, p_value, text

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class AnnotatorCheck:
    """One annotator: what the controls, repeats, pace and runs of equal answers say."""

    annotator: str
    judgments: int
    tasks: int
    p_controls: float | None
    """How surprising the lead of genuine over degraded outputs would be for somebody who cannot tell them apart."""
    control_pairs: int
    control_difference: float | None
    """Mean of genuine minus degraded, in points."""
    p_repeats: float | None
    """How surprising the difference between first and repeated answers would be for somebody consistent."""
    repeat_pairs: int
    repeat_difference: float | None
    """Mean absolute difference between first and repeated answers."""
    seconds: float | None
    """Median seconds per judgment."""
    constant: int
    """The longest run of equal answers."""
    rejected: bool
    """Some of the work was rejected when it was collected."""
    passed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Twins:
    """Two annotators whose answers agree, or are each other's mirror, for longer than chance allows."""

    annotators: tuple[str, str]
    kind: str
    """`copied` or `mirrored`."""
    first: str
    last: str
    """The first and the last item of the run."""
    items: int
    preferences: int
    p: float


@dataclass(frozen=True, kw_only=True)
class Checked(Result):
    """All annotators checked. Nothing is deleted: `kept` names those whose judgments count."""

    verb: ClassVar[str] = "check"

    rule: str
    annotators: tuple[AnnotatorCheck, ...]
    twins: tuple[Twins, ...]
    kept: Mapping[str, int]
    dropped: Mapping[str, int]

    @property
    def passing(self) -> frozenset[str]:
        """The names of the annotators who are kept."""
        return frozenset(annotator.annotator for annotator in self.annotators if annotator.passed)

    def tables(self) -> tuple[Table, ...]:
        """Who is kept, and what was found about each."""
        columns = (
            text("annotator"), text("kept"), number("judgments", 0), number("tasks", 0), p_value("p controls"),
            number("lead", 1, help="genuine minus degraded, in points"), p_value("p repeats"),
            number("repeat diff.", 1), number("seconds", 1), number("run", 0, help="longest run of equal answers"),
            text("why not"),
        )  # fmt: skip
        rows = tuple(
            (
                annotator.annotator,
                "yes" if annotator.passed else "no",
                annotator.judgments,
                annotator.tasks,
                annotator.p_controls,
                annotator.control_difference,
                annotator.p_repeats,
                annotator.repeat_difference,
                annotator.seconds,
                annotator.constant,
                "; ".join(annotator.reasons),
            )
            for annotator in self.annotators
        )
        counted = tuple((what, self.kept.get(what, 0), self.dropped.get(what, 0)) for what in self.kept)
        counts = Table("Kept and dropped", (text("what"), number("kept", 0), number("dropped", 0)), counted, self.rule)
        tables = [counts, Table("Annotators", columns, rows)]
        if self.twins:
            tables.append(_twins_table(self.twins))
        return tuple(tables)


def _twins_table(twins: tuple[Twins, ...]) -> Table:
    columns = (
        text("annotators"),
        text("what"),
        text("from"),
        text("to"),
        number("items", 0),
        number("answers", 0),
        p_value(),
    )
    rows = tuple(
        (" and ".join(pair.annotators), pair.kind, pair.first, pair.last, pair.items, pair.preferences, pair.p)
        for pair in twins
    )
    return Table("Copied or mirrored answers", columns, rows, "Runs of shared items that chance does not explain.")
