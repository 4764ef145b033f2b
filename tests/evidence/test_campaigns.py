"""Identical systems looked at again and again: hardly ever is anything settled, however few people judge."""

from __future__ import annotations

import numpy as np
import pytest
from bench.bench_look import false_claims
from bench.look_campaigns import GrowingCampaign
from scipy.special import ndtri, stdtr
from scipy.stats import binom

from adjudge.evidence.boundaries import LookPlan, Mode, Observed, Settled, Spending, settle
from adjudge.evidence.look_claims import Goal

SYSTEMS = 4
FIRST, SECOND = np.triu_indices(SYSTEMS, 1)


def looks_at_walks(rng: np.random.Generator, looks: int) -> list[Observed]:
    """What looks see of equal systems whose means are random walks: six differences, correlated as in a campaign."""
    steps = rng.normal(0, np.sqrt(1 / looks), (looks, SYSTEMS)).cumsum(0)
    observed = []
    for number in range(1, looks + 1):
        fraction = number / looks
        difference = (steps[number - 1, FIRST] - steps[number - 1, SECOND]) / fraction
        se = np.full(len(FIRST), np.sqrt(2 / fraction))
        observed.append(Observed(fraction, difference, se, np.full(len(FIRST), np.inf), difference / se))
    return observed


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["kim-demets", "pocock", "anytime"])
@pytest.mark.parametrize("goal", [Goal(), Goal("top", 1)], ids=str)
def test_the_level_holds_over_all_pairs_and_looks(mode: Mode, goal: Goal) -> None:
    """Of 600 campaigns, no more have anything settled than chance at 5% allows (one in ten thousand).

    Testing each pair at every one of the eight looks at .05 would settle something in about half of them.
    """
    rng = np.random.default_rng(4)
    plan = LookPlan(100, 8, goal, mode)
    false = 0
    for _ in range(600):
        observed, state = looks_at_walks(rng, 8), Settled.none(len(FIRST))
        for number in range(1, 9):
            state = settle(plan, observed[:number], state, np.ones(len(FIRST), dtype=bool), SYSTEMS)
        wins = [np.sum((i == FIRST) & (state.sign > 0)) + np.sum((i == SECOND) & (state.sign < 0)) for i in range(4)]
        false += bool((state.sign != 0).any()) if goal.kind == "pairs" else max(wins) == SYSTEMS - 1
    assert false <= binom.isf(1e-4, 600, 0.05)


def looks_of_few_people(rng: np.random.Generator, people: int, looks: int) -> list[Observed]:
    """Equal systems judged by few people with tastes of their own: t over people, with its few degrees of freedom."""
    taste = rng.normal(0, 1, people)
    noise = rng.normal(0, 3, (looks, people)).cumsum(0) / np.arange(1, looks + 1)[:, None]
    observed = []
    for number in range(looks):
        liked = taste + noise[number]
        mean, se = liked.mean(), liked.std(ddof=1) / np.sqrt(people)
        tail = float(stdtr(people - 1, -abs(mean / se)))
        z = np.array([np.sign(mean) * min(-ndtri(tail), 37.0)])
        values = (np.array([mean]), np.array([se]), np.array([people - 1.0]), z)
        observed.append(Observed((number + 1) / looks, *values))
    return observed


@pytest.mark.parametrize(("people", "spending"), [(3, "kim-demets"), (5, "pocock")])
def test_few_people_do_not_settle_what_is_not_there(people: int, spending: Spending) -> None:
    """Of 400 campaigns with five looks, no more are wrong than chance at 5% allows (one in ten thousand)."""
    rng = np.random.default_rng(8)
    plan = LookPlan(100, 5, Goal(), spending)
    false = 0
    for _ in range(400):
        observed, state = looks_of_few_people(rng, people, 5), Settled.none(1)
        for number in range(1, 6):
            state = settle(plan, observed[:number], state, np.ones(1, dtype=bool), 2)
        false += bool(state.sign[0])
    assert false <= binom.isf(1e-4, 400, 0.05)


@pytest.mark.slow
def test_identical_systems_judged_by_the_mixed_model() -> None:
    """Of 16 campaigns with three looks, more with a false claim than one in ten thousand allows would be a fault."""
    campaign = GrowingCampaign(systems=3, annotators=5, page=4, pages=60)
    false, covered = false_claims(campaign, 3, "kim-demets", 16)
    assert round(16 * false) <= binom.isf(1e-4, 16, 0.05)
    assert covered > 0.6
