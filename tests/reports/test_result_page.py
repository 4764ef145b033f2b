"""Pages about gold standards, metrics and quality estimation: complete, and honest about what they rest on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adjudge import gold
from adjudge.metrics.join import join
from adjudge.metrics.meta import evaluate
from adjudge.metrics.quality_estimation import estimate
from adjudge.metrics.results import QualityEstimation
from adjudge.planning.simulate import simulate_post_edits
from adjudge.readers.metric_scores import read_metric_scores
from adjudge.reports.files import render
from adjudge.reports.page import ReportPage
from adjudge.reports.result_page import build_standard_report
from adjudge.table.results import Result
from tests.metrics.test_gold import run
from tests.metrics.test_meta import table


def quality_estimation() -> QualityEstimation:
    made = simulate_post_edits(documents=20, segments=3, seed=2)
    return estimate(made.documents, made.predictions, weight=13)


def assert_complete(page: ReportPage, result: Result) -> None:
    """Every table of the result is on the page once, with its notes and its signature."""
    (pair,) = page.pairs
    titles = [table.title for section in pair.sections for table in (*section.tables, *section.folded)]
    assert sorted(titles) == sorted(table.title for table in result.tables())
    assert pair.signatures == (result.signature,)
    assert pair.notes == result.notes
    text = re.sub(r"</?span[^>]*>", "", render(page))
    assert pair.headline in text
    assert all(f'data-chart="{name}"' in text for name in page.charts_by_id())


def test_quality_estimation() -> None:
    result = quality_estimation()
    page = build_standard_report(result, title="Edits")
    assert_complete(page, result)
    assert "depends on the weight" in page.pairs[0].headline
    (chart,) = page.charts_by_id().values()
    assert {"chosen weight": "13"} in chart.drawing.rows


def test_gold_with_and_without_a_second_run() -> None:
    two = gold(run(1), run(2), orders=5)
    page = build_standard_report(two, title="Runs")
    assert_complete(page, two)
    assert "qe" not in page.charts_by_id()
    assert list(page.charts_by_id()) == ["gold-curve"]
    assert f"r = {two.correlation.pearson:.3f}" in page.pairs[0].headline if two.correlation else False
    single = gold(run(1))
    assert_complete(build_standard_report(single, title="Run"), single)


@pytest.mark.parametrize("systems", [6, 8])
def test_metrics_are_compared_by_a_heat_map_at_both_levels(tmp_path: Path, systems: int) -> None:
    scores = read_metric_scores([table(tmp_path, systems=systems, outlier=systems == 8)])
    human = [score for score in scores if score.metric == "human"]
    joined, _ = join(human, [score for score in scores if score.metric != "human"])
    result = evaluate(joined, permutations=200, resamples=20)
    page = build_standard_report(result, title="Metrics")
    assert_complete(page, result)
    charts = page.charts_by_id()
    assert list(charts) == ["meta-wins-system", "meta-wins-segment"]
    cells = charts["meta-wins-segment"].drawing.rows
    assert {(cell["metric"], cell["the row is"]) for cell in cells} == {("good", "better"), ("bad", "worse")}
    assert page.pairs[0].headline == "good is best at segment level."


def test_one_metric_on_whole_test_sets_alone(tmp_path: Path) -> None:
    """Nothing to compare: no heat map, and no claim that a metric is best of one."""
    (tmp_path / "human.sys.score").write_text("a 1\nb 2\nc 3\nd 5\n")
    (tmp_path / "bleu.sys.score").write_text("a 10\nb 20\nc 31\nd 50\n")
    human, metric = (read_metric_scores([tmp_path / f"{name}.sys.score"]) for name in ("human", "bleu"))
    result = evaluate(join(human, metric)[0])
    page = build_standard_report(result, title="One")
    assert_complete(page, result)
    assert page.charts_by_id() == {}
    assert page.pairs[0].headline == "bleu against 4 human scores of systems."
