"""Plans: precision agrees with theory and simulation, the smallest campaign is found, a note says if none suffices."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.metrics.gold import GoldSettings, gold
from adjudge.mixed.design import design_from
from adjudge.mixed.fit import fit
from adjudge.planning.plan import plan
from adjudge.planning.search import Precision, make_layout, measure, mixed_design, pilot_variances
from adjudge.planning.settings import EFFECTS, PlanSettings, Variances, plan_gold, variances_like
from adjudge.planning.simulate import simulate
from adjudge.planning.simulated_scores import ScoreCampaign
from adjudge.reports.charts import draw_plan
from adjudge.table.errors import UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import Run, assert_explained

SMALL = PlanSettings(systems=4, difference=16, annotators=5, documents=24, segments=5, task_size=50, draws=0)


def variances(**sd: float) -> Variances:
    return Variances({**dict.fromkeys(EFFECTS, 0.0), **sd})


@pytest.mark.parametrize("structure", ["mixed", "all-systems", "pages", "pages-all-systems"])
def test_with_residuals_only_the_standard_error_is_that_of_two_means(structure: str) -> None:
    precision = measure(make_layout(SMALL, structure, 120), SMALL, variances(residual=10.0), 1)
    # Two means of 120 scores each: 10 * sqrt(2 / 120).
    np.testing.assert_allclose(precision.se, 10 * np.sqrt(2 / 120), rtol=1e-4)


def test_with_pages_the_effects_of_documents_add_up() -> None:
    sd = variances(residual=10.0, **{"system:document": 4.0, "page": 3.0})
    precision = measure(make_layout(SMALL, "pages", 120), SMALL, sd, 1)
    # 24 documents of five segments, each by every system on one page: all effects of a page are shared by five scores.
    expected = np.sqrt(2 * (100 / 120 + (16 + 9) / 24))
    np.testing.assert_allclose(precision.se, expected, rtol=1e-4)
    twice = measure(make_layout(SMALL, "pages", 120), SMALL, sd, 2)
    # Two people see each document, so that pages halve and the system's own luck with a document does not.
    np.testing.assert_allclose(twice.se, np.sqrt(2 * (100 / 240 + 16 / 24 + 9 / 48)), rtol=1e-4)


def test_leniency_does_not_matter_where_everybody_judges_all_systems_alike() -> None:
    layout = make_layout(SMALL, "all-systems", 120)
    plain = measure(layout, SMALL, variances(residual=10.0), 1)
    lenient = measure(layout, SMALL, variances(residual=10.0, annotator=30.0, task=10.0, segment=20.0), 1)
    np.testing.assert_allclose(lenient.se, plain.se, rtol=1e-3)


@pytest.mark.slow
def test_precision_is_what_repeated_campaigns_show() -> None:
    """The slow way: scores drawn 200 times, systems compared by generalised least squares each time."""
    from adjudge.mixed.fit import refit

    layout = make_layout(SMALL, "pages", 60)
    assumed = Variances()
    rows = layout.rows(5, 1)
    rng = np.random.default_rng(1)
    sd = assumed.sd
    shape = mixed_design(rows, 4, rng.standard_normal(len(rows["system"])))
    assert shape.page is not None
    cell = rows["document"] * 4 + rows["system"]
    drawn: list[float] = []
    for _ in range(200):
        score = rng.normal(0, sd["residual"], len(cell))
        for name, codes in (
            ("annotator", rows["annotator"]), ("task", rows["task"]), ("document", rows["document"]),
            ("segment", rows["segment"]), ("system:document", cell), ("page", shape.page),
            ("annotator:system", rows["annotator"] * 4 + rows["system"]),
        ):  # fmt: skip
            score += rng.normal(0, sd[name], int(codes.max()) + 1)[codes]
        effects = refit(shape.with_scores(score), assumed.ratios).effects
        drawn.append(float(effects[0] - effects[1]))
    assert float(np.std(drawn)) == pytest.approx(measure(layout, SMALL, assumed, 1).se[0], rel=0.15)


def test_power_and_detectable_difference_belong_together() -> None:
    precision = Precision(np.full(6, 1.5), np.full(6, 50.0))
    difference = precision.detectable(0.8, 0.05 / 6)
    assert precision.power(difference, 0.05 / 6) == pytest.approx(0.8, abs=1e-9)
    # Without a difference, a one-sided half of the level is all that is found.
    assert precision.power(0, 0.05) == pytest.approx(0.025)


@pytest.mark.slow
def test_the_least_work_is_found_and_recommended() -> None:
    result = plan(SMALL)
    assert {choice.point.structure for choice in result.choices} == {
        "mixed",
        "all-systems",
        "pages",
        "pages-all-systems",
    }
    best = result.recommended
    assert best is not None
    enough = [choice.point.judgments for choice in result.choices if choice.suffices]
    assert best.point.judgments == min(enough)
    assert best.point.power >= 0.8
    larger = [p for p in result.curve if (p.structure, p.judgments_per_item) == ("mixed", 1)]
    assert [p.se for p in larger] == sorted((p.se for p in larger), reverse=True)


@pytest.mark.slow
def test_looks_on_the_way_save_judgments() -> None:
    planned = plan(PlanSettings(systems=3, difference=8.0, documents=60, draws=0, structures=("pages",), per_item=(1,)))
    assert planned.recommended is not None
    fixed = planned.recommended.point.judgments
    five = next(row for row in planned.looks if (row.looks, row.spending) == (5, "kim-demets"))
    assert fixed < five.largest < 1.05 * fixed
    assert five.expected_larger < five.expected < 0.85 * fixed
    assert any(table.title == "With looks on the way" for table in planned.tables())


def test_a_question_beyond_reach_is_told() -> None:
    hopeless = replace(SMALL, difference=0.5, structures=("mixed",), per_item=(1,))
    result = plan(hopeless)
    assert plan(hopeless).to_dict() == result.to_dict(), "the same question has the same answer"
    assert result.recommended is None
    assert any("no design finds 0.5 points" in note for note in result.notes)


@pytest.mark.slow
def test_the_recommended_design_is_simulated() -> None:
    result = plan(replace(SMALL, draws=6, structures=("mixed",), per_item=(1,)))
    assert result.checked is not None
    assert result.checked.draws == 6
    assert result.checked.found is not None
    assert 0.4 <= result.checked.found <= 1
    assert len(result.tables()) == 8


def test_the_spread_may_be_taken_from_judgments() -> None:
    truth = ScoreCampaign(systems=5, humans=0, tasks=30, documents=20, controls=0.0, ends=False, scale=0.0)
    spread = variances_like(fit(design_from(simulate(truth, seed=2).judgments, model="mixed-points")))
    assert spread.fitted
    assert spread.sd["residual"] == pytest.approx(truth.residual, rel=0.1)
    assert spread.sd["segment"] == pytest.approx(truth.segment_effect, rel=0.35)


def test_what_annotators_of_one_output_share_is_not_lost_to_a_plan() -> None:
    """All scatter beyond systems stays in the plan, whether or not the pilot names its documents."""
    truth = ScoreCampaign(systems=3, humans=0, tasks=12, task_size=30, documents=6, segments=4, controls=0.0)
    table = simulate(truth, seed=2).judgments.table.with_columns(
        document=pl.lit(None, pl.String), segment=pl.col("document") + pl.col("segment"), screen=pl.lit(None, pl.String)
    )
    model = fit(design_from(Judgments(table), model="mixed-points"))
    variance = {part.effect: part.sd**2 for part in model.components}
    assert variance["system:segment"] > 1
    assert sum(sd**2 for sd in variances_like(model).sd.values()) == pytest.approx(sum(variance.values()))


@pytest.mark.slow
def test_a_plan_for_one_person_is_about_that_person() -> None:
    """It may suffice, so no note may say that it cannot."""
    result = plan(replace(SMALL, annotators=1, difference=50, structures=("mixed",), per_item=(1,)))
    assert result.recommended is not None
    assert [note.split(":")[0] for note in result.notes] == ["one annotator only"]
    assert "1 annotator, 6 comparisons" in result.tables()[0].note


def test_a_plan_says_where_tasks_do_not_reach_everybody() -> None:
    result = plan(replace(SMALL, documents=2, task_size=100, systems=2, structures=("pages",), per_item=(1,)))
    assert any("has 1 task, so only 1 of 5 annotators judges; lower --task-size" in note for note in result.notes)


def test_tastes_average_out_over_people_only() -> None:
    """All else without spread: 2 taste^2 / people, whatever the number of judgments."""
    sd = variances(residual=0.01, **{"annotator:system": 3.0})
    for segments in (60, 120):
        precision = measure(make_layout(SMALL, "all-systems", segments), SMALL, sd, 1)
        np.testing.assert_allclose(precision.se, np.sqrt(2 * 9 / 5), rtol=0.02)
        # (people - 1)(systems - 1) degrees of freedom.
        assert (precision.df <= 12).all()


@pytest.mark.slow
def test_people_are_told_apart_from_judgments() -> None:
    question = replace(SMALL, structures=("all-systems",), per_item=(1,), task_size=8)
    result = plan(question, variances=variances(residual=8.0, **{"annotator:system": 4.0}))
    as_it_is, more_people, more_judgments = result.people
    assert (more_people.annotators, more_people.judgments) == (10, as_it_is.judgments)
    assert (more_judgments.annotators, more_judgments.judgments) == (5, 2 * as_it_is.judgments)
    assert more_people.detectable < more_judgments.detectable < as_it_is.detectable
    assert any("more people gain more than more judgments per person" in note for note in result.notes)


def test_too_few_people_are_told_however_much_they_judge() -> None:
    result = plan(replace(SMALL, difference=2.0, structures=("mixed",), per_item=(1,)))
    assert result.recommended is None
    assert any("people cannot find 2 points, however much each of them judges" in note for note in result.notes)


@pytest.mark.slow
def test_a_pilot_says_how_little_it_knows() -> None:
    """A quarter of the work knows less: the interval of the size needed is wider, and holds 1."""
    widths = []
    for tasks in (40, 10):
        truth = ScoreCampaign(
            systems=4, humans=0, annotators=8, tasks=tasks, task_size=40, documents=20, controls=0.0, ends=False,
            scale=0.0, taste=3.0,
        )  # fmt: skip
        known = pilot_variances(design_from(simulate(truth, seed=4).judgments), pilots=12)
        assert len(known.resampled) == 12
        result = plan(replace(SMALL, structures=("mixed",), per_item=(1,)), variances=known)
        assert result.pilot is not None
        low, high = result.pilot.times
        assert low < 1.2
        assert high > 0.8
        assert any("the size needed is known roughly" in note for note in result.notes)
        widths.append(np.log(high / low))
    assert widths[0] < widths[1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"systems": 1}, "'systems' is 1"),
        ({"power": 1.0}, "'power' is 1"),
        ({"difference": 0.0}, "'difference' is 0"),
        ({"controls": 0.95}, "'controls' is 0.95"),
        ({"structures": ("page",)}, "did you mean 'pages'"),
    ],
)
def test_wrong_questions_are_explained(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace(SMALL, **wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_command_prints_json_and_draws(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    chart = tmp_path / "plan.svg"
    small = "--systems 3 --difference 8 --documents 12 --segments 4 --task-size 24 --annotators 4 --draws 0"
    run = adjudge("plan", *small.split(), "--structures", "mixed,pages", "--plot", chart, "--json")
    answer = run.json
    assert {"choices", "curve", "spread", "checked", "difference", "power"} <= answer.keys()
    assert answer["choices"][0]["point"]["judgments"] > 0
    assert chart.read_text(encoding="utf-8").startswith("<svg")
    assert_explained(adjudge("plan", "--per-item", "two"), code=2, names=("--per-item", "two"))


def test_the_numbers_of_judgments_stand_apart_in_the_chart() -> None:
    """On the logarithmic axis from 2,000 to 40,000, '6,000' and '7,000' would touch."""
    design = SimpleNamespace(structure="mixed", judgments_per_item=1, detectable=5.0, power=0.5)
    curve = [SimpleNamespace(**vars(design), judgments=judgments) for judgments in (2_490, 40_000)]
    drawn: Any = SimpleNamespace(curve=curve, power=0.8, difference=3.0)
    labels = re.findall(r"<text[^>]*>([0-9]+,000)</text>", draw_plan(drawn).to_svg())
    assert "5,000" in labels
    assert not {"6,000", "7,000"} <= set(labels)


class EnoughToldError(Exception):
    """What follows was told before, and takes long."""


def test_what_is_done_with_a_pilot_is_told() -> None:
    pilot = simulate(ScoreCampaign(systems=3, annotators=4, documents=4, tasks=8, task_size=30), seed=1).judgments
    messages: list[str] = []

    def tell(what: str) -> None:
        messages.append(what)
        if what == "trying designs":
            raise EnoughToldError

    with pytest.raises(EnoughToldError):
        adjudge.plan(systems=3, like=lambda: pilot, draws=0, progress=tell)
    assert messages[0] == "reading the judgments whose spread is assumed"
    assert messages[1].startswith("estimating the spread of ")
    assert messages[2:8] == [f"drawing judgments like them, {done} of 24 times done" for done in range(0, 24, 4)]
    assert messages[8] == "trying designs"


def test_a_judgment_is_an_output_judged_by_a_person_in_plan_and_design() -> None:
    """Controls are counted apart, in the choices and in the table of people alike, as `design` counts them."""
    from adjudge.campaigns.campaign_file import Campaign, Controls, Design, Files, Languages, TextFile
    from adjudge.campaigns.design import design
    from adjudge.campaigns.design_report import measure_balance
    from adjudge.table.texts import SourceSegment, TestSet

    # Pages of 5 segments leave room in tasks of 40: 8 pages each, and 10 controls, so that no task is full by chance.
    asked = replace(SMALL, difference=0.5, structures=("pages",), per_item=(1,), systems=3)
    point = plan(asked).choices[0].point
    as_it_is = plan(asked).people[0]
    assert (point.judgments, point.controls) == (as_it_is.judgments, as_it_is.controls) == (24 * 5 * 3, 9 * 10)
    lines = range(24 * 5)
    texts = TestSet(
        tuple(SourceSegment(str(i // 5), str(i), "x") for i in lines), {"ref": tuple(f"a{i} b c" for i in lines)},
        {name: tuple(f"{name} {i}" for i in lines) for name in "ABC"},
    )  # fmt: skip
    nowhere = TextFile(file=Path("nowhere"))
    campaign = Campaign(
        name="same", protocol="da", seed=1, languages=Languages(source="und", target="und"),
        files=Files(source=nowhere, systems=dict.fromkeys("ABC", nowhere)),
        design=Design(structure="pages-same-documents", task_size=50, annotators=5), controls=Controls(repeats=10),
    )  # fmt: skip
    report = measure_balance(design(campaign, texts), campaign, texts)
    assert (report.judgments, report.control_judgments) == (point.judgments, point.controls)


def test_a_plan_that_hands_work_to_whole_units_knows_how_many_tasks_they_need() -> None:
    """Segments by 7 systems stay whole: 5 fit into the 40 items of a task, so 120 segments are 24 tasks, not 21."""
    layout = make_layout(replace(SMALL, systems=7), "all-systems", 120)
    assert layout.tasks == 24


def test_the_simulated_check_is_made_in_points() -> None:
    """Differences are stated in points, so the check fits the model that `measure` has: `mixed-points`."""
    from adjudge.planning.plan import simulate_plan

    asked = replace(SMALL, draws=3, structures=("mixed",), per_item=(1,))
    layout = make_layout(asked, "mixed", 120)
    checked = simulate_plan(layout, asked, variances(residual=5.0), 1)
    # 16 points with a standard error of .65: everything is found.
    assert checked.found == 1.0


def test_answers_to_controls_are_no_judgments_of_a_simulated_campaign() -> None:
    drawn = simulate(ScoreCampaign(tasks=4, controls=0.3), seed=1)
    genuine = drawn.judgments.table.filter(pl.col("kind") == "system").height
    assert f"{genuine:,} judgments of" in str(drawn)
    assert f"{len(drawn.judgments) - genuine:,} answers to controls" in str(drawn)


@pytest.mark.parametrize("level", ["documents", "segments"])
def test_gold_scores_by_as_many_people_as_planned_have_the_reliability(level: str) -> None:
    """By simulation: two runs, each by other people, and their correlation as `gold` measures it."""
    sd = {"annotator": 10.0, "annotator:system": 2.0, "document": 4.0, "segment": 5.0, "system:document": 3.0,
          "page": 3.0, "residual": 12.0}  # fmt: skip
    asked = replace(SMALL, segments=4)
    wanted = next(one for one in plan_gold(asked, variances(**sd)) if (one.level, one.reliability) == (level, 0.8))
    assert wanted.judgments == wanted.people * (4 if level == "documents" else 1)
    rng, documents = np.random.default_rng(6), 150 if level == "documents" else 40
    truth = rng.normal(0, np.hypot(4, 3), (documents, 1)) + rng.normal(0, 5, (documents, 4))
    runs = []
    for run in range(2):
        strict = rng.normal(50, 10, (wanted.people, 1, 1)) + rng.normal(0, 2, (wanted.people, 1, 1))
        seen = strict + truth + rng.normal(0, 3, (wanted.people, documents, 1))
        seen = seen + rng.normal(0, 12, (wanted.people, documents, 4))
        rows = [
            {"annotator": f"{run}-{who}", "document": f"d{d}", "segment": f"d{d}s{s}", "system": "x", "score": score}
            for (who, d, s), score in np.ndenumerate(np.clip(seen, 0, 100))
        ]
        runs.append(adjudge.read(pl.DataFrame(rows)))
    scored = gold(runs, GoldSettings(level=level, orders=0))  # type: ignore[arg-type]
    assert scored.correlation is not None
    assert scored.correlation.pearson == pytest.approx(0.8, abs=0.06)
