"""A paper's tables, published and recomputed side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from adjudge.core.result import Result, to_plain
from adjudge.core.table import Cell, Table, text


@dataclass(frozen=True)
class ReplicatedCell:
    """One figure: as printed (with its number of decimals), as recomputed, and why they differ where they do."""

    name: str
    published: float
    decimals: int
    recomputed: float | None
    """Null where the released data do not allow it; the note says why."""
    note: str = ""

    @property
    def match(self) -> bool:
        """Whether the recomputed figure, rounded as the printed one is, is the same; a half may go either way."""
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
        counts = {"cells": len(cells), "matching": sum(cell.match for cell in cells)}
        return plain | counts | {"tables": to_plain(self.replicated)}

    def tables(self) -> tuple[Table, ...]:
        """First how many cells of each table match, then every table cell by cell."""
        return (self._summary(), *(_cells_table(table) for table in self.replicated))

    def _summary(self) -> Table:
        rows = tuple(
            (table.table, table.title, f"{sum(cell.match for cell in table.cells)} of {len(table.cells)}")
            for table in self.replicated
        )
        return Table(self.paper, (text("table"), text("about"), text("cells that match")), rows)


def _cells_table(table: ReplicatedTable) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for cell in table.cells:
        published = f"{cell.published:.{cell.decimals}f}"
        recomputed = "–" if cell.recomputed is None else f"{cell.recomputed:.{_shown_decimals(cell)}f}"
        rows.append((cell.name, published, recomputed, "yes" if cell.match else "no", cell.note))
    columns = (text("cell"), text("published"), text("recomputed"), text("match"), text("note"))
    page = f" (page {table.page})" if table.page is not None else ""
    return Table(f"{table.table}{page}: {table.title}", columns, tuple(rows))


def _shown_decimals(cell: ReplicatedCell) -> int:
    """Two digits more than printed where the figures differ, to show by how much; whole counts stay whole."""
    whole = cell.decimals == 0 and cell.recomputed is not None and float(cell.recomputed).is_integer()
    return cell.decimals if cell.match or whole else cell.decimals + 2
