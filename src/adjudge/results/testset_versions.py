"""What changed between two versions of a test set, and what systems made of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.wording import counted
from adjudge.results.table import Cell, Table, number, percent, text

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class SegmentChange:
    """A segment that differs; a line is None where the segment is in one version only."""

    line_before: int | None
    line_after: int | None
    kind: str
    before: str
    after: str


@dataclass(frozen=True)
class OutputChange:
    """A system's output for both versions. TER: the output before as hypothesis, that after as reference."""

    system: str
    segments: int
    changed: int
    ter: tuple[float, ...]
    """Of every segment, as a share: 0.5 is one edit for every two words."""
    share_where_source_changed: float | None
    """Of segments with a changed source: the share whose output changed."""
    share_where_not: float | None
    """Of segments with an untouched source: the share whose output changed all the same, so for another reason."""
    metrics: Mapping[str, tuple[float, float]]
    """BLEU, chrF and TER against the reference translation, before and after, where there is one."""

    @property
    def mean_ter(self) -> float:
        """Mean over segments."""
        return sum(self.ter) / len(self.ter) if self.ter else 0.0


@dataclass(frozen=True)
class Versions:
    """All changed segments, and the outputs."""

    segments_before: int
    segments_after: int
    changes: tuple[SegmentChange, ...]
    outputs: tuple[OutputChange, ...]

    @property
    def kinds(self) -> dict[str, int]:
        """How many segments changed in which way."""
        return dict(Counter(change.kind for change in self.changes).most_common())

    def tables(self) -> tuple[Table, ...]:
        """Kinds of change, every change, and the outputs."""
        kinds = Table(
            "What changed",
            (text("kind"), number("segments", 0)),
            (*self.kinds.items(), ("all", len(self.changes))),
            f"{counted(self.segments_before, 'segment')} before, {self.segments_after:,} after.",
        )
        rows = tuple((_lines(change), change.kind, change.before, change.after) for change in self.changes)
        diff = Table("Changed segments", (text("line"), text("kind"), text("before"), text("after")), rows)
        return (kinds, diff, *([self._outputs()] if self.outputs else []))

    def _outputs(self) -> Table:
        names = list(dict.fromkeys(name for output in self.outputs for name in output.metrics))
        rows: list[tuple[Cell, ...]] = []
        for output in self.outputs:
            metrics = [value for name in names for value in output.metrics.get(name, (None, None))]
            rows.append(
                (
                    output.system,
                    output.changed,
                    output.mean_ter,
                    max(output.ter, default=0.0),
                    output.share_where_source_changed,
                    output.share_where_not,
                    *metrics,
                )
            )
        columns = (
            text("system"),
            number("changed", 0, help="segments whose output differs"),
            number("mean TER", 3),
            number("highest", 3),
            percent("where the source changed"),
            percent("where it did not"),
            *(number(f"{name} {when}", 2) for name in names for when in ("before", "after")),
        )
        note = "TER between the two outputs: before as hypothesis, after as reference."
        return Table("Outputs for both versions", columns, tuple(rows), note)


def _lines(change: SegmentChange) -> str:
    before, after = (str(line) if line is not None else "–" for line in (change.line_before, change.line_after))
    return before if before == after else f"{before} → {after}"
