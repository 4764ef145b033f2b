"""`adjudge simulate` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from adjudge import read
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


def test_screens_that_cannot_be_as_asked_get_a_note(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    def simulate(*given: str) -> tuple[list[str], set[int], float]:
        """The notes, how many systems the screens show, and on which share of them the reference is."""
        table = tmp_path / "judgments.parquet"
        notes = adjudge("simulate", "-o", table, "--blocks", "40", "--repeats", "0", *given, "--json").json["notes"]
        screens = read([table]).table.group_by("screen", "annotator", "segment").agg(pl.col("system"))["system"]
        with_reference = ["reference" in screen for screen in screens.to_list()]
        return notes, set(screens.list.len()), sum(with_reference) / len(with_reference)

    few = "screens show 3, not 5: there are only 3 systems"
    assert simulate("--systems", "3", "--block-size", "5", "--reference", "0") == ([few], {3}, 0)
    always = "the reference is on every screen, not on a share of 0.2: all systems fit on one"
    assert simulate("--systems", "4", "--block-size", "5") == ([always], {5}, 1)
    notes, sizes, share = simulate("--systems", "5", "--block-size", "5")
    assert (notes, sizes) == ([], {5})
    assert share < 1


def test_scores_are_simulated_too(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    run = adjudge(
        "simulate", "-o", table, "--protocol", "da", "--tasks", "4", "--no-context", "--pair", "en-de", "--json"
    )
    assert run.json["settings"]["context"] is False
    judgments = read([table])
    assert judgments.protocols == ("da",)
    assert judgments.pairs == ("en-de",)
