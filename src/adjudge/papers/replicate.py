"""Papers' tables recomputed from their released data. `replicate` is the main function.

A paper is a folder whose `replicate(folder)` returns a `Replication`; its published cells are in `published.json`
there, with the page and table of each. To add a paper, write both and name the folder here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.readers.parsing import read_spaced
from adjudge.table.errors import InputError, unknown_choice
from adjudge.table.judgments import fingerprint_of_parts
from adjudge.table.languages import language_code, pair_name
from adjudge.table.results import Cell, Result, Table, number, tabulate, text, to_plain

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from pathlib import Path

    from adjudge.papers.figures import PaperFigure


# name: (folder, what it is)
PAPERS: dict[str, tuple[str, str]] = {
    "in-order": ("in_order", "Lopez 2012, Putting Human Assessments of Machine Translation Systems in Order"),
    "suboptimal": ("suboptimal", "Kim et al. 2022, The Suboptimal WMT Test Sets and Their Impact on Human Parity"),
    "grain-of-salt": ("grain_of_salt", "Bojar et al. 2011, A Grain of Salt for the WMT Manual Evaluation"),
    "document-qe": ("document_qe", "Graham et al. 2017, Improving Evaluation of Document-level Quality Estimation"),
    "stability": ("stability", "Knowles 2021, On the Stability of System Rankings at WMT"),
}


def replicate(paper: str, data: Path) -> Replication:
    """Recompute the tables of a paper.

    Args:
        paper: a name from `PAPERS`.
        data: the folder that holds its released data, or folders with them.

    Returns:
        Published and recomputed figures side by side, with the reason wherever they differ.
    """
    if paper not in PAPERS:
        raise unknown_choice("paper", paper, PAPERS)
    if not data.is_dir():
        raise InputError("is not a folder; give the folder of the paper's released data", file=data)
    module = import_module(f"adjudge.papers.{PAPERS[paper][0]}")
    result: Replication = module.replicate(data)
    return result


# A paper's tables and figures, published and recomputed side by side.


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
            # Two digits more than printed where the figures differ, to show by how much; whole counts stay whole.
            whole = cell.decimals == 0 and cell.recomputed is not None and float(cell.recomputed).is_integer()
            decimals = cell.decimals + 2 if cell.match is False and not whole else cell.decimals
            recomputed = "–" if cell.recomputed is None else f"{cell.recomputed:.{decimals}f}"
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


# Published figures, kept as data files beside the modules that recompute them.
#
# A file `published.json` holds `paper` (citation) and `tables`: of each its name, title, page, cells as printed (so
# that the number of decimals is known), notes on cells that cannot match, and which follow from other printed figures
# (`from_print`); `source` and `origin` where they stand in another file than the paper.


@dataclass(frozen=True)
class Published:
    """The content of a file of published figures."""

    paper: str
    content: Mapping[str, Any]

    def cells(self, table: str) -> dict[str, str]:
        """The cells of one table, as printed."""
        return dict(self._table(table)["cells"])

    def compared(
        self,
        table: str,
        recomputed: Mapping[str, float],
        notes: Mapping[str, str] | None = None,
        other_data: Container[str] = (),
        *,
        absent: Container[str] = (),
    ) -> ReplicatedTable:
        """One table with every printed cell beside the recomputed one.

        Args:
            table: its name.
            recomputed: the figures by the names of their cells.
            notes: what is to be known of a cell.
            other_data: cells that were recomputed from other data than the paper's.
            absent: cells whose data were released, but are not in the folder; others without a recomputed figure were
                not released.
        """
        entry = self._table(table)
        notes = {**entry.get("notes", {}), **(notes or {})}
        cells = tuple(
            ReplicatedCell(
                name,
                float(printed),
                count_decimals(printed),
                recomputed.get(name),
                notes.get(name, ""),
                comparable=name not in other_data,
                released=name in recomputed or name in absent,
                from_print=name in entry.get("from_print", ()),
            )
            for name, printed in entry["cells"].items()
        )
        source = Source(entry.get("source", Source.PAPER))
        return ReplicatedTable(
            entry["table"], entry["title"], entry.get("page"), cells, source, entry.get("origin", "")
        )

    def not_recomputed(self, drawn: Container[str] = ()) -> tuple[NotRecomputed, ...]:
        """What the data do not allow, and why; figures that were drawn after all are not among it."""
        left_out = self.content["not_recomputed"].items()
        return tuple(NotRecomputed(what, why) for what, why in left_out if what not in drawn)

    def _table(self, name: str) -> dict[str, Any]:
        return next(dict(entry) for entry in self.content["tables"] if entry["table"] == name)


def read_published(name: str) -> Published:
    """Read the published figures of the paper with this folder."""
    content = json.loads(files("adjudge.papers").joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return Published(content["paper"], content)


def count_decimals(printed: str) -> int:
    """How many decimals a figure is printed with."""
    return len(printed.partition(".")[2])


def find_file(folder: Path, name: str) -> Path:
    """The file of this name in the folder or in a folder directly inside it."""
    path = look_for_file(folder, name)
    if path is None:
        raise missing_data(folder, f"no '{name}'")
    return path


def look_for_file(folder: Path, name: str) -> Path | None:
    """The file of this name in the folder or in a folder directly inside it; None where there is none."""
    if (folder / name).is_file():
        return folder / name
    paths = sorted(folder.glob(f"*/{name}"))
    if len(paths) > 1:
        raise missing_data(folder, f"{len(paths)} files called '{name}'")
    return paths[0] if paths else None


def read_released(path: Path, header: str, numbers: Container[str] = ()) -> list[dict[str, Any]]:
    """The rows of a white-space separated table by column, in capitals; none where no header holds the word `header`.

    Values are texts, or numbers in the columns `numbers`; `NA` is None.
    """
    table = read_spaced(path, header=header)
    if table is None or table.column_index(header) is None:
        return []
    table.refuse_ragged()
    columns = {
        name: table.numbers(place, name) if name in numbers else table.texts(place)
        for place, name in enumerate(map(str.upper, table.header))
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def name_pair(source: str, target: str) -> str:
    """The language pair as judgments name it."""
    return pair_name(language_code(source), language_code(target))


def join_fingerprints(fingerprints: Iterable[str]) -> str:
    """One fingerprint for all data that a replication used."""
    return fingerprint_of_parts(fingerprints)


def missing_data(folder: Path, what: str) -> InputError:
    """The error where a folder holds something else (`what`) than the data of a paper."""
    return InputError(f"holds {what}; name the folder that has the paper's data", file=folder)
