"""Audits: how far each statement of a ranking can be trusted. `audit` is the main function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.audit.changes import GENUINE
from adjudge.audit.documents import documents_setting
from adjudge.audit.post_edits import read_companion
from adjudge.audit.settings import AuditSettings, judge_settings
from adjudge.core.errors import DataError, UsageError
from adjudge.core.protocols import RATED, RELATIVE, SCORED
from adjudge.results.audit import Audit
from adjudge.results.audit.sections import SECTIONS, choose_sections, load
from adjudge.work import cached, current_workers, do_task, try_tasks, workers, worth_dividing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.results.audit import Section
    from adjudge.results.audit.sections import AuditSection, Kind
    from adjudge.work import Outcome

__all__ = ["SECONDS_PER_ROW", "SECTIONS", "AuditSettings", "audit", "read_companion"]

SECONDS_PER_ROW = 1.1e-4
"""A lower limit of the CPU seconds per judgment for all sections; it decides whether to start processes."""
_SAME_REFITS = ("claims", "influence")
"""Sections that leave out the same annotators and documents, so that the fits are shared."""
_SHARE = {"claims": 0.9, "influence": 0.4, "aa": 1.1, "stability": 0.7, "reliability": 0.45}
"""Relative durations of sections; the longest are started first, unlisted ones last."""
FEWEST_DIVIDED = 4
"""Sections that are computed before the rest is divided among processes."""


def audit(
    judgments: Judgments,
    *,
    only: Iterable[str] | None = None,
    settings: AuditSettings | None = None,
    outcomes: Mapping[str, Outcome[Section]] | None = None,
) -> Audit:
    """Audit the judgments of one language pair.

    Args:
        judgments: the judgments; of one language pair and campaign.
        only: names from `SECTIONS`; default: all that apply.
        settings: settings of the sections.
        outcomes: the outcomes of sections by name, if the tasks of `audit_tasks` were done before.

    Returns:
        One section per question that applies; a note says which were left out, and why.
    """
    settings = settings or AuditSettings()
    entries = _entries(only, settings, judgments)
    tasks = audit_tasks(judgments, only=only, settings=settings)
    by_name = outcomes or _outcomes(tasks, len(judgments))
    sections, notes = _sections(entries, by_name, tasks.make.kinds, asked_for=only is not None)
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
            **judge_settings(judgments, settings),
            "edits": None if settings.edits is None else settings.edits.fingerprint,
            "acceptability": None if settings.acceptability is None else settings.acceptability.fingerprint,
            "seed": settings.seed,
        },
        data=judgments.fingerprint,
        set_aside=judgments.final().set_aside,
        notes=(*judgments.notes, *notes, *_section_notes(sections)),
        sections=sections,
    )


def _entries(only: Iterable[str] | None, settings: AuditSettings, judgments: Judgments) -> tuple[AuditSection, ...]:
    """The sections to compute; two are made only where there is something to make them of."""
    entries = choose_sections(only)
    if only is None:
        judged = judgments.machine is not None or settings.judge_scores is not None
        left_out = {name for name, given in (("breakdown", settings.by), ("judges", judged)) if not given}
        entries = tuple(entry for entry in entries if entry.name not in left_out)
    if not entries:
        raise UsageError(f"no section was asked for; choose from {', '.join(SECTIONS)}")
    return entries


def _sections(
    entries: Sequence[AuditSection], outcomes: Mapping[str, Outcome[Section]], kinds: set[Kind], *, asked_for: bool
) -> tuple[dict[str, Section], list[str]]:
    """Every section that can be computed, and a note on those that cannot.

    Sections for other kinds of judgments are left out without a note, unless they were requested.
    """
    sections: dict[str, Section] = {}
    notes: list[str] = []
    for entry in entries:
        outcome = outcomes[entry.name]
        if outcome.fault is None:
            sections[entry.name] = outcome.unwrap()
        elif not isinstance(outcome.fault, DataError):
            raise outcome.fault
        elif len(entries) == 1:
            raise DataError(f"section '{entry.name}' cannot be made: {outcome.fault}") from outcome.fault
        elif asked_for or kinds.intersection(entry.kinds):
            notes.append(f"section '{entry.name}' is left out: {outcome.fault}")
    return sections, notes


@dataclass(frozen=True, eq=False)
class _Maker:
    """Computes sections one after the other, in this process or another."""

    kinds: set[Kind]
    judgments: tuple[Judgments, Judgments]
    settings: AuditSettings
    cache: bool

    def __call__(self, names: Sequence[str]) -> dict[str, Outcome[Section]]:
        # Other processes do not know the settings of this one.
        with workers(cache=self.cache):
            return {name: do_task(self._section, name) for name in names}

    def _section(self, name: str) -> Section:
        return _section(SECTIONS[name], self.kinds, *self.judgments, self.settings)


@dataclass(frozen=True, eq=False)
class AuditTasks:
    """The sections of an audit as tasks that can run together with others."""

    make: _Maker
    """Maps the names of a group to the outcomes of its sections."""
    groups: tuple[tuple[str, ...], ...]
    """Groups of section names; a group is computed in one task."""
    sizes: tuple[float, ...]
    """Approximate duration of each group, in seconds for 30,000 judgments."""


def audit_tasks(
    judgments: Judgments, *, only: Iterable[str] | None = None, settings: AuditSettings | None = None
) -> AuditTasks:
    """The tasks of an audit with these arguments."""
    settings = settings or AuditSettings()
    names = [entry.name for entry in _entries(only, settings, judgments)]
    kinds, scored = kinds_of(judgments, settings), _as_scores(judgments)
    if scored is not None:
        kinds.add("scores")
    alone = [(name,) for name in names if name in _SHARE and name not in _SAME_REFITS]
    shared = tuple(name for name in names if name in _SAME_REFITS)
    short = tuple(name for name in names if name not in _SHARE)
    groups = tuple(group for group in (*alone, shared, short) if group)
    return AuditTasks(
        _Maker(kinds, (judgments, scored or judgments), settings, current_workers().cache),
        groups,
        tuple(sum(_SHARE.get(name, 0.0) for name in group) for group in groups),
    )


def _outcomes(tasks: AuditTasks, rows: int) -> Mapping[str, Outcome[Section]]:
    """The outcome of every section.

    Two or three processes divide the sections among them. More processes would wait for the longest section, so the
    work within each section is divided instead.
    """
    make, groups, seconds = tasks.make, tasks.groups, rows * SECONDS_PER_ROW
    names = [name for group in groups for name in group]
    if len(names) >= FEWEST_DIVIDED and worth_dividing(seconds, tasks=2, most_jobs=3):
        by_group = try_tasks(make, groups, what="sections", sizes=tasks.sizes, known_seconds=seconds)
        return {name: outcome for group in by_group for name, outcome in group.unwrap().items()}
    return make([name for name in SECTIONS if name in names])


def _section_notes(sections: Mapping[str, Section]) -> Iterator[str]:
    """The notes of sections about what they left out."""
    for name, section in sections.items():
        yield from (f"{name}: {note}" for note in getattr(section, "notes", ()))


_KIND_NAMES = {"relative": "relative judgments", "scores": "scores"}


def _as_scores(judgments: Judgments) -> Judgments | None:
    """Post-edits or acceptability judgments as scores; None if there are none, or if outputs are missing."""
    from adjudge.rank.edits_as_scores import as_scores

    try:
        scored = as_scores(judgments)
    except DataError:
        return None
    return None if scored is judgments else scored


def _section(
    entry: AuditSection, kinds: set[Kind], judgments: Judgments, scored: Judgments, settings: AuditSettings
) -> Section:
    kind = next((kind for kind in entry.kinds if kind in kinds), None)
    if kind is None:
        needed = " or ".join(_KIND_NAMES.get(kind, f"--{kind}") for kind in entry.kinds)
        raise DataError(f"it needs {needed}, which are not given")
    if kind == "scores":
        _check_several_systems(scored)
    audited = scored if kind == "scores" else judgments
    key = _key(kind, audited, settings)
    section: Section = cached(f"audit {entry.name}", key, lambda: load(entry.function)(audited, settings))
    return section


def _key(kind: Kind, judgments: Judgments, settings: AuditSettings) -> tuple[object, ...]:
    """The inputs of a section besides its name."""
    companions = [other and other.fingerprint for other in (settings.edits, settings.acceptability)]
    chosen = (settings.method, settings.lines, settings.removal, settings.margin, settings.by, settings.seed)
    judges = tuple(judge_settings(judgments, settings).items())
    return (kind, judgments.fingerprint, companions, chosen, judges, documents_setting(settings))


def _check_several_systems(judgments: Judgments) -> None:
    import polars as pl

    scored = pl.col("protocol").is_in(SCORED) & pl.col("kind").is_in(RATED) & pl.col("score").is_not_null()
    systems = judgments.table.filter(scored)["system"].unique()
    if len(systems) == 1:
        problem = f"at least two systems are needed for the audit of a ranking, the data hold {systems[0]}"
        raise DataError(f"{problem}; nothing to compare")


def kinds_of(judgments: Judgments, settings: AuditSettings) -> set[Kind]:
    """The kinds of judgments to audit: relative judgments, scores, post-edits, judgments of post-edits."""
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
