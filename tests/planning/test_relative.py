"""Planning rankings and pairs: against the model fitted to campaigns of that size, and by simulation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

import adjudge
from adjudge.planning.relative import (
    RelativePlanSettings,
    RelativeSpread,
    draw,
    plan_relative,
    spread_like,
    standard_error,
)
from adjudge.ranking.counts import annotator_units, people_counts
from adjudge.ranking.tastes import compare_people
from adjudge.shell.line import app
from adjudge.table.errors import DataError, UsageError
from tests.helpers.rank_make import random_blocks


@pytest.mark.parametrize("protocol", ["ranking", "pairwise"])
def test_the_error_is_that_of_fitted_campaigns(protocol: str) -> None:
    """The mean over 30 campaigns of the model's own error; its estimate of taste varies by a fifth or so."""
    asked = RelativePlanSettings(protocol=protocol, systems=6)  # type: ignore[arg-type]
    spread = RelativeSpread(taste=0.4)
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(30):
        compared = draw(np.zeros(6), (12, 40, asked.shown), spread, rng)
        pairs = compare_people(people_counts(annotator_units(compared)), compared).pairs
        errors.append(float(np.sqrt(np.nanmean(pairs.se**2))))
    assert standard_error(12, 40, asked, spread) == pytest.approx(float(np.mean(errors)), rel=0.12)


def test_ties_are_as_frequent_as_assumed() -> None:
    compared = draw(np.zeros(4), (50, 100, 2), RelativeSpread(taste=0.0, ties=0.5), np.random.default_rng(2))
    ties = int((compared.outcome == 0).sum())
    low, high = binom.ppf([0.001, 0.999], len(compared), 0.5 / 2.5)
    assert low <= ties <= high


def test_more_people_buy_more_than_more_blocks() -> None:
    plan = plan_relative(RelativePlanSettings(difference=0.5, annotators=20, draws=0))
    by_people = {point.annotators: point for point in plan.points}
    assert not by_people[5].suffices
    assert by_people[20].suffices
    assert by_people[50].blocks < by_people[20].blocks
    assert plan.recommended == by_people[50]
    few = plan_relative(RelativePlanSettings(difference=0.3, annotators=5, draws=0))
    assert any("ask more people" in note for note in few.notes)


def test_the_recommended_size_finds_what_it_promises() -> None:
    plan = plan_relative(RelativePlanSettings(systems=4, difference=0.8, annotators=12, draws=40))
    assert plan.checked is not None
    # Power .8 for each of three differences; correlated within a campaign, so bounds are those of 40 campaigns.
    assert plan.checked.found > 0.8 - 3.3 * np.sqrt(0.8 * 0.2 / 40)
    assert plan.checked.any_claim <= binom.ppf(0.999, 40, 0.05) / 40


def test_a_pilot_gives_the_spread() -> None:
    spread = spread_like(random_blocks(1, number=200))
    assert spread.dispersion >= 1
    assert spread.ties > 0
    with pytest.raises(DataError, match="one person"):
        spread_like(random_blocks(1, annotators=1))


@pytest.mark.parametrize(
    "wrong", [{"systems": 1}, {"annotators": 1}, {"power": 1.0}, {"level": 0.0}, {"difference": 0.0}]
)
def test_wrong_questions_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=f"'{next(iter(wrong))}' is"):
        RelativePlanSettings(**wrong)  # type: ignore[arg-type]


def test_the_command() -> None:
    done = CliRunner().invoke(app, ["plan", "--protocol", "pairwise", "--systems", "3", "--draws", "0", "--json"])
    assert done.exit_code == 0
    answer = json.loads(done.stdout)
    assert (answer["protocol"], answer["difference"]) == ("pairwise", 0.3)
    assert {point["annotators"] for point in answer["points"]} >= {5, 10, 30}


def test_python_plans_rankings_too() -> None:
    """The same as the command's: log-odds and a minute per block where nothing is said."""
    made = adjudge.plan(protocol="ranking", systems=6, annotators=8, draws=0)
    asked = RelativePlanSettings(systems=6, annotators=8, draws=0, difference=0.3, seconds=60.0)
    assert made.to_dict() == plan_relative(asked).to_dict()


def test_the_assumed_spread_is_named_and_a_pilot_replaces_it() -> None:
    assumed = plan_relative(RelativePlanSettings(draws=0))
    assert any("medians of 25 released campaigns" in note for note in assumed.notes)
    assert assumed.spread["taste (sd)"] == 0.18
    own = plan_relative(RelativePlanSettings(draws=0, difference=0.8), spread=RelativeSpread(taste=0.1))
    assert not any("released" in note for note in own.notes)
