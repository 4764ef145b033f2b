"""What becomes of a ranking when something about the data is changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Self

from adjudge.core.wording import as_sentences
from adjudge.results.result import Result
from adjudge.results.table import Table, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ChangeFamily(StrEnum):
    """Kinds of changes to the data."""

    unit: str
    """What is removed or changed, such as `annotator`."""

    def __new__(cls, words: str, unit: str) -> Self:
        """A family by its words and what is removed or changed."""
        family = str.__new__(cls, words)
        family._value_ = words
        family.unit = unit
        return family

    HUMAN_REMOVED = "human removed", "human"
    HUMAN_DIVIDED = "human divided", "human"
    LOWEST_REMOVED = "lowest removed", "lowest"
    HIGHEST_REMOVED = "highest removed", "highest"
    LOWEST_RAISED = "lowest raised", "lowest"
    SYSTEM_REMOVED = "system removed", "system"
    ANNOTATOR_REMOVED = "annotator removed", "annotator"
    DOCUMENT_REMOVED = "document removed", "document"
    SEGMENT_REMOVED = "segment removed", "segment"
    TIES_DROPPED = "ties dropped", "ties"
    REPEATS_DROPPED = "repeats dropped", "repeats"
    BLOCKS_WEIGHTED = "blocks weighted", "blocks"
    NEIGHBOURS_ONLY = "neighbours only", "neighbours"
    DISTANT_ONLY = "distant pairs only", "distant"

    def label(self, divisor: float | None = None) -> str:
        """The family in words, with the divisor where there is one."""
        return self.value if divisor is None else f"{self.value} by {divisor:g}"


ONCE_PER_PAIR = (
    ChangeFamily.HUMAN_REMOVED,
    ChangeFamily.HUMAN_DIVIDED,
    ChangeFamily.LOWEST_REMOVED,
    ChangeFamily.HIGHEST_REMOVED,
    ChangeFamily.LOWEST_RAISED,
    ChangeFamily.TIES_DROPPED,
    ChangeFamily.REPEATS_DROPPED,
    ChangeFamily.BLOCKS_WEIGHTED,
    ChangeFamily.NEIGHBOURS_ONLY,
    ChangeFamily.DISTANT_ONLY,
)
"""Changes that are made once in a language pair (once for each divisor), not for every annotator or document."""


@dataclass(frozen=True)
class StabilityRow:
    """One change: the order and clusters of the systems that are in both rankings, before and after."""

    change: str
    family: ChangeFamily
    removed: tuple[str, ...]
    rank_changed: bool
    cluster_changed: bool
    order: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]
    flips: tuple[tuple[str, str], ...]
    """Pairs whose order is reversed: (better before, better after)."""
    baseline_order: tuple[str, ...]
    baseline_clusters: tuple[tuple[str, ...], ...]
    pairs: int
    """How many pairs of systems are in both rankings."""
    divisor: float | None = None
    """By what the scores of humans, or the distances of the lowest systems from the top, were divided."""

    @property
    def label(self) -> str:
        """The family in words, with the divisor where there is one."""
        return self.family.label(self.divisor)

    @property
    def both_changed(self) -> bool:
        """Order and clusters changed."""
        return self.rank_changed and self.cluster_changed

    def to_dict(self) -> dict[str, object]:
        """The documented keys."""
        return {
            "change": self.change,
            "family": self.label,
            "removed": list(self.removed),
            "rank_changed": self.rank_changed,
            "cluster_changed": self.cluster_changed,
            "both_changed": self.both_changed,
            "order": list(self.order),
            "clusters": [list(cluster) for cluster in self.clusters],
            "flips": [list(pair) for pair in self.flips],
            "baseline_order": list(self.baseline_order),
            "baseline_clusters": [list(cluster) for cluster in self.baseline_clusters],
            "pairs": self.pairs,
        }


@dataclass(frozen=True)
class Stability:
    """All changes, and how segments were rated: `SR+DC` with document context, `SR-DC` without."""

    rows: tuple[StabilityRow, ...]
    style: str
    method: str
    rule: str
    notes: tuple[str, ...] = ()
    """What was not tried, and why."""

    def tables(self) -> tuple[Table, ...]:
        """One line per change."""
        table = stability_table(self.rows)
        return (replace(table, note=" ".join([table.note, *as_sentences(self.notes)])),)

    def to_dict(self) -> list[dict[str, object]]:
        """The documented keys: a list of changes."""
        return [row.to_dict() for row in self.rows]


def stability_table(rows: Sequence[StabilityRow]) -> Table:
    """One line per change; families of many (one per annotator or document) are summed up in one line each."""
    lines: list[tuple[str, str, str, str, int, int]] = []
    sizes = Counter(row.label for row in rows)
    for label, size in sizes.items():
        members = [row for row in rows if row.label == label]
        if size > FAMILY_IN_FULL:
            lines.append(_family_line(label, members))
        else:
            lines += [
                (
                    row.change,
                    _yes(row.rank_changed),
                    _yes(row.cluster_changed),
                    _yes(row.both_changed),
                    len(row.flips),
                    row.pairs,
                )
                for row in members
            ]
    columns = (text("change"), text("rank"), text("cluster"), text("both"), number("flips", 0), number("pairs", 0))
    note = "Did the order, the clusters, or both change among the systems that are in both rankings?"
    return Table("Stability: what if", columns, tuple(lines), note)


FAMILY_IN_FULL = 12


def _family_line(label: str, members: Sequence[StabilityRow]) -> tuple[str, str, str, str, int, int]:
    def share(changed: Sequence[bool]) -> str:
        return f"{sum(changed)}/{len(changed)}"

    return (
        f"{label} (each of {len(members)})",
        share([row.rank_changed for row in members]),
        share([row.cluster_changed for row in members]),
        share([row.both_changed for row in members]),
        sum(len(row.flips) for row in members),
        sum(row.pairs for row in members),
    )


def _yes(changed: bool) -> str:
    return "changed" if changed else "–"


@dataclass(frozen=True, kw_only=True)
class StabilityOverPairs(Result):
    """How many language pairs each change touches, by annotation style: Tables 2 and 3 of Knowles (2021)."""

    verb: ClassVar[str] = "audit stability"

    changes: tuple[ChangeCount, ...]

    def tables(self) -> tuple[Table, ...]:
        """One line per change and style."""
        rows = tuple(
            (
                f"{change.family} ({change.style})",
                *(f"{count}/{change.pairs}" for count in (change.rank, change.cluster, change.both)),
            )
            for change in self.changes
        )
        columns = (text("change"), text("rank"), text("cluster"), text("both"))
        note = "Language pairs that had changes, of those to which the change applies."
        return (Table("Stability over language pairs", columns, rows, note),)


@dataclass(frozen=True)
class ChangeCount:
    """In how many of the language pairs a change moved ranks, clusters, both."""

    family: str
    """The family in words, with the divisor where there is one."""
    style: str
    rank: int
    cluster: int
    both: int
    pairs: int


def over_pairs(by_pair: Mapping[str, Stability], *, data: str) -> StabilityOverPairs:
    """Count over language pairs the changes that are made once in each."""
    counted: dict[tuple[str, str], list[StabilityRow]] = {}
    for stability in by_pair.values():
        for row in stability.rows:
            if row.family in ONCE_PER_PAIR:
                counted.setdefault((row.label, stability.style), []).append(row)
    first = next(iter(by_pair.values()))
    return StabilityOverPairs(
        settings={"method": first.method, "lines": first.rule},
        data=data,
        changes=tuple(
            ChangeCount(
                label,
                style,
                sum(row.rank_changed for row in rows),
                sum(row.cluster_changed for row in rows),
                sum(row.both_changed for row in rows),
                len(rows),
            )
            for (label, style), rows in counted.items()
        ),
    )
