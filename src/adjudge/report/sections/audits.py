"""The audits that have no section of their own elsewhere: one section each, with its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.page import Section

if TYPE_CHECKING:
    from adjudge.core.table import Table
    from adjudge.report.results import PairResults

# What an audit asks, in words; one that is not named here is shown under its own name.
TITLES = {
    "edits": ("Post-edits", "How often edits made by people who saw the translation alone were possible."),
    "acceptability": ("Acceptability", "How often post-edited translations were found acceptable."),
    "composition": ("Composition", "Which systems were judged together, and by whom."),
    "documents": ("Documents", "How systems fare on each document: differences between cells are mostly noise."),
    "stability": ("Stability", "What becomes of the ranking when something about the data is changed."),
    "aa": (
        "Does the test lie?",
        "One system is split at random in two; a good test finds a difference in 5% of splits.",
    ),
}
# Shown with other sections of the page.
ELSEWHERE = ("sampling", "sole_winners", "discrepancies", "claims")


def audit_sections(results: PairResults) -> tuple[Section, ...]:
    """One section per audit, in the order in which they were made."""
    if results.audit is None:
        return ()
    relative = "sampling" in results.audit.sections
    sections = []
    for name, audit in results.audit.sections.items():
        if name in ELSEWHERE or (relative and name == "composition"):
            continue
        title, words = TITLES.get(name, (name.replace("_", " ").capitalize(), ""))
        first, *rest = audit.tables()
        sections.append(Section(name, title, (words,) if words else (), tables=(first,), folded=tuple(rest)))
    return tuple(sections)


def audit_tables(results: PairResults, *names: str) -> tuple[Table, ...]:
    """The tables of these audits, where they were made."""
    sections = {} if results.audit is None else results.audit.sections
    return tuple(table for name in names if name in sections for table in sections[name].tables())
