"""Breakdown: systems within subsets of the judgments, and whether they differ between subsets by more than chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

from adjudge.core.wording import agreeing, counted
from adjudge.evidence.verdict import say_subsets_differ
from adjudge.results.table import Cell, Table, number, p_value, tabulate, text

LEVEL = 0.05


@dataclass(frozen=True)
class SubsetScore:
    """One system within one subset."""

    system: str
    level: str
    n: int
    score: float
    se: float
    shift: float
    """How much better the system is here than elsewhere, compared with the other systems; NaN where it is not known."""
    rank: int
    """Among the systems of the subset."""
    p: float
    """That the shift is chance, corrected for all systems and subsets of the column; NaN where it is not known."""


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
    test: str
    """Which test p comes from, in words."""
    unknown: int = 0
    """Judgments that have no value in the column, and are left out here."""

    @property
    def differs(self) -> bool:
        """Whether systems differ between subsets by more than chance."""
        return self.p_holm < LEVEL

    @property
    def largest(self) -> SubsetScore | None:
        """The largest shift that is known."""
        known = [score for score in self.scores if not math.isnan(score.shift)]
        return max(known, key=lambda score: abs(score.shift), default=None)

    def verdict(self, asked: int) -> str:
        """The answer in a sentence."""
        return say_subsets_differ(self.differs, self.p, self.p_holm, asked, self.test)


@dataclass(frozen=True)
class Breakdown:
    """All columns that were asked for."""

    columns: tuple[ColumnBreakdown, ...]
    unit: str = "score"
    """What a score is, for the axis of a chart."""

    def tables(self) -> tuple[Table, ...]:
        """For every column the systems by subsets, and every shift."""
        asked = len(self.columns)
        return tuple(table for column in self.columns for table in (_scores(column, asked), _shifts(column)))


def _scores(breakdown: ColumnBreakdown, asked: int) -> Table:
    systems = list(dict.fromkeys(score.system for score in breakdown.scores))
    cells = {(score.system, score.level): score for score in breakdown.scores}
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        row = [cells.get((system, level)) for level in breakdown.levels]
        rows.append((system, *(None if cell is None else cell.score for cell in row)))
    unknown = counted(breakdown.unknown, "judgment has", "judgments have")
    are = agreeing(breakdown.unknown, "is", "are")
    left_out = f" {unknown} no {breakdown.column} and {are} left out." if breakdown.unknown else ""
    columns = (text("system"), *(number(level, 2) for level in breakdown.levels))
    return Table(f"Breakdown by {breakdown.column}", columns, tuple(rows), breakdown.verdict(asked) + left_out)


def _shifts(breakdown: ColumnBreakdown) -> Table:
    scores = sorted(breakdown.scores, key=lambda score: (breakdown.levels.index(score.level), score.rank))
    columns = {
        "level": text("subset"),
        "rank": number("rank", 0, help="among the systems of the subset"),
        "system": text("system"),
        "n": number("n", 0, help="judgments in the subset"),
        "score": number("score", 2),
        "se": number("se", 2),
        "shift": number("shift", 2, help="how much better than elsewhere, compared with the other systems"),
        "p": p_value("p", help="that the shift is chance, corrected for all systems and subsets"),
    }
    lines = frozenset(i for i, (one, other) in enumerate(pairwise(scores), start=1) if one.level != other.level)
    return replace(tabulate(f"Ranks and shifts by {breakdown.column}", scores, columns), lines=lines)
