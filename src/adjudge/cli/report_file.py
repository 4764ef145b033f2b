"""The option `--report`: a page with charts beside the printed result."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.report.page import ReportPage
    from adjudge.report.standards import Standard


def put_page(page: ReportPage, path: Path) -> None:
    """Write a page and say where it is."""
    from adjudge.core.files import write_text
    from adjudge.report.html import render

    write_text(path, render(page))
    print(f"wrote {path}", file=sys.stderr)


def put_report(result: Standard, path: Path | None, *, title: str) -> None:
    """Write the page of `gold`, `meta` or `qe` where one was asked for."""
    if path is None:
        return
    from adjudge.report.standards import build_standard_report

    put_page(build_standard_report(result, title=title), path)
