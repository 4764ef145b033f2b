"""A page about any result: its charts and tables. Results that have a page of their own get that."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from adjudge._version import __version__
from adjudge.report.guide import GUIDE
from adjudge.report.page import Chart, PairPage, ReportPage, Section
from adjudge.report.parity_page import build_parity_page
from adjudge.report.plots import charts_of
from adjudge.report.replication_page import build_replication_page
from adjudge.report.standards import build_standard_report
from adjudge.report.testset_page import build_testset_page
from adjudge.results.gold import Gold
from adjudge.results.meta import MetaEvaluation
from adjudge.results.parity import Parity
from adjudge.results.qe import QualityEstimation
from adjudge.results.replication import Replication
from adjudge.results.testset import TestSetCheck

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.results.result import Result


def page_of(results: Mapping[str, Result], *, title: str) -> ReportPage:
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
    pages = tuple(_page(name, result, f"result-{i}") for i, (name, result) in enumerate(results.items(), start=1))
    return ReportPage(title=title, pairs=pages, overview=None, guide=GUIDE, version=__version__)


def _page(name: str, result: Result, slug: str) -> PairPage:
    tables = result.tables()
    longer = [table for table in result.all_tables() if table not in tables]
    charts = tuple(Chart(chart, chart.capitalize(), "", spec) for chart, spec in charts_of(result).items())
    section = Section(result.verb, result.verb.capitalize(), (), charts, tables, tuple(longer))
    return PairPage(
        name=name,
        slug=slug,
        headline=tables[0].title if tables else result.verb,
        words=(),
        facts=(),
        sections=(section,),
        notes=result.notes,
        set_aside=result.set_aside,
        signatures=(result.signature,),
    )
