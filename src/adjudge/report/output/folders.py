"""All tables and charts of a report as files of their own: CSV and LaTeX, SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.files import atomic_path, write_text
from adjudge.report.charts.theme import paint
from adjudge.report.output.formats import slug, to_csv, write_signatures
from adjudge.report.output.latex import to_latex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adjudge.report.page import ReportPage
    from adjudge.results.table import Table

PNG_SCALE = 2.0


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
    """Every chart as SVG and PNG, in light colours."""
    import vl_convert

    written: list[Path] = []
    for name, spec in page.charts_by_id().items():
        svg = vl_convert.vegalite_to_svg(paint(spec))
        write_text(folder / f"{name}.svg", svg)
        with atomic_path(folder / f"{name}.png") as temporary:
            temporary.write_bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE))
        written += [folder / f"{name}.svg", folder / f"{name}.png"]
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
