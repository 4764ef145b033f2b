"""Ask a fake endpoint, and what was kept of its answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import adjudge
from tests.helpers.fake_endpoint import SEGMENTS

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.judges.ask import Judged

QUESTIONS = 2 * SEGMENTS
KEY = "sk-a-secret-that-is-nowhere"


def ask(campaign: Path, url: str, **settings: Any) -> Judged:
    output = campaign.parent / "judge.parquet"
    return adjudge.judge(campaign, output, **({"endpoint": url, "model": "fake"} | settings))


def journal(campaign: Path) -> list[dict[str, Any]]:
    lines = (campaign.parent / "judge.parquet.journal.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[1:]]
