"""The audits that have no section of their own elsewhere: one section each, with its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.evidence.verdict import order_systems
from adjudge.report.page import Section
from adjudge.report.sections.breakdown import breakdown_section
from adjudge.report.sections.claims import claims_alone, claims_chart
from adjudge.report.sections.judges import judges_section
from adjudge.report.sections.score_audits import composition_section, documents_section, stability_section
from adjudge.report.sections.trust import aa_section, influence_section, reliability_section
from adjudge.results.audit.breakdown import Breakdown
from adjudge.results.audit.claims import Claims
from adjudge.results.audit.composition import Documents, TaskComposition
from adjudge.results.audit.judges import Judges
from adjudge.results.audit.stability import Stability
from adjudge.results.audit.trust import AATest, Influence, Reliability

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adjudge.results.audit import Audit
    from adjudge.results.audit import Section as AuditSection
    from adjudge.results.rank import Ranking
    from adjudge.results.report import PairResults
    from adjudge.results.table import Table

# What an audit asks, in words; one that is not named here is shown under its own name.
TITLES = {
    "edits": ("Post-edits", "How often people who saw the translation alone left it as it is."),
    "acceptability": ("Acceptability", "How often post-edited translations were found acceptable."),
    "sampling": ("Sampling", "Does the score depend on how often a system was drawn?"),
}
# Shown in other sections of the page; for relative judgments, that includes what was shown together.
ELSEWHERE = ("claims", "sole_winners", "discrepancies")
# What bears on the verdict comes first; audits that are not named here come last.
ORDER = ("breakdown", "judges", "aa", "reliability", "influence", "stability", "composition", "documents", "sampling")
WITH_OPPONENTS = ("sampling", "composition")


# Audits that have charts and words of their own.
_OWN: dict[type, Callable[[Any], Section]] = {
    Stability: stability_section,
    TaskComposition: composition_section,
    Documents: documents_section,
    AATest: aa_section,
    Reliability: reliability_section,
    Influence: influence_section,
    Breakdown: breakdown_section,
    Judges: judges_section,
}


def audit_sections(results: PairResults) -> tuple[Section, ...]:
    """One section per audit."""
    if results.audit is None:
        return ()
    elsewhere = (*ELSEWHERE, *WITH_OPPONENTS) if is_relative(results.ranking) else ELSEWHERE
    shown = [(name, section) for name, section in results.audit.sections.items() if name not in elsewhere]
    shown.sort(key=_position)
    return tuple(_section(name, section) for name, section in shown)


def is_relative(ranking: Ranking) -> bool:
    """Whether systems were compared, not scored."""
    return ranking.kind == "relative"


def _section(name: str, audit: AuditSection) -> Section:
    for kind, make in _OWN.items():
        if isinstance(audit, kind):
            return make(audit)
    title, words = TITLES.get(name, (name.replace("_", " ").capitalize(), ""))
    first, *others = audit.tables()
    return Section(name, title, (words,) if words else (), tables=(first,), folded=tuple(others))


def standing_alone(audit: Audit) -> tuple[Section, ...]:
    """One section per audit of a page that shows nothing else: claims first, nothing is shown elsewhere."""
    shown = sorted(audit.sections.items(), key=lambda item: (item[0] != "claims", _position(item)))
    return tuple(
        claims_alone(section) if isinstance(section, Claims) else _section(name, section) for name, section in shown
    )


def audit_charts(audit: Audit) -> dict[str, Mapping[str, Any]]:
    """The charts of an audit by name, in the order of the report."""
    sections = sorted(audit.sections.items(), key=_position)
    charts: dict[str, Mapping[str, Any]] = {}
    for name, section in sections:
        if isinstance(section, Claims):
            charts[name] = claims_chart(section, order_systems(section))
        else:
            charts |= {chart.slug: chart.spec for chart in _section(name, section).charts}
    return charts


def _position(item: tuple[str, AuditSection]) -> int:
    return ORDER.index(item[0]) if item[0] in ORDER else len(ORDER)


def audit_tables(results: PairResults, *names: str) -> tuple[Table, ...]:
    """The tables of these audits, where they were made."""
    sections = {} if results.audit is None else results.audit.sections
    return tuple(table for name in names if name in sections for table in sections[name].tables())
