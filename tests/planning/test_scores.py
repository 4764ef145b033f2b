"""Simulated scores have the properties that were asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge import simulate
from adjudge.planning.simulated_scores import SYSTEM, ScoreCampaign, design_scores, draw_scores
from adjudge.planning.truth import recovery
from adjudge.ranking.methods import rank
from adjudge.table.errors import UsageError
from adjudge.table.rng import generator
from tests.conftest import examples

# Everything off but what a test turns on: no noise, no ends, everybody alike.
PLAIN: dict[str, Any] = {
    "leniency": 0, "taste": 0, "scale": 0, "task_effect": 0, "document_effect": 0, "segment_effect": 0,
    "system_document_effect": 0, "page_effect": 0, "residual": 0, "ends": False,
}  # fmt: skip


def share(marked: pl.Series) -> float:
    return float(marked.sum()) / marked.len()


def test_same_seed_same_judgments_and_another_seed_others() -> None:
    first, same, other = (simulate(ScoreCampaign(tasks=5), seed=seed) for seed in (0, 0, 1))
    assert first.judgments.table.equals(same.judgments.table)
    assert first.truth == same.truth
    assert first.sources == same.sources
    assert first.judgments.fingerprint != other.judgments.fingerprint


def test_scores_are_whole_numbers_on_the_scale_with_ends_and_round_numbers() -> None:
    score = simulate(ScoreCampaign(round_numbers=0.5)).judgments.table["score"]
    assert score.min() == 0
    assert score.max() == 100
    assert (score == score.round()).all()
    assert share(score == 100) > 0.05
    assert share(score % 5 == 0) > 0.5


def test_without_any_noise_a_score_is_the_quality() -> None:
    campaign = ScoreCampaign(systems=3, humans=1, qualities=(2.0, 0.0, -2.0), mean=70, **PLAIN)
    table = simulate(campaign).judgments.table
    rated = table.filter(pl.col("kind").is_in(["system", "repeat"]))
    means = dict(rated.group_by("system").agg(pl.col("score").mean()).iter_rows())
    assert means == pytest.approx({"system-01": 72, "system-02": 70, "system-03": 68, "human-A": 75})
    assert rated.group_by("system").agg(pl.col("score").std())["score"].max() == pytest.approx(0, abs=1e-9)
    references = table.filter(pl.col("kind") == "reference")["score"]
    assert (references - 75).abs().max() == pytest.approx(0, abs=1e-9)
    degraded = table.filter(pl.col("kind") == "degraded")
    assert share(degraded["score"] < 70) > 0.95


@pytest.mark.parametrize(
    ("effect", "column"),
    [
        ("leniency", "annotator"),
        ("task_effect", "task"),
        ("document_effect", "document"),
        ("segment_effect", "segment"),
    ],
)
def test_an_effect_is_constant_within_its_level_and_has_its_size(effect: str, column: str) -> None:
    only = {**PLAIN, effect: 7.0}
    campaign = ScoreCampaign(
        systems=2, humans=0, qualities=(0, 0), annotators=300, tasks=300, task_size=20, documents=300, segments=3,
        controls=0, **only,
    )  # fmt: skip
    levels = (
        simulate(campaign)
        .judgments.table.group_by(column)
        .agg(pl.col("score").mean().alias("mean"), pl.col("score").std().fill_null(0).alias("within"))
    )
    assert levels["within"].max() == pytest.approx(0, abs=1e-9)
    # The standard deviation of 150 or more draws is known to a tenth.
    assert levels["mean"].std() == pytest.approx(7, rel=0.25)
    assert levels["mean"].mean() == pytest.approx(75, abs=2)


def test_a_taste_belongs_to_an_annotator_and_a_system_and_has_its_size() -> None:
    campaign = ScoreCampaign(
        systems=4, humans=0, qualities=(0, 0, 0, 0), annotators=100, tasks=300, task_size=40, documents=50, segments=3,
        controls=0, workload=0, **{**PLAIN, "taste": 3.0},
    )  # fmt: skip
    simulated = simulate(campaign)
    cells = simulated.judgments.table.group_by("annotator", "system").agg(
        pl.col("score").mean().alias("mean"), pl.col("score").std().fill_null(0).alias("within")
    )
    assert cells["within"].max() == pytest.approx(0, abs=1e-9)
    # About 380 draws: their standard deviation is known to 4%.
    assert cells["mean"].std() == pytest.approx(3, rel=0.15)
    assert simulated.truth.settings["taste"] == 3.0


def test_without_a_taste_nothing_else_is_drawn() -> None:
    """The judgments of earlier versions come out again: a campaign without tastes draws the same numbers."""
    plain, tasteful = (simulate(ScoreCampaign(tasks=5, taste=taste), seed=3) for taste in (0.0, 3.0))
    assert plain.truth.systems == tasteful.truth.systems
    assert plain.judgments.fingerprint != tasteful.judgments.fingerprint


def test_with_context_a_page_is_one_document_by_one_system() -> None:
    table = simulate(ScoreCampaign()).judgments.table
    pages = table.group_by("screen").agg(
        pl.col("task", "document", "system", "annotator").n_unique(), pl.col("segment").cast(int)
    )
    assert pages.select(pl.col("task", "document", "system", "annotator").max()).row(0) == (1, 1, 1, 1)
    assert all(
        sorted(segments) == list(range(min(segments), max(segments) + 1)) for segments in pages["segment"].to_list()
    )


def test_without_context_every_system_has_the_same_share_of_every_task() -> None:
    table = simulate(ScoreCampaign(context=False)).judgments.table
    rated = table.filter(pl.col("kind") == "system")
    assert rated.group_by("task", "system").agg(pl.len())["len"].n_unique() == 1
    assert table["screen"].n_unique() == table.height
    kinds = dict(table.group_by("kind").agg(pl.len()).iter_rows())
    assert kinds["degraded"] == kinds["repeat"] == kinds["reference"] == 60 * 10


@pytest.mark.parametrize("context", [True, False])
def test_a_control_has_its_output_in_the_same_task(context: bool) -> None:
    table = simulate(ScoreCampaign(context=context)).judgments.table
    key = ["annotator", "task", "document", "segment", "system"]
    shown = table.filter(pl.col("kind") == "system").select(key).unique()
    controls = table.filter(pl.col("kind") != "system")
    assert controls.height > 0.2 * table.height
    assert controls.join(shown, on=key, how="anti").height == 0


def test_careless_annotators_do_not_see_degradation() -> None:
    simulated = simulate(ScoreCampaign(careless=0.5, tasks=200))
    table = simulated.judgments.table.with_columns(
        pl.col("annotator").is_in(simulated.truth.careless).alias("careless")
    )
    means = {
        (who, kind): mean for who, kind, mean in table.group_by("careless", "kind").agg(pl.col("score").mean()).rows()
    }
    assert means[True, "system"] - means[True, "degraded"] == pytest.approx(0, abs=3)
    assert means[False, "system"] - means[False, "degraded"] > 10


def test_many_draws_of_one_design_are_as_good_as_many_campaigns() -> None:
    """Mean and variance of a score over draws are those that the effects add up to."""
    campaign = ScoreCampaign(
        systems=3, humans=0, qualities=(0, 0, 0), tasks=4, task_size=20, controls=0, scale=0, ends=False
    )
    drawn = draw_scores(design_scores(campaign, generator(1)), generator(2), draws=4000)
    variance = 10**2 + 5**2 + 2**2 + 6**2 + 4**2 + 3**2 + 18**2
    assert drawn.score.shape[0] == drawn.quality.shape[0] == 4000
    assert drawn.score.mean(axis=0) == pytest.approx(75, abs=4 * np.sqrt(variance / 4000))
    assert drawn.score.var(axis=0) == pytest.approx(variance, rel=0.12)
    # Two draws share nothing.
    assert abs(np.corrcoef(drawn.score[:2000].ravel(), drawn.score[2000:].ravel())[0, 1]) < 0.02


def test_the_customary_ranking_finds_systems_that_lie_far_apart() -> None:
    simulated = simulate(ScoreCampaign(qualities=(15, 10, 5, 0, -5, -10, -15, -20), tasks=100))
    recovered = recovery(simulated.truth, rank(simulated.judgments, method="zscore"))
    assert recovered.kendall is not None
    assert recovered.kendall > 0.9


@given(
    st.builds(
        ScoreCampaign,
        systems=st.integers(1, 5),
        humans=st.integers(1, 3),
        annotators=st.integers(1, 4),
        tasks=st.integers(1, 4),
        task_size=st.integers(1, 30),
        documents=st.integers(1, 4),
        segments=st.integers(1, 5),
        context=st.booleans(),
        controls=st.floats(0, 0.9),
        careless=st.floats(0, 1),
    )
)
@settings(max_examples=examples(40))
def test_any_sensible_campaign_can_be_drawn(campaign: ScoreCampaign) -> None:
    simulated = simulate(campaign)
    table = simulated.judgments.table
    assert table["task"].n_unique() == campaign.tasks
    assert table["score"].is_between(0, 100).all()
    assert len(simulated.truth.systems) == campaign.systems + campaign.humans
    assert len(simulated.sources) >= table["segment"].cast(int).max()  # type: ignore[operator]
    design = design_scores(campaign, generator(3))
    assert set(design.task[design.kind == SYSTEM]) == set(range(campaign.tasks))


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        ({"tasks": 0}, ("'tasks'", "0")),
        ({"controls": 0.95}, ("'controls'", "0.95")),
        ({"residual": -1}, ("'residual'", "-1")),
        ({"qualities": (1.0, 2.0)}, ("2 qualities", "8 systems")),
        ({"systems": 1, "humans": 0}, ("at least two",)),
    ],
)
def test_impossible_parameters_are_explained(wrong: dict[str, float], names: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as fault:
        ScoreCampaign(**wrong)  # type: ignore[arg-type]
    for name in names:
        assert name in str(fault.value)
