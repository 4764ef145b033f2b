"""Results for a terminal: the summary tables, what was set aside, notes, and the signature."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from adjudge.core.table import show

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.core.result import Result
    from adjudge.core.table import Table


def print_result(result: Result, console: Console, *, heading: str = "") -> None:
    """Print all that a result shows of itself."""
    if heading:
        console.rule(heading)
    for table in result.tables():
        print_table(table, console)
    for one in result.set_aside:
        console.print(f"set aside: {one.rows:,} × {one.reason}", markup=False, highlight=False, style="dim")
    for note in result.notes:
        console.print(f"note: {note}", markup=False, highlight=False, style="yellow")
    console.print(result.signature, markup=False, highlight=False, style="dim", soft_wrap=True)


def print_table(table: Table, console: Console) -> None:
    """Print one table; a line stands before each row in `table.lines`."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    rich = RichTable(
        title=Text(table.title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        caption=table.note or None,
    )
    rich.caption_justify = "left"
    for column in table.columns:
        rich.add_column(Text(column.label), justify="left" if column.kind == "text" else "right", overflow="fold")
    for i, row in enumerate(table.rows):
        if i in table.lines:
            rich.add_section()
        rich.add_row(*(Text(show(cell, column)) for cell, column in zip(row, table.columns, strict=True)))
    console.print(rich)


def result_as_text(result: Result, *, width: int = 120) -> str:
    """What `print_result` prints, as plain text."""
    from rich.console import Console

    buffer = io.StringIO()
    print_result(result, Console(file=buffer, width=width, color_system=None))
    return buffer.getvalue()
