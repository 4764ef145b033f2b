"""Summary tables of results. Terminal output, CSV, LaTeX and HTML are all rendered from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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


def tabulate(title: str, items: Iterable[object], columns: Mapping[str, Column], note: str = "") -> Table:
    """A table with a row for every item; each column shows the attribute under whose name it stands.

    The name of a `system` is marked if the item says that it is `human`.
    """

    def cell(item: Any, name: str) -> Cell:
        value: Cell = getattr(item, name)
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


def comparison_table(title: str, comparisons: Iterable[object]) -> Table:
    """Which of two is better, by how much, and whether chance could have done it: a row for every pair."""
    columns = {"better": text("better"), "worse": text("worse"), "difference": number("difference"), "p": p_value("p")}
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
        return _show_p(float(cell))
    if column.kind == "percent":
        return _show_percent(float(cell), column.digits)
    if isinstance(cell, int):
        return f"{cell:,}"
    # Adding 0 removes the minus sign of values that are shown as 0.
    return f"{round(cell, column.digits) + 0.0:.{column.digits}f}"


def _show_p(value: float) -> str:
    if value < 0.001:
        return "<.001"
    return f"{value:.3f}".removeprefix("0")


def _show_percent(value: float, digits: int) -> str:
    step = 10.0**-digits
    shown = 100 * value
    if 0 < value < 1:
        shown = min(max(shown, step), 100 - step)
    return f"{shown:.{digits}f}%"
