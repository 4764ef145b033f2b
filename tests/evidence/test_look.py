"""Looks at a growing campaign: verdicts, sharing of the level, goals, the history file, and what is refused."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from bench.look_campaigns import GrowingCampaign, draw_campaign, run_looks

from adjudge import look, rank
from adjudge.evidence.boundaries import LookPlan, Mode, Observed, Settled, State, bound, boundaries, settle, spent
from adjudge.evidence.look_claims import Goal, as_normal, claims_of, count_judgments, observe, parse_goal, settled_top
from adjudge.table.errors import DataError, InputError, UsageError
from adjudge.table.judgments import Judgments
from adjudge.table.record import LooksRecord
from adjudge.table.rng import generator
from tests.conftest import Run
from tests.helpers.look_make import growing
from tests.reports.test_collected import RECORD

QUALITIES = {"A": 8.0, "B": 0.0, "C": 0.0}
PARTS = growing(QUALITIES)
PLANNED = count_judgments(PARTS[-1])


def observed(fraction: float, z: list[float]) -> Observed:
    size = len(z)
    return Observed(fraction, np.array(z), np.full(size, 1 / np.sqrt(fraction)), np.full(size, np.inf), np.array(z))


def test_advice_goes_by_the_trend_where_two_readings_do_not_agree_yet() -> None:
    """A pair is not settled before both readings show it; judgments to come may bring that, if both lean one way."""
    ranking = rank(PARTS[0])
    leads = [1.0, 1.0, -1.0]
    pairs = tuple(
        replace(pair, p=0.05, agreeing=False, numbers={**pair.numbers, "typical": typical})
        for pair, typical in zip(ranking.comparisons, leads, strict=True)
    )
    now = observe(replace(ranking, comparisons=pairs), 0.25)
    assert not now.z.any()
    assert sorted(np.abs(now.trend).round(2)) == [0.0, 1.96, 1.96]
    plan = LookPlan(1000, 4, Goal())
    settled = settle(plan, [now], Settled.none(3), np.ones(3, dtype=bool), 3)
    state = State(plan, ("A", "B", "C"), [now], settled, 250)
    chances = {claim.systems: claim.chance or 0.0 for claim in claims_of(state)}
    for pair, typical in zip(pairs, leads, strict=True):
        assert (chances[pair.better, pair.worse] > 0.1) == (typical > 0)


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


def test_nothing_is_settled_before_three_people_have_judged(tmp_path: Path) -> None:
    """However clear it is to one or two people: what others think is not known, and no level is spent."""
    for people, who in ((1, "One person has judged"), (2, "2 people have judged")):
        campaign = growing({"A": 60.0, "B": 0.0, "C": -60.0}, annotators=people)[-1]
        result = look(campaign, planned=len(campaign.table), looks=1, goal="best")
        nothing = "which says nothing of others: nothing is settled."
        assert result.advice == f"Stop: the planned judgments are in. {who}, {nothing}"
        assert (result.settled, result.level, result.people) == ((), 0.0, people)
        early = look(campaign, planned=2 * len(campaign.table), looks=2, history=tmp_path / f"{people}.json")
        assert not early.stop
        assert early.advice.endswith("nothing is settled for others before 3 people have.")
        assert all(claim.interval == (None, None) and claim.chance is None for claim in early.claims)
    unnamed = pl.when(pl.int_range(pl.len()) > 0).then("annotator").alias("annotator")
    partly = Judgments(campaign.table.with_columns(unnamed))
    advice = look(partly, planned=len(campaign.table), looks=1, goal="best").advice
    assert advice.endswith("This may hold for those who judged only: not all annotators are named.")


def one_after_another(people: int, *, seed: int = 1) -> list[Judgments]:
    """A campaign with clear differences after each of its people, who judge one after another."""
    whole = growing({"A": 60.0, "B": 0.0, "C": -60.0}, annotators=people, seed=seed)[-1].table.sort("annotator")
    return [Judgments(whole.filter(pl.col("annotator") < f"a{done}")) for done in range(1, people + 1)]


def test_a_look_at_too_few_people_is_as_if_it_had_not_been_taken(tmp_path: Path) -> None:
    parts, history = one_after_another(5), tmp_path / "looks.json"
    planned = count_judgments(parts[-1])
    results = [look(part, planned=planned, looks=5, history=history) for part in parts]
    assert [bool(result.settled) for result in results] == [False, False, True, True, True]
    assert [result.level for result in results[:2]] == [0.0, 0.0]
    assert {claim.settled_at for claim in results[2].settled} == {3}
    without = tmp_path / "without.json"
    third = look(parts[2], planned=planned, looks=5, history=without)
    assert [claim.bound for claim in third.claims] == [claim.bound for claim in results[2].claims]
    assert third.level == results[2].level


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "spending"), [(4, "kim-demets"), (4, "pocock"), (2, "pocock")])
def test_people_one_after_another_settle_nothing_among_equals(systems: int, spending: Mode) -> None:
    """Five people with strong tastes; of 60 campaigns at most 5% and 3 standard errors (2.8%) may settle anything.

    When looks at one and two people counted, it was 4 to 16% of 600 (`python -m bench look` has more).
    """
    campaign = GrowingCampaign(systems=systems, annotators=5, pages=60, taste_sd=6.0, one_by_one=True)
    plan = LookPlan(campaign.judgments, 5, Goal(), spending)
    drawn = [draw_campaign(campaign, generator(8, number)) for number in range(60)]
    assert np.mean([run_looks(pages, plan, systems).settled.sign.any() for pages in drawn]) <= 0.134


def test_the_share_of_the_plan_is_that_of_the_people_where_it_is_smaller(tmp_path: Path) -> None:
    """Three of ten people with six tenths of the judgments have brought three tenths of what was planned."""
    part = one_after_another(5)[2]
    planned = round(count_judgments(part) / 0.6)
    by_judgments = look(part, planned=planned, looks=5)
    by_people = look(part, planned=planned, looks=5, people=10, history=tmp_path / "looks.json")
    assert by_judgments.information == pytest.approx(0.6)
    assert by_people.information == pytest.approx(0.3)
    assert by_people.level == pytest.approx(0.05 * 0.3**3)
    with pytest.raises(DataError, match="begun with people 10, now it is 12"):
        look(one_after_another(5)[3], planned=planned, looks=5, people=12, history=tmp_path / "looks.json")


def test_information_that_was_lost_since_is_no_overflow() -> None:
    """With two people an error may come out far too small; warnings are errors in this suite."""
    plan, df = LookPlan(100, 5, Goal(), "pocock"), np.array([1.0])
    seen = [
        Observed(0.2, np.array([0.1]), np.array([1e-6]), df, np.array([0.0])),
        Observed(0.4, np.array([0.1]), np.array([1.0]), df, np.array([0.0])),
    ]
    assert bound(plan, seen, 0, 0.025) > 0


def test_a_settled_claim_that_the_judgments_contradict_comes_first(tmp_path: Path) -> None:
    """At the first look A is far better, later far worse; nobody is told to stop, and the claim stays in the record."""
    rising, history = growing({"A": 30.0, "B": 0.0})[-1].table, tmp_path / "looks.json"
    later = growing({"A": 0.0, "B": 60.0}, seed=2)[-1].table.with_columns(screen=pl.format("later{}", "screen"))
    planned = 4 * rising.height
    first = look(Judgments(rising), planned=planned, looks=4, history=history, spending="pocock")
    assert [claim.claim for claim in first.settled] == ["A is better than B"]
    assert first.settled[0].standing == "agrees"
    assert first.stop
    second = look(Judgments(pl.concat([rising, later])), planned=planned, looks=4, history=history, spending="pocock")
    assert second.settled[0].standing == "contradicts"
    assert not second.stop
    caution = "Caution: 'A is better than B' was settled at look 1, but the judgments so far say the opposite."
    assert second.advice.startswith(caution)
    assert second.first_lines[0].startswith(caution)


def test_caveats_stay_in_the_history(tmp_path: Path) -> None:
    """At the first look nobody is named; that everybody is later does not make good what was settled then."""
    table, history = growing({"A": 60.0, "B": 0.0})[-1].table, tmp_path / "looks.json"
    nameless = table.head(240).with_columns(annotator=pl.lit(None, pl.String))
    first = look(Judgments(nameless), planned=480, looks=2, history=history)
    caveat = "This may hold for those who judged only: not all annotators are named."
    assert first.settled
    assert first.advice.endswith(caveat)
    more = Judgments(pl.concat([nameless, table.tail(240)]))
    assert f"at look 1: {caveat}" in look(more, planned=480, looks=2, history=history).notes


def test_a_history_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """It knows nothing of people, and its digests stay as they were; what it settled is named."""
    parts, history = growing({"A": 60.0, "B": 0.0}), tmp_path / "looks.json"
    planned = count_judgments(parts[-1])
    look(parts[0], planned=planned, looks=5, history=history)
    content = json.loads(history.read_text())
    del content["looks"][0]["record"]["people"]
    plain = [
        json.dumps(part, sort_keys=True, separators=(",", ":"))
        for part in (content["plan"], content["looks"][0]["record"])
    ]
    digest = hashlib.sha256(f"{'0' * 64}\n{plain[0]}".encode()).hexdigest()
    digest = hashlib.sha256(f"{digest}\n{plain[1]}".encode()).hexdigest()
    content["looks"][0]["digest"] = content["end"]["digest"] = digest
    history.write_text(json.dumps(content))
    result = look(parts[1], planned=planned, looks=5, history=history)
    assert json.loads(history.read_text())["looks"][0]["digest"] == digest
    assert "look 1 did not count people: what was settled then may be the taste of one or two" in result.notes


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
    deep = "[" * 600 + "]" * 600
    whole = json.dumps(content)
    wrong: list[object] = [[], 5, "x", [[]]]
    broken = [json.dumps({**content, part: value}) for part in ("plan", "looks", "end") for value in wrong]
    broken += [whole.replace(json.dumps(content[part]), deep) for part in ("plan", "looks", "end")]
    broken += [whole.replace('"z": [', f'"z": [{"[" * 20_000}', 1), whole.replace('"z": [', f'"z": [{deep}, ', 1)]
    for damaged in broken:
        history.write_text(damaged)
        assert any(words in refused(PARTS[2], history) for words in ("not a history", "was changed", "were taken"))


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


def test_a_look_takes_its_plan_from_the_record_of_the_campaign() -> None:
    campaign = growing({"A": 9.0, "B": 0.0, "C": -0.1})[0]
    recorded = LooksRecord(PLANNED * 2, 10, "best", "pocock", 0.02, people=40)
    exported = replace(campaign, record=replace(RECORD, looks=recorded))
    given = look(campaign, planned=PLANNED * 2, looks=10, goal="best", spending="pocock", level=0.02, people=40)
    taken = look(exported)
    assert taken.claims == given.claims
    assert taken.settings == given.settings
    assert f"the plan is that of the campaign's record: 10 looks at {PLANNED * 2:,} judgments" in taken.notes[0]
    other = look(exported, level=0.05)
    assert other.settings["level"] == 0.05
    assert "this is not the plan of the campaign's record, which has level 0.02 (here 0.05)" in other.notes
    with pytest.raises(UsageError, match="a look needs a plan"):
        look(replace(campaign, record=replace(RECORD, looks=None)))


def test_pairs_beyond_the_plan_are_not_counted_as_judgments() -> None:
    campaign = growing({"A": 9.0, "B": 0.0, "C": -0.1})[0]
    advice = look(campaign, planned=PLANNED * 2, looks=10, goal="pairs").advice
    assert re.search(r"should settle \d+ of them; the other \d+ (is|are) so close", advice), advice
