"""Pages and charts of single results: the verdict first, and no more than the result holds."""

from __future__ import annotations

import re
from dataclasses import replace

from adjudge.evidence.verdict import say_headline
from adjudge.evidence.verdict_facts import decide_by_ranking
from adjudge.metrics.results import CurvePoint, MetaEvaluation, MetricAtLevel, MetricComparison
from adjudge.planning.settings import Plan, PlanChoice, PlanPoint
from adjudge.reports.metrics_section import draw_curve, meta_headline
from adjudge.reports.result_page import build_page
from tests.helpers.made import pair_results, score_results


def test_metrics_that_others_beat_are_not_among_the_best() -> None:
    """A cluster holds metrics that its best ones beat, where others stand between them."""
    test = "permutation of tie-calibrated accuracy by item"

    def compared(better: str, worse: str, p: float) -> MetricComparison:
        return MetricComparison("segment", test, better, worse, 0.1, p, p, p)

    apart = (compared("A", "B", 0.4), compared("A", "C", 0.01), compared("B", "C", 0.4))
    at_level = {"segment": MetricAtLevel(9, {"pearson": 0.5})}
    made = MetaEvaluation(
        settings={}, data="0", metrics=dict.fromkeys("ABC", at_level), comparisons=apart,
        clusters={"segment": (("A", "B", "C"),)}, outliers=(),
    )  # fmt: skip
    assert meta_headline(made) == "The data cannot tell which metric is best at segment level: A or B."
    assert (
        meta_headline(replace(made, comparisons=(*apart[1:], compared("A", "B", 0.01))))
        == "A is best at segment level."
    )
    nothing = tuple(replace(pair, p_holm=0.4) for pair in apart)
    assert (
        meta_headline(replace(made, comparisons=nothing)) == "The data cannot tell the metrics apart at segment level."
    )


def test_the_curve_of_segments_names_them_and_never_runs_backwards() -> None:
    points = [CurvePoint(i, 1, mean, 0.5, 0.5, 0.4, 0.6) for i, mean in enumerate((3.0, 2.5, 3.5))]
    assert ">assignments of the second run</text>" in draw_curve(points, "segment").body
    assert ">judgments per segment, on average</text>" in draw_curve(points[1:], "segment").body


def test_pages_of_single_results_say_the_verdict_first() -> None:
    results = pair_results()
    assert results.tournament is not None
    assert results.checked is not None
    assert results.agreement is not None
    scores = score_results().audit
    assert scores is not None
    pages = {
        "Ranking": (build_page({"p": results.ranking}, title="t"), say_headline(decide_by_ranking(results.ranking))),
        "Tournament": (build_page({"p": results.tournament}, title="t"), "There are cycles"),
        "Check": (build_page({"p": results.checked}, title="t"), "1 of 2 annotators pass the check and 1 fails (bob)."),
        "Agree": (
            build_page({"p": results.agreement}, title="t"),
            "Two annotators who judged the same output agree in",
        ),
        "What can be claimed": (
            build_page({"p": scores}, title="t"),
            "ref comes out best, but not without annotator ann: let",
        ),
    }
    for title, (page, first) in pages.items():
        assert page.pairs[0].headline.startswith(first)
        assert page.pairs[0].sections[0].title == title
        assert all(chart.says for _, chart in page.charts if title != "Agree")
    claims = pages["What can be claimed"][0].charts_by_id()["result-1-claims"]
    assert re.findall(r'<text[^>]*text-anchor="end"[^>]*>([^<]*)</text></g>', claims.drawing.body)[:3] == [
        "ref", "alpha", "beta",
    ]  # fmt: skip


def test_the_page_of_a_plan_names_the_design_it_recommends() -> None:
    choice = PlanChoice(PlanPoint("pages", 1, 872, 199, 55, 5460, 1100, 1.56, 0.81, 5.96), True, 2.5)
    made = Plan(
        settings={}, data="0", difference=6.0, power=0.8, level=0.05, comparisons=10, annotators=12, choices=(choice,),
        curve=(choice.point,), spread={},
    )  # fmt: skip
    page = build_page({"p": made}, title="t").pairs[0]
    assert page.headline == "5,460 judgments find a difference of 6 points with power 80%, in the structure pages."
    nothing = replace(made, choices=(replace(choice, suffices=False),))
    assert (
        build_page({"p": nothing}, title="t").pairs[0].headline
        == "No design finds a difference of 6 points with power 80%."
    )
