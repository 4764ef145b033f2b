"""Breakdown: scores of systems within subsets of the judgments, and whether the subsets order the systems alike."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.results.table import Cell, Table, number, text


@dataclass(frozen=True)
class SubsetScore:
    """One system within one subset."""

    system: str
    level: str
    n: int
    score: float
    se: float
    shift: float
    """How much better the system is here than elsewhere, compared with the other systems."""


@dataclass(frozen=True)
class ColumnBreakdown:
    """The subsets by one column. A small p says that systems differ between subsets by more than chance."""

    column: str
    levels: tuple[str, ...]
    scores: tuple[SubsetScore, ...]
    p: float
    """Of the interaction of systems and subsets."""
    p_holm: float
    """Corrected for the number of columns asked for."""


@dataclass(frozen=True)
class Breakdown:
    """All columns that were asked for."""

    columns: tuple[ColumnBreakdown, ...]

    def tables(self) -> tuple[Table, ...]:
        """One table per column: systems by subsets."""
        return tuple(_table(own, len(self.columns)) for own in self.columns)


def _table(own: ColumnBreakdown, asked: int) -> Table:
    systems = list(dict.fromkeys(score.system for score in own.scores))
    cells = {(score.system, score.level): score for score in own.scores}
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        row = [cells.get((system, level)) for level in own.levels]
        rows.append((system, *(None if cell is None else cell.score for cell in row)))
    corrected = f" (Holm for {asked} columns {own.p_holm:.3f})" if asked > 1 else ""
    differ = "differ" if own.p_holm < 0.05 else "do not differ"
    note = (
        f"Systems {differ} between subsets by more than chance explains: p of the interaction {own.p:.3f}{corrected}."
    )
    columns = (text("system"), *(number(level, 2) for level in own.levels))
    return Table(f"Breakdown by {own.column}", columns, tuple(rows), note)
