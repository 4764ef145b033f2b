"""`adjudge simulate` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from adjudge.formats import read
from tests.conftest import Run, assert_explained


def test_writes_judgments_and_truth(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table, truth = tmp_path / "judgments.parquet", tmp_path / "truth.json"
    run = adjudge("simulate", "-o", table, "--truth", truth, "--qualities", "1,0,-1", "--blocks", "40", "--json")
    assert run.json == json.loads(truth.read_text(encoding="utf-8"))
    assert [system["quality"] for system in run.json["systems"][1:]] == [1, 0, -1]
    assert read([table]).systems == ("reference", "system-01", "system-02", "system-03")


def test_faults_are_explained(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table = tmp_path / "judgments.parquet"
    assert_explained(adjudge("simulate", "-o", table, "--qualities", "1,x"), code=2, names=("1,x",))
    assert_explained(adjudge("simulate", "-o", table, "--protocol", "rankin"), code=2, names=("rankin", "ranking"))
    assert_explained(adjudge("simulate", "-o", table, "--careless", "7"), code=2, names=("--careless", "7"))
    assert not table.exists()


def test_scores_are_simulated_too(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    run = adjudge(
        "simulate", "-o", table, "--protocol", "da", "--tasks", "4", "--no-context", "--pair", "en-de", "--json"
    )
    assert run.json["settings"]["context"] is False
    judgments = read([table])
    assert judgments.protocols == ("da",)
    assert judgments.pairs == ("en-de",)
