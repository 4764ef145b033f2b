"""The audits that have no section of their own elsewhere: one section each, with its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.evidence.verdict import order_systems
from adjudge.report.page import Section
from adjudge.report.sections.claims import claims_chart
from adjudge.results.audit.claims import Claims
from adjudge.results.audit.sections import SECTIONS, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.results.audit import Audit
    from adjudge.results.audit import Section as AuditSection
    from adjudge.results.audit.sections import Kind
    from adjudge.results.rank import Ranking
    from adjudge.results.report import PairResults
    from adjudge.results.table import Table


def audit_sections(results: PairResults) -> tuple[Section, ...]:
    """One section per audit."""
    if results.audit is None:
        return ()
    kind: Kind = "relative" if is_relative(results.ranking) else "scores"
    shown = [item for item in results.audit.sections.items() if kind not in SECTIONS[item[0]].elsewhere]
    shown.sort(key=_position)
    return tuple(_section(name, section) for name, section in shown)


def is_relative(ranking: Ranking) -> bool:
    """Whether systems were compared, not scored."""
    return ranking.kind == "relative"


def _section(name: str, audit: AuditSection) -> Section:
    entry = SECTIONS[name]
    made: Section | None = None if entry.page is None else load(entry.page)(audit)
    if made is not None:
        return made
    first, *others = audit.tables()
    return Section(name, entry.title, (entry.words,) if entry.words else (), tables=(first,), folded=tuple(others))


def standing_alone(audit: Audit) -> tuple[Section, ...]:
    """One section per audit of a page that shows nothing else: claims first, nothing is shown elsewhere."""
    shown = sorted(audit.sections.items(), key=lambda item: (item[0] != "claims", _position(item)))
    return tuple(_section(name, section) for name, section in shown)


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
    return SECTIONS[item[0]].place


def audit_tables(results: PairResults, *names: str) -> tuple[Table, ...]:
    """The tables of these audits, where they were made."""
    sections = {} if results.audit is None else results.audit.sections
    return tuple(table for name in names if name in sections for table in sections[name].tables())
