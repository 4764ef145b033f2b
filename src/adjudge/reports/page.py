"""The report as data: pages, sections, charts and tables. Templates only lay these out."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Self

from adjudge._version import __version__
from adjudge.evidence.verdict import CANNOT_DECIDE, HOLDS_AND_FRAGILE
from adjudge.table.languages import pair_title
from adjudge.table.results import Result, Table, show, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

    from adjudge.reports.drawing import Drawing
    from adjudge.table.judgments import SetAside


Tone = Literal["plain", "decided", "open", "warning"]


@dataclass(frozen=True)
class Chart:
    """A chart: its drawing, and one sentence that says what it shows to those who cannot see it."""

    slug: str
    title: str
    says: str
    drawing: Drawing


@dataclass(frozen=True)
class Fact:
    """One of the facts at the top: a short value under a label, with a line of detail."""

    label: str
    value: str
    detail: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True)
class Quote:
    """An output as somebody judged it: its pieces, each with the severity that was marked there or nothing."""

    label: str
    detail: str
    pieces: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Case:
    """An example: where it is, why it is shown, the source where the data have it, and outputs side by side."""

    title: str
    words: str
    source: str
    quotes: tuple[Quote, ...]


@dataclass(frozen=True)
class Section:
    """A part of a page: words first, then charts, then tables; `folded` tables are shown on request.

    A part of the audit is folded as a whole.
    """

    slug: str
    title: str
    words: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    audit: bool = False
    cases: tuple[Case, ...] = ()

    def reworded(self, word: Callable[[str], str]) -> Self:
        """The same with other words in its sentences and titles."""
        return replace(
            self,
            words=tuple(map(word, self.words)),
            charts=tuple(replace(one, title=word(one.title), says=word(one.says)) for one in self.charts),
            tables=tuple(one.reworded(word) for one in self.tables),
            folded=tuple(one.reworded(word) for one in self.folded),
            notes=tuple(map(word, self.notes)),
        )

    @property
    def numbers(self) -> tuple[Table, ...]:
        """What the marks of charts say, where no other table does."""
        if self.tables or self.folded:
            return ()
        return tuple(_table_of(chart) for chart in self.charts)


def _table_of(chart: Chart) -> Table:
    """A row for each mark, in the words that it says when pointed at."""
    rows = chart.drawing.rows
    labels = list(dict.fromkeys(label for row in rows for label in row))
    cells = tuple(tuple(row.get(label) or None for label in labels) for row in rows)
    return Table(f"{chart.title}: numbers", tuple(text(label) for label in labels), cells)


@dataclass(frozen=True)
class PairPage:
    """Everything about one language pair, the verdict in plain words first."""

    name: str
    slug: str
    headline: str
    words: tuple[str, ...]
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    """Those of the audit come last."""
    notes: tuple[str, ...]
    """About the data."""
    set_aside: tuple[SetAside, ...]
    signatures: tuple[str, ...]
    picture: Chart | None = None
    """What stands beside the verdict."""
    judged: str = ""
    """What was judged, by whom and how, in a sentence."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All charts, in the order of the page."""
        first = () if self.picture is None else (self.picture,)
        return (*first, *(chart for section in self.sections for chart in section.charts))

    @classmethod
    def about(
        cls,
        result: Result,
        sections: tuple[Section, ...],
        *,
        name: str,
        slug: str,
        headline: str,
        words: tuple[str, ...] = (),
        facts: tuple[Fact, ...] = (),
    ) -> Self:
        """The page about a single result, with its notes, what was set aside, and its signature."""
        signatures = (result.signature,)
        return cls(name, slug, headline, words, facts, sections, result.notes, result.set_aside, signatures)


@dataclass(frozen=True)
class Term:
    """A word of statistics, explained."""

    name: str
    meaning: str


def explain(meanings: Mapping[str, str]) -> tuple[Term, ...]:
    """The terms of a guide, from their meanings."""
    return tuple(Term(name, meaning) for name, meaning in meanings.items())


@dataclass(frozen=True)
class ReportPage:
    """The whole report. `overview` compares the language pairs where there are several."""

    title: str
    pairs: tuple[PairPage, ...]
    overview: Table | None = None
    matrix: Table | None = None
    """Systems by language pair."""
    links: Mapping[str, str] = field(default_factory=dict)
    """In a site, the file of every language pair, on the first page; on the others, `home` leads back to it."""
    home: str = ""
    guide: tuple[Term, ...] = ()
    version: str = __version__

    @property
    def charts(self) -> tuple[tuple[PairPage, Chart], ...]:
        """All charts with the pair they belong to."""
        return tuple((pair, chart) for pair in self.pairs for chart in pair.charts)

    def charts_by_id(self) -> dict[str, Chart]:
        """Every chart under the id that its place in the document carries."""
        return {f"{pair.slug}-{chart.slug}": chart for pair, chart in self.charts}


# Results for a terminal: the summary tables, what was set aside, notes, and the signature.

# Blanks between two columns, the best first, and the padding of cells that makes them.
PADDINGS = {3: (0, 1, 0, 1), 2: (0, 1, 0, 0), 1: (0, 0, 0, 0)}
# A text may be folded down to this width.
SLIVER = 12


def print_result(result: Result, console: Console, *, heading: str = "", details: bool = True) -> None:
    """Print all that a result shows of itself, with or without its details."""
    from rich.text import Text

    if heading:
        console.rule(Text(pair_title(heading)))
    for line in result.first_lines:
        console.print(line, markup=False, highlight=False, style="bold")
    for i, table in enumerate(result.tables()):
        if details or not table.detail:
            print_table(table if details else table.in_brief(), console)
        for line in sketch(result, console.width) if i == 0 else ():
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    for aside in result.set_aside:
        console.print(f"set aside: {aside.rows:,} × {aside.reason}", markup=False, highlight=False, style="dim")
    for note in result.notes:
        console.print(f"note: {note}", markup=False, highlight=False, style="yellow", soft_wrap="adjudge " in note)
    console.print(result.signature, markup=False, highlight=False, style="dim", soft_wrap=True)


def sketch(result: Result, width: int) -> list[str]:
    """The picture of a ranking in characters; other results have none."""
    from adjudge.ranking.ranking import Ranking
    from adjudge.reports.charts import make_forest, sketch_forest

    return sketch_forest(make_forest(result), width) if isinstance(result, Ranking) else []


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
        caption=Text(table.note) if table.note else None,
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


# How to read the report: the words of statistics, explained to people who do not use them every day.

GUIDE = explain(
    {
        "Score and interval": "The score is what the judgments say about a system. Other annotators on another day "
        "would give another score; the interval shows by how much. Whether two systems differ is decided "
        "for the pair, not by whether their intervals overlap.",
        "Possible ranks": "The ranks that the decided pairs leave to a system. One with possible ranks 2 to 5 may be "
        "printed in third place, but the data do not put it there rather than in fourth.",
        "Cluster and line": "A line is drawn between two neighbours only where the data separate everyone above from "
        "everyone below. Systems between two lines form a cluster. Within it some pairs may be decided all "
        "the same; systems that share a letter are not.",
        "p, and p of all pairs": "p is how often a difference this large would turn up between two equally good "
        "systems. Among many pairs, some small p turn up by chance. The p of all pairs is corrected for that, and "
        "pairs are decided by it. So the chance of even one false decision stays below the level. Holm's correction "
        "does the same, but decides a little less.",
        **dict([HOLDS_AND_FRAGILE]),
        "Taste": "One annotator likes a system's style, another does not. With few annotators, tastes look like "
        "quality. The models of scores and of comparisons allow for them, so that the verdict is about other people, "
        "too.",
        **dict([CANNOT_DECIDE]),
        "Agreement (kappa, S, alpha)": "How far two annotators give the same answer, beyond what chance alone would "
        "give: 1 is always, 0 is no more than chance. Low agreement does not make a ranking wrong, but it needs more "
        "judgments to be right.",
        "Signature": "One line that says exactly how a number was made: method, settings, seed, a fingerprint of the "
        "data, and the version. The same signature on the same data gives the same number, to the last digit.",
    }
)
