"""Panels of the organisers' page come out of a process of their own as they are computed here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge import look, simulate
from adjudge.planning.simulated_scores import ScoreCampaign
from adjudge.shell.panels import agreement_panels, annotator_panels, compute_apart, compute_state
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments

JUDGMENTS = simulate(ScoreCampaign(systems=3, annotators=4, tasks=4), seed=1).judgments


@pytest.mark.slow
def test_a_process_of_its_own_computes_the_same_panels() -> None:
    panels = compute_apart(JUDGMENTS, {"what": "annotators", "least_seconds": 1.0})
    assert panels
    assert panels == annotator_panels(JUDGMENTS, least_seconds=1.0)
    assert compute_apart(JUDGMENTS, {"what": "agreement"}) == agreement_panels(JUDGMENTS)


def test_what_cannot_be_computed_is_told_in_the_words_of_the_process() -> None:
    nothing = type(JUDGMENTS)(JUDGMENTS.table.clear())
    with pytest.raises(DataError, match="judgments"):
        compute_apart(nothing, {"what": "annotators", "least_seconds": 1.0})


def with_clicker() -> Judgments:
    """A campaign of six people with controls, of whom one clicks at random."""
    rng = np.random.default_rng(5)
    rows = [
        {
            "annotator": who, "task": f"{who}-{i // 12}", "document": f"d{i // 6}", "segment": str(i),
            "system": system, "kind": kind, "score": float(rng.integers(0, 101) if who == "clicker" else level + noise),
            "protocol": "da", "source_lang": "en", "target_lang": "de",
        }
        for who in ("anna", "ben", "cleo", "dora", "emil", "clicker")
        for i in range(24)
        for system, kind, level in (
            ("A", "system", 80), ("B", "system", 65), ("C", "system", 62), ("A", "degraded", 30),
        )
        for noise in [rng.integers(-9, 10)]
    ]  # fmt: skip
    return Judgments.from_columns(pl.DataFrame(rows))


def test_the_page_and_look_count_the_same_people(tmp_path: Path) -> None:
    judgments = with_clicker()
    plan = {"planned": 360, "looks": 1, "goal": "pairs", "spending": "kim-demets", "level": 0.05, "people": None}
    request = {"what": "state", "history": str(tmp_path / "looks.json"), "planned": 360, "looks": plan}
    verdict, *_, live = compute_state(judgments, request)
    # Five people who judged three systems on 24 segments: 360. By hand.
    by_command = look(judgments, planned=360, looks=1)
    assert by_command.judgments == 360
    assert by_command.people == 5
    assert "after 360 of 360 judgments" in live.title
    assert verdict.headline == f"{by_command.advice} Of 432 judgments, 360 count: 1 of 6 annotators fails the check."
    assert [row[0] for row in verdict.rows] == [claim.claim for claim in (*by_command.settled, *by_command.open)]
    assert verdict.note.startswith("1 of 6 annotators fails the check and is left out: clicker (controls). Exclude")
    assert "--everyone" not in verdict.note


def test_a_verdict_stays_when_somebody_fails_after_the_look(tmp_path: Path) -> None:
    judgments = with_clicker()
    passing = judgments.select(pl.col("annotator") != "clicker")
    plan = {"planned": 360, "looks": 2, "goal": "pairs", "spending": "anytime", "level": 0.05, "people": None}
    request = {"what": "state", "history": str(tmp_path / "looks.json"), "planned": 360, "looks": plan}
    first, *_ = compute_state(passing, request)
    emil = pl.when(annotator="emil").then(50.0).otherwise("score").alias("score")
    worse = Judgments(passing.table.with_columns(emil))
    second, *_ = compute_state(worse, request)
    # The same verdict, and why fewer judgments count now.
    assert second.headline == f"{first.headline} Of 360 judgments, 288 count: 1 of 5 annotators fails the check."
    assert second.rows == first.rows
    assert "emil (controls)" in second.note
