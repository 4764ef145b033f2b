"""A page as PDF, set by typst: words, charts and tables.

It needs the package `typst` (`pip install adjudge[pdf]`). Texts from data are written as string literals of typst, so
that nothing in them is read as a command.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.errors import UsageError
from adjudge.core.files import atomic_path
from adjudge.report.charts.theme import paint
from adjudge.results.table import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.report.page import PairPage, ReportPage, Section
    from adjudge.results.table import Table

CHART_WIDTH = 560
_PREAMBLE = """#let muted = rgb("#566173")
#set page(paper: "a4", margin: 2cm, numbering: "1")
#set text(font: ("Noto Sans", "DejaVu Sans"), size: 10pt)
#set par(justify: false)
#show heading: set block(above: 1.4em, below: 0.8em)
#show table: set text(size: 8pt)
#set table(stroke: none, inset: (x: 4pt, y: 2.5pt))
"""


def write_pdf(page: ReportPage, path: Path) -> None:
    """Write the page to a file."""
    try:
        import typst
    except ImportError as fault:
        raise UsageError(f"{path}: PDF needs the package typst; install adjudge[pdf], or write .html") from fault
    import vl_convert

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, spec in enumerate(page.charts_by_id().values()):
            (folder / f"{i}.svg").write_text(vl_convert.vegalite_to_svg(paint(spec, width=CHART_WIDTH)), "utf-8")
        (folder / "main.typ").write_text("\n".join(_document(page)), "utf-8")
        pdf = typst.compile(str(folder / "main.typ"), root=str(folder), format="pdf", ignore_system_fonts=False)
    with atomic_path(path) as temporary:
        temporary.write_bytes(pdf)


def _document(page: ReportPage) -> Iterator[str]:
    yield _PREAMBLE
    yield f"= #{literal(page.title)}"
    charts = iter(range(len(page.charts)))
    if page.overview is not None:
        yield _table(page.overview)
    for pair in page.pairs:
        yield from _pair(pair, charts)
    yield f"#text(size: 8pt, fill: muted)[#{literal(f'Made by adjudge {page.version}.')}]"


def _pair(pair: PairPage, charts: Iterator[int]) -> Iterator[str]:
    yield f"== #{literal(pair.name)}"
    yield f'#text(size: 12pt, weight: "bold", {literal(pair.headline)})\n'
    yield from (f"- #{literal(sentence)}" for sentence in pair.words)
    yield from (
        f"- #{literal(f'{fact.label}: {fact.value}' + (f' ({fact.detail})' if fact.detail else ''))}"
        for fact in pair.facts
    )
    for section in pair.sections:
        yield from _section(section, charts)
    notes = [*pair.notes, *(f"Set aside: {aside.rows:,} × {aside.reason}" for aside in pair.set_aside)]
    yield "=== How it was made"
    yield from (f"- #{literal(note)}" for note in notes)
    yield from (f"- #text(size: 7pt, {literal(signature)})" for signature in pair.signatures)


def _section(section: Section, charts: Iterator[int]) -> Iterator[str]:
    yield f"=== #{literal(section.title)}"
    yield from (f"#{literal(sentence)}\n" for sentence in (*section.words, *section.notes))
    for chart in section.charts:
        words = f"*#{literal(chart.title)}* #h(1em) #text(fill: muted, {literal(chart.says)})"
        yield f'#block(breakable: false)[{words}\n\n#image("{next(charts)}.svg", width: 100%)]\n'
    yield from (_table(table) for table in section.tables)
    if section.folded:
        names = ", ".join(table.title for table in section.folded)
        yield f"#text(size: 8pt, fill: muted, {literal(f'Not printed, see the HTML report: {names}.')})\n"


def _table(table: Table) -> str:
    alignment = ", ".join("left" if column.kind == "text" else "right" for column in table.columns)
    cells = [f"table.header({', '.join(f'strong({literal(column.label)})' for column in table.columns)})"]
    cells.append("table.hline(stroke: 0.6pt)")
    for i, row in enumerate(table.rows):
        cells += ["table.hline(stroke: 0.6pt)"] if i in table.lines else []
        cells += [literal(show(cell, column)) for cell, column in zip(row, table.columns, strict=True)]
    body = ", ".join(cells)
    caption = literal(f"{table.title}. {table.note}".strip())
    columns = f"columns: {len(table.columns)}, align: ({alignment},)"
    return f"#block(breakable: true)[*#{caption}*\n#table({columns}, {body})]\n"


def literal(text: str) -> str:
    """Text as a string literal of typst."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\r", " ")
    return f'"{quoted}"'
