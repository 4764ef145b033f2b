"""Audits: how far each statement of a ranking can be trusted. `audit` is the main function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path  # noqa: TC003 - the shell reads the types of settings when it runs
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from adjudge.evidence.claims import Claims
from adjudge.evidence.conditions import Oddities, find_oddities
from adjudge.evidence.documents import documents_setting
from adjudge.evidence.verdict import say_audited_method, say_claims, say_oddities, say_who_is_meant
from adjudge.evidence.verdict_facts import decide_by_claims
from adjudge.ranking.changes import GENUINE
from adjudge.ranking.scores import account_note
from adjudge.table.errors import DataError, UsageError, param, unknown_choice
from adjudge.table.judgments import Judgments, fingerprint_of_parts, fingerprint_of_table
from adjudge.table.protocols import RATED, RELATIVE, SCORED
from adjudge.table.results import Result, Table, to_plain
from adjudge.table.settings import by_option, documents_by_option, method_option, option, seed_option
from adjudge.table.wording import call_accounts
from adjudge.work.cache import cached
from adjudge.work.tasks import Outcome, current_workers, do_task, is_worth_dividing, try_tasks, workers

if TYPE_CHECKING:
    import polars as pl


def _families(given: Mapping[str, str] | list[str]) -> tuple[str, ...]:
    return (
        tuple(f"{judge}={pattern}" for judge, pattern in given.items()) if isinstance(given, Mapping) else tuple(given)
    )


@dataclass(frozen=True)
class AuditSettings:
    """Settings of all sections."""

    method: str | None = method_option("Ranking method to audit. Default for rankings: wins-or-ties.")
    lines: str | None = option(
        None, "Rule for cluster lines in the section stability. Default: decided; for means, scipy-1.6."
    )
    removal: str = option(
        "genuine",
        "Stability: rows to remove with a human translation; all-rows includes degraded ones (Knowles 2021).",
        metavar="genuine|all-rows",
    )
    margin: float | str | None = option(
        None,
        "Largest difference that counts as human parity. Default: 3 points on a scale of 0 to 100, else none.",
        metavar="POINTS|SHARE%",
        typed=str | None,
        about="largest difference from a human translation that counts as parity: in points, or as a share of the "
        "scale such as `5%`. Default: 3 points on scales from 0 to 100; no claims of parity on other scales.",
    )
    by: tuple[str, ...] = by_option()
    documents_by: str | Path = documents_by_option()
    edits: Judgments | None = None
    """Post-edits, where they are not among the judgments; of any language pairs, the one audited is picked."""
    acceptability: Judgments | None = None
    """Judgments of post-edits, where they are not among the judgments; likewise."""
    judge_scores: pl.DataFrame | None = None
    """Scores of metrics by segment, each of which is tested as a machine judge (`judges.answers.read_judge_scores`)."""
    judge_allowance: float = option(
        0.15,
        "Judges: the advantage granted to people in the alternative annotator test: 0.2 for experts, 0.1 for a crowd.",
        about="how much more often a person may be closer to the other people than a judge that may still stand in for "
        "one; the authors of the test suggest .2 for experts, .15 for skilled people, .1 for crowds.",
    )
    judge_scale: Literal["matched", "z", "raw"] = option(
        "matched",
        "Judges: how scores are compared with people's (docs/judges.md).",
        metavar="matched|z|raw",
        typed=str,
        about="how scores of a judge are compared with people's: `matched` to the scores of each person, in the "
        "judge's order; standardised (`z`); or as they are (`raw`).",
    )
    judge_families: tuple[str, ...] = option(
        (),
        "Systems made by the same family of models as the judge, to test whether it favours them.",
        "--judge-family",
        metavar="JUDGE=PATTERN",
        typed=list[str] | None,
        python="Mapping[str, str] | None",
        about="by judge, a regular expression of the systems that are of its own family.",
        convert=_families,
    )
    """Systems that are of a judge's own family, as `JUDGE=PATTERN`."""
    seed: int = seed_option()


def judge_settings(judgments: Judgments, settings: AuditSettings) -> dict[str, str | float | None]:
    """What the section on machine judges depends on besides the judgments of people; nothing where there are none."""
    if judgments.machine is None and settings.judge_scores is None:
        return {}
    tables = [table for table in (judgments.machine, settings.judge_scores) if table is not None]
    return {
        "judges": fingerprint_of_parts(fingerprint_of_table(table, ()) for table in tables),
        "judge_allowance": settings.judge_allowance,
        "judge_scale": settings.judge_scale,
        "judge_family": ",".join(settings.judge_families) or None,
    }


class Section(Protocol):
    """One side of an audit: a frozen dataclass, whose JSON is that of its fields or what its `to_dict()` says."""

    def tables(self) -> tuple[Table, ...]:
        """The summary tables of this section."""
        ...


@dataclass(frozen=True, kw_only=True)
class Audit(Result):
    """How far a ranking can be trusted: one section per question that applies to the data."""

    verb: ClassVar[str] = "audit"

    sections: Mapping[str, Section]
    oddities: Oddities | None = None
    """What looks like a mistake in the data."""

    @property
    def first_lines(self) -> tuple[str, ...]:
        """What the claims say, where they were audited, and what looks like a mistake."""
        claims = self.sections.get("claims")
        if isinstance(claims, Claims):
            untested = bool(claims.humans) and claims.margin is None and claims.kind == "scores"
            decisions = decide_by_claims(claims)
            said = say_claims(decisions, untested=untested)
            meant = say_who_is_meant(claims, decided=bool(decisions.apart), headline=said[0])
            method = self.settings.get("method")
            audited = say_audited_method(None if method is None else str(method), claims.method)
            last = audited[-1:] if len(self.sections) > 1 else []
            return (*audited[:-1], said[0], *say_oddities(self.oddities), *meant, *last, *said[1:])
        return tuple(say_oddities(self.oddities))

    def tables(self) -> tuple[Table, ...]:
        """The tables of all sections; what may be accounts of fewer people is called so."""
        claims = self.sections.get("claims")
        word = call_accounts if isinstance(claims, Claims) and claims.accounts else str
        return tuple(table.reworded(word) for section in self.sections.values() for table in section.tables())

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: every section under its own name, beside the settings."""
        plain = super().to_dict()
        del plain["sections"]
        return plain | {name: to_plain(section) for name, section in self.sections.items()}


# All sections of an audit: which judgments each applies to, what computes it, and how a page shows it.
#
# An entry here is the whole registration of a section. Functions are named as `module:function`, so that they are
# loaded when they are needed. `function` takes `(judgments, settings)` and returns a frozen dataclass with
# `tables()`; `page` takes that and returns a section of the page, or None where its tables are enough.


Kind = Literal["relative", "scores", "edits", "acceptability"]
LAST = 100


@dataclass(frozen=True)
class AuditSection:
    """A section of an audit."""

    name: str
    question: str
    function: str
    kinds: tuple[Kind, ...] = ("relative", "scores")
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
        "adjudge.evidence.claims:claims_section",
        page="adjudge.reports.audit_section:build_claims_section",
        elsewhere=("relative", "scores"),
    ),
    AuditSection(
        "stability",
        "does the ranking change when something is left out?",
        "adjudge.evidence.stability:stability_section",
        page="adjudge.reports.audit_section:stability_section",
        place=6,
    ),
    AuditSection(
        "examples",
        "what went wrong: marked errors by system, the worst and the most disputed outputs, upsets",
        "adjudge.evidence.documents:examples_section",
        page="adjudge.reports.audit_section:examples_section",
        place=0,
    ),
    AuditSection(
        "composition",
        "which systems were shown together",
        "adjudge.evidence.composition:composition_section",
        page="adjudge.reports.audit_section:tasks_or_blocks",
        title="Composition",
        place=7,
        elsewhere=("relative",),
    ),
    AuditSection(
        "documents",
        "which documents were judged, and how hard they are",
        "adjudge.evidence.documents:documents_section",
        ("scores",),
        page="adjudge.reports.audit_section:documents_section",
        place=8,
    ),
    AuditSection(
        "sampling",
        "do scores depend on how often systems were drawn, or met the reference?",
        "adjudge.evidence.composition:sampling_section",
        title="Sampling",
        words="Does the score depend on how often a system was drawn?",
        place=9,
        elsewhere=("relative",),
    ),
    AuditSection(
        "aa",
        "how often does each test call a system different from itself?",
        "adjudge.evidence.aa:aa_section",
        page="adjudge.reports.audit_section:aa_section",
        place=3,
    ),
    AuditSection(
        "reliability",
        "would other annotators give the same order?",
        "adjudge.evidence.trust:reliability_section",
        page="adjudge.reports.audit_section:reliability_section",
        place=4,
    ),
    AuditSection(
        "influence",
        "which annotators and documents move the ranking most?",
        "adjudge.evidence.trust:influence_section",
        page="adjudge.reports.audit_section:influence_section",
        place=5,
    ),
    AuditSection(
        "breakdown",
        "do differences between systems vary between subsets?",
        "adjudge.evidence.breakdown:breakdown_section",
        page="adjudge.reports.audit_section:breakdown_section",
        place=1,
    ),
    AuditSection(
        "sole_winners",
        "which system alone had the best label",
        "adjudge.evidence.composition:sole_winners_section",
        ("relative",),
        title="Sole winners",
        elsewhere=("relative", "scores"),
    ),
    AuditSection(
        "discrepancies",
        "pairs whose direct comparison contradicts the scores",
        "adjudge.evidence.composition:discrepancies_section",
        ("relative",),
        title="Discrepancies",
        elsewhere=("relative", "scores"),
    ),
    AuditSection(
        "judges",
        "may a machine judge stand in for a person?",
        "adjudge.judges.audit:section",
        page="adjudge.reports.audit_section:judges_section",
        place=2,
    ),
    AuditSection(
        "edits",
        "post-edits by system",
        "adjudge.evidence.post_edits:edits_section",
        ("edits",),
        title="Post-edits",
        words="How often people who saw the translation alone left it as it is.",
    ),
    AuditSection(
        "acceptability",
        "acceptable post-edits by system",
        "adjudge.evidence.post_edits:acceptability_section",
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


SECONDS_PER_ROW = 1.1e-4
"""A lower limit of the CPU seconds per judgment for all sections; it decides whether to start processes."""
_SAME_REFITS = ("claims", "influence", "stability")
"""Sections that ask the same models, so that the fits are shared."""
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
    tasks = audit_tasks(judgments, only=only, settings=settings)
    sections, notes = _sections(tasks, outcomes or _outcomes(tasks, len(judgments)), asked_for=only is not None)
    if not sections:
        raise DataError(notes[0].partition(": ")[2] if notes else "no section applies to these judgments")
    of_sections = [f"{name}: {note}" for name, made in sections.items() for note in getattr(made, "notes", ())]
    return Audit(
        settings={
            "only": None if only is None else ",".join(entry.name for entry in tasks.entries),
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
        notes=(*judgments.notes, *account_note(judgments), *notes, *of_sections),
        sections=sections,
        oddities=find_oddities(judgments),
    )


def _entries(only: Iterable[str] | None, settings: AuditSettings, judgments: Judgments) -> tuple[AuditSection, ...]:
    """The sections to compute, in the order of the registry: those asked for, or all that there is something for."""
    if only is None:
        judged = judgments.machine is not None or settings.judge_scores is not None
        left_out = {name for name, given in (("breakdown", settings.by), ("judges", judged)) if not given}
        names = [name for name in SECTIONS if name not in left_out]
    else:
        names = [name.strip() for name in only if name.strip()]
    for name in names:
        if name not in SECTIONS:
            raise unknown_choice("section", name, SECTIONS)
    entries = tuple(entry for entry in SECTIONS.values() if entry.name in names)
    if not entries:
        raise UsageError(f"no section was asked for; choose from {', '.join(SECTIONS)}")
    return entries


def _sections(
    tasks: AuditTasks, outcomes: Mapping[str, Outcome[Section]], *, asked_for: bool
) -> tuple[dict[str, Section], list[str]]:
    """Every section that can be computed, and a note on those that cannot.

    Sections for other kinds of judgments are left out without a note, unless they were requested.
    """
    sections: dict[str, Section] = {}
    notes: list[str] = []
    for entry in tasks.entries:
        outcome = outcomes[entry.name]
        if outcome.fault is None:
            sections[entry.name] = outcome.unwrap()
        elif not isinstance(outcome.fault, DataError):
            raise outcome.fault
        elif len(tasks.entries) == 1:
            raise DataError(f"section '{entry.name}' cannot be made: {outcome.fault}") from outcome.fault
        elif asked_for or tasks.make.kinds.intersection(entry.kinds):
            notes.append(f"section '{entry.name}' is left out: {outcome.fault}")
    return sections, notes


@dataclass(frozen=True, eq=False)
class _Maker:
    """Computes sections one after the other, in this process or another."""

    kinds: set[Kind]
    judgments: Judgments
    scored: Judgments
    """Post-edits or verdicts as scores; else the judgments themselves."""
    settings: AuditSettings
    cache: bool

    def __call__(self, names: Sequence[str]) -> dict[str, Outcome[Section]]:
        # Other processes do not know the settings of this one.
        with workers(cache=self.cache):
            return {name: do_task(self._section, name) for name in names}

    def _section(self, name: str) -> Section:
        entry, settings = SECTIONS[name], self.settings
        kind = next((kind for kind in entry.kinds if kind in self.kinds), None)
        if kind is None:
            needed = " or ".join(_KIND_NAMES.get(kind, param(kind)) for kind in entry.kinds)
            raise DataError(f"it needs {needed}, which are not given")
        if kind == "scores":
            _check_several_systems(self.scored)
        audited = self.scored if kind == "scores" else self.judgments
        companions = [other and other.fingerprint for other in (settings.edits, settings.acceptability)]
        chosen = (settings.method, settings.lines, settings.removal, settings.margin, settings.by, settings.seed)
        judges = tuple(judge_settings(audited, settings).items())
        key = (kind, audited.fingerprint, audited.people, companions, chosen, judges, documents_setting(settings))
        section: Section = cached(f"audit {entry.name}", key, lambda: load(entry.function)(audited, settings))
        return section


@dataclass(frozen=True, eq=False)
class AuditTasks:
    """The sections of an audit as tasks that can run together with others."""

    entries: tuple[AuditSection, ...]
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
    from adjudge.ranking.scores import as_scores

    settings = settings or AuditSettings()
    entries = _entries(only, settings, judgments)
    names = [entry.name for entry in entries]
    kinds, scored = kinds_of(judgments, settings), judgments
    # Post-edits and acceptability judgments count as scores, unless outputs are missing.
    with suppress(DataError):
        scored = as_scores(judgments)
    if scored is not judgments:
        kinds.add("scores")
    alone = [(name,) for name in names if name in _SHARE and name not in _SAME_REFITS]
    shared = tuple(name for name in names if name in _SAME_REFITS)
    short = tuple(name for name in names if name not in _SHARE)
    groups = tuple(group for group in (*alone, shared, short) if group)
    return AuditTasks(
        entries,
        _Maker(kinds, judgments, scored, settings, current_workers().cache),
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
    if len(names) >= FEWEST_DIVIDED and is_worth_dividing(seconds, tasks=2, most_jobs=3):
        by_group = try_tasks(make, groups, what="sections", sizes=tasks.sizes, known_seconds=seconds)
        return {name: outcome for group in by_group for name, outcome in group.unwrap().items()}
    return make([name for name in SECTIONS if name in names])


_KIND_NAMES = {"relative": "relative judgments", "scores": "scores"}


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
    given: dict[Kind, bool] = {
        "relative": bool(protocols & set(RELATIVE)),
        "scores": bool(protocols & set(SCORED)),
        "edits": settings.edits is not None or "postedit" in protocols,
        "acceptability": settings.acceptability is not None or "acceptability" in protocols,
    }
    return {kind for kind, there in given.items() if there}
