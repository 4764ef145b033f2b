"""How results are shown in terminals and notebooks: short text, short HTML, data frames, charts.

Charts of results are in `reports/result_page.py`.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from adjudge.ranking.ranking import Ranking
from adjudge.reports.page import sketch
from adjudge.table.errors import UsageError, param, unknown_choice
from adjudge.table.results import Cell, Result, Span, Table, show
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


MOST_ROWS = 25
WIDTH = 100
MOST_NOTES = 3


def find_table(result: Result, wanted: str | int | None) -> Table:
    """A table by its index, or by words of its title."""
    tables = result.all_tables()
    if not tables:
        raise UsageError(f"a result of {result.verb} has no tables")
    if wanted is None:
        return tables[0]
    if isinstance(wanted, int):
        if not -len(tables) <= wanted < len(tables):
            raise UsageError(f"{param('table')} is {wanted}; the result has {len(tables)} tables, counted from 0")
        return tables[wanted]
    fitting = [table for table in tables if wanted.lower() in table.title.lower()]
    if not fitting:
        raise unknown_choice("table", wanted, [table.title for table in tables])
    return fitting[0]


def frame_of(table: Table) -> pl.DataFrame:
    """A table as a data frame: numbers as numbers, systems under their own names, a range as two columns."""
    import polars as pl

    columns: dict[str, list[Any]] = {}
    for i, column in enumerate(table.columns):
        cells = [row[i] for row in table.rows]
        if column.kind != "span":
            columns[_make_unique(column.key, columns)] = [_plain(cell) for cell in cells]
            continue
        for end in ("low", "high"):
            ends = [getattr(cell, end) if isinstance(cell, Span) else None for cell in cells]
            columns[_make_unique(f"{column.key}_{end}", columns)] = ends
    return pl.DataFrame({key: pl.Series(key, values, strict=False) for key, values in columns.items()})


def _plain(cell: Cell) -> Any:
    if isinstance(cell, float) and math.isnan(cell):
        return None
    return str(cell) if isinstance(cell, str) else cell


def _make_unique(key: str, taken: dict[str, list[Any]]) -> str:
    """The key, with a number appended if another column has the same."""
    unused, count = key, 1
    while unused in taken:
        count += 1
        unused = f"{key} {count}"
    return unused


def as_pandas(frame: pl.DataFrame) -> Any:
    """The frame as a pandas data frame, if pandas is installed."""
    try:
        import pandas as pd
    except ImportError as fault:
        raise UsageError("pandas is not installed; install it, or use to_frame() for polars") from fault
    return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})


def short_text(result: Result) -> str:
    """The first table, shortened to fit on a screen, and the signature."""
    tables = result.all_tables()
    parts = [*result.first_lines, *([_text_table(tables[0].in_brief())] if tables else []), *sketch(result, WIDTH)]
    if len(tables) > 1:
        parts.append("more tables, by to_frame(): " + "; ".join(table.title for table in tables[1:]))
    parts += _collect_remarks(result)
    return "\n".join([*parts, result.signature])


def _collect_remarks(result: Result) -> list[str]:
    remarks = [f"set aside: {aside.rows:,} × {aside.reason}" for aside in result.set_aside]
    remarks += [f"note: {note}" for note in result.notes]
    left = len(remarks) - MOST_NOTES
    return remarks if left <= 0 else [*remarks[:MOST_NOTES], f"and {left} more in .set_aside and .notes"]


def _text_table(table: Table) -> str:
    shown = [[show(row[i], column) for row in table.rows[:MOST_ROWS]] for i, column in enumerate(table.columns)]
    widths = [max([len(column.label), *map(len, cells)]) for column, cells in zip(table.columns, shown, strict=True)]
    fitting = max(1, sum(sum(widths[: i + 1]) + 2 * i <= WIDTH for i in range(len(widths))))

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if column.kind == "text" else cell.rjust(width)
            for cell, width, column in zip(cells, widths[:fitting], table.columns, strict=False)
        )
        return "  ".join(padded).rstrip()

    rule = "-" * (sum(widths[:fitting]) + 2 * (fitting - 1))
    lines = [table.title, line([column.label for column in table.columns[:fitting]]), rule]
    for i in range(min(len(table.rows), MOST_ROWS)):
        lines += [rule] if i in table.lines else []
        lines.append(line([cells[i] for cells in shown[:fitting]]))
    return "\n".join([*lines, *_say_left_out(table, fitting)])


def _say_left_out(table: Table, columns: int) -> list[str]:
    rows = len(table.rows) - MOST_ROWS
    left = [counted(rows, "more row")] if rows > 0 else []
    left += [counted(len(table.columns) - columns, "more column")] if columns < len(table.columns) else []
    return [f"({' and '.join(left)} in to_frame())"] if left else []


def short_html(result: Result) -> str:
    """The first table, remarks and the signature, for a notebook. All text is escaped."""
    tables = result.all_tables()
    parts = [f"<p><b>{escape(line)}</b></p>" for line in result.first_lines]
    parts += [_html_table(tables[0].in_brief())] if tables else []
    parts += [_picture(result)] if isinstance(result, Ranking) else []
    parts += [f"<div>{escape(remark)}</div>" for remark in _collect_remarks(result)]
    return "\n".join([*parts, f"<div><small><code>{escape(result.signature)}</code></small></div>"])


def _picture(ranking: Ranking) -> str:
    """The first chart of the page, as a drawing of its own."""
    from adjudge.reports.drawing import paint
    from adjudge.reports.ranking_section import scores_chart

    chart = scores_chart(ranking)
    return f"<div><b>{escape(chart.title)}</b><br>{paint(chart.drawing, chart.title, chart.says)}</div>"


def _html_table(table: Table) -> str:
    head = "".join(f'<th title="{escape(column.help)}">{escape(column.label)}</th>' for column in table.columns)
    sides = ["left" if column.kind == "text" else "right" for column in table.columns]
    rows = []
    for i, row in enumerate(table.rows[:MOST_ROWS]):
        style = ' style="border-top: 2px solid currentColor"' if i in table.lines else ""
        texts = (escape(show(cell, column)) for cell, column in zip(row, table.columns, strict=True))
        cells = (f'<td style="text-align: {side}">{text}</td>' for side, text in zip(sides, texts, strict=True))
        rows.append(f"<tr{style}>{''.join(cells)}</tr>")
    left = "".join(f"<div>{escape(remark)}</div>" for remark in _say_left_out(table, len(table.columns)))
    title = f'<caption style="text-align: left"><b>{escape(table.title)}</b></caption>'
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{left}"
