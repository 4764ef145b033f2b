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
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from adjudge._version import __version__
from adjudge.evidence.verdict import count_claims_in_paper, say_apart_in_paper, say_headline, say_who_judged
from adjudge.evidence.verdict_human import say_conditions_of, say_humans
from adjudge.reports.audit_section import claims_of, decide
from adjudge.reports.drawing import paint
from adjudge.reports.files import can_write_images, slug, to_csv, write_image, write_signatures
from adjudge.reports.people_section import choose_coefficient
from adjudge.reports.ranking_section import describe_method, scores_chart
from adjudge.table.files import write_text
from adjudge.table.languages import pair_title
from adjudge.table.results import Cell, Column, Table, show
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.ranking.ranking import Ranking
    from adjudge.reports.build import PairResults
    from adjudge.reports.page import ReportPage


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
    shown = (_stack_lines(words, column) for words, column in zip(headers, table.columns, strict=True))
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


def _stack_lines(lines: Sequence[str], column: Column) -> str:
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
    body = [_measure_longest(table, k) for k in range(len(table.columns))]
    labels = [column.label for column in table.columns]
    if sum(map(max, body, map(len, labels))) * DIGIT_WIDTH + len(labels) * GAP <= PAGE_WIDTH:
        return Layout()
    headers = tuple(_break_label(label, width) for label, width in zip(labels, body, strict=True))
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
            return Layout(commands, headers, _share_width(long, widths, left, digit))
    return Layout(commands, headers, remarks=(TOO_WIDE,))


def divide_table(table: Table) -> list[Table]:
    """The table, or several with some of its columns where it does not fit; what names the rows is in each."""
    if not fit(table).remarks:
        return [table]
    names = _find_naming_columns(table)
    divided: list[list[int]] = [[]]
    for group in _groups(table, len(names)):
        if divided[-1] and fit(_with_columns(table, [*names, *divided[-1], *group])).remarks:
            divided.append([])
        divided[-1] += group
    first, *others = (_with_columns(table, [*names, *columns]) for columns in divided)
    numbered = enumerate(others, start=2)
    return [first, *(replace(part, title=f"{table.title}, part {number}", note="") for number, part in numbered)]


def _find_naming_columns(table: Table) -> list[int]:
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


def _measure_longest(table: Table, column: int) -> int:
    return max((len(show(row[column], table.columns[column])) for row in table.rows), default=0)


def _break_label(label: str, width: int) -> list[str]:
    """The label in lines no longer than the cells below it, or than its longest word."""
    width = max(width, *(len(word) for word in label.split()), 1)
    return textwrap.wrap(label, width, break_long_words=False, break_on_hyphens=False) or [""]


def _share_width(long: Sequence[int], widths: Sequence[int], left: float, digit: float) -> dict[int, float]:
    """What is left of the page, divided among the long columns by their lengths."""
    spare = left - NARROWEST * len(long)
    whole = sum(widths[k] for k in long)
    # Rounded down to the two digits that are written.
    return {k: int((NARROWEST + spare * widths[k] / whole) * digit / PAGE_WIDTH * 100) / 100 for k in long}


# What goes into a paper: a narrow table, the figure, the paragraph to write, and the references it cites.
#
# The paragraph says what was done, what holds and what does not, in sentences that the results support. It is a draft
# to be cut, not to be strengthened. Those who choose themselves get all tables and charts of a report's page as
# files.

_AGREEMENT = {"kappa": "cohen1960coefficient", "alpha": "krippendorff2004content"}
# The columns that are kept, and what each is called there.
_NARROW = {"rank": "", "system": "system", "score": "score", "rank_set": "ranks"}


def write_paper(results: Mapping[str, PairResults], folder: Path) -> list[Path]:
    """Write table, figure and paragraph for every language pair, and the references for all."""
    written: list[Path] = []
    cited: set[str] = {"adjudge"}
    for name, pair in results.items():
        prefix = f"{slug(name)}-" if len(results) > 1 else ""
        label = f"tab:{prefix}ranking"
        paragraph = write_paragraph(pair, label)
        cited |= {key for keys in re.findall(r"\\cite\{([^}]*)\}", paragraph) for key in keys.split(",")}
        written += [
            _write(folder / f"{prefix}ranking.tex", ranking_table(pair.ranking, name, label)),
            _write(folder / f"{prefix}paragraph.tex", paragraph),
            *_write_figure(pair.ranking, folder / f"{prefix}ranking"),
        ]
    entries = (f"{entry}\n" for key, entry in _entries().items() if key in cited)
    return [*written, _write(folder / "references.bib", "\n".join(entries))]


def write_tables(page: ReportPage, folder: Path) -> list[Path]:
    """Every table as CSV (full precision) and as LaTeX (as shown), and the signatures of the results."""
    signatures = [signature for pair in page.pairs for signature in pair.signatures]
    written: list[Path] = []
    for name, table in _named_tables(page):
        for ending, text in ((".csv", to_csv(table)), (".tex", to_latex([table], signatures=signatures))):
            path = folder / f"{name}{ending}"
            write_text(path, text)
            written.append(path)
    return [*written, write_signatures(signatures, folder / "tables")]


def write_plots(page: ReportPage, folder: Path) -> list[Path]:
    """Every chart as SVG, and as PNG where the extra `pdf` is installed, in light colours."""
    written: list[Path] = []
    for name, chart in page.charts_by_id().items():
        svg = paint(chart.drawing, chart.title, chart.says)
        written.append(_write(folder / f"{name}.svg", svg))
        if can_write_images():
            write_image(svg, folder / f"{name}.png")
            written.append(folder / f"{name}.png")
    return written


def _named_tables(page: ReportPage) -> Iterator[tuple[str, Table]]:
    """Tables under names that no two share: language pair and title."""
    seen: dict[str, int] = {}
    tables = [("overview", page.overview)] if page.overview else []
    tables += [
        (f"{pair.slug}-{slug(table.title)}", table)
        for pair in page.pairs
        for section in pair.sections
        for table in (*section.tables, *section.folded)
    ]
    for name, table in tables:
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name}-{seen[name]}"), table


def _write(path: Path, text: str) -> Path:
    write_text(path, text)
    return path


def _write_figure(ranking: Ranking, path: Path) -> list[Path]:
    """The figure as SVG, and as PDF where the extra `pdf` is installed."""
    chart = scores_chart(ranking)
    svg = paint(chart.drawing, chart.title, chart.says)
    written = [_write(path.with_suffix(".svg"), svg)]
    if can_write_images():
        write_image(svg, path.with_suffix(".pdf"))
        written.append(path.with_suffix(".pdf"))
    return written


def ranking_table(ranking: Ranking, name: str, label: str) -> str:
    """The ranking in four columns, which fit into one column of a paper, with its signature as a comment."""
    table = replace(ranking.tables()[0], note="")
    narrow = _with_columns(table, [i for i, column in enumerate(table.columns) if column.key in _NARROW])
    # One digit where scores reach 10, as points mostly do; three for smaller ones, as shares and log-odds.
    digits = 1 if max((abs(system.score or 0.0) for system in ranking.systems), default=0.0) >= 10 else 3
    columns = (
        replace(column, label=_NARROW[column.key], digits=digits if column.key == "score" else column.digits)
        for column in narrow.columns
    )
    title = pair_title(name)
    caption = (
        f"{f'{title}. ' if title else ''}Systems ranked by {describe_method(ranking)[0]} ({ranking.unit}). Ranks: "
        f"those that the judgments leave possible. Rules separate clusters ({ranking.lines.rule}, "
        f"{100 * ranking.lines.level:g}% level)."
    )
    latex = latex_table(replace(narrow, columns=tuple(columns)), label=label, caption=escape(caption), size=r"\small")
    return f"{NEEDED}\n% {ranking.signature}\n{latex}"


def write_paragraph(results: PairResults, label: str) -> str:
    """The paragraph in LaTeX: what was done, what holds, what does not."""
    sentences = [*_say_what_was_done(results, label), *_say_what_was_found(results), *_say_agreement(results)]
    return "\n".join([f"% {results.ranking.signature}", *sentences, ""])


def _say_what_was_done(results: PairResults, label: str) -> list[str]:
    ranking, counts = results.ranking, results.counts
    humans = sum(system.human for system in ranking.systems)
    people = f" and {counted(humans, 'human translation')}" if humans else ""
    words, keys = describe_method(ranking)
    judged = counted(*counts.answers)
    judged += f" of {counted(counts.segments, 'segment')}" if counts.segments else ""
    tool = rf"with adjudge {__version__}~\cite{{adjudge}} (Table~\ref{{{label}}})"
    return [
        f"We rank {counted(len(ranking.systems) - humans, 'system')}{people} by {words}{_cite(keys)} {tool}.",
        f"The data are {judged} by {say_who_judged(ranking, counts.judged_by)}.",
        *_say_not_ranked(results),
    ]


def _say_not_ranked(results: PairResults) -> list[str]:
    """What the ranking left out of the data that were read, and why."""
    asides = [aside for aside in results.ranking.set_aside if aside not in results.counts.set_aside]
    if not asides:
        return []
    left_out = [f"{aside.rows:,} ({escape(aside.reason)})" for aside in asides]
    return [f"Not ranked: {'; '.join(left_out)}."]


_CORRECTIONS = {
    "holm": r"Holm's method~\cite{holm1979simple}",
    "step-down": r"the step-down procedure of the largest statistic~\cite{romano2005exact}",
}


def _say_what_was_found(results: PairResults) -> list[str]:
    decisions, claims = decide(results), claims_of(results)
    correction = _CORRECTIONS[results.ranking.correction]
    how = rf"at the {100 * decisions.level:g}\% level, corrected for all pairs by {correction}"
    sentences = [
        say_apart_in_paper(decisions.apart, decisions.pairs, how),
        *map(escape, dict.fromkeys([say_headline(decisions), *say_humans(decisions), *say_conditions_of(decisions)])),
    ]
    if claims is not None:
        sentences.append(count_claims_in_paper(*claims.counts))
    return sentences


def _say_agreement(results: PairResults) -> list[str]:
    agreement = results.agreement
    if agreement is None or not agreement.inter["all"].pairs:
        return []
    name, value = choose_coefficient(agreement, agreement.inter["all"])
    if value != value:  # noqa: PLR0124  NaN differs from itself
        return []
    return [rf"Agreement between annotators is $\{name} = {value:z.2f}${_cite((_AGREEMENT[name],))}."]


def _cite(keys: tuple[str, ...]) -> str:
    return rf"~\cite{{{','.join(keys)}}}" if keys else ""


@cache
def _entries() -> dict[str, str]:
    """BibTeX entries by their keys, in the order of the file."""
    text = (files("adjudge.reports") / "references.bib").read_text(encoding="utf-8").replace("VERSION", __version__)
    # What stands before the first entry is about the file.
    entries = [entry.strip() for entry in re.split(r"\n(?=@)", text) if entry.startswith("@")]
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}
