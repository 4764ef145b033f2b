"""All sections of an audit by name: which judgments each applies to, and the module that computes it.

A function that is named here takes `(judgments, settings)` and returns a frozen dataclass with `tables()`. To add a
section, write such a function in a module of `adjudge.audit` and name it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from adjudge.core.errors import unknown_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.results.audit import Section

Kind = Literal["relative", "scores", "edits", "acceptability"]


@dataclass(frozen=True)
class SectionEntry:
    """A section: its question, and the function (`module:name`) for each kind of judgments that it applies to."""

    name: str
    question: str
    functions: dict[Kind, str]

    def function(self, kind: Kind) -> Callable[[Judgments, AuditSettings], Section]:
        """The function that makes this section from one kind of judgments."""
        module, _, name = self.functions[kind].partition(":")
        function: Callable[[Judgments, AuditSettings], Section] = getattr(
            import_module(f"adjudge.audit.{module}"), name
        )
        return function


_ALL = (
    SectionEntry(
        "claims",
        "every statement of the ranking, and which audits it survives",
        {"relative": "claims.section:section", "scores": "claims.section:section"},
    ),
    SectionEntry(
        "stability",
        "does the ranking change when something is left out?",
        {"relative": "stability:section", "scores": "stability:section"},
    ),
    SectionEntry(
        "composition",
        "which systems were shown together",
        {"relative": "composition:composition_section", "scores": "composition:composition_section"},
    ),
    SectionEntry("documents", "which documents were judged, and how hard they are", {"scores": "documents:section"}),
    SectionEntry(
        "sampling",
        "do scores depend on how often systems were drawn, or met the reference?",
        {"relative": "composition:sampling_section", "scores": "composition:sampling_section"},
    ),
    SectionEntry(
        "aa",
        "how often does each test call a system different from itself?",
        {"relative": "aa:section", "scores": "aa:section"},
    ),
    SectionEntry(
        "reliability",
        "would other annotators give the same order?",
        {"relative": "reliability:section", "scores": "reliability:section"},
    ),
    SectionEntry(
        "influence",
        "which annotators and documents move the ranking most?",
        {"relative": "influence:section", "scores": "influence:section"},
    ),
    SectionEntry(
        "breakdown",
        "do differences between systems vary between subsets?",
        {"relative": "breakdown:section", "scores": "breakdown:section"},
    ),
    SectionEntry("sole_winners", "which system alone had the best label", {"relative": "winners:sole_winners_section"}),
    SectionEntry(
        "discrepancies",
        "pairs whose direct comparison contradicts the scores",
        {"relative": "winners:discrepancies_section"},
    ),
    SectionEntry(
        "judges",
        "may a machine judge stand in for a person?",
        {"relative": "judges:comparisons_section", "scores": "judges:scores_section"},
    ),
    SectionEntry("edits", "post-edits by system", {"edits": "post_edits:edits_section"}),
    SectionEntry(
        "acceptability", "acceptable post-edits by system", {"acceptability": "post_edits:acceptability_section"}
    ),
)
SECTIONS = {entry.name: entry for entry in _ALL}


def chosen_sections(only: Iterable[str] | None) -> tuple[SectionEntry, ...]:
    """The sections asked for, in the order of the registry; all where nothing was asked for."""
    if only is None:
        return tuple(SECTIONS.values())
    names = [name.strip() for name in only if name.strip()]
    for name in names:
        if name not in SECTIONS:
            raise unknown_choice("section", name, SECTIONS)
    return tuple(entry for entry in SECTIONS.values() if entry.name in names)
