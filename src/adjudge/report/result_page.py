"""A page about one result: its charts and tables, or the page of its own that its kind has.

Gold standards, and what they say of metrics and quality estimation, have their pages here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from adjudge.core.wording import counted, measured
from adjudge.evidence.verdict import decide_by_claims, decide_by_ranking, say_claims, say_headline, say_ranking
from adjudge.report.charts.plan import draw_plan
from adjudge.report.compare_page import build_compare_page
from adjudge.report.guide import GUIDE
from adjudge.report.page import Chart, PairPage, ReportPage, Section, Term
from adjudge.report.parity_page import build_parity_page
from adjudge.report.plots import charts_of
from adjudge.report.replication_page import build_replication_page
from adjudge.report.sections.agreement import agreement_words
from adjudge.report.sections.annotators import check_charts, check_words
from adjudge.report.sections.audits import standing_alone
from adjudge.report.sections.gold import gold_facts, gold_headline, gold_sections
from adjudge.report.sections.meta import meta_facts, meta_headline, meta_sections
from adjudge.report.sections.pairs import pairs_chart
from adjudge.report.sections.qe import qe_facts, qe_headline, qe_sections
from adjudge.report.sections.ranking import ranking_charts, summarise_ranking
from adjudge.report.sections.tournament import section_of
from adjudge.report.testset_page import build_testset_page
from adjudge.results.agree import Agreement
from adjudge.results.audit import Audit
from adjudge.results.audit.claims import Claims
from adjudge.results.check import Checked
from adjudge.results.compare import CampaignComparison
from adjudge.results.gold import Gold
from adjudge.results.look import Look
from adjudge.results.meta import MetaEvaluation
from adjudge.results.parity import Parity
from adjudge.results.plan import Plan
from adjudge.results.qe import QualityEstimation
from adjudge.results.rank import Ranking
from adjudge.results.replication import Replication
from adjudge.results.testset import TestSetCheck
from adjudge.results.tournament import Tournament

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.report.page import Fact
    from adjudge.results.result import Result

    Standard = Gold | MetaEvaluation | QualityEstimation

_TERMS = (
    Term(
        "Correlation (r)",
        "How far two columns of numbers rise and fall together: 1 is always, 0 is not at all. Over few documents or "
        "systems it moves a great deal by chance; the interval says how far.",
    ),
    Term(
        "Williams' test",
        "Two metrics are measured on the same translations, so their correlations are not independent. This test takes "
        "that into account when it asks whether one is really higher.",
    ),
)
# Entries of the guide to rankings that these pages need as well.
_SHARED = ("p and Holm", "Cannot decide", "Signature")


def build_standard_report(result: Standard, *, title: str) -> ReportPage:
    """The page data of a report on one result of `gold`, `meta` or `qe`."""
    first, facts, sections = _content(result)
    page = PairPage.about(result, sections, name=title, slug=result.verb, headline=first, facts=facts)
    guide = (*_TERMS, *(term for term in GUIDE if term.name in _SHARED))
    return ReportPage(title=title, pairs=(page,), guide=guide)


def _content(result: Standard) -> tuple[str, tuple[Fact, ...], tuple[Section, ...]]:
    if isinstance(result, Gold):
        return gold_headline(result), gold_facts(result), gold_sections(result)
    if isinstance(result, MetaEvaluation):
        return meta_headline(result), meta_facts(result), meta_sections(result)
    return qe_headline(result), qe_facts(result), qe_sections(result)


def build_page(results: Mapping[str, Result], *, title: str) -> ReportPage:
    """The page of one result, or of one per language pair."""
    first = next(iter(results.values()))
    if isinstance(first, Parity):
        return build_parity_page(cast("Mapping[str, Parity]", results), title=title)
    if len(results) == 1 and isinstance(first, Gold | MetaEvaluation | QualityEstimation):
        return build_standard_report(first, title=title)
    if isinstance(first, Replication):
        return build_replication_page(first, title=title)
    if isinstance(first, TestSetCheck):
        return build_testset_page(first, title=title)
    if isinstance(first, CampaignComparison):
        return build_compare_page(first, title=title)
    pages = tuple(_page(name, result, f"result-{i}") for i, (name, result) in enumerate(results.items(), start=1))
    return ReportPage(title=title, pairs=pages, guide=GUIDE)


def _page(name: str, result: Result, slug: str) -> PairPage:
    """What the result says first, then its charts and tables."""
    headline, *further = _statements(result)
    return PairPage.about(result, _sections(result), name=name, slug=slug, headline=headline, words=tuple(further))


def _statements(result: Result) -> tuple[str, ...]:
    """What the result says in words; of results that say nothing, the title of their first table."""
    if isinstance(result, Ranking):
        decisions = decide_by_ranking(result)
        return (say_headline(decisions), *say_ranking(decisions))
    if isinstance(result, Look):
        return (result.advice,)
    if isinstance(result, Checked):
        return check_words(result)
    if isinstance(result, Agreement):
        return agreement_words(result)
    if isinstance(result, Plan):
        return (_recommended(result),)
    if isinstance(result, Tournament):
        return section_of(result).words
    claims = result.sections.get("claims") if isinstance(result, Audit) else None
    if isinstance(claims, Claims):
        untested = bool(claims.humans) and claims.margin is None and claims.kind == "scores"
        return say_claims(decide_by_claims(claims), untested=untested)
    tables = result.tables()
    return (tables[0].title if tables else result.verb,)


def _recommended(plan: Plan) -> str:
    """The design that a plan recommends, or that none suffices."""
    wanted = f"a difference of {measured(plan.difference, 'point')} with power {plan.power:.0%}"
    best = plan.recommended
    if best is None:
        return f"No design finds {wanted}."
    return f"{counted(best.point.judgments, 'judgment')} find {wanted}, in the structure {best.point.structure}."


def _sections(result: Result) -> tuple[Section, ...]:
    tables = result.tables()
    longer = tuple(table for table in result.all_tables() if table not in tables)
    charts = tuple(Chart(chart, chart.capitalize(), "", spec) for chart, spec in charts_of(result).items())
    if isinstance(result, Ranking):
        words, charts = (summarise_ranking(result),), (*ranking_charts(result), pairs_chart(result))
        return (Section("ranking", "Ranking", words, charts, tables, longer),)
    if isinstance(result, Checked):
        charts = check_charts(result)
    if isinstance(result, Plan):
        says = "The least difference that each design finds, by its work; the dotted line is the difference asked for."
        charts = (Chart("plan", "What each design finds", says, draw_plan(result)),)
    if isinstance(result, Tournament):
        return (replace(section_of(result), words=(), notes=()),)
    if isinstance(result, Audit):
        return standing_alone(result)
    return (Section(result.verb, result.verb.capitalize(), (), charts, tables, longer),)
