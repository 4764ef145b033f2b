"""What judges do to the ranking, and whether they know people's answers: by hand, and on simulated campaigns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student

from adjudge.evidence.audit import audit
from adjudge.judges.alternative import JudgeReport, Judges
from adjudge.judges.answers import Answers, score_answers
from adjudge.judges.effect import effect_on_ranking, likenesses
from adjudge.table.judgments import Judgments
from adjudge.table.participants import set_judges_apart
from tests.helpers.judged import campaign


def scored(rows: dict[str, list[list[float]]]) -> Answers:
    """Answers by annotator: a list of scores per system, all on the same segments in documents of two."""
    table = [
        (name, f"d{i // 2}", str(i), f"s{system}", "da", score)
        for name, systems in rows.items()
        for system, scores in enumerate(systems)
        for i, score in enumerate(scores)
    ]
    names = ["annotator", "document", "segment", "system", "protocol", "score"]
    judgments = Judgments.from_columns(pl.DataFrame(table, schema=names, orient="row"))
    return score_answers(set_judges_apart(judgments), None)


def alternating(mean: float, count: int = 20) -> list[float]:
    return [mean + (10 if i % 2 else -10) for i in range(count)]


def test_a_change_is_measured_by_how_far_people_differ() -> None:
    """Three people with differences of 2, 3 and 4 points; the judge has -6, on the scale of each."""
    rows = {f"p{n}": [alternating(70 + d), alternating(70)] for n, d in enumerate((2.0, 3.0, 4.0))}
    answers = scored({**rows, "judge:m": [alternating(64), alternating(70)]})
    found = effect_on_ranking(answers, answers.judges["m"])
    assert found is not None
    [changed] = found.changed
    own = np.array([2.0, 3.0, 4.0])
    # Scores of two systems d apart that alternate by 10 have a standard deviation of sqrt(100 + d^2 / 4).
    by_judge = -6 * np.sqrt((100 + own**2 / 4) / (100 + 36 / 4))
    assert changed.by_people == pytest.approx(3.0)
    assert changed.by_judge == pytest.approx(by_judge.mean())
    # One more person would be off by 1 + 1/3 of the people's variance, 1, with two degrees of freedom.
    expected = 2 * student.sf(abs((by_judge - own).mean()) / np.sqrt(4 / 3), 2)
    assert changed.p == pytest.approx(expected)
    assert changed.reversed
    assert (found.tau, found.person_tau, found.pairs) == (-1.0, 1.0, 1)
    # Of three people, one of whom is replaced, the mean is (3 + 4 - 5.8) / 3 > 0 and so on: the order stays.
    assert found.moved == 0


def test_the_judge_of_the_same_order_changes_nothing() -> None:
    rows = {f"p{n}": [alternating(70 + d), alternating(70)] for n, d in enumerate((2.0, 3.0, 4.0))}
    answers = scored({**rows, "judge:m": [alternating(73.5), alternating(70)]})
    found = effect_on_ranking(answers, answers.judges["m"])
    assert found is not None
    assert found.changed == ()
    assert found.tau == 1.0


def test_one_person_says_nothing_of_how_far_people_differ() -> None:
    answers = scored({"p": [alternating(72), alternating(70)], "judge:m": [alternating(60), alternating(70)]})
    assert effect_on_ranking(answers, answers.judges["m"]) is None
    assert likenesses(answers, answers.judges["m"]) == ()


def thin(annotators: int = 9) -> pl.DataFrame:
    """Everybody judges three systems on five documents of their own choice: too few to compare a judge with them."""
    rng = np.random.default_rng(3)
    rows = [
        (f"p{a}", f"d{d}", f"{d}-{i}", system, "da", round(60 + 8 * place + rng.normal(0, 6), 1))
        for a in range(annotators)
        for d in rng.choice(20, 5, replace=False)
        for i in range(3)
        for place, system in enumerate("CBA")
    ]
    names = ["annotator", "document", "segment", "system", "protocol", "score"]
    return pl.DataFrame(rows, schema=names, orient="row")


@pytest.mark.parametrize("people", [1, 9])
def test_a_copy_of_one_person_is_found_where_nobody_can_be_compared(people: int) -> None:
    table = thin(people)
    copied = table.filter(annotator="p0").with_columns(annotator=pl.lit("judge:m"))
    report = reports(set_judges_apart(Judgments.from_columns(pl.concat([table, copied]))))
    assert (report.outcome, report.winning_rate) == ("failed", None)
    assert report.verdict.startswith(
        "may not stand in for a person like those who judged: its answers are a copy of p0"
    )


def test_a_judge_that_turns_the_ranking_around_fails_where_nobody_can_be_compared() -> None:
    table = thin()
    turned = table.unique(["segment", "system"]).with_columns(annotator=pl.lit("judge:m"), score=130 - pl.col("score"))
    report = reports(set_judges_apart(Judgments.from_columns(pl.concat([table, turned]))))
    assert (report.outcome, report.winning_rate) == ("failed", None)
    assert report.ranking is not None
    assert report.ranking.tau == -1.0
    assert "it changes 3 of 3 differences between systems by more than people differ, 3 of them turned around" in (
        report.verdict
    )
    honest = table.unique(["segment", "system"]).with_columns(annotator=pl.lit("judge:m"), score=pl.col("score") + 3.3)
    alike = reports(set_judges_apart(Judgments.from_columns(pl.concat([table, honest]))))
    assert alike.verdict.startswith("cannot be told from ")


def reports(judgments: Judgments) -> JudgeReport:
    section = audit(judgments, only=("judges",)).sections["judges"]
    assert isinstance(section, Judges)
    return section.judges[0]


def turned(score: np.ndarray) -> np.ndarray:
    """A judge that agrees item by item within systems, and sees one system far higher and another far lower."""
    score = score.copy()
    score[..., 0] += 14
    score[..., 1] -= 14
    return score


@pytest.mark.slow
def test_a_judge_that_turns_the_ranking_around_does_not_stand_in() -> None:
    """Where people see a small difference, the judge is refused; item by item alone, some would pass."""
    close, by_items = 0, 0
    for seed in range(12):
        report = reports(campaign(np.random.default_rng(seed), documents=60, systems=3, change=turned))
        assert report.ranking is not None
        assert report.winning_rate is not None
        worst = next(iter(report.ranking.changed), None)
        if worst is not None and report.winning_rate >= 0.5:
            by_items += 1
            assert "differences between systems by more than people differ" in report.verdict
            assert f"{worst.first} - {worst.second}" in report.verdict
        if worst is not None:
            close += 1
            assert not report.passed
    assert close >= 8
    assert by_items >= 1


@pytest.mark.slow
def test_another_person_rarely_fails_by_the_ranking() -> None:
    """At most 5% by the test; more than 5 of 40 happen once in 200 runs then."""
    failed = 0
    for seed in range(40):
        answers = score_answers(campaign(np.random.default_rng(seed), people=3, documents=40), None)
        found = effect_on_ranking(answers, answers.judges["model"])
        assert found is not None
        failed += bool(found.changed)
        assert not likenesses(answers, answers.judges["model"])
    assert failed <= 5


@pytest.mark.parametrize(("share", "kind"), [(1.0, "copy"), (0.7, "primed")])
def test_copies_and_primed_judges_are_named(share: float, kind: str) -> None:
    answers = score_answers(campaign(np.random.default_rng(3), documents=40), None)
    first = np.full(answers.items.height, np.nan)
    mine = answers.person == 0
    first[answers.item[mine]] = answers.value[mine]
    known = share * first + (1 - share) * answers.judges["model"]
    [found] = likenesses(answers, known)
    assert (found.annotator, found.kind) == ("p0", kind)
    assert found.correlation > found.bound


def test_a_copy_is_said_to_be_one() -> None:
    judgments = campaign(np.random.default_rng(3), documents=30)
    copy = judgments.table.filter(pl.col("annotator") == "p2").with_columns(annotator=pl.lit("judge:model"))
    report = reports(set_judges_apart(Judgments(pl.concat([judgments.table, copy]))))
    assert not report.passed
    assert "its answers are a copy of p2's (100% the same" in report.verdict
    assert [one.annotator for one in report.likenesses] == ["p2"]
