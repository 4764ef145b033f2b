"""All sections of an audit by name: which judgments each applies to, and the module that computes it.

A module of `adjudge.audit` that is named here has a function `section(judgments, settings)`, which returns a frozen
dataclass with `tables()`. To add a section, write such a module and name it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adjudge.core.errors import unknown_choice

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["relative", "scores", "edits", "acceptability"]


@dataclass(frozen=True)
class SectionEntry:
    """A section: the module for each kind of judgments that it applies to."""

    name: str
    what: str
    modules: dict[Kind, str]


_ALL = (
    SectionEntry(
        "claims",
        "every statement of the ranking, and which audits it survives",
        {"relative": "claims_relative", "scores": "claims"},
    ),
    SectionEntry("stability", "does the ranking stay when something is left out?", {"scores": "stability"}),
    SectionEntry(
        "composition",
        "which systems were shown together",
        {"relative": "composition", "scores": "task_composition"},
    ),
    SectionEntry("documents", "which documents were judged, and how hard they are", {"scores": "documents"}),
    SectionEntry(
        "sampling",
        "do scores go with how often systems were drawn, or met the reference?",
        {"relative": "sampling", "scores": "task_sampling"},
    ),
    SectionEntry("aa", "how often does each test call a system different from itself?", {"scores": "aa"}),
    SectionEntry("reliability", "would other annotators give the same order?", {"scores": "reliability"}),
    SectionEntry("influence", "which annotators and documents move the ranking most?", {"scores": "influence"}),
    SectionEntry("sole_winners", "which system alone had the best label", {"relative": "sole_winners"}),
    SectionEntry(
        "discrepancies", "pairs whose direct comparison contradicts the scores", {"relative": "discrepancies"}
    ),
    SectionEntry("edits", "post-edits by system", {"edits": "edits"}),
    SectionEntry("acceptability", "acceptable post-edits by system", {"acceptability": "acceptability"}),
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
