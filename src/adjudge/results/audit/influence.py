"""Influence: what one annotator or one document does to the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from adjudge.results.result import to_plain
from adjudge.results.table import Table, number, text

MOST_SHOWN = 10


@dataclass(frozen=True)
class LeftOutUnit:
    """What changes when one annotator or document is left out."""

    unit: Literal["annotator", "document"]
    name: str
    judgments: int
    system: str
    """The system whose effect moves most, compared with the mean of all."""
    shift: float
    """By how much, in the unit of the scores."""
    in_se: float
    """The same in standard errors of that effect."""
    flips: int
    """Pairs of systems whose order is reversed."""
    lost: int
    gained: int
    """Pairs that are no longer significant, and pairs that have become so (p < .05, each by itself)."""


@dataclass(frozen=True)
class Influence:
    """Every annotator and document left out in turn, those that move most first."""

    rows: tuple[LeftOutUnit, ...]
    pairs: int
    significant: int
    """Pairs of systems, and how many differ significantly on the whole data (p < .05, each by itself)."""

    def to_dict(self) -> list[dict[str, Any]]:
        """A list of units."""
        plain: list[dict[str, Any]] = to_plain(self.rows)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """Those that move most."""
        rows = tuple(
            (row.unit, row.name, row.judgments, row.system, row.shift, row.in_se, row.flips, row.lost, row.gained)
            for row in self.rows[:MOST_SHOWN]
        )
        columns = (
            text("left out"),
            text("name"),
            number("judgments", 0),
            text("moves most"),
            number("shift", 2),
            number("in se", 2),
            number("flips", 0),
            number("lost", 0),
            number("gained", 0),
        )
        note = (
            f"The {len(rows)} of {len(self.rows)} annotators and documents that move an effect most when left out. "
            f"Of {self.pairs} pairs {self.significant} differ at .05, each by itself; flips are pairs whose order is "
            "reversed, lost and gained are pairs that cease or begin to differ."
        )
        return (Table("Influence: who moves the ranking", columns, rows, note),)
