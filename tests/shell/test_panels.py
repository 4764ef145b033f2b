"""Panels of the organisers' page say the same as the commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from adjudge import look, simulate
from adjudge.campaigns.campaign_file import Looks, load_campaign
from adjudge.planning.simulated_scores import ScoreCampaign
from adjudge.shell.panels import agreement_panels, annotator_panels, compute_panels, compute_state
from adjudge.table.judgments import Judgments
from tests.helpers.campaigns import make_campaign

JUDGMENTS = simulate(ScoreCampaign(systems=3, annotators=4, tasks=4), seed=1).judgments


def test_what_cannot_be_computed_says_why_beside_what_can(tmp_path: Path) -> None:
    campaign = load_campaign(make_campaign(tmp_path))
    one = JUDGMENTS.select(pl.col("system") == JUDGMENTS.table["system"][0])
    [state] = compute_panels("state", one, campaign, tmp_path / "looks.json", planned=100)
    assert state.note.startswith("Too early to say: at least two systems are needed")
    both = compute_panels("statistics", JUDGMENTS, campaign, tmp_path / "looks.json", planned=100)
    assert both == [*annotator_panels(JUDGMENTS), *agreement_panels(JUDGMENTS)]


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
    plan = Looks(planned=360, looks=1, goal="pairs")
    verdict, *_, live = compute_state(judgments, plan, tmp_path / "looks.json", planned=360)
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
    plan, history = Looks(planned=360, looks=2, goal="pairs", spending="anytime"), tmp_path / "looks.json"
    first, *_ = compute_state(passing, plan, history, planned=360)
    emil = pl.when(annotator="emil").then(50.0).otherwise("score").alias("score")
    worse = Judgments(passing.table.with_columns(emil))
    second, *_ = compute_state(worse, plan, history, planned=360)
    # The same verdict, and why fewer judgments count now.
    assert second.headline == f"{first.headline} Of 360 judgments, 288 count: 1 of 5 annotators fails the check."
    assert second.rows == first.rows
    assert "emil (controls)" in second.note
