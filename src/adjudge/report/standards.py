"""Pages about gold standards and what they say of metrics and quality estimation: one result, one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge._version import __version__
from adjudge.report.guide import GUIDE
from adjudge.report.page import PairPage, ReportPage, Term
from adjudge.report.sections.gold import gold_facts, gold_headline, gold_sections
from adjudge.report.sections.meta import meta_facts, meta_headline, meta_sections
from adjudge.report.sections.qe import qe_facts, qe_headline, qe_sections
from adjudge.results.gold import Gold
from adjudge.results.meta import MetaEvaluation

if TYPE_CHECKING:
    from adjudge.report.page import Fact, Section
    from adjudge.results.qe import QualityEstimation

    Standard = Gold | MetaEvaluation | QualityEstimation

_TERMS = (
    Term(
        "Correlation (r)",
        "How far two columns of numbers rise and fall together: 1 is always, 0 is not at all. Over few documents or "
        "systems it moves a great deal by chance; the interval says how far.",
    ),
    Term(
        "Williams' test",
        "Two metrics are measured on the same translations, so their correlations hang together. This test takes that "
        "into account when it asks whether one is really higher.",
    ),
)
# Entries of the guide to rankings that these pages need as well.
_SHARED = ("p and Holm", "Cannot decide", "Signature")


def build_standard_report(result: Standard, *, title: str) -> ReportPage:
    """The page data of a report on one result of `gold`, `meta` or `qe`."""
    headline, facts, sections = _content(result)
    page = PairPage(
        name=title,
        slug=result.verb,
        headline=headline,
        words=(),
        facts=facts,
        sections=sections,
        notes=result.notes,
        set_aside=result.set_aside,
        signatures=(result.signature,),
    )
    guide = (*_TERMS, *(term for term in GUIDE if term.name in _SHARED))
    return ReportPage(title=title, pairs=(page,), overview=None, guide=guide, version=__version__)


def _content(result: Standard) -> tuple[str, tuple[Fact, ...], tuple[Section, ...]]:
    if isinstance(result, Gold):
        return gold_headline(result), gold_facts(result), gold_sections(result)
    if isinstance(result, MetaEvaluation):
        return meta_headline(result), meta_facts(result), meta_sections(result)
    return qe_headline(result), qe_facts(result), qe_sections(result)
