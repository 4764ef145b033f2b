"""The report's charts of one result, as Altair objects: what `result.plot()` gives in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.core.errors import DataError, unknown_choice
from adjudge.report.charts.plan import draw_plan
from adjudge.report.charts.ranking import draw_rank_ranges
from adjudge.report.charts.theme import paint
from adjudge.report.compare_page import compare_charts
from adjudge.report.parity_page import draw_parity_shares
from adjudge.report.replication_page import replication_charts
from adjudge.report.sections.agreement import draw_agreement_by_length
from adjudge.report.sections.annotators import draw_annotators, has_controls
from adjudge.report.sections.audits import audit_charts
from adjudge.report.sections.gold import gold_sections
from adjudge.report.sections.meta import meta_sections
from adjudge.report.sections.pairs import pairs_chart
from adjudge.report.sections.qe import qe_sections
from adjudge.report.sections.ranking import scores_chart
from adjudge.report.sections.tournament import draw_costs
from adjudge.report.testset_page import draw_topics
from adjudge.results.agree import Agreement
from adjudge.results.audit import Audit
from adjudge.results.check import Checked
from adjudge.results.compare import CampaignComparison
from adjudge.results.gold import Gold
from adjudge.results.meta import MetaEvaluation
from adjudge.results.parity import Parity
from adjudge.results.plan import Plan
from adjudge.results.qe import QualityEstimation
from adjudge.results.rank import Ranking
from adjudge.results.replication import Replication
from adjudge.results.testset import TestSetCheck
from adjudge.results.tournament import Tournament

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from adjudge.report.page import Section
    from adjudge.results.result import Result

    Charts = Mapping[str, Mapping[str, Any]]


def plot(result: Result, chart: str | None = None) -> Any:
    """A chart of a result in light colours.

    Args:
        result: any result that the report draws.
        chart: the chart's name; default: the first.
    """
    import altair as alt

    charts = charts_of(result)
    if not charts:
        raise DataError(f"this result of {result.verb} has no chart; its tables are in to_frame()")
    name = next(iter(charts)) if chart is None else chart
    if name not in charts:
        raise unknown_choice("chart", name, charts)
    spec = paint(charts[name])
    # `paint` sets the background of the chart itself; Altair does not accept the empty one of the page.
    spec["config"] = {key: value for key, value in spec["config"].items() if value is not None}
    return alt.Chart.from_dict(spec)


def charts_of(result: Result) -> Charts:
    """The specifications of all charts of a result, the most important first."""
    make = next((make for kind, make in _CHARTS.items() if isinstance(result, kind)), None)
    return {} if make is None else make(result)


def _ranking(ranking: Ranking) -> Charts:
    return {
        "scores": scores_chart(ranking).spec,
        "ranks": draw_rank_ranges(ranking),
        "pairs": pairs_chart(ranking).spec,
    }


def _agreement(agreement: Agreement) -> Charts:
    return {"length": draw_agreement_by_length(agreement)} if agreement.by_length else {}


def _checked(checked: Checked) -> Charts:
    return {"annotators": draw_annotators(checked)} if has_controls(checked) else {}


def _testset(result: TestSetCheck) -> Charts:
    return {} if result.topics is None else {"topics": draw_topics(result.topics)}


def _of_sections(sections: Iterable[Section]) -> Charts:
    return {chart.slug: chart.spec for section in sections for chart in section.charts}


_CHARTS: dict[type[Result], Callable[[Any], Charts]] = {
    Ranking: _ranking,
    Tournament: lambda tournament: {"costs": draw_costs(tournament)},
    Agreement: _agreement,
    Checked: _checked,
    Audit: audit_charts,
    CampaignComparison: lambda result: {chart.slug: chart.spec for chart in compare_charts(result)},
    Parity: lambda parity: {"shares": draw_parity_shares(parity)},
    Plan: lambda plan: {"plan": draw_plan(plan)},
    TestSetCheck: _testset,
    Replication: replication_charts,
    Gold: lambda gold: _of_sections(gold_sections(gold)),
    MetaEvaluation: lambda result: _of_sections(meta_sections(result)),
    QualityEstimation: lambda result: _of_sections(qe_sections(result)),
}
