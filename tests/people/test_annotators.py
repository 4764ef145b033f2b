"""Annotators are kept or not by one stated rule, and everything else is reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.people.check import CheckRule, check, quality_of
from adjudge.people.results import AnnotatorCheck
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments, SetAside
from tests.helpers.check_make import rankings, scores
from tests.reports.test_collected import RECORD

Row = tuple[str, str, str, str, float]


def campaign(rows: list[Row], **more: list[object]) -> Judgments:
    """Rows of (annotator, task, segment, kind, score), all of one system."""
    names = ("annotator", "task", "segment", "kind", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    fixed = {"system": ["x"] * len(rows), "protocol": ["da"] * len(rows), "campaign": ["t"] * len(rows)}
    return Judgments.from_columns({**columns, **fixed, **more})


def rows_of(who: str, genuine: list[float], degraded: list[float], repeats: list[float] | None = None) -> list[Row]:
    rows = [(who, "t1", str(i), "system", score) for i, score in enumerate(genuine)]
    rows += [(who, "t1", str(i), "degraded", score) for i, score in enumerate(degraded)]
    return rows + [(who, "t1", str(i), "repeat", score) for i, score in enumerate(repeats or [])]


ATTENTIVE = rows_of("good", [80, 70, 90, 60, 75], [20, 30, 25, 10, 45], [82, 68, 90, 63, 74])
CARELESS = rows_of("bad", [50, 60, 40, 55, 52], [55, 48, 61, 40, 60], [10, 90, 20, 80, 50])


def by_name(judgments: Judgments, rule: CheckRule | None = None) -> dict[str, AnnotatorCheck]:
    return {annotator.annotator: annotator for annotator in check(judgments, rule=rule).annotators}


def test_the_paired_t_test_is_one_sided_and_paired() -> None:
    """By hand: differences 60, 40, 65, 50, 30 have mean 49 and standard deviation 14.318, so t = 7.652 with 4 degrees
    of freedom; R 4.2 `pt(-7.652, 4)` is 0.000785."""
    annotators = by_name(campaign(ATTENTIVE + CARELESS))
    assert annotators["good"].p_controls == pytest.approx(0.000785, abs=2e-6)
    assert annotators["good"].control_difference == pytest.approx(49)
    assert annotators["good"].passed
    assert not annotators["bad"].passed
    assert "does not tell degraded from genuine" in annotators["bad"].reasons[0]


def test_repeats_are_compared_with_the_first_answer() -> None:
    annotators = by_name(campaign(ATTENTIVE + CARELESS))
    assert annotators["good"].repeat_difference == pytest.approx((2 + 2 + 0 + 3 + 1) / 5)
    assert annotators["bad"].repeat_difference == pytest.approx((40 + 30 + 20 + 25 + 2) / 5)
    assert annotators["good"].p_repeats is not None


def test_differences_that_never_vary_cannot_be_tested_and_do_not_pass() -> None:
    annotators = by_name(campaign(rows_of("flat", [50] * 5, [50] * 5) + ATTENTIVE))
    assert annotators["flat"].p_controls is None
    assert annotators["flat"].reasons == ("does not tell degraded from genuine outputs (equal in 5 pairs)",)
    assert not annotators["flat"].passed
    annotators = by_name(campaign(rows_of("shifted", [50] * 5, [40] * 5) + ATTENTIVE))
    assert annotators["shifted"].reasons == ("controls cannot be tested",)


def test_few_controls_show_nothing_against_anybody() -> None:
    """All three degraded outputs got lower scores. By hand: differences 60, 5, 60 give t = 2.2727 with 2 degrees of
    freedom, for which p = 1/2 - t / (2 sqrt(t^2 + 2)) = .0755."""
    few = rows_of("few", [80, 70, 90], [20, 65, 30])
    annotators = by_name(campaign(few + ATTENTIVE))
    assert annotators["few"].p_controls == pytest.approx(0.0755, abs=0.0001)
    assert annotators["few"].reasons == ("judged too few controls",)
    assert "few" not in quality_of(campaign(few + ATTENTIVE)).reasons


def test_who_saw_no_controls_does_not_pass_where_others_did() -> None:
    annotators = by_name(campaign([*ATTENTIVE, ("new", "t2", "9", "system", 50.0)]))
    assert annotators["new"].reasons == ("judged no controls",)


def test_without_controls_everybody_passes_and_it_is_said() -> None:
    result = check(campaign([row for row in ATTENTIVE if row[3] == "system"]))
    assert all(annotator.passed for annotator in result.annotators)
    assert any("no degraded outputs" in note for note in result.notes)
    assert result.rule == "kept: at least 1 second per judgment on average, where time was measured; no rejected work"


def test_rejected_work_pace_and_runs_count_when_asked() -> None:
    rows = ATTENTIVE + rows_of("fast", [80, 70, 90, 60, 75], [20, 30, 25, 10, 45])
    seconds = [10.0] * len(ATTENTIVE) + [1.0] * (len(rows) - len(ATTENTIVE))
    rejected = [False] * (len(rows) - 1) + [True]
    judgments = campaign(rows, active_seconds=list(seconds), rejected=list(rejected))
    assert by_name(judgments)["fast"].reasons == ("some work was rejected",)
    assert by_name(judgments, CheckRule(keep_rejected=True))["fast"].passed
    strict = by_name(judgments, CheckRule(keep_rejected=True, least_seconds=2.0))
    assert strict["fast"].reasons == ("1.0 seconds per judgment on average",)
    assert strict["good"].seconds == 10
    run = by_name(campaign(rows_of("same", [50, 50, 50, 50, 80], [1, 2, 3, 4, 5])), CheckRule(longest_run=3))
    assert run["same"].constant == 4
    assert "4 equal answers in a row" in run["same"].reasons
    # Rows of another person may stand between.
    others = rows_of("other", [10, 20, 30, 40, 15], [1, 2, 3, 4, 5])
    mixed = [
        row for pair in zip(rows_of("same", [50, 50, 50, 50, 80], [1, 2, 3, 4, 5]), others, strict=True) for row in pair
    ]
    assert {name: check.constant for name, check in by_name(campaign(mixed)).items()} == {"same": 4, "other": 1}


def test_an_impossible_pace_is_not_kept_unless_any_pace_is_asked_for() -> None:
    rows = ATTENTIVE + rows_of("script", [80, 70, 90, 60, 75], [20, 30, 25, 10, 45])
    # One long pause does not make the mean pace a possible one.
    own = len(rows) - len(ATTENTIVE)
    seconds: list[float] = [10.0] * len(ATTENTIVE) + [0.1] * (own - 1) + [5.0]
    judgments = campaign(rows, active_seconds=list(seconds))
    mean = sum(seconds[-own:]) / own
    script = by_name(judgments)["script"]
    assert script.mean_seconds == pytest.approx(mean)
    assert script.seconds == pytest.approx(0.1)
    assert script.reasons == (f"{mean:.1f} seconds per judgment on average",)
    assert script.controls == 5
    assert by_name(judgments, CheckRule(least_seconds=0))["script"].passed
    lenient = check(judgments, rule=CheckRule(least_seconds=0))
    assert any("faster than one can read: script" in note for note in lenient.notes)
    # Time that is 0 everywhere was not measured.
    assert by_name(campaign(rows, active_seconds=[0.0] * len(rows)))["script"].passed


@pytest.mark.parametrize(("asked", "passes"), [(None, True), (0.0, True), (2.0, False), (12.0, False)])
def test_the_pace_is_that_of_the_campaign_wherever_people_count(asked: float | None, passes: bool) -> None:
    """By hand: somebody takes 1.5 seconds for a judgment, the others 10; the usual rule asks for 1."""
    rows = ATTENTIVE + rows_of("quick", [80, 70, 90, 60, 75], [20, 30, 25, 10, 45])
    seconds = [10.0] * len(ATTENTIVE) + [1.5] * (len(rows) - len(ATTENTIVE))
    judgments = replace(campaign(rows, active_seconds=list(seconds)), record=replace(RECORD, least_seconds=asked))
    assert by_name(judgments)["quick"].passed is passes
    assert ("quick" in quality_of(judgments).reasons) is not passes
    assert check(judgments).settings["least_seconds"] == (1.0 if asked is None else asked)
    assert by_name(judgments, CheckRule(least_seconds=1.0))["quick"].passed


def test_judgments_of_nobody_are_dropped_and_told() -> None:
    nobody = campaign([*ATTENTIVE, *CARELESS], annotator=["good"] * len(ATTENTIVE) + [None] * len(CARELESS))
    result = check(nobody)
    assert (result.kept["judgments"], result.dropped["judgments"]) == (15, 15)
    assert "15 judgments name no annotator and are dropped; name the annotators to keep them" in result.notes
    assert not any("name no annotator" in note for note in check(campaign([*ATTENTIVE, *CARELESS])).notes)


def test_kept_and_dropped_add_up() -> None:
    result = check(campaign(ATTENTIVE + CARELESS))
    assert result.kept["annotators"] == result.dropped["annotators"] == 1
    assert result.kept["judgments"] + result.dropped["judgments"] == 30
    assert result.kept["degraded"] == 5
    # Where controls are among them, the table says so: its columns, and the export, count them apart.
    assert [row[0] for row in result.tables()[0].rows][:2] == ["annotators", "judgments and controls"]
    assert result.passing == {"good"}


@pytest.mark.parametrize("test", ["paired-t", "paired-t-two-sided", "welch", "signed-rank", "rank-sum"])
def test_every_test_sees_a_clear_difference(test: str) -> None:
    rng = np.random.default_rng(1)
    rows = rows_of("good", list(rng.normal(80, 5, 12)), list(rng.normal(30, 5, 12)))
    result = check(campaign(rows), rule=CheckRule(test=test))
    assert result.annotators[0].passed
    assert test in result.rule
    assert f"test:{test}" in result.signature


def test_bad_questions_are_explained() -> None:
    with pytest.raises(UsageError, match="unknown test"):
        check(campaign(ATTENTIVE), rule=CheckRule(test="guess"))
    with pytest.raises(DataError, match="do not say who judged"):
        check(Judgments.from_columns({"system": ["x"], "protocol": ["da"], "score": [1.0]}))


def test_who_fails_here_but_passed_in_the_release_is_counted() -> None:
    rows = ATTENTIVE + CARELESS
    noted = check(campaign(rows, passed=[True] * len(rows))).notes
    assert any(note.startswith("1 annotator fails here but passed the control of the release") for note in noted)
    failed: list[object] = [row[0] == "good" for row in rows]
    assert not any("of the release" in note for note in check(campaign(rows, passed=failed)).notes)


def test_rows_without_a_score_are_no_judgments_and_are_told() -> None:
    withdrawn = [("good", "t2", "9", "system", None), ("good", "t1", "8", "degraded", None)]
    left_blank = [("idle", "t3", "9", "system", None)]
    checked = check(campaign([*ATTENTIVE, *CARELESS, *withdrawn, *left_blank]))  # type: ignore[list-item]
    good, bad = checked.annotators[1], checked.annotators[0]
    assert (good.annotator, good.judgments, good.controls, good.tasks) == ("good", 15, 10, 1)
    assert bad.judgments == 15
    assert {person.annotator for person in checked.annotators} == {"good", "bad"}
    assert checked.kept == {"annotators": 1, "judgments": 15, "degraded": 5, "repeat": 5, "system": 5}
    assert checked.set_aside == (SetAside("no score was given", 3),)


def test_ranks_are_answers_and_places_without_one_are_told() -> None:
    checked = check(rankings([("a", "1", {"x": 1, "y": 2, "z": None}), ("a", "2", {"x": 2, "y": 1, "z": 3})]))
    assert checked.annotators[0].judgments == 5
    assert checked.set_aside == (SetAside("no rank was given", 1),)


def test_post_edits_are_judgments_without_a_score() -> None:
    edits = scores([("a", "1", "x", None), ("a", "2", "x", None)], protocol="postedit")
    checked = check(edits)
    assert checked.annotators[0].judgments == 2
    assert checked.set_aside == ()


def test_a_post_edit_that_was_taken_back_is_no_judgment() -> None:
    edits = scores([("a", "1", "x", None), ("a", "2", "x", None), ("a", "3", "x", None)], protocol="postedit")
    actions = pl.Series("action", ["EDIT", None, "N/A"])
    checked = check(replace(edits, table=edits.table.with_columns(actions)))
    assert checked.annotators[0].judgments == 2
    assert checked.set_aside == (SetAside("no post-edit was given", 1),)


def test_a_table_without_any_answer_is_refused_as_such() -> None:
    with pytest.raises(DataError, match="no row holds a score or rank"):
        check(scores([("a", "1", "x", None), ("b", "1", "x", None)]))


def test_blank_work_may_be_rejected_all_the_same() -> None:
    rows = [*ATTENTIVE, ("good", "t2", "9", "system", None)]
    rejected: list[object] = [row[4] is None for row in rows]
    assert "some work was rejected" in by_name(campaign(rows, rejected=rejected))["good"].reasons  # type: ignore[arg-type]


def calibrated(shifts: list[float], rng: np.random.Generator) -> Judgments:
    """40 calibration and 40 other items by each person; the others stand `shift` above, noise has sd 10."""
    rows = [
        (f"p{who}", "t", f"{kind}{i}", kind, float(50 + strict + shift * (kind == "system") + rng.normal(0, 10)))
        for who, shift in enumerate(shifts)
        for strict in (rng.normal(0, 15),)
        for kind in ("calibration", "system")
        for i in range(40)
    ]
    return campaign(rows)


def test_calibration_items_that_stand_alike_for_everybody_are_told_from_others() -> None:
    """By simulation: with the same shift p is uniform; with shifts that differ (sd 6) it is small."""
    rng = np.random.default_rng(3)
    same = [check(calibrated([8.0] * 10, rng)).calibration for _ in range(100)]
    p = np.array([one.p for one in same if one])
    assert len(p) == 100
    assert 0.0 <= (p < 0.05).mean() <= 0.12
    assert np.mean([one.difference for one in same if one]) == pytest.approx(8, abs=0.5)
    apart = check(calibrated(list(rng.normal(8, 6, 10)), rng)).calibration
    assert apart is not None
    assert apart.p < 0.01
    assert apart.spread > 2
    assert any(table.title == "Calibration items beside others" for table in check(calibrated([0, 0, 9], rng)).tables())


def test_without_calibration_items_there_is_no_mismatch() -> None:
    assert check(campaign(ATTENTIVE)).calibration is None


def test_who_favours_the_own_system_is_shown() -> None:
    """By construction: three builders give their own system 10 points more, one gives nothing; noise has sd 8."""
    rng = np.random.default_rng(8)
    gifts = {"p0": ("a", 10.0), "p1": ("b", 10.0), "p2": ("a", 10.0), "p3": ("c", 0.0), "p4": (None, 0.0)}
    level = {"a": 50.0, "b": 55.0, "c": 60.0}
    rows = [
        {"annotator": who, "segment": str(i), "system": name, "own_system": built,
         "score": level[name] + gift * (name == built) + float(rng.normal(0, 8))}
        for who, (built, gift) in gifts.items() for i in range(60) for name in level
    ]  # fmt: skip
    own = {one.annotator: one for one in check(adjudge.read(pl.DataFrame(rows))).own_systems}
    assert sorted(own) == ["p0", "p1", "p2", "p3"]
    assert all(own[who].interval[0] < gifts[who][1] < own[who].interval[1] for who in own)
    assert max(own[who].p for who in ("p0", "p1", "p2")) < 0.001
    assert own["p3"].p > 0.01


def test_who_lets_the_own_system_win_is_shown_in_rankings() -> None:
    """A builder ranks the own system first on every screen, others at random: its share of wins is 1 against 1/2."""
    rng = np.random.default_rng(2)
    rows = []
    for who in ("maker", "x", "y", "z"):
        for screen in range(40):
            order = list(rng.permutation(["a", "b", "c"]))
            if who == "maker" and screen % 10:
                order = ["a", *(name for name in order if name != "a")]
            rows += [
                {"annotator": who, "screen": f"{who}{screen}", "segment": str(screen), "system": name,
                 "rank": rank, "own_system": "a" if who == "maker" else None}
                for rank, name in enumerate(order, start=1)
            ]  # fmt: skip
    (own,) = check(adjudge.read(pl.DataFrame(rows))).own_systems
    assert own.annotator == "maker"
    # Own wins .97 or so and others' .5; the rest of the maker's systems lose what the own system wins.
    assert own.advantage == pytest.approx(0.7, abs=0.12)
    assert own.p < 0.001
