"""Results for machines and papers: JSON, CSV and LaTeX from the same summary tables."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING, Any

from adjudge.results.table import show

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adjudge.results.table import Cell, Table

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "<": r"$<$", ">": r"$>$",
    "→": r"$\rightarrow$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$", "−": "$-$", "…": r"\ldots{}",
}  # fmt: skip


def to_json(value: dict[str, Any], *, plain: bool = False) -> str:
    """One JSON object; texts stay readable, or `plain` ASCII, and NaN is an error because results hold none."""
    return json.dumps(value, ensure_ascii=plain, indent=2, allow_nan=False)


def to_csv(tables: Iterable[Table]) -> str:
    """The tables one below the other, in full precision, each under its title."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for i, table in enumerate(tables):
        if i:
            writer.writerow([])
        writer.writerow([f"# {table.title}"])
        writer.writerow([column.label for column in table.columns])
        writer.writerows([["" if _undefined(cell) else cell for cell in row] for row in table.rows])
    return buffer.getvalue()


def _undefined(cell: Cell) -> bool:
    """A figure that is not defined is an empty cell, as it is null in JSON."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def to_latex(tables: Iterable[Table]) -> str:
    """The tables in LaTeX with booktabs rules; clusters are separated by a thin rule."""
    return "\n".join(_latex_table(table) for table in tables)


def _latex_table(table: Table) -> str:
    alignment = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    lines += [" & ".join(_escape(column.label) for column in table.columns) + r" \\", r"\midrule"]
    for i, row in enumerate(table.rows):
        if i in table.lines:
            lines.append(r"\midrule[0.2pt]")
        cells = (_escape(show(cell, column)) for cell, column in zip(row, table.columns, strict=True))
        lines.append(" & ".join(cells) + r" \\")
    caption = _escape(f"{table.title}. {table.note}".strip())
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}", ""]
    return "\n".join(lines)


def _escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
