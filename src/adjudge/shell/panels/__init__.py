"""Statistics for the organisers' page, as pictures with the figures behind them.

They are handed to the server by `adjudge serve`, because collecting knows no statistics. Each is computed in a process
of its own (`process`), which gets the judgments as a file and what is asked for as JSON: within the server statistics
would take turns with saves, which must not wait for them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.collect.organisers.panels import Panel, PanelTable
    from adjudge.core.judgments import Judgments


def panels_of(campaign_file: Path) -> list[Panel]:
    """The panels of a campaign: the state of its claims (the model may take a minute), annotators and agreement."""
    from adjudge.collect.organisers.panels import Panel
    from adjudge.design.campaign.toml_file import load_campaign

    campaign = load_campaign(campaign_file)
    looks, history = campaign.looks, campaign_file.with_name("looks.json")

    def state(judgments: Judgments) -> list[PanelTable]:
        from adjudge.collect.organisers.overview import judgments_planned

        request = {
            "what": "state",
            "history": str(history),
            "planned": judgments_planned() if looks is None else looks.planned,
            "looks": None if looks is None else looks.model_dump(mode="json"),
        }
        return compute_apart(judgments, request)

    def annotators(judgments: Judgments) -> list[PanelTable]:
        return compute_apart(judgments, {"what": "annotators", "least_seconds": campaign.crowd.least_seconds})

    def agreement(judgments: Judgments) -> list[PanelTable]:
        return compute_apart(judgments, {"what": "agreement"})

    return [Panel(state, "state"), Panel(annotators), Panel(agreement)]


def compute_apart(judgments: Judgments, request: dict[str, Any]) -> list[PanelTable]:
    """The panels that are asked for: `what` names them, the rest are their settings."""
    from adjudge.collect.organisers.panels import PanelTable
    from adjudge.core.errors import DataError
    from adjudge.formats import native

    with TemporaryDirectory(prefix="adjudge-") as folder:
        table = Path(folder) / "judgments.parquet"
        native.write(judgments, table)
        finished = subprocess.run(
            [sys.executable, "-m", "adjudge.shell.panels.process"],
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
    return [PanelTable.from_plain(table) for table in answer["panels"]]
