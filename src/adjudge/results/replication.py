"""A paper's tables and figures, published and recomputed side by side."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.results.result import Result, to_plain
from adjudge.results.table import Cell, Table, number, tabulate, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adjudge.results.paper_figures import PaperFigure


class State(StrEnum):
    """What came of one published figure."""

    MATCHES = "matches"
    DIFFERS = "differs"
    FROM_PRINT = "follows from print"
    NOT_RELEASED = "not released"
    NOT_IN_FOLDER = "not in the folder"
    OTHER_DATA = "other data"
    NOT_PRINTED = "not printed"


class Source(StrEnum):
    """Where published figures stand. Cells of different sources are counted apart."""

    PAPER = "paper"
    AUTHORS = "authors' files"
    ORGANISERS = "organisers' files"
    NONE = "none"


@dataclass(frozen=True)
class ReplicatedCell:
    """One figure: as printed (with its number of decimals), as recomputed, and why they differ where they do."""

    name: str
    published: float | None
    """Null where the paper draws the figure but does not print it."""
    decimals: int
    recomputed: float | None
    """Null where the released data or the folder do not allow it; the note says why."""
    note: str = ""
    comparable: bool = True
    """False where the two figures are about different data, so that they need not be the same."""
    released: bool = True
    """True where a figure that is not recomputed could be, if its data lay in the folder."""
    from_print: bool = False
    """True where it was recomputed from other figures that the paper prints, not from data."""

    @property
    def match(self) -> bool | None:
        """Whether the recomputed figure, rounded as the printed one is, is the same; a half may go either way.

        Null where there is nothing to compare.
        """
        if not self.comparable or self.published is None or self.recomputed is None:
            return None
        return abs(self.recomputed - self.published) <= 0.5 * 10.0**-self.decimals + 1e-9

    @property
    def state(self) -> State:
        """What came of the figure, in two or three words."""
        if self.recomputed is None:
            return State.NOT_IN_FOLDER if self.released else State.NOT_RELEASED
        if self.published is None:
            return State.NOT_PRINTED
        if not self.comparable:
            return State.OTHER_DATA
        if not self.match:
            return State.DIFFERS
        return State.FROM_PRINT if self.from_print else State.MATCHES

    def to_dict(self) -> dict[str, Any]:
        """The documented keys."""
        plain = {name: to_plain(getattr(self, name)) for name in ("name", "published", "recomputed")}
        return {**plain, "match": self.match, "note": self.note, "state": str(self.state)}


@dataclass(frozen=True)
class ReplicatedTable:
    """One table of the paper, or of files that were published beside it."""

    table: str
    title: str
    page: int | None
    cells: tuple[ReplicatedCell, ...]
    source: Source = Source.PAPER
    origin: str = ""
    """The file of the published figures, where they are not in the paper itself."""

    @property
    def heading(self) -> str:
        """Number, page and title."""
        page = f" (page {self.page})" if self.page is not None else ""
        return f"{self.table}{page}: {self.title}"

    def as_table(self) -> Table:
        """The cells, one below the other."""
        rows: list[tuple[Cell, ...]] = []
        for cell in self.cells:
            published = "–" if cell.published is None else f"{cell.published:.{cell.decimals}f}"
            recomputed = "–" if cell.recomputed is None else f"{cell.recomputed:.{_shown_decimals(cell)}f}"
            note = cell.note or ("no reason is known" if cell.state is State.DIFFERS else "")
            rows.append((cell.name, published, recomputed, str(cell.state), note))
        columns = (text("cell"), text("published"), text("recomputed"), text("match"), text("note"))
        note = f"Published figures from {self.origin}." if self.origin else ""
        return Table(self.heading, columns, tuple(rows), note)


@dataclass(frozen=True)
class NotRecomputed:
    """A table or figure of the paper that is left out, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class CellCount:
    """How many cells there are, how many of them can be compared with data, and what came of them."""

    cells: int
    compared: int
    matching: int
    from_print: int
    """Right sums of other printed figures; they rest on no data, so they are not counted as compared."""
    not_released: int

    def words(self) -> str:
        """As in `3 of 5`."""
        return f"{self.matching:,} of {self.compared:,}"


@dataclass(frozen=True, kw_only=True)
class Replication(Result):
    """All tables and figures of a paper that the released data allow."""

    verb: ClassVar[str] = "replicate"

    paper: str
    replicated: tuple[ReplicatedTable, ...]
    figures: tuple[PaperFigure, ...] = ()
    not_recomputed: tuple[NotRecomputed, ...] = ()

    def counts(self) -> dict[Source, CellCount]:
        """Cells by the source of their published figures; those without a published figure have a source of none."""
        return {
            source: count_cells(cell for table in self.replicated if table.source is source for cell in table.cells)
            for source in Source
            if any(table.source is source for table in self.replicated)
        }

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: the tables under `tables`, with counts of cells, in all and by source."""
        plain = super().to_dict()
        del plain["replicated"]
        whole = count_cells(cell for table in self.replicated for cell in table.cells)
        counts = {"cells": whole.cells, "compared": whole.compared, "matching": whole.matching}
        by_source = {str(source): to_plain(count) for source, count in self.counts().items()}
        return plain | counts | {"by_source": by_source, "tables": to_plain(self.replicated)}

    def tables(self) -> tuple[Table, ...]:
        """First what came of the cells of each table, then every table cell by cell, then what is left out."""
        left_out = (self.left_out(),) if self.not_recomputed else ()
        return (self.summary(), *(table.as_table() for table in self.replicated), *left_out)

    def left_out(self) -> Table:
        """What is not recomputed, and why."""
        return tabulate("Not recomputed", self.not_recomputed, {"what": text("what"), "why": text("why")})

    def summary(self) -> Table:
        """One line per table, and one for all tables of each source."""
        rows: list[tuple[Cell, ...]] = [
            (table.table, *_numbers(count_cells(table.cells)), str(table.source), table.title)
            for table in self.replicated
        ]
        lines = frozenset({len(rows)})
        rows += [
            ("all", *_numbers(count), str(source), f"all cells of the {source}")
            for source, count in self.counts().items()
            if source is not Source.NONE
        ]
        columns = (
            text("table"), number("match", 0), number("compared", 0), number("from print", 0),
            number("not released", 0), number("cells", 0), text("published in"), text("about"),
        )  # fmt: skip
        return Table(self.paper, columns, tuple(rows), lines=lines)


def count_cells(cells: Iterable[ReplicatedCell]) -> CellCount:
    """Counts of these cells."""
    states = [cell.state for cell in cells]
    return CellCount(
        cells=len(states),
        compared=states.count(State.MATCHES) + states.count(State.DIFFERS),
        matching=states.count(State.MATCHES),
        from_print=states.count(State.FROM_PRINT),
        not_released=states.count(State.NOT_RELEASED),
    )


def _numbers(count: CellCount) -> tuple[int, int, int, int, int]:
    return count.matching, count.compared, count.from_print, count.not_released, count.cells


def _shown_decimals(cell: ReplicatedCell) -> int:
    """Two digits more than printed where the figures differ, to show by how much; whole counts stay whole."""
    whole = cell.decimals == 0 and cell.recomputed is not None and float(cell.recomputed).is_integer()
    return cell.decimals + 2 if cell.match is False and not whole else cell.decimals
