"""All sections of an audit: which judgments each applies to, what computes it, and how a page shows it.

An entry here is the whole registration of a section. Functions are named as `module:function`, so that they are loaded
when they are needed. `function` takes `(judgments, settings)` and returns a frozen dataclass with `tables()`; `page`
takes that and returns a section of the page, or None where its tables are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from adjudge.core.errors import unknown_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Kind = Literal["relative", "scores", "edits", "acceptability"]
LAST = 100


@dataclass(frozen=True)
class AuditSection:
    """A section of an audit."""

    name: str
    question: str
    function: str
    kinds: tuple[Kind, ...]
    """The kinds of judgments that it applies to; the first that is given is audited."""
    page: str | None = None
    """What makes its words and charts; without it the tables are shown under the title."""
    title: str = ""
    words: str = ""
    place: int = LAST
    """Where it stands on a page: what bears on the verdict comes first."""
    elsewhere: tuple[Kind, ...] = ()
    """The kinds of judgments for which reports show it in another section of the page."""


_ALL = (
    AuditSection(
        "claims",
        "every statement of the ranking, and which audits it survives",
        "adjudge.audit.claims.section:section",
        ("relative", "scores"),
        page="adjudge.report.sections.claims:claims_alone",
        elsewhere=("relative", "scores"),
    ),
    AuditSection(
        "stability",
        "does the ranking change when something is left out?",
        "adjudge.audit.stability:section",
        ("relative", "scores"),
        page="adjudge.report.sections.score_audits:stability_section",
        place=6,
    ),
    AuditSection(
        "composition",
        "which systems were shown together",
        "adjudge.audit.composition:composition_section",
        ("relative", "scores"),
        page="adjudge.report.sections.score_audits:tasks_or_blocks",
        title="Composition",
        place=7,
        elsewhere=("relative",),
    ),
    AuditSection(
        "documents",
        "which documents were judged, and how hard they are",
        "adjudge.audit.documents:section",
        ("scores",),
        page="adjudge.report.sections.score_audits:documents_section",
        place=8,
    ),
    AuditSection(
        "sampling",
        "do scores depend on how often systems were drawn, or met the reference?",
        "adjudge.audit.composition:sampling_section",
        ("relative", "scores"),
        title="Sampling",
        words="Does the score depend on how often a system was drawn?",
        place=9,
        elsewhere=("relative",),
    ),
    AuditSection(
        "aa",
        "how often does each test call a system different from itself?",
        "adjudge.audit.aa:section",
        ("relative", "scores"),
        page="adjudge.report.sections.trust:aa_section",
        place=3,
    ),
    AuditSection(
        "reliability",
        "would other annotators give the same order?",
        "adjudge.audit.reliability:section",
        ("relative", "scores"),
        page="adjudge.report.sections.trust:reliability_section",
        place=4,
    ),
    AuditSection(
        "influence",
        "which annotators and documents move the ranking most?",
        "adjudge.audit.influence:section",
        ("relative", "scores"),
        page="adjudge.report.sections.trust:influence_section",
        place=5,
    ),
    AuditSection(
        "breakdown",
        "do differences between systems vary between subsets?",
        "adjudge.audit.breakdown:section",
        ("relative", "scores"),
        page="adjudge.report.sections.breakdown:breakdown_section",
        place=1,
    ),
    AuditSection(
        "sole_winners",
        "which system alone had the best label",
        "adjudge.audit.winners:sole_winners_section",
        ("relative",),
        title="Sole winners",
        elsewhere=("relative", "scores"),
    ),
    AuditSection(
        "discrepancies",
        "pairs whose direct comparison contradicts the scores",
        "adjudge.audit.winners:discrepancies_section",
        ("relative",),
        title="Discrepancies",
        elsewhere=("relative", "scores"),
    ),
    AuditSection(
        "judges",
        "may a machine judge stand in for a person?",
        "adjudge.audit.judges:section",
        ("relative", "scores"),
        page="adjudge.report.sections.judges:judges_section",
        place=2,
    ),
    AuditSection(
        "edits",
        "post-edits by system",
        "adjudge.audit.post_edits:edits_section",
        ("edits",),
        title="Post-edits",
        words="How often people who saw the translation alone left it as it is.",
    ),
    AuditSection(
        "acceptability",
        "acceptable post-edits by system",
        "adjudge.audit.post_edits:acceptability_section",
        ("acceptability",),
        title="Acceptability",
        words="How often post-edited translations were found acceptable.",
    ),
)
SECTIONS = {entry.name: entry for entry in _ALL}


def load(function: str) -> Callable[..., Any]:
    """The function that is named `module:function`."""
    module, _, name = function.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(module), name)
    return loaded


def choose_sections(only: Iterable[str] | None) -> tuple[AuditSection, ...]:
    """The sections asked for, in the order of the registry; all where nothing was asked for."""
    if only is None:
        return tuple(SECTIONS.values())
    names = [name.strip() for name in only if name.strip()]
    for name in names:
        if name not in SECTIONS:
            raise unknown_choice("section", name, SECTIONS)
    return tuple(entry for entry in SECTIONS.values() if entry.name in names)
