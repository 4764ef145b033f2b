"""Rows and cells that cannot be read: few of them are set aside, counted and named by line; more refuse the file.

A row without a usable answer is set aside. A broken value in a column that nothing needs becomes null. As long as the
unusable rows are at most the share `bad_rows` of all (one in a hundred), the rest is used; `strict` allows none.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adjudge.core.judgments import SetAside

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from adjudge.core.errors import InputError, Source
    from adjudge.core.judgments import ColumnUse
    from adjudge.formats.options import ReadOptions

SCORE_SCALE = (0.0, 100.0)
LINES_NAMED = 5
# Where more rows than this are unusable, an option that sets them aside would be bad advice.
WORTH_SETTING_ASIDE = 0.2


@dataclass(frozen=True)
class UsableRows:
    """The rows of one file that can be used, and what was set aside of it."""

    frame: pl.DataFrame
    set_aside: tuple[SetAside, ...]
    notes: tuple[str, ...]
    uses: tuple[ColumnUse, ...] = ()


@dataclass
class BadRows:
    """The rows of one file that cannot be used, and the cells that were left empty.

    Rows are counted from 0; `source` knows the file and the line of a row. `rows` is how many rows the file has.
    """

    source: Source
    options: ReadOptions
    rows: int
    problems: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    emptied: dict[str, list[int]] = field(default_factory=dict)

    def row(self, row: int, problem: str, reason: str = "row that cannot be read") -> None:
        """Set one row aside; the first problem of a row is the one that is reported."""
        self.problems.setdefault(row, problem)
        self.reasons.setdefault(row, reason)

    def mark(self, bad: pl.Series, problem: Callable[[int], str], reason: str) -> None:
        """Set aside the rows where `bad` holds."""
        if not bad.any():
            return
        for row in bad.fill_null(value=False).arg_true():
            if row not in self.problems:
                self.row(row, problem(row), reason)

    def mark_nameless(self, systems: pl.Series) -> None:
        """Set aside the rows that do not name a system."""
        nameless = systems.is_null() | (systems == "")
        self.mark(nameless, lambda _: "has no system; name what was judged", "row without a system")

    def mark_off_scale(self, score: pl.Series) -> None:
        """Set aside the rows with a score below 0 or above 100."""
        off = (score < SCORE_SCALE[0]) | (score > SCORE_SCALE[1])
        wanted = "it must lie between 0 and 100; correct it"
        self.mark(off, lambda row: f"score is {score[row]:g}, {wanted}", "score off the scale")

    def empty(self, bad: pl.Series, column: str, problem: Callable[[int], str]) -> None:
        """Leave cells of a column that nothing needs empty; strictly read, they are faults like others."""
        rows = bad.fill_null(value=False).arg_true().to_list()
        if rows and self.options.strict:
            raise self.source.fault(problem(rows[0]), rows[0])
        if rows:
            self.emptied.setdefault(column, []).extend(rows)

    def usable(self) -> pl.Series:
        """Mark the rows that can be used."""
        import polars as pl

        if not self.problems:
            return pl.Series([True]).new_from_index(0, self.rows)
        return ~pl.int_range(self.rows, eager=True, dtype=pl.Int64).is_in(list(self.problems))

    def settle(self) -> tuple[list[SetAside], list[str]]:
        """Return what was set aside, and notes with the lines; refuse the file if it is too much."""
        allowed = 0 if self.options.strict else math.floor(self.options.bad_rows * self.rows)
        if len(self.problems) > allowed:
            raise self._make_refusal()
        return [SetAside(reason, count) for reason, count in Counter(self.reasons.values()).items()], self._notes()

    def keep_usable(self, frame: pl.DataFrame, uses: tuple[ColumnUse, ...] = ()) -> UsableRows:
        """Keep the rows of a frame that can be used; refuse the file if too many cannot."""
        set_aside, notes = self.settle()
        return UsableRows(frame.filter(self.usable()), tuple(set_aside), tuple(notes), uses)

    def _make_refusal(self) -> InputError:
        first = min(self.problems)
        share = len(self.problems) / max(self.rows, 1)
        advice = ""
        if not self.options.strict and share <= WORTH_SETTING_ASIDE:
            rounded = math.ceil(share * 1000) / 1000
            advice = f"; --bad-rows {rounded:g} sets such rows aside ({len(self.problems):,} of {self.rows:,})"
        return self.source.fault(self.problems[first] + advice, first)

    def _notes(self) -> list[str]:
        notes: list[str] = []
        if self.problems:
            first = min(self.problems)
            where = self._list_lines(sorted(self.problems))
            notes.append(f"set aside as unreadable, {where}: {self.problems[first]}")
        for column, rows in self.emptied.items():
            values = f"1 value of column '{column}' cannot be read and is left empty"
            if len(rows) > 1:
                values = f"{len(rows):,} values of column '{column}' cannot be read and are left empty"
            notes.append(f"{values}, {self._list_lines(rows)}")
        return notes

    def _list_lines(self, rows: list[int]) -> str:
        unit = "line" if self.source.line_of is not None else "row"
        numbers = [str(self.source.number(row)) for row in rows[:LINES_NAMED]]
        more = f" and {len(rows) - LINES_NAMED:,} more" if len(rows) > LINES_NAMED else ""
        return f"{self.source.name}, {unit}{'s' if len(rows) > 1 else ''} {', '.join(numbers)}{more}"
