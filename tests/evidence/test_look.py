"""Looks at a growing campaign: verdicts, sharing of the level, goals, the history file, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge import look
from adjudge.evidence.boundaries import LookPlan, Observed, Settled, State, bound, boundaries, settle, spent
from adjudge.evidence.look_claims import Goal, as_normal, claims_of, count_judgments, parse_goal, settled_top
from adjudge.table.errors import DataError, InputError, UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import Run
from tests.helpers.look_make import growing

QUALITIES = {"A": 8.0, "B": 0.0, "C": 0.0}
PARTS = growing(QUALITIES)
PLANNED = count_judgments(PARTS[-1])


def observed(fraction: float, z: list[float]) -> Observed:
    size = len(z)
    return Observed(fraction, np.array(z), np.full(size, 1 / np.sqrt(fraction)), np.full(size, np.inf), np.array(z))


def test_a_settled_pair_hands_its_share_on_as_holm_does() -> None:
    """At a single look, the group sequential procedure is Holm's: sorted p against a / m, a / (m - 1), ..."""
    plan = LookPlan(100, 1, Goal())
    z = [3.0, 2.3, 2.0, 1.5]
    # Two-sided p are .0027, .0214, .0455, .1336: against .0125, .0167 the first passes and the second does not.
    after = settle(plan, [observed(1.0, z)], Settled.none(4), np.ones(4, dtype=bool), 4)
    assert after.sign.tolist() == [1, 0, 0, 0]
    # With p = .0160 in the second place (z = 2.409) it passes at .05 / 3, and then .0243 (z = 2.252) at .05 / 2.
    after = settle(plan, [observed(1.0, [3.0, -2.409, 2.252, 1.5])], Settled.none(4), np.ones(4, dtype=bool), 4)
    assert after.sign.tolist() == [1, -1, 1, 0]


def test_tastes_of_the_same_people_bound_what_more_judgments_bring() -> None:
    """With half of the variance lasting, information can at most double, however many judgments come."""
    plan = LookPlan(1000, 10, Goal())
    now = observed(0.1, [2.5])
    settled = settle(plan, [now], Settled.none(1), np.ones(1, dtype=bool), 2)
    free = claims_of(State(plan, ("A", "B"), [now], settled, 100))[0]
    tasted = replace(now, lasting=float(now.se[0]) ** 2 / 2)
    bound_by_taste = claims_of(State(plan, ("A", "B"), [tasted], settled, 100))[0]
    assert free.needed is not None
    assert bound_by_taste.needed is None or bound_by_taste.needed > free.needed
    hopeless = observed(0.1, [1.2])
    hopeless = replace(hopeless, lasting=float(hopeless.se[0]) ** 2 / 2)
    assert claims_of(State(plan, ("A", "B"), [hopeless], settled, 100))[0].needed is None


def test_the_boundary_of_a_share_is_that_of_the_spending_function() -> None:
    plan = LookPlan(100, 2, Goal(), "pocock")
    looks = [observed(0.5, [0.0, 0.0]), observed(1.0, [0.0, 0.0])]
    wanted = boundaries([0.5, 1.0], [spent("pocock", 0.0125, 0.5), 0.0125])
    assert bound(plan, looks, 0, 0.0125) == pytest.approx(wanted[1], abs=2e-3)
    assert bound(plan, looks[:1], 0, 0.0125) == pytest.approx(wanted[0], abs=1e-9)


def test_what_is_settled_stays_settled() -> None:
    plan = LookPlan(100, 2, Goal())
    first = settle(plan, [observed(0.5, [5.0, 0.0])], Settled.none(2), np.ones(2, dtype=bool), 3)
    second = settle(plan, [observed(0.5, [5.0, 0.0]), observed(1.0, [0.1, 0.0])], first, np.ones(2, dtype=bool), 3)
    assert first.sign.tolist() == second.sign.tolist() == [1, 0]
    assert second.look.tolist() == [1, 0]


def test_the_top_needs_every_comparison_with_the_rest() -> None:
    def top(signs: list[int], goal: Goal) -> tuple[str, ...]:
        settled = Settled(np.array(signs), np.array(signs) ** 2, np.zeros(3))
        plan = LookPlan(100, 1, goal)
        return settled_top(State(plan, ("A", "B", "C"), [observed(1.0, [1.0, 2.0, 0.5])], settled, 100))

    assert top([1, 1, 0], Goal("top", 1)) == ("A",)
    assert top([1, 0, 1], Goal("top", 1)) == ()
    assert top([0, 1, 1], Goal("top", 2)) == ("A", "B")
    assert top([-1, 0, 1], Goal("top", 1)) == ("B",)


def test_the_level_of_a_top_covers_every_way_to_be_wrong() -> None:
    assert Goal("top", 1).one_sided_level(0.05, 2) == pytest.approx(0.025)
    assert Goal("top", 3).one_sided_level(0.05, 8) == pytest.approx(0.05 / 16)


def test_a_campaign_looked_at_five_times(tmp_path: Path) -> None:
    history = tmp_path / "looks.json"
    results = [look(part, planned=PLANNED, looks=5, goal="pairs", history=history) for part in PARTS]
    assert [result.look for result in results] == [1, 2, 3, 4, 5]
    assert results[-1].stop
    settled = [{claim.claim for claim in result.settled} for result in results]
    assert all(before <= after for before, after in pairwise(settled))
    assert settled[-1] >= {"A is better than B", "A is better than C"}
    levels = [result.level for result in results]
    assert levels == sorted(levels)
    assert levels[-1] == pytest.approx(0.05)
    # The true difference is 8 points; the final interval is by itself at 95%.
    final = {claim.claim: claim.final_interval for claim in results[-1].claims}
    low, high = final["A is better than B"] or (0, 0)
    assert low < 8 < high
    again = look(PARTS[-1], planned=PLANNED, looks=5, goal="pairs", history=history)
    assert again.claims == results[-1].claims
    assert "nothing was spent" in again.notes[-1]


def test_what_two_people_settle_is_settled_for_them() -> None:
    campaign = growing({"A": 60.0, "B": 0.0, "C": -60.0}, annotators=2)[-1]
    result = look(campaign, planned=len(campaign.table), looks=1, goal="best")
    assert result.advice == "Stop: the best system is settled. This holds for these two annotators only."
    unnamed = pl.when(pl.int_range(pl.len()) > 0).then("annotator").alias("annotator")
    partly = Judgments(campaign.table.with_columns(unnamed))
    advice = look(partly, planned=len(campaign.table), looks=1, goal="best").advice
    assert advice.endswith("This may hold for those who judged only: not all annotators are named.")


def test_the_best_system_and_the_advice() -> None:
    result = look(PARTS[-1], planned=PLANNED, looks=1, goal="best")
    assert result.claims[0].claim == "A is the best system"
    assert (result.stop, result.advice) == (True, "Stop: the best system is settled.")
    early = look(PARTS[0], planned=PLANNED * 4, looks=20, goal="best")
    assert not early.stop
    assert early.claims[0].verdict == "open"
    assert early.advice.startswith(("Go on: A as the best system is not settled yet", "A as the best"))


def test_named_pairs_share_the_level_among_themselves() -> None:
    alone = look(PARTS[1], planned=PLANNED, looks=5, between=[("B", "A")])
    among = look(PARTS[1], planned=PLANNED, looks=5)
    wide = next(claim for claim in among.claims if set(claim.systems) == {"A", "B"})
    assert len(alone.claims) == 1
    assert alone.claims[0].bound is not None
    assert wide.bound is not None
    assert alone.claims[0].bound < wide.bound or wide.verdict == "settled"


def test_anytime_intervals_are_wider_and_need_no_schedule(tmp_path: Path) -> None:
    history = tmp_path / "any.json"
    first = look(PARTS[2], planned=PLANNED, looks=1, spending="anytime", history=history)
    second = look(PARTS[3], planned=PLANNED, looks=1, spending="anytime", history=history)
    assert second.look == 2
    assert first.level == second.level == 0.05
    fixed = look(PARTS[3], planned=PLANNED, looks=1, final=True)
    width = {claim.systems: claim.interval for claim in fixed.claims}

    def span(interval: tuple[float | None, float | None]) -> float:
        assert interval[0] is not None
        assert interval[1] is not None
        return interval[1] - interval[0]

    open_ = [claim for claim in second.claims if claim.systems in width]
    assert all(span(claim.interval) > span(width[claim.systems]) for claim in open_)


def test_without_a_history_the_planned_looks_count_as_taken() -> None:
    single = look(PARTS[3], planned=PLANNED, looks=1)
    several = look(PARTS[3], planned=PLANNED, looks=5)
    assert (single.look, several.look) == (1, 4)
    assert "assumed to have been made" in several.notes[-1]


def test_unplanned_looks_are_spent_too(tmp_path: Path) -> None:
    history = tmp_path / "looks.json"
    result = look(PARTS[2], planned=PLANNED, looks=5, history=history)
    assert "it spends level all the same" in result.notes[-1]
    assert result.level == pytest.approx(LookPlan(PLANNED, 5, Goal()).spent(0.6), rel=0.02)


def refused(part: Judgments, history: Path, **changed: object) -> str:
    settings = {"planned": PLANNED, "looks": 5, "goal": "pairs", "history": history} | changed
    with pytest.raises((DataError, InputError, UsageError)) as fault:
        look(part, **settings)  # type: ignore[arg-type]
    return str(fault.value)


def test_what_does_not_fit_the_history_is_refused(tmp_path: Path) -> None:
    history = tmp_path / "looks.json"
    look(PARTS[1], planned=PLANNED, looks=5, history=history)
    before = history.read_bytes()
    assert "begun with goal pairs, now it is best" in refused(PARTS[2], history, goal="best")
    assert f"planned {PLANNED}, now it is {PLANNED + 1}" in refused(PARTS[2], history, planned=PLANNED + 1)
    assert "cannot be taken back" in refused(PARTS[0], history)
    other = Judgments(PARTS[2].table.with_columns(document=PARTS[2].table["document"] + "x"))
    assert "of other data" in refused(other, history)
    assert "systems" in refused(growing({"A": 1.0, "B": 0.0, "D": 0.0})[2], history)
    assert history.read_bytes() == before


def test_a_history_cannot_be_changed_or_rewound(tmp_path: Path) -> None:
    history = tmp_path / "looks.json"
    for part in PARTS[:2]:
        look(part, planned=PLANNED, looks=5, history=history)
    content = json.loads(history.read_text())
    rewound = {**content, "looks": content["looks"][:1]}
    history.write_text(json.dumps(rewound))
    assert "holds 1 look where 2 were taken" in refused(PARTS[2], history)
    content["looks"][0]["record"]["z"][0] = 0.0
    history.write_text(json.dumps(content))
    assert "look 1 was changed" in refused(PARTS[2], history)
    history.write_text("[]")
    assert "not a history of looks" in refused(PARTS[2], history)


def test_a_final_look_ends_the_plan(tmp_path: Path) -> None:
    history = tmp_path / "looks.json"
    ended = look(PARTS[2], planned=PLANNED, looks=5, history=history, final=True)
    assert ended.stop
    assert ended.level == pytest.approx(0.05)
    assert "was the final one" in refused(PARTS[3], history)


def test_a_look_without_a_plan_or_with_too_many_judgments_is_refused(tmp_path: Path) -> None:
    assert "'planned' is 0" in refused(PARTS[1], tmp_path / "a", planned=0)
    assert "'looks' is 0" in refused(PARTS[1], tmp_path / "a", looks=0)
    assert "100 were planned" in refused(PARTS[1], tmp_path / "a", planned=100)
    assert "unknown goal" in refused(PARTS[1], tmp_path / "a", goal="worst")
    assert "unknown spending" in refused(PARTS[1], tmp_path / "a", spending="all")
    assert "is not among the systems" in refused(PARTS[1], tmp_path / "a", between=[("A", "Z")])
    assert "needs more than 3 systems" in refused(PARTS[1], tmp_path / "a", goal="top:3")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("text", ["pairs", "best", "top:3"])
def test_goals_are_written_as_they_are_read(text: str) -> None:
    assert str(parse_goal(text)) == text


def test_p_values_as_normal_quantiles() -> None:
    # 1.959964 is the two-sided 5% point of the normal distribution.
    assert as_normal(0.05) == pytest.approx(1.959964, abs=1e-6)
    assert as_normal(0.0) == 37.0
    assert as_normal(1.0) == 0.0


def test_a_look_without_a_plan_is_refused(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    file = tmp_path / "judgments.parquet"
    PARTS[1].table.write_parquet(file)
    for given in ((), ("--planned", "500"), ("--looks", "5")):
        run = adjudge("look", file, *given)
        assert run.code == 2
        assert "a look needs a plan" in run.err


def test_pairs_beyond_the_plan_are_not_counted_as_judgments() -> None:
    campaign = growing({"A": 9.0, "B": 0.0, "C": -0.1})[0]
    advice = look(campaign, planned=PLANNED * 2, looks=10, goal="pairs").advice
    assert re.search(r"judgments; \d+ pairs? would need more than the plan has\.$", advice), advice
