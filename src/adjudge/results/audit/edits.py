"""Sections of an audit: post-edits and their acceptability, by system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.wording import agreeing, counted
from adjudge.results.table import Cell, Column, Table, number, percent, shown_name, text

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Proportion:
    """A share with its 95% interval (Wilson)."""

    share: float
    interval: tuple[float, float]
    n: int


@dataclass(frozen=True)
class EditedSystem:
    """Post-edits of one system's output: how many, by what the editor did, and the share left as it was."""

    system: str
    human: bool
    edits: int
    actions: Mapping[str, int]
    unchanged: Proportion


@dataclass(frozen=True)
class Edits:
    """Post-edits per system: how unevenly they are spread."""

    edits: int
    smallest: int
    mean: float
    sd: float
    largest: int
    systems: tuple[EditedSystem, ...]

    def tables(self) -> tuple[Table, ...]:
        """Counts by system and action."""
        actions = list(dict.fromkeys(action for system in self.systems for action in system.actions))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                shown_name(system.system, system.human),
                system.edits,
                *(system.actions.get(action, 0) for action in actions),
                system.unchanged.share,
                *system.unchanged.interval,
            )
            for system in self.systems
        )
        columns: tuple[Column, ...] = (
            text("system"),
            number("edits", 0),
            *(number(action, 0) for action in actions),
            percent("OK share", help="nothing to correct, of those with an answer"),
            percent("low"),
            percent("high"),
        )
        spread = f"{self.smallest} to {self.largest} per system, on average {self.mean:.1f} (sd {self.sd:.1f})."
        return (Table("Post-edits by system", columns, rows, spread),)


@dataclass(frozen=True)
class AcceptedSystem:
    """Judgments of one system's edited outputs."""

    system: str
    human: bool
    yes: int
    no: int
    unknown: int
    acceptable: Proportion


@dataclass(frozen=True)
class Acceptability:
    """How many edited outputs were found acceptable; few observations leave wide intervals."""

    judgments: int
    systems: tuple[AcceptedSystem, ...]
    mismatched: int | None
    """Judgments whose edit belongs to another system in the file of edits; null where that was not given."""

    def tables(self) -> tuple[Table, ...]:
        """Counts and shares by system."""
        rows = tuple(
            (
                shown_name(system.system, system.human),
                system.yes,
                system.no,
                system.unknown,
                system.acceptable.share,
                *system.acceptable.interval,
            )
            for system in self.systems
        )
        columns = (
            text("system"),
            number("yes", 0),
            number("no", 0),
            number("unknown", 0),
            percent("acceptable", help="yes, of yes and no"),
            percent("low"),
            percent("high"),
        )
        note = ""
        if self.mismatched:
            name = agreeing(
                self.mismatched,
                "names another system than the edit it judges",
                "name another system than the edit they judge",
            )
            note = f"{self.mismatched:,} of {counted(self.judgments, 'judgment')} {name}."
        return (Table("Acceptability of edited outputs", columns, rows, note),)
