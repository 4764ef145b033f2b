"""Summary tables: what a result shows of itself. Terminal, CSV, LaTeX and HTML are all rendered from these."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple


class HumanName(str):
    """The name of a human translation. Tables show it with the word `(human)`; files hold the name alone."""

    __slots__ = ()


class Span(NamedTuple):
    """The whole numbers from `low` to `high`, such as the ranks that a system may have. Files hold two columns."""

    low: int
    high: int


Cell = str | int | float | bool | Span | None
ColumnKind = Literal["text", "number", "percent", "p", "span"]


@dataclass(frozen=True)
class Column:
    """A column: its label, what its cells are, how many digits a number is shown with, and what it means."""

    label: str
    kind: ColumnKind = "number"
    digits: int = 3
    help: str = ""
    name: str = ""
    """The column's name in files and data frames, where it is not the label."""

    @property
    def key(self) -> str:
        """The column's name in files and data frames."""
        return self.name or self.label


@dataclass(frozen=True)
class Table:
    """A titled table of plain cells. Rows before which a line stands (`lines`) separate clusters."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    lines: frozenset[int] = frozenset()


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


def span(label: str, help: str = "", name: str = "") -> Column:  # noqa: A002
    """A column of ranges of whole numbers."""
    return Column(label, "span", 0, help, name)


def shown_name(system: str, human: bool) -> str:
    """A system's name as tables hold it; shown with the word `(human)` where it is a human translation."""
    return HumanName(system) if human else system


def show(cell: Cell, column: Column) -> str:
    """A cell as people read it. Never overstates: a small p is `<.001`, a share is 0% or 100% only if exactly so."""
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
    # Adding 0 takes the minus from what is 0 as shown.
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
