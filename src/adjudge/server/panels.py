"""Panels of the organisers' page: sentences, pictures and tables, made by functions that the command hands in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.table.record import LooksRecord
    from adjudge.table.results import Result


@dataclass(frozen=True)
class PanelInterval:
    """A line of a picture of differences: the estimate with its interval; `settled` ones are drawn in full."""

    label: str
    low: float
    estimate: float
    high: float
    settled: bool


@dataclass(frozen=True)
class PanelRanks:
    """A line of a picture of ranks: a system with the ranks that it may have, of so many."""

    label: str
    best: int
    worst: int
    of: int


@dataclass(frozen=True)
class PanelBar:
    """A bar: a value in numbers and in words; `flagged` ones need attention."""

    label: str
    value: float
    shown: str
    flagged: bool


@dataclass(frozen=True)
class PanelTable:
    """What a statistics function shows on the organisers' page: sentences, pictures, and the figures as a table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    headline: str = ""
    """What the panel says, in one sentence."""
    intervals: tuple[PanelInterval, ...] = ()
    ranks: tuple[PanelRanks, ...] = ()
    bars: tuple[PanelBar, ...] = ()

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> PanelTable:
        """The panel that `dataclasses.asdict` and JSON made plain."""
        from pydantic import TypeAdapter

        return TypeAdapter(cls).validate_python(plain)


def panels_of_result(result: Result, command: str) -> list[PanelTable]:
    """The tables of a command's result as the page shows them."""
    from adjudge.table.results import show

    panels = []
    for table in result.tables():
        rows = tuple(
            tuple(show(cell, column) for cell, column in zip(row, table.columns, strict=True)) for row in table.rows
        )
        title = f"{table.title} (adjudge {command})"
        panels.append(PanelTable(title, tuple(column.label for column in table.columns), rows, table.note))
    return panels


Group = Literal["state", "statistics"]


@dataclass(frozen=True)
class Computed:
    """The panels of a group as plain values, and of how many judgments they are."""

    judgments: int
    panels: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Statistics:
    """What makes the panels of a campaign. `state` says how far it is, and may take long; it is computed by itself."""

    compute: Callable[[Group], Computed]
    read_looks: Callable[[], LooksRecord | None]
    """Reads the planned looks that were taken so far."""
