"""A page about one result: its charts and tables, or the page of its own that its kind has.

Gold standards, and what they say of metrics and quality estimation, have their pages here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from adjudge.evidence.audit import Audit
from adjudge.evidence.compared_campaigns import CampaignComparison
from adjudge.evidence.look_claims import Look
from adjudge.evidence.parity_results import Parity
from adjudge.evidence.verdict import say_headline, say_ranking
from adjudge.evidence.verdict_facts import decide_by_ranking
from adjudge.metrics.results import Gold, MetaEvaluation, QualityEstimation
from adjudge.papers.replicate import Replication
from adjudge.people.results import Agreement, Checked
from adjudge.planning.settings import Plan
from adjudge.ranking.ranking import Ranking
from adjudge.ranking.tournament import Tournament
from adjudge.reports import metrics_section, people_section, ranking_section
from adjudge.reports.audit_section import audit_charts, build_audit_sections
from adjudge.reports.charts import draw_plan, draw_rank_ranges
from adjudge.reports.compare_page import build_compare_page, compare_charts
from adjudge.reports.files import Plot
from adjudge.reports.page import GUIDE, Chart, PairPage, ReportPage, Section, explain
from adjudge.reports.parity_page import build_parity_page, draw_parity_shares
from adjudge.reports.replication_page import build_replication_page, replication_charts
from adjudge.reports.testset_page import build_testset_page, draw_topics
from adjudge.table.errors import DataError, unknown_choice
from adjudge.table.wording import counted, measured
from adjudge.testsets.findings import TestSetCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adjudge.reports.drawing import Drawing
    from adjudge.table.results import Result

    Charts = Mapping[str, Drawing]
    Standard = Gold | MetaEvaluation | QualityEstimation


# The report's charts of one result: what `result.plot()` gives in a notebook.


def plot(result: Result, chart: str | None = None) -> Plot:
    """A chart of a result in light colours.

    Args:
        result: any result that the report draws.
        chart: the chart's name; default: the first.
    """
    charts = charts_of(result)
    if not charts:
        raise DataError(f"this result of {result.verb} has no chart; its tables are in to_frame()")
    name = next(iter(charts)) if chart is None else chart
    if name not in charts:
        raise unknown_choice("chart", name, charts)
    return Plot(charts[name], name)


def charts_of(result: Result) -> Charts:
    """All charts of a result, the most important first."""
    make = next((make for kind, make in _CHARTS.items() if isinstance(result, kind)), None)
    return {} if make is None else make(result)


def _ranking(ranking: Ranking) -> Charts:
    drawn = {"ranks": draw_rank_ranges(ranking), "pairs": ranking_section.pairs_chart(ranking).drawing}
    return {"scores": ranking_section.scores_chart(ranking).drawing, **drawn}


def _standard(result: Standard) -> Charts:
    sections = _STANDARDS[type(result)][2](result)
    return {chart.slug: chart.drawing for section in sections for chart in section.charts}


# What pages about standards say first, their facts, and their sections.
_STANDARDS: dict[type[Result], tuple[Callable[[Any], Any], ...]] = {
    Gold: (metrics_section.gold_headline, metrics_section.gold_facts, metrics_section.gold_sections),
    MetaEvaluation: (metrics_section.meta_headline, metrics_section.meta_facts, metrics_section.meta_sections),
    QualityEstimation: (metrics_section.qe_headline, metrics_section.qe_facts, metrics_section.qe_sections),
}
_CHARTS: dict[type[Result], Callable[[Any], Charts]] = {
    Ranking: _ranking,
    Tournament: lambda result: {chart.slug: chart.drawing for chart in ranking_section.section_of(result).charts},
    Agreement: lambda one: {"length": people_section.draw_agreement_by_length(one)} if one.by_length else {},
    Checked: lambda checked: (
        {"annotators": people_section.draw_annotators(checked)} if people_section.has_controls(checked) else {}
    ),
    Audit: audit_charts,
    CampaignComparison: lambda result: {chart.slug: chart.drawing for chart in compare_charts(result)},
    Parity: lambda parity: {"shares": draw_parity_shares(parity)},
    Plan: lambda plan: {"plan": draw_plan(plan)},
    TestSetCheck: lambda result: {} if result.topics is None else {"topics": draw_topics(result.topics)},
    Replication: replication_charts,
    **dict.fromkeys(_STANDARDS, _standard),
}


_TERMS = explain(
    {
        "Correlation (r)": "How far two columns of numbers rise and fall together: 1 is always, 0 is not at all. Over "
        "few documents or systems it moves a great deal by chance; the interval says how far.",
        "Williams' test": "Two metrics are measured on the same translations, so their correlations are not "
        "independent. This test takes that into account when it asks whether one is really higher.",
    }
)
# Entries of the guide to rankings that these pages need as well.
_SHARED = ("p, and p of all pairs", "Cannot decide", "Signature")


def build_standard_report(result: Standard, *, title: str) -> ReportPage:
    """The page data of a report on one result of `gold`, `meta` or `qe`."""
    first, facts, sections = (make(result) for make in _STANDARDS[type(result)])
    page = PairPage.about(result, sections, name=title, slug=result.verb, headline=first, facts=facts)
    shared = {term.name: term for term in GUIDE}
    guide = (*_TERMS, *(shared[name] for name in _SHARED))
    return ReportPage(title=title, pairs=(page,), guide=guide)


_PAGES: dict[type[Result], Callable[..., ReportPage]] = {
    Replication: build_replication_page,
    TestSetCheck: build_testset_page,
    CampaignComparison: build_compare_page,
}


def build_page(results: Mapping[str, Result], *, title: str) -> ReportPage:
    """The page of one result, or of one per language pair."""
    first = next(iter(results.values()))
    if isinstance(first, Parity):
        return build_parity_page(cast("Mapping[str, Parity]", results), title=title)
    if len(results) == 1 and isinstance(first, Gold | MetaEvaluation | QualityEstimation):
        return build_standard_report(first, title=title)
    if build := _PAGES.get(type(first)):
        return build(first, title=title)
    pages = tuple(_page(name, result, f"result-{i}") for i, (name, result) in enumerate(results.items(), start=1))
    return ReportPage(title=title, pairs=pages, guide=GUIDE)


def _page(name: str, result: Result, slug: str) -> PairPage:
    """What the result says first, then its charts and tables."""
    headline, *further = _collect_statements(result)
    return PairPage.about(result, _sections(result), name=name, slug=slug, headline=headline, words=tuple(further))


def _collect_statements(result: Result) -> tuple[str, ...]:
    """What the result says in words; of results that say nothing, the title of their first table."""
    if isinstance(result, Ranking):
        decisions = decide_by_ranking(result)
        said = result.first_lines or (say_headline(decisions),)
        return (*said, *(sentence for sentence in say_ranking(decisions) if sentence not in said))
    if isinstance(result, Look):
        return (result.advice,)
    if isinstance(result, Checked):
        return people_section.check_words(result)
    if isinstance(result, Agreement):
        return people_section.agreement_words(result)
    if isinstance(result, Plan):
        return (_say_recommended(result),)
    if isinstance(result, Tournament):
        return ranking_section.section_of(result).words
    tables = result.tables()
    title = (tables[0].title if tables else result.verb,)
    if isinstance(result, Audit):
        return result.first_lines if "claims" in result.sections else (*title, *result.first_lines)
    return title


def _say_recommended(plan: Plan) -> str:
    """The design that a plan recommends, or that none suffices."""
    wanted = f"a difference of {measured(plan.difference, 'point')} with power {plan.power:.0%}"
    best = plan.recommended
    if best is None:
        return f"No design finds {wanted}."
    return f"{counted(best.point.judgments, 'judgment')} find {wanted}, in the structure {best.point.structure}."


def _sections(result: Result) -> tuple[Section, ...]:
    tables = result.tables()
    longer = tuple(table for table in result.all_tables() if table not in tables)
    charts = tuple(Chart(chart, chart.capitalize(), "", drawn) for chart, drawn in charts_of(result).items())
    if isinstance(result, Ranking):
        words, charts = (
            (ranking_section.summarise_ranking(result),),
            (*ranking_section.ranking_charts(result), ranking_section.pairs_chart(result)),
        )
        return (Section("ranking", "Ranking", words, charts, tables, longer),)
    if isinstance(result, Checked):
        charts = people_section.check_charts(result)
    if isinstance(result, Plan):
        says = "The least difference that each design finds, by its work; the dotted line is the difference asked for."
        charts = (Chart("plan", "What each design finds", says, draw_plan(result)),)
    if isinstance(result, Tournament):
        return (replace(ranking_section.section_of(result), words=(), notes=()),)
    if isinstance(result, Audit):
        return build_audit_sections(result)
    return (Section(result.verb, result.verb.capitalize(), (), charts, tables, longer),)
