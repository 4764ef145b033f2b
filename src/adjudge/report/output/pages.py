"""A page as a file: HTML or PDF, by its ending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.report.page import ReportPage

ENDINGS = (".html", ".pdf")


def check_page_ending(path: Path) -> None:
    """Refuse a folder, and a file that is neither HTML nor PDF."""
    if path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path}: a report is written as {' or '.join(ENDINGS)}; choose one of these endings")


def write_page(page: ReportPage, path: Path) -> None:
    """Write a page."""
    from adjudge.core.files import write_text
    from adjudge.report.html import render
    from adjudge.report.output.pdf import write_pdf

    check_page_ending(path)
    if path.suffix.lower() == ".pdf":
        write_pdf(page, path)
    else:
        write_text(path, render(page))
