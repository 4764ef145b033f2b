"""The base class of all results: settings, data fingerprint, what was set aside, version, and signature."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from adjudge._version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from adjudge.table.judgments import SetAside


Setting = str | int | float | bool | None
UNWRITTEN = {"written": False}
"""Metadata of fields that are used internally and are not part of the JSON."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Base class of all results. A result records how it was computed (`settings`, with the seed) and has `tables`."""

    verb: ClassVar[str]

    settings: Mapping[str, Setting]
    data: str
    set_aside: tuple[SetAside, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = __version__

    @property
    def signature(self) -> str:
        """One line that reproduces the result: command, settings, data fingerprint, version."""
        return make_signature(self.verb, self.settings, self.data, self.version)

    @property
    def first_lines(self) -> tuple[str, ...]:
        """What is said before all tables: the answer to the first question."""
        return ()

    @property
    def failed(self) -> bool:
        """Whether a check that was asked for found a fault: the command then ends with exit code 1."""
        return False

    def tables(self) -> tuple[Table, ...]:
        """The summary tables, the most important first."""
        raise NotImplementedError

    def all_tables(self) -> tuple[Table, ...]:
        """The summary tables, and those that are too long to be printed by default."""
        return self.tables()

    def to_frame(self, table: str | int | None = None) -> pl.DataFrame:
        """A table of the result as a polars data frame, in full precision.

        Args:
            table: its index in `all_tables()`, or words of its title; default: the most important table.
        """
        from adjudge.reports.display import find_table, frame_of

        return frame_of(find_table(self, table))

    def to_pandas(self, table: str | int | None = None) -> Any:
        """The same as `to_frame`, as a pandas data frame. Needs pandas."""
        from adjudge.reports.display import as_pandas

        return as_pandas(self.to_frame(table))

    def save(self, path: str | Path) -> Path:
        """Write the result; the ending says how: JSON, CSV, Parquet, Excel, LaTeX, text, or a page as HTML or PDF.

        Args:
            path: the file. Tables that do not fit into one CSV or Parquet file get files of their own beside it.
        """
        from pathlib import Path

        from adjudge.reports.files import write_results

        write_results({"": self}, Path(path))
        return Path(path)

    def to_csv(self, table: str | int | None = None) -> str:
        """A table of the result as CSV, in full precision; `table` is that of `to_frame`."""
        from adjudge.reports.display import find_table
        from adjudge.reports.files import to_csv

        return to_csv(find_table(self, table))

    def to_latex(self, table: str | int | None = None) -> str:
        """A table of the result in LaTeX with booktabs rules, for papers; `table` is that of `to_frame`."""
        from adjudge.reports.display import find_table
        from adjudge.reports.latex import to_latex

        return to_latex([find_table(self, table)], signatures=[self.signature])

    def plot(self, chart: str | None = None) -> Any:
        """A chart of the report, which notebooks display and `save` writes to a file: SVG, HTML, PNG or PDF.

        Args:
            chart: its name; default: the first. An unknown name lists the available ones.
        """
        from adjudge.reports.result_page import plot

        return plot(self, chart)

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        # Set on every class, so that `dataclass` does not add a `__repr__` that prints all numbers.
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.signature}>"

    def __str__(self) -> str:
        from adjudge.reports.display import short_text

        return short_text(self)

    def _repr_html_(self) -> str:
        from adjudge.reports.display import short_html

        return short_html(self)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values in full precision for JSON, with None instead of NaN."""
        return {"signature": self.signature, **_plain_fields(self)}


def make_signature(verb: str, settings: Mapping[str, Setting], data: str, version: str) -> str:
    """The signature line, as in `adjudge rank|method:wins|seed:1|data:0123abcd|version:0.1.0`."""

    def plain(value: Setting) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:g}" if isinstance(value, float) else str(value)

    parts = [f"{key}:{plain(value)}" for key, value in settings.items() if value is not None]
    return "|".join([f"adjudge {verb}", *parts, f"data:{data}", f"version:{version}"])


def to_plain(value: Any) -> Any:
    """Convert dataclasses, arrays and tuples to dicts, lists and numbers for JSON; NaN and infinities become None."""
    kind = type(value)
    # Most values by far are of these types: a ranking of 500 systems has a million numbers.
    if kind is float:
        return value if math.isfinite(value) else None
    if value is None or kind is str or kind is int or kind is bool:
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.generic | np.ndarray):
        return to_plain(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        to_dict = getattr(value, "to_dict", None)
        if to_dict is not None:
            return to_dict()
        return _plain_fields(value)
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    return value


def _plain_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, without internal ones."""
    written = (field.name for field in dataclasses.fields(value) if field.metadata.get("written", True))
    return {name: to_plain(getattr(value, name)) for name in written}


# Summary tables of results. Terminal output, CSV, LaTeX and HTML are all rendered from them.


class HumanName(str):
    """The name of a human translation. Tables show it with `(human)` added; files have only the name."""

    __slots__ = ()


class Span(NamedTuple):
    """A range of whole numbers, such as the ranks that a system may have. Files have two columns for it."""

    low: int
    high: int


Cell = str | int | float | bool | Span | None
ColumnKind = Literal["text", "number", "percent", "p", "span"]


@dataclass(frozen=True)
class Column:
    """A column: its label, the type of its cells, the number of digits, and its meaning."""

    label: str
    kind: ColumnKind = "number"
    digits: int = 3
    help: str = ""
    name: str = ""
    """The column's name in files and data frames, if it is not the label."""
    detail: bool = False
    """Whether it is printed only on request; files and data frames always have it."""

    @property
    def key(self) -> str:
        """The column's name in files and data frames."""
        return self.name or self.label


@dataclass(frozen=True)
class Table:
    """A table of plain cells with a title. `lines` are the rows before which a cluster line is drawn."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    lines: frozenset[int] = frozenset()
    detail: bool = False
    """Whether it is printed only on request."""

    def in_brief(self) -> Table:
        """The table without the columns that are printed on request only."""
        shown = [i for i, column in enumerate(self.columns) if not column.detail]
        rows = tuple(tuple(row[i] for i in shown) for row in self.rows)
        return dataclasses.replace(self, columns=tuple(self.columns[i] for i in shown), rows=rows)

    def reworded(self, word: Callable[[str], str]) -> Table:
        """The table with another wording of its title, note, heads and of cells that are sentences, not names."""
        columns = tuple(
            dataclasses.replace(one, label=word(one.label), help=word(one.help), name=one.key) for one in self.columns
        )
        rows = tuple(
            tuple(word(cell) if type(cell) is str and cell.count(" ") > 2 else cell for cell in row)
            for row in self.rows
        )
        return dataclasses.replace(self, title=word(self.title), note=word(self.note), columns=columns, rows=rows)


def tabulate(title: str, items: Iterable[object], columns: Mapping[Any, Column], note: str = "") -> Table:
    """A table with a row for every item; each column shows the attribute under whose name it stands.

    A column may also stand under a function of the item. The name of a `system` is marked if the item says that it is
    `human`.
    """

    def cell(item: Any, name: Any) -> Cell:
        value: Cell = name(item) if callable(name) else getattr(item, name)
        return HumanName(value) if name == "system" and getattr(item, "human", False) else value

    rows = tuple(tuple(cell(item, name) for name in columns) for item in items)
    return Table(title, tuple(columns.values()), rows, note)


def text(label: str, help: str = "") -> Column:  # noqa: A002
    """A column of words."""
    return Column(label, "text", help=help)


def number(label: str, digits: int = 3, help: str = "") -> Column:  # noqa: A002
    """A column of numbers."""
    return Column(label, "number", digits, help)


def percent(label: str, digits: int = 1, help: str = "") -> Column:  # noqa: A002
    """A column of shares between 0 and 1, shown as percent."""
    return Column(label, "percent", digits, help)


def p_value(label: str = "p", help: str = "", name: str = "") -> Column:  # noqa: A002
    """A column of p-values, never shown as 0."""
    return Column(label, "p", 3, help, name)


P_HOLM = p_value("p (Holm)", name="p_holm")
P_BH = p_value("p (BH)", name="p_bh")
P_ADJUSTED = p_value("p (all pairs)", "corrected for all pairs, as decisions are", "p_adjusted")


def comparison_table(title: str, comparisons: Iterable[object], *, decided: bool = False) -> Table:
    """Which of two is better, by how much, and whether chance could have done it: a row for every pair.

    Args:
        title: of the table.
        comparisons: with the columns as attributes.
        decided: whether they also say what is decided, and by which p.
    """
    columns = {"better": text("better"), "worse": text("worse"), "difference": number("difference"), "p": p_value("p")}
    if decided:
        columns |= {"p_adjusted": P_ADJUSTED, "state": text("state", help="decided, open, or by which reading alone")}
    return tabulate(title, comparisons, {**columns, "p_holm": P_HOLM, "p_bh": P_BH})


def span(label: str, help: str = "", name: str = "") -> Column:  # noqa: A002
    """A column of ranges of whole numbers."""
    return Column(label, "span", 0, help, name)


def shown_name(system: str, human: bool) -> str:
    """A system's name for a table cell; shown with `(human)` if it is a human translation."""
    return HumanName(system) if human else system


def show(cell: Cell, column: Column) -> str:
    """A cell as text. It never overstates: a small p is `<.001`, and a share is 0% or 100% only if it is exact."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return f"{cell} (human)" if isinstance(cell, HumanName) else cell
    if isinstance(cell, Span):
        return f"{cell.low}" if cell.low == cell.high else f"{cell.low}–{cell.high}"
    if column.kind == "p":
        return "<.001" if cell < 0.001 else f"{cell:.3f}".removeprefix("0")
    if column.kind == "percent":
        step = 10.0**-column.digits
        share = min(max(100 * cell, step), 100 - step) if 0 < cell < 1 else 100 * cell
        return f"{share:.{column.digits}f}%"
    if isinstance(cell, int):
        return f"{cell:,}"
    # Adding 0 removes the minus sign of values that are shown as 0.
    return f"{round(cell, column.digits) + 0.0:.{column.digits}f}"
