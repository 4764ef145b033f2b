r"""Tables in LaTeX with booktabs rules, for papers. Needs `\usepackage{booktabs}`.

Names in scripts that pdflatex has no fonts for (Chinese, Cyrillic, ...) are written as they are: compile such a table
with lualatex and a font that has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.results.table import show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adjudge.results.table import Table

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "<": r"$<$", ">": r"$>$",
    "|": r"\textbar{}",
    "→": r"$\rightarrow$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$", "−": "$-$", "…": r"\ldots{}",
    "’": "'", "“": "``", "”": "''", "\u00a0": "~",
}  # fmt: skip
NEEDED = "% needs \\usepackage{booktabs}; names in other scripts need lualatex and a font that has them"


def to_latex(tables: Iterable[Table], *, signatures: Sequence[str] = ()) -> str:
    """All tables below each other, with the signatures of the results as comments."""
    comments = [NEEDED, *(f"% {' '.join(signature.split())}" for signature in signatures)]
    return "\n".join([*comments, *(latex_table(table) for table in tables)])


def latex_table(table: Table, *, label: str = "", caption: str = "", size: str = "") -> str:
    r"""One floating table; clusters are separated by a thin rule.

    Args:
        table: what is shown.
        label: for `\ref`, made from the title where left out.
        caption: already in LaTeX; title and note where left out.
        size: a command such as `\small`.
    """
    alignment = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    lines = [r"\begin{table}", r"\centering", *([size] if size else [])]
    lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    lines += [" & ".join(escape(column.label) for column in table.columns) + r" \\", r"\midrule"]
    for i, row in enumerate(table.rows):
        if i in table.lines:
            lines.append(r"\midrule[0.2pt]")
        cells = (escape(show(cell, column)) for cell, column in zip(row, table.columns, strict=True))
        lines.append(" & ".join(cells) + r" \\")
    caption = caption or escape(f"{table.title}. {table.note}".strip())
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}"]
    return "\n".join([*lines, rf"\label{{{label or _label(table.title)}}}", r"\end{table}", ""])


def escape(text: str) -> str:
    """Text as LaTeX shows it. Line breaks become blanks, so that a name cannot end a line of the table."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


def _label(title: str) -> str:
    import re

    return "tab:" + re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
