"""The state at any time: possible ranks that hold at all times together, and what more judgments would buy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, t

from adjudge import look
from adjudge.evidence.boundaries import LookPlan, mixture_bound, mixture_share
from adjudge.evidence.live import live
from adjudge.evidence.look import read_history
from adjudge.evidence.look_claims import Goal, Outlook, count_judgments
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments
from tests.helpers.look_make import growing

PARTS = growing({"A": 12.0, "B": 0.0, "C": -12.0})
PLANNED = count_judgments(PARTS[-1])


def test_possible_ranks_follow_from_the_pairs_that_hold() -> None:
    state = live(PARTS[-1], planned=PLANNED)
    held = {claim.systems for claim in state.claims if claim.verdict == "settled"}
    for entry in state.systems:
        above = sum(worse == entry.system for _, worse in held)
        below = sum(better == entry.system for better, _ in held)
        assert (entry.best, entry.worst) == (1 + above, 3 - below)
    assert [entry.system for entry in state.systems] == ["A", "B", "C"]
    assert state.systems[0].best == 1
    # By the definition of the confidence sequence, a pair holds exactly where its interval leaves out no difference.
    for claim in state.claims:
        low, high = claim.interval
        assert low is not None
        assert high is not None
        assert (claim.verdict == "settled") == (low > 0 or high < 0)


def test_the_bounds_stay_those_of_the_start() -> None:
    first = live(PARTS[0], planned=PLANNED)
    later = live(PARTS[2], planned=PLANNED, start=first.start)
    assert later.start == first.start
    alone = live(PARTS[2], planned=PLANNED)
    assert alone.start != first.start
    # A start of other systems is of no use.
    assert live(PARTS[2], planned=PLANNED, start=(0.1, (1.0,))).start == alone.start


def test_more_judgments_settle_more_and_narrow_the_intervals() -> None:
    near = live(PARTS[1], planned=PLANNED, more=50).outlook
    far = live(PARTS[1], planned=PLANNED, more=250).outlook
    assert near is not None
    assert far is not None
    assert (near.more, far.more) == (50, 250)
    assert far.half_width_then < near.half_width_then < near.half_width
    assert near.expected <= far.expected <= far.open
    assert near.open == 0
    widths = f"from ±{near.half_width:.2f} to ±{near.half_width_then:.2f}"
    assert near.sentence == f"50 more judgments would find no pair open and narrow intervals {widths}."
    assert live(PARTS[-1], planned=PLANNED).outlook is None, "the plan is used up"


def test_the_outlook_of_planned_looks_uses_their_boundaries(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("looks") / "looks.json"
    for part in PARTS[:2]:
        look(part, planned=PLANNED, looks=5, goal="best", history=file)
    history = read_history(file)
    plan = LookPlan(PLANNED, 5, Goal("top", 1))
    outlook = live(PARTS[2], planned=PLANNED, plan=plan, history=history, more=200).outlook
    assert outlook is not None
    assert outlook.chance is not None
    assert 0 <= outlook.chance <= 1
    assert "settle the goal with a chance of" in outlook.sentence


def test_the_sentence_suits_what_is_open() -> None:
    pair = Outlook(more=1000, open=1, expected=0.4, chance=None, half_width=3.0, half_width_then=2.5)
    assert pair.sentence == (
        "1,000 more judgments would settle the open pair with a chance of 40% and narrow intervals from ±3.00 to ±2.50."
    )
    early = Outlook(more=50, open=3, expected=0.2, chance=None, half_width=96_317.0, half_width_then=27.8)
    assert early.sentence == "50 more judgments would settle about 0.2 of the 3 open pairs."
    hardly = replace(early, expected=0.049)
    assert hardly.sentence == "50 more judgments would probably settle none of the 3 open pairs."


def test_corrected_translations_count_and_nothing_judged_is_said() -> None:
    table = PARTS[0].table
    edits = Judgments(table.with_columns(protocol=pl.lit("postedit"), score=pl.lit(None, pl.Float64), text=pl.lit("x")))
    assert count_judgments(edits) == len(table)
    with pytest.raises(DataError, match="there are no judgments yet"):
        count_judgments(Judgments(edits.table.with_columns(text=pl.lit(None, pl.String))))


def test_a_ranking_at_hand_is_used() -> None:
    from adjudge.ranking.methods import rank

    ranking = rank(PARTS[1])
    assert live(PARTS[1], planned=PLANNED, ranking=ranking).claims == live(PARTS[1], planned=PLANNED).claims


def test_equal_systems_are_seldom_told_apart_at_any_of_forty_times() -> None:
    """Few people with lasting tastes, by Student's t: wrong at any time in at most 5%, within 3 standard errors."""
    rng = np.random.default_rng(5)
    campaigns, times, people = 3000, 40, 5
    taste = rng.normal(0, 1, (campaigns, people))
    steps = rng.normal(0, 4, (campaigns, times, people)).cumsum(axis=1)
    means = taste[:, None, :] + steps / np.arange(1, times + 1)[None, :, None]
    d, se = means.mean(axis=2), means.std(axis=2, ddof=1) / np.sqrt(people)
    z = norm.isf(t.sf(np.abs(d) / se, people - 1))
    share = mixture_share(0.05)
    # The information that fixes the bounds is that of the first time, as in `live`.
    information = 1 / se**2
    planned = information[:, :1] * times
    limits = np.vectorize(lambda fraction: mixture_bound(fraction, 0.05, share))(information / planned)
    wrong = (z >= limits).any(axis=1).mean()
    assert wrong <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / campaigns)


def test_one_persons_taste_stops_nothing() -> None:
    """However clear it is to one or two people, the state says go on, and its bounds are fixed by a later one."""
    for people in (1, 2):
        part = growing({"A": 60.0, "B": 0.0}, annotators=people)[2]
        state = live(part, planned=PLANNED)
        assert (state.stop, state.start, state.outlook, state.people) == (False, None, None, people)
        assert state.advice.endswith("nothing is settled for others before 3 people have.")
        assert all(claim.verdict == "open" for claim in state.claims)
        assert {(system.best, system.worst) for system in state.systems} == {(1, 2)}
    assert live(growing({"A": 60.0, "B": 0.0}, annotators=3)[2], planned=PLANNED).stop
