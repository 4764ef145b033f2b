"""Panels of the organisers' page computed in a process of their own, which gives way to those that serve.

The server hands the judgments over as a file and asks for panels as JSON on standard input. Within the server they
would take turns with saves, which must not wait for statistics.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.collect.organisers.panels import PanelTable
    from adjudge.core.judgments import Judgments

_NICE = 10
"""How much the process gives way to others: people who judge come first."""


def compute_apart(judgments: Judgments, request: dict[str, Any]) -> list[PanelTable]:
    """The panels that are asked for: `what` names them, the rest are their settings."""
    from adjudge.core.errors import DataError
    from adjudge.formats import native

    with TemporaryDirectory(prefix="adjudge-") as folder:
        table = Path(folder) / "judgments.parquet"
        native.write(judgments, table)
        finished = subprocess.run(
            [sys.executable, "-m", "adjudge.api.panels.process"],
            input=json.dumps({**request, "judgments": str(table)}),
            capture_output=True,
            text=True,
            check=False,
        )
    if finished.returncode:
        raise RuntimeError(f"statistics could not be computed: {finished.stderr[-2000:]}")
    answer = json.loads(finished.stdout)
    if "fault" in answer:
        raise DataError(answer["fault"])
    return [as_panel(table) for table in answer["panels"]]


def as_panel(table: dict[str, Any]) -> PanelTable:
    """A panel that was written as JSON."""
    from adjudge.collect.organisers.panels import PanelBar, PanelInterval, PanelRanks, PanelTable

    return PanelTable(
        title=table["title"],
        columns=tuple(table["columns"]),
        rows=tuple(tuple(row) for row in table["rows"]),
        note=table["note"],
        headline=table["headline"],
        intervals=tuple(PanelInterval(**interval) for interval in table["intervals"]),
        ranks=tuple(PanelRanks(**ranks) for ranks in table.get("ranks", ())),
        bars=tuple(PanelBar(**bar) for bar in table.get("bars", ())),
    )


def main() -> None:
    """Compute the panels that standard input asks for, and write them to standard output, both as JSON."""
    from adjudge.api.panels import agreement_panels, annotator_panels
    from adjudge.api.panels.state import compute_state
    from adjudge.core.errors import AdjudgeError
    from adjudge.formats import native
    from adjudge.formats.options import ReadOptions

    os.nice(_NICE)
    request = json.load(sys.stdin)
    try:
        judgments = native.read([Path(request["judgments"])], ReadOptions())
        if request["what"] == "state":
            panels = compute_state(judgments, request)
        elif request["what"] == "annotators":
            panels = annotator_panels(judgments, least_seconds=request["least_seconds"])
        else:
            panels = agreement_panels(judgments)
        answer: dict[str, Any] = {"panels": [asdict(panel) for panel in panels]}
    except AdjudgeError as fault:
        answer = {"fault": str(fault)}
    sys.stdout.write(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main()
