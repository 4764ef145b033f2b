"""Results for a terminal: the summary tables, what was set aside, notes, and the signature."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from adjudge.results.table import show

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.results.result import Result
    from adjudge.results.table import Table

# Blanks between two columns, the best first, and the padding of cells that makes them.
PADDINGS = {3: (0, 1, 0, 1), 2: (0, 1, 0, 0), 1: (0, 0, 0, 0)}
# A text may be folded down to this width.
SLIVER = 12


def print_result(result: Result, console: Console, *, heading: str = "") -> None:
    """Print all that a result shows of itself."""
    if heading:
        console.rule(heading)
    for table in result.tables():
        print_table(table, console)
    for aside in result.set_aside:
        console.print(f"set aside: {aside.rows:,} × {aside.reason}", markup=False, highlight=False, style="dim")
    for note in result.notes:
        console.print(f"note: {note}", markup=False, highlight=False, style="yellow")
    console.print(result.signature, markup=False, highlight=False, style="dim", soft_wrap=True)


def print_table(table: Table, console: Console) -> None:
    """Print one table; a line stands before each row in `table.lines`. What is too wide becomes a list of its cells."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    gap = next((gap for gap in PADDINGS if _least_width(table, gap) <= console.width), None)
    if gap is None and console.is_terminal:
        _print_cells(table, console)
        return
    rich = RichTable(
        title=Text(table.title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        caption=table.note or None,
        padding=PADDINGS[gap or min(PADDINGS)],
    )
    rich.caption_justify = "left"
    for column in table.columns:
        rich.add_column(Text(column.label), justify="left" if column.kind == "text" else "right", overflow="fold")
    for i, row in enumerate(table.rows):
        if i in table.lines:
            rich.add_section()
        rich.add_row(*(Text(show(cell, column)) for cell, column in zip(row, table.columns, strict=True)))
    console.print(rich)


def _least_width(table: Table, gap: int) -> int:
    """The width below which numbers would be broken, or texts become slivers."""
    return sum(_least_column(table, i) + gap for i in range(len(table.columns))) + 1


def _least_column(table: Table, position: int) -> int:
    column = table.columns[position]
    longest = max((len(show(row[position], column)) for row in table.rows), default=0)
    label = max((len(word) for word in column.label.split()), default=0)
    return max(min(longest, SLIVER) if column.kind == "text" else longest, label)


def _print_cells(table: Table, console: Console) -> None:
    """The cells of every row below each other."""
    width = max((len(column.label) for column in table.columns), default=0)
    console.print(table.title, style="bold", markup=False, highlight=False)
    for row in table.rows:
        console.print()
        for cell, column in zip(row, table.columns, strict=True):
            line = f"  {column.label:<{width}}  {show(cell, column)}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if table.note:
        console.print(f"\n{table.note}", markup=False, highlight=False, style="italic")
    console.print()


def result_as_text(result: Result, *, width: int = 120) -> str:
    """What `print_result` prints, as plain text."""
    from rich.console import Console

    buffer = io.StringIO()
    print_result(result, Console(file=buffer, width=width, color_system=None))
    return buffer.getvalue()
