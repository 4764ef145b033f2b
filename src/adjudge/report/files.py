"""The report's tables and charts as files of their own: CSV and LaTeX, SVG and PNG."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adjudge.core.files import atomic_path, write_text
from adjudge.report.charts.theme import paint
from adjudge.report.machine import to_csv, to_latex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adjudge.report.page import ReportPage
    from adjudge.results.table import Table

PNG_SCALE = 2.0


def write_tables(page: ReportPage, folder: Path) -> list[Path]:
    """Every table as CSV (full precision) and as LaTeX (as shown), one file each."""
    written: list[Path] = []
    for name, table in _named_tables(page):
        for ending, text in ((".csv", to_csv([table])), (".tex", to_latex([table]))):
            path = folder / f"{name}{ending}"
            write_text(path, text)
            written.append(path)
    return written


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
    every = [("overview", page.overview)] if page.overview else []
    every += [
        (f"{pair.slug}-{_slug(table.title)}", table)
        for pair in page.pairs
        for section in pair.sections
        for table in (*section.tables, *section.folded)
    ]
    for name, table in every:
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name}-{seen[name]}"), table


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60]
