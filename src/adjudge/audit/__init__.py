"""Audits: how far each statement of a ranking can be trusted. `audit` is the main function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.audit.changes import GENUINE
from adjudge.audit.documents import documents_setting
from adjudge.audit.post_edits import read_companion
from adjudge.audit.sections import SECTIONS, chosen_sections
from adjudge.audit.settings import AuditSettings
from adjudge.core.errors import DataError, UsageError
from adjudge.core.protocols import RATED, RELATIVE, SCORED
from adjudge.results.audit import Audit
from adjudge.work import cached

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from adjudge.audit.sections import Kind, SectionEntry
    from adjudge.core.judgments import Judgments
    from adjudge.results.audit import Section

__all__ = ["MODULES", "SECONDS_PER_ROW", "SECTIONS", "AuditSettings", "audit", "read_companion"]

MODULES = ("adjudge.audit", "adjudge.rank.mixed.shared", "scipy.linalg", "scipy.sparse", "scipy.stats")
"""What processes that audit import, of which some takes long."""
SECONDS_PER_ROW = 1e-4
"""CPU seconds that all sections take for a judgment at least; it decides whether processes are worth starting."""


def audit(judgments: Judgments, *, only: Iterable[str] | None = None, settings: AuditSettings | None = None) -> Audit:
    """Audit the judgments of one language pair.

    Args:
        judgments: the judgments; of one language pair and campaign.
        only: names from `SECTIONS`; all that apply where left out.
        settings: what the sections are made with.

    Returns:
        One section per question that applies; a note says which were left out, and why.
    """
    settings = settings or AuditSettings()
    entries = chosen_sections(only)
    if only is None and not settings.by:
        entries = tuple(entry for entry in entries if entry.name != "breakdown")
    if not entries:
        raise UsageError(f"no section was asked for; choose from {', '.join(SECTIONS)}")
    held, scored = kinds_of(judgments, settings), _as_scores(judgments)
    if scored is not None:
        held.add("scores")
    sections, notes = _sections(entries, held, (judgments, scored or judgments), settings, asked=only is not None)
    if not sections:
        raise DataError(notes[0].partition(": ")[2] if notes else "no section applies to these judgments")
    return Audit(
        settings={
            "only": None if only is None else ",".join(entry.name for entry in entries),
            "method": settings.method,
            "lines": settings.lines,
            "removal": None if settings.removal == GENUINE else settings.removal,
            "margin": settings.margin,
            "documents_by": documents_setting(settings),
            "by": ",".join(settings.by) or None,
            "edits": None if settings.edits is None else settings.edits.fingerprint,
            "acceptability": None if settings.acceptability is None else settings.acceptability.fingerprint,
            "seed": settings.seed,
        },
        data=judgments.fingerprint,
        set_aside=judgments.final().set_aside,
        notes=(*judgments.notes, *notes, *_section_notes(sections)),
        sections=sections,
    )


def _sections(
    entries: Sequence[SectionEntry],
    held: set[Kind],
    judgments: tuple[Judgments, Judgments],
    settings: AuditSettings,
    *,
    asked: bool,
) -> tuple[dict[str, Section], list[str]]:
    """Every section that can be made, and a note on those that cannot.

    `judgments` are those given, and the same as scores. Sections for other kinds of judgments are left out in silence
    where nobody asked for them.
    """
    sections: dict[str, Section] = {}
    notes: list[str] = []
    for entry in entries:
        try:
            sections[entry.name] = _section(entry, held, *judgments, settings)
        except DataError as fault:
            if len(entries) == 1:
                raise DataError(f"section '{entry.name}' cannot be made: {fault}") from fault
            if asked or entry.functions.keys() & held:
                notes.append(f"{entry.name} is left out: {fault}")
    return sections, notes


def _section_notes(sections: Mapping[str, Section]) -> Iterator[str]:
    """What sections say of what they left out."""
    for name, section in sections.items():
        yield from (f"{name}: {note}" for note in getattr(section, "notes", ()))


_KIND_NAMES = {"relative": "relative judgments", "scores": "scores"}


def _as_scores(judgments: Judgments) -> Judgments | None:
    """Post-edits or judgments of acceptability as scores; None where there are none, or where outputs are missing."""
    from adjudge.rank.edits_as_scores import as_scores

    try:
        scored = as_scores(judgments)
    except DataError:
        return None
    return None if scored is judgments else scored


def _section(
    entry: SectionEntry, held: set[Kind], judgments: Judgments, scored: Judgments, settings: AuditSettings
) -> Section:
    kind = next((kind for kind in entry.functions if kind in held), None)
    if kind is None:
        wanted = " or ".join(_KIND_NAMES.get(kind, f"--{kind}") for kind in entry.functions)
        raise DataError(f"it needs {wanted}, which are not given")
    if kind == "scores":
        _check_several_systems(scored)
    own = scored if kind == "scores" else judgments
    companions = [other and other.fingerprint for other in (settings.edits, settings.acceptability)]
    chosen = (settings.method, settings.lines, settings.removal, settings.margin, settings.by, settings.seed)
    key = (kind, own.fingerprint, companions, chosen, documents_setting(settings))
    return cached(f"audit {entry.name}", key, lambda: entry.function(kind)(own, settings))


def _check_several_systems(judgments: Judgments) -> None:
    import polars as pl

    scored = pl.col("protocol").is_in(SCORED) & pl.col("kind").is_in(RATED) & pl.col("score").is_not_null()
    systems = judgments.table.filter(scored)["system"].unique()
    if len(systems) == 1:
        problem = f"at least two systems are needed for the audit of a ranking, the data hold {systems[0]}"
        raise DataError(f"{problem}; nothing to compare")


def kinds_of(judgments: Judgments, settings: AuditSettings) -> set[Kind]:
    """What there is to audit: relative judgments, scores, post-edits, judgments of post-edits."""
    protocols = set(judgments.protocols)
    kinds: set[Kind] = set()
    if protocols & set(RELATIVE):
        kinds.add("relative")
    if protocols & set(SCORED):
        kinds.add("scores")
    if settings.edits is not None or "postedit" in protocols:
        kinds.add("edits")
    if settings.acceptability is not None or "acceptability" in protocols:
        kinds.add("acceptability")
    return kinds
