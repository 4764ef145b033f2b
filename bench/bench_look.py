"""Looks at growing campaigns: false claims with identical systems, coverage after stopping, and what looks save.

    python -m bench look            # a few minutes
    LOOK_CAMPAIGNS=2000 python -m bench look

Identical systems are judged by the mixed model at every look; a campaign counts as wrong if anything was ever settled.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from adjudge.evidence.boundaries import SPENDING, LookPlan, Mode, State
from adjudge.evidence.look_claims import Goal, claims_of, with_final_estimates
from adjudge.planning.search import saving
from adjudge.table.rng import generator
from bench.look_campaigns import GrowingCampaign, Outcome, draw_campaign, run_looks

CAMPAIGNS = int(os.environ.get("LOOK_CAMPAIGNS", "100"))
ONE_BY_ONE = GrowingCampaign(systems=2, annotators=5, pages=120, taste_sd=6.0, one_by_one=True)
"""People with strong tastes judge one after another."""
CASES: tuple[tuple[int, Mode, GrowingCampaign], ...] = (
    (1, "kim-demets", GrowingCampaign(annotators=5, page=4, pages=120)),
    (5, "kim-demets", GrowingCampaign(annotators=5, page=4, pages=120)),
    (5, "obrien-fleming", GrowingCampaign(annotators=5, page=4, pages=120)),
    (5, "pocock", GrowingCampaign(annotators=5, page=4, pages=120)),
    (20, "kim-demets", GrowingCampaign(annotators=5, page=8, pages=120)),
    (20, "pocock", GrowingCampaign(annotators=10, page=2, pages=200)),
    (5, "kim-demets", GrowingCampaign(annotators=10, page=1, pages=400)),
    (5, "kim-demets", GrowingCampaign(annotators=50, page=4, pages=200)),
    (10, "anytime", GrowingCampaign(annotators=10, page=4, pages=160)),
    (5, "kim-demets", GrowingCampaign(systems=8, annotators=20, page=4, pages=320)),
    (5, "kim-demets", replace(ONE_BY_ONE, systems=4)),
    (5, "pocock", replace(ONE_BY_ONE, systems=4)),
    (20, "pocock", replace(ONE_BY_ONE, systems=4)),
    (5, "kim-demets", ONE_BY_ONE),
    (5, "pocock", ONE_BY_ONE),
    (20, "pocock", ONE_BY_ONE),
)


def run() -> None:
    """Print all tables."""
    print_savings()
    print_false_claims()


def print_savings() -> None:
    """Judgments as shares of a campaign with one look at the end; exact."""
    for spending in SPENDING:
        print(f"{spending}: looks, largest, at the planned difference, at 1.5 times it, at none")
        for looks in (3, 5, 10, 20):
            savings = saving(looks, spending=spending)
            numbers = (savings.largest, savings.planned, savings.larger, savings.none)
            print(f"  {looks:3d}  " + "  ".join(f"{number:.3f}" for number in numbers))


def print_false_claims() -> None:
    """Any false claim among identical systems, and the coverage of the final intervals."""
    columns = "looks, spending, systems, annotators, page, arrival: false, coverage"
    print(f"identical systems, {CAMPAIGNS} campaigns each: {columns}")
    for looks, spending, campaign in CASES:
        false, covered = false_claims(campaign, looks, spending, CAMPAIGNS)
        error = np.sqrt(max(false * (1 - false), 0.01) / CAMPAIGNS)
        arrival = "one by one" if campaign.one_by_one else "together"
        described = (
            f"{looks:3d}  {spending:15s} {campaign.systems}  {campaign.annotators:3d}  {campaign.page}  {arrival}"
        )
        print(f"  {described}:  {false:.3f} (se {error:.3f})  {covered:.3f}", flush=True)


def false_claims(campaign: GrowingCampaign, looks: int, spending: Mode, campaigns: int) -> tuple[float, float]:
    """The share of campaigns with any claim settled, and of final intervals that hold the true difference, 0."""
    plan = LookPlan(campaign.judgments, looks, Goal(), spending)
    false, inside = [], []
    for number in range(campaigns):
        outcome = run_looks(draw_campaign(campaign, generator(7, number)), plan, campaign.systems)
        false.append(bool((outcome.settled.sign != 0).any()))
        if number < campaigns // 4 and spending != "anytime":
            inside += covering(plan, campaign, outcome)
    return float(np.mean(false)), float(np.mean(inside)) if inside else float("nan")


def covering(plan: LookPlan, campaign: GrowingCampaign, outcome: Outcome) -> list[bool]:
    """Whether each final interval holds 0."""
    names = tuple(f"system-{number:02d}" for number in range(campaign.systems))
    state = State(plan, names, outcome.looks, outcome.settled, campaign.judgments)
    intervals = [claim.final_interval for claim in with_final_estimates(state, claims_of(state))]
    return [interval[0] <= 0 <= interval[1] for interval in intervals if interval is not None]
