"""A paper's tables, published and recomputed side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from adjudge.results.result import Result, to_plain
from adjudge.results.table import Cell, Table, text


@dataclass(frozen=True)
class ReplicatedCell:
    """One figure: as printed (with its number of decimals), as recomputed, and why they differ where they do."""

    name: str
    published: float | None
    """Null where the paper draws the figure but does not print it."""
    decimals: int
    recomputed: float | None
    """Null where the released data do not allow it; the note says why."""
    note: str = ""
    comparable: bool = True
    """False where the two figures are about different data, so that they need not be the same."""

    @property
    def match(self) -> bool | None:
        """Whether the recomputed figure, rounded as the printed one is, is the same; a half may go either way.

        Null where there is nothing to compare.
        """
        if not self.comparable or self.published is None:
            return None
        if self.recomputed is None:
            return False
        return abs(self.recomputed - self.published) <= 0.5 * 10.0**-self.decimals + 1e-9

    def to_dict(self) -> dict[str, Any]:
        """As promised to users."""
        plain = {name: to_plain(getattr(self, name)) for name in ("name", "published", "recomputed")}
        return {**plain, "match": self.match, "note": self.note}


@dataclass(frozen=True)
class ReplicatedTable:
    """One table of the paper."""

    table: str
    title: str
    page: int | None
    cells: tuple[ReplicatedCell, ...]


@dataclass(frozen=True, kw_only=True)
class Replication(Result):
    """All tables of a paper that the released data allow."""

    verb: ClassVar[str] = "replicate"

    paper: str
    replicated: tuple[ReplicatedTable, ...]

    def to_dict(self) -> dict[str, Any]:
        """As promised to users: the tables under `tables`, with a count of the cells that match."""
        plain = super().to_dict()
        del plain["replicated"]
        cells = [cell for table in self.replicated for cell in table.cells]
        matches = [cell.match for cell in cells]
        compared = sum(match is not None for match in matches)
        counts = {"cells": len(cells), "compared": compared, "matching": sum(match is True for match in matches)}
        return plain | counts | {"tables": to_plain(self.replicated)}

    def tables(self) -> tuple[Table, ...]:
        """First how many cells of each table match, then every table cell by cell."""
        return (self._summary(), *(_cells_table(table) for table in self.replicated))

    def _summary(self) -> Table:
        rows = tuple((table.table, table.title, _matching(table)) for table in self.replicated)
        return Table(self.paper, (text("table"), text("about"), text("cells that match")), rows)


def _matching(table: ReplicatedTable) -> str:
    """How many cells match, of those that can be compared."""
    compared = [cell.match for cell in table.cells if cell.match is not None]
    return f"{sum(compared)} of {len(compared)}" if compared else "not compared"


def _cells_table(table: ReplicatedTable) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for cell in table.cells:
        published = "–" if cell.published is None else f"{cell.published:.{cell.decimals}f}"
        recomputed = "–" if cell.recomputed is None else f"{cell.recomputed:.{_shown_decimals(cell)}f}"
        match = {True: "yes", False: "no", None: "–"}[cell.match]
        rows.append((cell.name, published, recomputed, match, cell.note))
    columns = (text("cell"), text("published"), text("recomputed"), text("match"), text("note"))
    page = f" (page {table.page})" if table.page is not None else ""
    return Table(f"{table.table}{page}: {table.title}", columns, tuple(rows))


def _shown_decimals(cell: ReplicatedCell) -> int:
    """Two digits more than printed where the figures differ, to show by how much; whole counts stay whole."""
    whole = cell.decimals == 0 and cell.recomputed is not None and float(cell.recomputed).is_integer()
    return cell.decimals + 2 if cell.match is False and not whole else cell.decimals
