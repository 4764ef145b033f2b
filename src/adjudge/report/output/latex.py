r"""Tables in LaTeX with booktabs rules, for papers. Needs `\usepackage{booktabs}`.

Names in scripts that pdflatex has no fonts for (Chinese, Cyrillic, ...) are written as they are: compile such a table
with lualatex and a font that has them.

Tables that are too wide for a page get smaller letters, labels in several lines and long texts wrapped. Widths are
estimated from numbers of characters, for the text width of LaTeX's class article. What does not fit even so is divided
into several tables, each with the names of the rows.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adjudge.results.table import show

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adjudge.results.table import Cell, Column, Table

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "<": r"$<$", ">": r"$>$",
    "|": r"\textbar{}",
    "→": r"$\rightarrow$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$", "−": "$-$", "…": r"\ldots{}",
    "’": "'", "“": "``", "”": "''", "\u00a0": "~",
}  # fmt: skip
NEEDED = "% needs \\usepackage{booktabs}; names in other scripts need lualatex and a font that has them"
# The text width of the class article on letter paper, in points.
PAGE_WIDTH = 345.0
# The width of a digit of Computer Modern in each size, in points: 10, 9, 8 and 7 pt.
DIGIT_WIDTH = 5.0
SMALLER = ((r"\small", 4.63), (r"\footnotesize", 4.25), (r"\scriptsize", 3.98))
# Between two columns: as LaTeX has it, and in tables that need room.
GAP, NARROW_GAP = 12.0, 6.0
# Text columns longer than this may be wrapped, and never to fewer characters than the second.
LONG, NARROWEST = 24, 12
# Lines that a cell may take before a smaller size is tried.
MOST_LINES = 4
TOO_WIDE = (
    r"% wider than a page: put the table into \begin{landscape} ... \end{landscape} (\usepackage{pdflscape}), "
    "or leave columns out"
)


@dataclass(frozen=True)
class Layout:
    """How a table is set; nothing special where it fits as it is."""

    commands: tuple[str, ...] = ()
    """Size and space between columns."""
    headers: tuple[Sequence[str], ...] = ()
    """The lines of each label."""
    wrapped: Mapping[int, float] = field(default_factory=dict)
    """The width of columns that are wrapped, as a share of the text width."""
    remarks: tuple[str, ...] = ()


def to_latex(tables: Iterable[Table], *, signatures: Sequence[str] = ()) -> str:
    """All tables below each other, with the signatures of the results as comments."""
    comments = [NEEDED, *(f"% {' '.join(signature.split())}" for signature in signatures)]
    return "\n".join([*comments, *(latex_table(part) for table in tables for part in divide_table(table))])


def latex_table(table: Table, *, label: str = "", caption: str = "", size: str = "") -> str:
    r"""One floating table; clusters are separated by a thin rule. Tables that are too wide for a page are set smaller.

    Args:
        table: what is shown.
        label: for `\ref`, made from the title where left out.
        caption: already in LaTeX; default: title and note.
        size: a command such as `\small`; default: chosen so that the table fits.
    """
    layout = Layout(commands=(size,)) if size else fit(table)
    lines = [*layout.remarks, r"\begin{table}", r"\centering", *layout.commands]
    lines += [rf"\begin{{tabular}}{{{_alignment(table, layout)}}}", r"\toprule"]
    headers = layout.headers or tuple((column.label,) for column in table.columns)
    shown = (_stacked(words, column) for words, column in zip(headers, table.columns, strict=True))
    lines += [" & ".join(shown) + r" \\", r"\midrule"]
    for i, row in enumerate(table.rows):
        if i in table.lines:
            lines.append(r"\midrule[0.2pt]")
        cells = [_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        cells = [rf"{{\raggedright {cell}\par}}" if k in layout.wrapped else cell for k, cell in enumerate(cells)]
        lines.append(" & ".join(cells) + r" \\")
    caption = caption or escape(f"{table.title}. {table.note}".strip())
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}"]
    return "\n".join([*lines, rf"\label{{{label or _label(table.title)}}}", r"\end{table}", ""])


def _alignment(table: Table, layout: Layout) -> str:
    plain = ("l" if column.kind == "text" else "r" for column in table.columns)
    wrapped = {k: rf"p{{{share:.2f}\linewidth}}" for k, share in layout.wrapped.items()}
    return "".join(wrapped.get(k, letter) for k, letter in enumerate(plain))


def _stacked(lines: Sequence[str], column: Column) -> str:
    """A label in one or several lines, which needs no package."""
    if len(lines) == 1:
        return escape(lines[0])
    side = "l" if column.kind == "text" else "r"
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}" + r" \\ ".join(map(escape, lines)) + r"\end{tabular}"


def escape(text: str) -> str:
    """Text as LaTeX shows it. Line breaks become blanks, so that a name cannot end a line of the table."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


def _cell(cell: Cell, column: Column) -> str:
    """A cell; a number below zero has a minus, which a hyphen is not."""
    shown = escape(show(cell, column))
    return f"$-${shown[1:]}" if column.kind != "text" and shown.startswith("-") else shown


def _label(title: str) -> str:
    return "tab:" + re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def fit(table: Table) -> Layout:
    """The largest letters in which the table fits the page."""
    body = [_longest(table, k) for k in range(len(table.columns))]
    labels = [column.label for column in table.columns]
    if sum(map(max, body, map(len, labels))) * DIGIT_WIDTH + len(labels) * GAP <= PAGE_WIDTH:
        return Layout()
    headers = tuple(_broken(label, width) for label, width in zip(labels, body, strict=True))
    widths = [max(width, *map(len, lines)) for width, lines in zip(body, headers, strict=True)]
    long = [k for k, column in enumerate(table.columns) if column.kind == "text" and body[k] > LONG]
    last = SMALLER[-1][0]
    for size, digit in SMALLER:
        commands = (size, rf"\setlength{{\tabcolsep}}{{{NARROW_GAP / 2:g}pt}}")
        room = (PAGE_WIDTH - len(labels) * NARROW_GAP) / digit
        if sum(widths) <= room:
            return Layout(commands, headers)
        left = room - sum(width for k, width in enumerate(widths) if k not in long)
        wanted = sum(max(NARROWEST, widths[k] / MOST_LINES) for k in long)
        if long and (left >= wanted or (size == last and left >= NARROWEST * len(long))):
            return Layout(commands, headers, _shares(long, widths, left, digit))
    return Layout(commands, headers, remarks=(TOO_WIDE,))


def divide_table(table: Table) -> list[Table]:
    """The table, or several with some of its columns where it does not fit; what names the rows is in each."""
    if not fit(table).remarks:
        return [table]
    names = _naming(table)
    divided: list[list[int]] = [[]]
    for group in _groups(table, len(names)):
        if divided[-1] and fit(_with_columns(table, [*names, *divided[-1], *group])).remarks:
            divided.append([])
        divided[-1] += group
    first, *others = (_with_columns(table, [*names, *columns]) for columns in divided)
    numbered = enumerate(others, start=2)
    return [first, *(replace(part, title=f"{table.title}, part {number}", note="") for number, part in numbered)]


def _naming(table: Table) -> list[int]:
    """The columns that say what a row is about: up to the first of words, and the next if it has words too."""
    words = [column.kind == "text" for column in table.columns]
    first = words.index(True) if True in words else 0
    last = first + (len(words) > first + 2 and words[first + 1])
    return list(range(last + 1))


def _groups(table: Table, start: int) -> list[list[int]]:
    """Columns that stay together: one whose label comes again, such as `high`, is understood by its left neighbour."""
    times = Counter(column.label for column in table.columns)
    groups: list[list[int]] = []
    for k, column in enumerate(table.columns[start:], start=start):
        if groups and times[column.label] > 1:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _with_columns(table: Table, chosen: Sequence[int]) -> Table:
    rows = tuple(tuple(row[k] for k in chosen) for row in table.rows)
    return replace(table, columns=tuple(table.columns[k] for k in chosen), rows=rows)


def _longest(table: Table, column: int) -> int:
    return max((len(show(row[column], table.columns[column])) for row in table.rows), default=0)


def _broken(label: str, width: int) -> list[str]:
    """The label in lines no longer than the cells below it, or than its longest word."""
    width = max(width, *(len(word) for word in label.split()), 1)
    return textwrap.wrap(label, width, break_long_words=False, break_on_hyphens=False) or [""]


def _shares(long: Sequence[int], widths: Sequence[int], left: float, digit: float) -> dict[int, float]:
    """What is left of the page, divided among the long columns by their lengths."""
    spare = left - NARROWEST * len(long)
    whole = sum(widths[k] for k in long)
    # Rounded down to the two digits that are written.
    return {k: int((NARROWEST + spare * widths[k] / whole) * digit / PAGE_WIDTH * 100) / 100 for k in long}
