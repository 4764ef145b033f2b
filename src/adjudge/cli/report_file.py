"""The option `--report` of `gold`, `meta` and `qe`: a page with charts beside the printed result."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.report.standards import Standard


def put_report(result: Standard, path: Path | None, *, title: str) -> None:
    """Write the page where one was asked for."""
    if path is None:
        return
    from adjudge.core.files import write_text
    from adjudge.report.html import render
    from adjudge.report.standards import build_standard_report

    write_text(path, render(build_standard_report(result, title=title)))
    print(f"wrote {path}", file=sys.stderr)
