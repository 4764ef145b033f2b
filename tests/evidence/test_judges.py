"""May a machine judge stand in for a person: the alternative annotator test, against a slow one and by simulation."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl
import pytest
from scipy import stats

from adjudge.evidence.audit import AuditSettings, audit
from adjudge.judges.alternative import (
    FEWEST_SHARED,
    LeftOut,
    LeftOutJudge,
    benjamini_yekutieli,
    compare_with_people,
    compare_with_person,
    deciding_p,
    left_out,
    matched,
    standardised,
)
from adjudge.judges.answers import comparison_answers, score_answers
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments
from adjudge.table.participants import set_judges_apart
from adjudge.table.rng import generator
from tests.helpers.judged import NOISE, campaign

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.judges.alternative import JudgeReport, Judges, Scale

Scores = dict[str, dict[tuple[str, str], float]]
"""By annotator, the score of every (segment, system)."""


def judges_of(judgments: Judgments, **settings: object) -> Judges:
    chosen = AuditSettings(**settings)  # type: ignore[arg-type]
    return cast("Judges", audit(judgments, only=["judges"], settings=chosen).sections["judges"])


def report_of(judgments: Judgments, **settings: object) -> JudgeReport:
    (report,) = judges_of(judgments, **settings).judges
    return report


# A slow version of the test, written from its description alone.


def slow_z(scores: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    values = list(scores.values())
    mean = sum(values) / len(values)
    sd = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return {item: (value - mean) / sd if sd > 1e-9 else 0.0 for item, value in scores.items()}


def slow_differences(people: Scores, judge: dict[tuple[str, str], float], left: str, scale: str) -> dict[object, int]:
    """1 where the person is closer to the others, -1 where the judge is."""
    mine = {item: score for item, score in people[left].items() if item in judge}
    others = {
        name: {item: score for item, score in scores.items() if item in mine}
        for name, scores in people.items()
        if name != left
    }
    others = {name: scores for name, scores in others.items() if len(scores) >= FEWEST_SHARED}
    items = [item for item in mine if any(item in scores for scores in others.values())]
    own, machine = {item: mine[item] for item in items}, {item: judge[item] for item in items}
    if scale == "z":
        own, machine = slow_z(own), slow_z(machine)
        others = {name: slow_z(scores) for name, scores in others.items()}
    found: dict[object, int] = {}
    for item in items:
        known = [scores[item] for scores in others.values() if item in scores]
        rmse = [sqrt(sum((x[item] - y) ** 2 for y in known) / len(known)) for x in (own, machine)]
        found[item] = 0 if abs(rmse[1] ** 2 - rmse[0] ** 2) < 1e-9 else (1 if rmse[0] < rmse[1] else -1)
    return found


def random_scores(seed: int) -> tuple[Scores, dict[tuple[str, str], float]]:
    """Some of the outputs scored by each of four people and by a judge, on a coarse scale with many ties."""
    rng = np.random.default_rng(seed)
    items = [(f"g{number:02d}", f"s{system}") for number in range(40) for system in range(3)]
    scores = {
        name: {item: float(rng.integers(0, 6)) for item in items if rng.random() < share}
        for name, share in (("a", 0.9), ("b", 0.7), ("c", 0.5), ("d", 0.08), ("judge:m", 0.8))
    }
    return {name: scores[name] for name in "abcd"}, scores["judge:m"]


def table_of(people: Scores, judge: dict[tuple[str, str], float]) -> Judgments:
    rows = [
        (name, segment, system, "da", score)
        for name, scores in {**people, "judge:m": judge}.items()
        for (segment, system), score in scores.items()
    ]
    frame = pl.DataFrame(rows, schema=["annotator", "segment", "system", "protocol", "score"], orient="row")
    return set_judges_apart(Judgments.from_columns(frame.sample(fraction=1, shuffle=True, seed=1)))


@pytest.mark.parametrize("scale", ["raw", "z"])
@pytest.mark.parametrize("seed", range(8))
def test_differences_of_scores_are_those_of_the_slow_version(seed: int, scale: Scale) -> None:
    people, judge = random_scores(seed)
    answers = score_answers(table_of(people, judge), None)
    compared = left_out(answers, answers.judges["m"], scale, generator(1))
    assert {one.person.name for one in compared} == {"a", "b", "c"}
    for one in compared:
        slow = slow_differences(people, judge, one.person.name, scale)
        items = answers.items.rows(named=True)
        fast = {
            (items[place]["key"], items[place]["system"]): difference
            for place, difference in zip(one.person.item, one.person.differences(one.judge), strict=True)
        }
        assert fast == slow


@pytest.mark.parametrize("seed", range(4))
def test_differences_of_comparisons_are_those_of_the_slow_version(seed: int) -> None:
    """Whoever gives the answer that more of the others gave is closer."""
    rng = np.random.default_rng(seed)
    ranks = {
        (name, segment): rng.integers(1, 4, 4)
        for name in ("a", "b", "c", "judge:m")
        for segment in range(25)
        if rng.random() < 0.8
    }
    rows = [
        (name, str(segment), f"{name}{segment}", f"s{system}", "ranking", int(rank))
        for (name, segment), given in ranks.items()
        for system, rank in enumerate(given)
    ]
    columns = ["annotator", "segment", "screen", "system", "protocol", "rank"]
    judgments = set_judges_apart(Judgments.from_columns(pl.DataFrame(rows, schema=columns, orient="row")))
    answers = comparison_answers(judgments, None)
    said = {
        (name, segment, first, second): int(np.sign(given[second] - given[first]))
        for (name, segment), given in ranks.items()
        for first, second in combinations(range(4), 2)
    }
    compared = left_out(answers, answers.judges["m"], "raw", generator(1))
    assert len(compared) == 3
    for one in compared:
        fast = one.person.differences(one.judge)
        for place, difference in zip(one.person.item.tolist(), fast, strict=True):
            key, first, second = (answers.items[place, column] for column in ("key", "first", "second"))
            where = (int(key), int(first[1:]), int(second[1:]))
            others = [said[name, *where] for name in "abc" if name != one.person.name and (name, *where) in said]
            agreeing = [others.count(said[name, *where]) for name in (one.person.name, "judge:m")]
            assert difference == np.sign(agreeing[0] - agreeing[1])


def test_the_test_of_one_person_is_students_t_on_sums_of_documents() -> None:
    rng = np.random.default_rng(3)
    cluster = rng.integers(0, 12, 200)
    differences = rng.choice([-1.0, 0.0, 1.0], 200, p=[0.4, 0.2, 0.4])
    test = compare_with_person("a", differences, cluster, 0.15)
    sums = [(differences[cluster == number] - differences.mean()).sum() for number in range(12)]
    se = sqrt(sum(value**2 for value in sums) / 200**2 * 12 / 11)
    assert test.p == pytest.approx(stats.t.sf((0.15 - differences.mean()) / se, 11))
    assert test.interval == pytest.approx(stats.t.interval(0.95, 11, differences.mean(), se))
    assert test.judge_as_close == pytest.approx((differences <= 0).mean())


def test_one_item_per_cluster_is_the_usual_t_test() -> None:
    """The paper's test, as scipy computes it, where items are independent."""
    differences = np.random.default_rng(4).choice([-1.0, 0.0, 1.0], 120)
    test = compare_with_person("a", differences, np.arange(120), 0.1)
    assert test.p == pytest.approx(stats.ttest_1samp(differences, 0.1, alternative="less").pvalue)


def test_corrected_p_values_are_those_of_scipy() -> None:
    p = np.random.default_rng(5).uniform(0, 0.2, 7)
    assert benjamini_yekutieli(p) == pytest.approx(stats.false_discovery_control(p, method="by"))


@pytest.mark.parametrize(("adjusted", "decides"), [([0.01, 0.5], 0.01), ([0.04, 0.2, 0.03], 0.04), ([0.6], 0.6)])
def test_half_of_the_people_decide(adjusted: list[float], decides: float) -> None:
    assert deciding_p(adjusted) == decides


def test_matched_scores_are_those_of_the_person_in_the_order_of_the_judge() -> None:
    judge, person = np.array([0.3, 0.1, 0.2, 0.9]), np.array([50.0, 10.0, 90.0, 70.0])
    assert matched(judge, person, generator(1)).tolist() == [70, 10, 50, 90]
    # What a judge does not tell apart is ordered at random: it has the person's scores, and no knowledge.
    equal = matched(np.zeros(1000), np.arange(1000.0), generator(1))
    assert sorted(equal) == list(range(1000))
    assert abs(stats.spearmanr(equal, np.arange(1000)).statistic) < 0.1


def test_a_judge_that_copies_a_person_equals_that_person_and_no_more() -> None:
    """By hand: against the person that it copies, every difference is 0."""
    people, _ = random_scores(1)
    people = {name: scores for name, scores in people.items() if name != "d"}
    answers = score_answers(table_of(people, dict(people["a"])), None)
    compared = {one.person.name: one for one in left_out(answers, answers.judges["m"], "z", generator(1))}
    assert not compared["a"].person.differences(compared["a"].judge).any()


def test_differences_that_hardly_vary_do_not_pass_by_a_small_error() -> None:
    """3 of 40 items at an allowance of .15: the binomial probability of so few is .13, Student's t says .04."""
    differences = np.array([1.0] * 3 + [0.0] * 37)
    assert stats.ttest_1samp(differences, 0.15, alternative="less").pvalue < 0.05
    assert stats.binom.cdf(3, 40, 0.15) > 0.1
    assert compare_with_person("a", differences, np.arange(40), 0.15).p > 0.08


# What the whole audit says about judges whose nature is known.


def test_another_person_of_the_same_kind_passes_mostly() -> None:
    outcomes = [report_of(campaign(np.random.default_rng(seed), documents=60)).outcome for seed in range(12)]
    assert outcomes.count("passed") >= 10
    assert "failed" not in outcomes[:3]


@pytest.mark.parametrize("who", ["random", "constant", "skewed"])
def test_judges_without_knowledge_never_pass(who: str) -> None:
    reports = [
        report_of(campaign(np.random.default_rng(seed), who=who, documents=60))  # type: ignore[arg-type]
        for seed in range(10)
    ]
    assert not any(report.passed for report in reports)
    assert sum(report.outcome == "failed" for report in reports) >= 8


def test_on_standardised_scores_a_constant_judge_would_pass_but_for_the_shuffled_answers() -> None:
    """Why scores are matched: keeping to the middle is closer to others most of the time."""
    report = report_of(campaign(np.random.default_rng(1), who="constant"), judge_scale="z")
    assert np.mean([person.difference for person in report.people]) < 0.05
    assert report.shuffled == 1 or not report.passed
    assert not report.passed


def test_careless_people_do_not_make_a_random_judge_pass() -> None:
    """Two of six answer at random; the judge equals them, and falls short of the others."""
    reports = [
        report_of(campaign(np.random.default_rng(seed), who="random", people=6, careless=2, documents=60))
        for seed in range(6)
    ]
    assert not any(report.passed for report in reports)


def boundary_noise(people: int, rng: np.random.Generator) -> float:
    """The noise with which a judge falls short of a person by .15, from large samples."""
    low, high = NOISE, 90.0
    for _ in range(12):
        middle = (low + high) / 2
        apart = np.mean([simple_differences(rng, 1500, people, middle)[0].mean() for _ in range(2)])
        low, high = (middle, high) if apart < 0.15 else (low, middle)
    return high


def simple_differences(
    rng: np.random.Generator, documents: int, people: int, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """The differences of one person left out, and their documents."""
    person, judged = simple_person(rng, documents, people, noise)
    return person.differences(judged), person.cluster


def simple_person(rng: np.random.Generator, documents: int, people: int, noise: float) -> tuple[LeftOut, np.ndarray]:
    """One person left out, and a judge whose shortfall depends on its noise alone."""
    shape = (documents, 4, 5)
    truth = np.linspace(-6, 6, 5) + rng.normal(0, 4, (documents, 1, 1)) + rng.normal(0, 6, (documents, 4, 1))
    truth = truth + rng.normal(0, 7, (documents, 1, 5)) + rng.normal(0, 6, shape)

    def scores(sd: float) -> np.ndarray:
        seen = truth + rng.normal(0, 5, (documents, 1, 5)) + rng.normal(0, sd, shape)
        return standardised(np.round(seen).ravel())

    own, *others = (scores(NOISE) for _ in range(people))
    cluster = np.repeat(np.arange(documents), 20)
    yardstick = np.stack(others)
    person = LeftOut("a", np.arange(len(own)), own, cluster, yardstick.mean(0), (yardstick**2).mean(0))
    return person, matched(scores(noise), own, rng)


@pytest.mark.slow
@pytest.mark.parametrize(("documents", "people"), [(8, 5), (30, 5), (12, 2)])
def test_a_judge_at_the_boundary_stands_up_in_at_most_five_percent(documents: int, people: int) -> None:
    """Measured with 1,000 campaigns each: docs/judges.md."""
    rng = np.random.default_rng(documents)
    noise, times = boundary_noise(people, rng), 400
    p = [compare_with_person("a", *simple_differences(rng, documents, people, noise), 0.15).p for _ in range(times)]
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 2.5 * sqrt(0.05 * 0.95 / times)


@pytest.mark.slow
def test_where_people_agree_little_the_allowance_is_half_of_what_shuffled_answers_fall_short_by() -> None:
    """A judge at that boundary, whose noise was found with large samples, stands up in at most 5% of the campaigns."""
    rng, times, p = np.random.default_rng(9), 200, []
    for _ in range(times):
        person, judged = simple_person(rng, 30, 5, 28.25)
        (test,), _ = compare_with_people([LeftOutJudge(person, judged)], 0.99, rng, shuffles=40)
        assert test.allowance == pytest.approx(test.shuffled / 2)
        p.append(test.p)
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 2.5 * sqrt(0.05 * 0.95 / times)


# What cannot be told, and what is refused.


def test_too_few_items_cannot_be_told() -> None:
    report = report_of(campaign(np.random.default_rng(1), documents=7))
    assert (report.outcome, report.passed, report.winning_rate, report.p) == ("open", False, None, None)
    assert "cannot be told from 140 outputs" in report.verdict
    assert "30 outputs of 8 documents" in report.verdict


def test_items_that_are_enough_to_test_but_not_to_tell_say_how_many_are_needed() -> None:
    reports = [
        report_of(campaign(np.random.default_rng(seed), documents=10, segments=2, people=3)) for seed in range(6)
    ]
    still_open = [report for report in reports if report.outcome == "open"]
    assert still_open
    assert all("items per person; about" in report.verdict for report in still_open)


def test_people_who_do_not_tell_outputs_apart_are_not_asked_for_more() -> None:
    """No number of items would be enough."""
    judgments = campaign(np.random.default_rng(1))
    alike = Judgments(judgments.table.with_columns(score=pl.lit(50.0)), machine=judgments.machine)
    report = report_of(alike)
    assert report.outcome == "open"
    assert report.verdict == (
        "cannot be told: people agree no more with each other than with answers shuffled among the items"
    )


def test_answers_that_a_judge_does_not_have_are_counted() -> None:
    judgments = campaign(np.random.default_rng(1), documents=10)
    assert judgments.machine is not None
    assert judges_of(judgments).notes == ()
    some = Judgments(judgments.table, machine=judgments.machine.head(180))
    assert judges_of(some).notes == (
        "model has no answer to 20 of the 200 outputs that people judged; they do not count",
    )


def test_one_person_alone_cannot_be_told() -> None:
    assert "cannot be told" in report_of(campaign(np.random.default_rng(1), people=1)).verdict


def test_without_documents_segments_are_what_items_share() -> None:
    judgments = campaign(np.random.default_rng(1))
    assert judgments.machine is not None
    plain = Judgments(
        judgments.table.with_columns(document=pl.lit(None, pl.String)),
        machine=judgments.machine.with_columns(document=pl.lit(None, pl.String)),
    )
    section = judges_of(plain)
    assert section.clusters == "segment"
    assert section.judges[0].people[0].clusters == 120


def test_without_judges_the_section_is_left_out_or_refused() -> None:
    judgments = campaign(np.random.default_rng(1))
    people = Judgments(judgments.table)
    with pytest.raises(DataError, match="no machine judge is among the annotators; name some with 'judges'"):
        audit(people, only=["judges"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"judge_allowance": 1.5}, "'judge_allowance' is 1.5"),
        ({"judge_scale": "log"}, "unknown scale for 'judge_scale' 'log'"),
        ({"judge_families": ("model",)}, "write JUDGE=PATTERN"),
        ({"judge_families": ("other=x",)}, "unknown judge for 'judge_family' 'other'"),
        ({"judge_families": ("model=(",)}, "no regular expression"),
        ({"judge_families": ("model=nobody",)}, "no system match"),
    ],
)
def test_wrong_settings_are_explained(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        report_of(campaign(np.random.default_rng(1), documents=10), **settings)


def test_the_same_seed_gives_the_same_report() -> None:
    judgments = campaign(np.random.default_rng(2))
    assert judges_of(judgments, seed=3) == judges_of(judgments, seed=3)
