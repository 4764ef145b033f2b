"""Results in the formats of files: JSON, CSV, Parquet, Excel, LaTeX, text, and pages as HTML and PDF.

In CSV, spreadsheets must not take a text for a formula: one that begins with `=`, `+`, `-`, `@`, a tab or a carriage
return gets an apostrophe in front, which spreadsheets take as "this is text". So does one that begins with apostrophes
before such a sign, so that the change can be undone. Numbers are left alone, and so is the judgment table, which is
exact.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tempfile
from dataclasses import dataclass, replace
from functools import cache, partial
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from adjudge.readers.parsing import as_plain_text
from adjudge.reports.display import frame_of
from adjudge.reports.drawing import DARK, LIGHT, Drawing, paint
from adjudge.table.errors import InputError, UsageError, explain_missing_module
from adjudge.table.files import atomic_path, write_text
from adjudge.table.results import Result, Table, show
from adjudge.table.wording import as_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl
    from markupsafe import Markup

    from adjudge.reports.page import Case, Chart, PairPage, ReportPage, Section
    from adjudge.table.results import Column

    Results = Mapping[str, Result]
    Writer = Callable[[Results, Path], list[Path]]


T = TypeVar("T")
PAIR_COLUMN = "language pair"


def to_json(value: dict[str, Any], *, plain: bool = False) -> str:
    """One JSON object; texts stay readable, or `plain` ASCII, and NaN is an error because results hold none."""
    return _indented(value, "\n", plain=plain)


def _indented(value: object, line: str, *, plain: bool) -> str:
    """What `json.dumps` writes with an indent of 2, which is slow: objects and lists without others go as a whole."""
    if not value or not isinstance(value, dict | list | tuple):
        return _encoder(", ", plain=plain).encode(value)
    inner = f"{line}  "
    left, right = "{}" if isinstance(value, dict) else "[]"
    members = value.values() if isinstance(value, dict) else value
    # A ranking of 500 systems has 125,000 pairs, each with members of few types.
    if not any(issubclass(kind, dict | list | tuple) for kind in set(map(type, members))):
        return f"{left}{inner}{_encoder(f',{inner}', plain=plain).encode(value)[1:-1]}{line}{right}"
    parts = [_indented(member, inner, plain=plain) for member in members]
    if isinstance(value, dict):
        key = _encoder(", ", plain=plain).encode
        parts = [f"{key(str(name))}: {part}" for name, part in zip(value, parts, strict=True)]
    return f"{left}{inner}{f',{inner}'.join(parts)}{line}{right}"


@cache
def _encoder(separator: str, *, plain: bool) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=plain, allow_nan=False, separators=(separator, ": "))


def to_csv(table: Table) -> str:
    """A table as plain CSV: a header and rows, numbers in full precision, what is not defined as an empty cell."""
    return as_plain_text(frame_of(table)).write_csv()


def check_ending(path: Path) -> None:
    """Refuse a folder, and a file whose ending says nothing that can be written."""
    if path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    if path.suffix.lower() not in WRITERS:
        raise UsageError(f"{path}: the ending says what is written; use one of {' '.join(WRITERS)}")


def write_results(results: Results, path: Path) -> list[Path]:
    """Write results as the ending says.

    Args:
        results: one result, or one per language pair.
        path: the file; tables that do not fit into one CSV or Parquet file get files of their own beside it.

    Returns:
        All files that were written.
    """
    check_ending(path)
    return WRITERS[path.suffix.lower()](results, path)


class ByPair(dict[str, T]):
    """Results by language pair. `several` says whether the files held several, even if only one has a result."""

    several = False


def are_several(results: Mapping[str, object]) -> bool:
    """Whether results are shown by language pair."""
    return len(results) > 1 or (isinstance(results, ByPair) and results.several)


def as_object(results: Results, summary: Result | None = None) -> dict[str, Any]:
    """The JSON object of one result, or of several by language pair; a summary of these has its own key."""
    if not are_several(results):
        return next(iter(results.values())).to_dict()
    pairs = {"pairs": {name: result.to_dict() for name, result in results.items()}}
    return pairs if summary is None else {**pairs, "summary": summary.to_dict()}


def frames_of(results: Results) -> dict[str, pl.DataFrame]:
    """Every table by its title; those of several language pairs one below the other, with a column that says which."""
    import polars as pl

    parts: dict[str, list[pl.DataFrame]] = {}
    for name, result in results.items():
        for table in result.all_tables():
            frame = frame_of(table)
            if are_several(results):
                frame = frame.insert_column(0, pl.Series(PAIR_COLUMN, [name] * frame.height, dtype=pl.String))
            parts.setdefault(table.title, []).append(frame)
    return {title: pl.concat(frames, how="diagonal_relaxed") for title, frames in parts.items()}


def slug(title: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "table"


def _json(results: Results, path: Path) -> list[Path]:
    write_text(path, to_json(as_object(results)) + "\n")
    return [path]


def _tables(results: Results, path: Path, write: Callable[[pl.DataFrame, Path], None]) -> list[Path]:
    """The first table under the name given, the others beside it, and the signatures in a file of their own."""
    written: list[Path] = []
    for title, frame in frames_of(results).items():
        file = path if not written else path.with_name(f"{path.stem}-{slug(title)}{path.suffix}")
        write(frame, file)
        written.append(file)
    return [*written, write_signatures([result.signature for result in results.values()], path)]


def write_signatures(signatures: list[str], path: Path) -> Path:
    """The signatures in a text file beside `path`, one per line."""
    file = path.with_name(f"{path.stem}.signature.txt")
    write_text(file, "".join(f"{signature}\n" for signature in dict.fromkeys(signatures)))
    return file


def _write_csv(frame: pl.DataFrame, file: Path) -> None:
    write_text(file, as_plain_text(frame).write_csv())


def _write_parquet(frame: pl.DataFrame, file: Path) -> None:
    with atomic_path(file) as temporary:
        frame.write_parquet(temporary)


def _excel(results: Results, path: Path) -> list[Path]:
    """One sheet per table, and one with the signatures. Texts stay texts, also those that look like formulas."""
    from datetime import UTC, datetime

    import xlsxwriter

    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with atomic_path(path) as temporary, xlsxwriter.Workbook(str(temporary), options) as workbook:
        # The same result gives the same file on every day.
        workbook.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})
        sheets: list[str] = []
        for title, frame in frames_of(results).items():
            sheets.append(_sheet_name(title, sheets))
            _fill_sheet(workbook.add_worksheet(sheets[-1]), frame)
        signatures = workbook.add_worksheet(_sheet_name("signature", sheets))
        signatures.write_column(0, 0, [result.signature for result in results.values()])
    return [path]


def _fill_sheet(sheet: Any, frame: pl.DataFrame) -> None:
    sheet.write_row(0, 0, frame.columns)
    for i, row in enumerate(frame.iter_rows(), start=1):
        sheet.write_row(i, 0, row)
    sheet.freeze_panes(1, 0)


def _sheet_name(title: str, taken: list[str]) -> str:
    """At most 31 characters without those that spreadsheets forbid, and no two alike."""
    name = re.sub(r"[\[\]:*?/\\']", " ", title)[:31].strip() or "table"
    return name if name.lower() not in {sheet.lower() for sheet in taken} else f"{name[:27]} {len(taken) + 1}"


def _latex(results: Results, path: Path) -> list[Path]:
    from adjudge.reports.latex import to_latex

    several = are_several(results)
    tables = [
        replace(table, title=f"{name}: {table.title}") if several else table
        for name, result in results.items()
        for table in result.tables()
    ]
    write_text(path, to_latex(tables, signatures=[result.signature for result in results.values()]))
    return [path]


def _text(results: Results, path: Path) -> list[Path]:
    from adjudge.reports.page import result_as_text

    headings = {name: f"== {name} ==\n" if are_several(results) else "" for name in results}
    write_text(path, "\n".join(headings[name] + result_as_text(result) for name, result in results.items()))
    return [path]


def _page(results: Results, path: Path) -> list[Path]:
    from adjudge.reports.result_page import build_page

    write_page(build_page(results, title=path.stem), path)
    return [path]


WRITERS: dict[str, Writer] = {
    ".json": _json,
    ".csv": partial(_tables, write=_write_csv),
    ".parquet": partial(_tables, write=_write_parquet),
    ".xlsx": _excel,
    ".tex": _latex,
    ".html": _page,
    ".pdf": _page,
    ".txt": _text,
}


# A page as a file: HTML that needs no network, or PDF, by its ending.
#
# Nothing that comes from data is trusted: templates and drawings escape every text, and the page's own policy allows
# only the one script whose checksum it names.

ENDINGS = (".html", ".pdf")
_HYPHENATED = re.compile(r"(?<!\S)\S{1,14}-\S{1,14}(?!\S)")


def check_page_ending(path: Path) -> None:
    """Refuse a folder, and a file that is neither HTML nor PDF."""
    if path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path}: a report is written as {' or '.join(ENDINGS)}; choose one of these endings")


def write_page(page: ReportPage, path: Path) -> None:
    """Write a page."""
    check_page_ending(path)
    if path.suffix.lower() == ".pdf":
        write_pdf(page, path)
    else:
        write_text(path, render(page))


def write_site(page: ReportPage, folder: Path) -> None:
    """Write a page per language pair, and a first page that compares and links them."""
    files = {pair.name: f"{pair.slug}.html" if pair.slug != "index" else "index-pair.html" for pair in page.pairs}
    for pair in page.pairs:
        own = replace(page, title=f"{page.title}: {pair.name}", pairs=(pair,), overview=None, home="index.html")
        write_text(folder / files[pair.name], render(own))
    write_text(folder / "index.html", render(replace(page, pairs=(), links=files)))


def render(page: ReportPage) -> str:
    """The whole document as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("adjudge.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = show
    environment.filters["table_style"] = _table_style
    environment.filters["sentence"] = lambda note: as_sentences([note])[0]
    environment.filters["whole"] = _keep_names_whole
    # Drawings escape what they hold themselves.
    environment.filters["svg"] = lambda chart, name: Markup(chart.drawing.to_svg(name, chart.title, chart.says))  # noqa: S704
    script = _source(environment, "report.js")
    return environment.get_template("report.html.j2").render(
        page=page,
        light=LIGHT,
        dark=DARK,
        text_columns=range(1, MOST_TEXT_COLUMNS + 1),
        style=Markup(_source(environment, "style.css")),  # noqa: S704  our own file
        script=Markup(script),  # noqa: S704  our own file
        checksum=checksum(script),
    )


MOST_TEXT_COLUMNS = 16
"""Columns of a table that can be set to the left as texts; the style has a rule for each."""


MOST_WIDE_COLUMNS = 11
"""A table of systems by systems with more columns is wider than a printed page, unless it is fitted to it."""


def _table_style(columns: Sequence[Column]) -> Markup:
    """The attributes of a table: which columns hold texts, so that no cell has to say it, and whether it is fitted."""
    from markupsafe import Markup

    names = [f"t{i}" for i, column in enumerate(columns[:MOST_TEXT_COLUMNS], start=1) if column.kind == "text"]
    fitted = len(columns) > MOST_WIDE_COLUMNS and len(names) <= 1
    classes = " ".join([*names, "matrix"] if fitted else names)
    style = Markup(' style="--columns: {}"').format(len(columns)) if fitted else ""
    return (Markup(' class="{}"').format(classes) if classes else Markup()) + style


def _keep_names_whole(sentence: str) -> Markup:
    """A sentence in which no short name with a hyphen is broken at the end of a line."""
    from markupsafe import Markup, escape

    marked = _HYPHENATED.sub(r'<span class="n">\g<0></span>', str(escape(sentence)))
    return Markup(marked)  # noqa: S704  escaped above


def checksum(script: str) -> str:
    """The checksum of an inline script as a content security policy names it."""
    digest = hashlib.sha256(script.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _source(environment: Any, name: str) -> str:
    return str(environment.loader.get_source(environment, name)[0])


# A chart as a file of its own.

_PIXELS_PER_INCH = 144
"""Two pixels for each of a drawing, so that it is sharp on dense screens."""
CHART_ENDINGS = (".svg", ".html", ".png", ".pdf")


@dataclass(frozen=True)
class Plot:
    """A chart that notebooks display and `save` writes to a file."""

    drawing: Drawing
    name: str = "chart"

    def _repr_svg_(self) -> str:
        return paint(self.drawing, self.name, self._words)

    def _repr_html_(self) -> str:
        return self._repr_svg_()

    @property
    def _words(self) -> str:
        """What the marks say, for readers who do not see them."""
        return "; ".join(", ".join(value for value in row.values() if value) for row in self.drawing.rows)

    def save(self, path: str | Path) -> Path:
        """Write the chart: SVG or HTML; PNG and PDF need the extra `pdf`."""
        file = Path(path)
        check_chart_ending(file)
        if file.suffix.lower() in (".png", ".pdf"):
            write_image(self._repr_svg_(), file)
        else:
            page = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(self.name)}</title>'
            whole = file.suffix.lower() == ".html"
            write_text(file, f"{page}{self._repr_svg_()}</html>\n" if whole else self._repr_svg_())
        return file


def check_chart_ending(path: Path) -> None:
    """Refuse a file that is no chart by its ending, and one that needs a package that is missing."""
    if path.suffix.lower() not in CHART_ENDINGS:
        raise UsageError(f"{path}: a chart is written as {', '.join(CHART_ENDINGS)}; choose one of these endings")
    if path.suffix.lower() in (".png", ".pdf"):
        _load_typst()


def write_image(svg: str, path: Path) -> None:
    """Write a drawing as PNG or PDF, by its ending."""
    typst = _load_typst()
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "chart.svg").write_text(svg, "utf-8")
        main = Path(name) / "main.typ"
        main.write_text('#set page(width: auto, height: auto, margin: 0pt)\n#image("chart.svg")\n', "utf-8")
        kind = path.suffix.lower()[1:]
        made = typst.compile(str(main), format=kind, **({"ppi": _PIXELS_PER_INCH} if kind == "png" else {}))
    with atomic_path(path) as temporary:
        temporary.write_bytes(made)


def can_write_images() -> bool:
    """Whether the package that writes PNG and PDF is installed."""
    return find_spec("typst") is not None


def _load_typst() -> Any:
    try:
        import typst
    except ModuleNotFoundError as fault:
        raise (explain_missing_module(fault) or fault) from fault
    return typst


# A page as PDF, set by typst: words, charts and tables.
#
# It needs the package `typst` (`pip install adjudge[pdf]`). Texts from data are written as string literals of typst, so
# that nothing in them is read as a command.

TEXT_WIDTH = 482
"""Of an A4 page without its margins, in points."""
_PREAMBLE = """#let muted = rgb("#566173")
#set page(paper: "a4", margin: 2cm, numbering: "1 / 1")
#set text(font: ("Noto Sans", "DejaVu Sans"), size: 10pt)
#set par(justify: false)
#show heading: set block(above: 1.4em, below: 0.8em)
#show table: set text(size: 8pt)
#set table(stroke: none, inset: (x: 4pt, y: 2.5pt))
"""


def write_pdf(page: ReportPage, path: Path) -> None:
    """Write the page to a file."""
    typst = _load_typst()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, chart in enumerate(page.charts_by_id().values()):
            (folder / f"{i}.svg").write_text(paint(chart.drawing), "utf-8")
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
        yield from [f"== #{literal(pair.name)}"] if len(page.pairs) > 1 else []
        yield from _pair(pair, charts)
    yield from ["== How to read this"] if page.guide else []
    yield from (f"/ #{literal(term.name)}: #{literal(term.meaning)}" for term in page.guide)
    yield f"#text(size: 8pt, fill: muted)[#{literal(f'Made by adjudge {page.version}.')}]"


def _pair(pair: PairPage, charts: Iterator[int]) -> Iterator[str]:
    yield f'#text(size: 12pt, weight: "bold", {literal(pair.headline)})\n'
    yield from ([f"#{literal(pair.judged)}\n"] if pair.judged else [])
    if pair.picture is not None:
        yield _chart(pair.picture, next(charts))
    yield from (f"- #{literal(sentence)}" for sentence in pair.words)
    yield from (
        f"- #{literal(f'{fact.label}: {fact.value}' + (f' ({fact.detail})' if fact.detail else ''))}"
        for fact in pair.facts
    )
    for section in pair.sections:
        yield from _section(section, charts)
    notes = [*pair.notes, *(f"Set aside: {aside.rows:,} × {aside.reason}" for aside in pair.set_aside)]
    yield "=== How it was made"
    yield from (f"- #{literal(note)}" for note in as_sentences(notes))
    yield from (f"- #text(size: 7pt, {literal(signature)})" for signature in pair.signatures)


def _section(section: Section, charts: Iterator[int]) -> Iterator[str]:
    yield f"=== #{literal(section.title)}"
    yield from (f"#{literal(sentence)}\n" for sentence in (*section.words, *as_sentences(section.notes)))
    yield from (_chart(chart, next(charts)) for chart in section.charts)
    yield from (_case(case) for case in section.cases)
    yield from (_table(table) for table in section.tables)
    if section.folded:
        names = ", ".join(table.title for table in section.folded)
        yield f"#text(size: 8pt, fill: muted, {literal(f'Not printed, see the HTML report: {names}.')})\n"


def _case(case: Case) -> str:
    lines = [f"*#{literal(case.title)}* #{literal(case.words)}"]
    lines += [f"#text(fill: muted, {literal(case.source)})"] if case.source else []
    for quote in case.quotes:
        marked = "".join(
            f"#underline[#{literal(words)}]" if severity else f"#{literal(words)}" for words, severity in quote.pieces
        )
        lines.append(f"- *#{literal(quote.label)}* {marked} #text(size: 8pt, fill: muted, {literal(quote.detail)})")
    return f"#block(breakable: false)[{lines[0]}\n\n" + "\n\n".join(lines[1:]) + "]\n"


def _chart(chart: Chart, number: int) -> str:
    words = f"*#{literal(chart.title)}* #h(1em) #text(fill: muted, {literal(chart.says)})"
    width = min(TEXT_WIDTH, 0.75 * chart.drawing.width)  # letters as large as beside the page's own
    return f'#block(breakable: false)[{words}\n\n#image("{number}.svg", width: {width:.0f}pt)]\n'


def _table(table: Table) -> str:
    alignment = ", ".join("left" if column.kind == "text" else "right" for column in table.columns)
    cells = [f"table.header({', '.join(f'strong({literal(column.label)})' for column in table.columns)})"]
    cells.append("table.hline(stroke: 0.6pt)")
    for i, row in enumerate(table.rows):
        cells += ["table.hline(stroke: 0.6pt)"] if i in table.lines else []
        cells += [literal(show(cell, column)) for cell, column in zip(row, table.columns, strict=True)]
    body = ", ".join(cells)
    title = f"*#{literal(table.title)}* #text(size: 8pt, fill: muted, {literal(table.note)})"
    columns = f"columns: {len(table.columns)}, align: ({alignment},)"
    return f"#block(breakable: true)[{title}\n#table({columns}, {body})]\n"


def literal(text: str) -> str:
    """Text as a string literal of typst."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\r", " ")
    return f'"{quoted}"'
