"""Protocols (how people judge) and kinds (the purpose of an output): one table of each.

Stages look up properties in these tables: `PROTOCOLS["esa"].marked`, `KINDS["repeat"].rated`. The tuples below list
the names with a common property, for conditions on a column. `docs/data.md` explains both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = Literal["rank", "score", "spans", "edit", "verdict"]
TaskKind = Literal["work", "calibration", "tutorial"]
Severity = Literal["neutral", "minor", "major", "critical"]
CollectedProtocol = Literal["ranking", "da", "pairwise", "sqm", "esa", "mqm", "postedit", "acceptability"]
"""The protocols of the web page. A type cannot be computed, so a test compares it with the table."""

SEVERITIES: tuple[Severity, ...] = ("neutral", "minor", "major", "critical")
"""Severities of errors, from the mildest."""


@dataclass(frozen=True)
class Protocol:
    """One way to judge translations.

    Attributes:
        name: its name in files, commands and pages.
        label: its name in a sentence.
        answer: what the annotator gives for each output. `verdict` is a yes or no about an edited translation.
        scored: whether the column `score` measures the quality of a system.
        on_scale: whether people choose the score on a scale, so that it has a lowest and a highest value.
        severities: the severities of marked errors, from the mildest; empty if errors are not marked.
        categories: whether each error has a category, and the score follows from the errors.
        in_pairs: whether exactly two outputs are compared.
        collected: whether the web page can collect such judgments.
    """

    name: str
    label: str
    answer: Answer
    scored: bool = False
    on_scale: bool = False
    severities: tuple[Severity, ...] = ()
    categories: bool = False
    in_pairs: bool = False
    collected: bool = True

    @property
    def relative(self) -> bool:
        """Whether outputs shown together are compared with each other."""
        return self.answer == "rank"

    @property
    def in_blocks(self) -> bool:
        """Whether outputs are ranked in blocks of any size, so that references and controls can stand among them."""
        return self.relative and not self.in_pairs

    @property
    def marked(self) -> bool:
        """Whether errors are marked in the text."""
        return bool(self.severities)

    @property
    def edited(self) -> bool:
        """Whether people correct the translation."""
        return self.answer == "edit"

    @property
    def chosen(self) -> bool:
        """Whether people choose a number of a scale; a verdict is 1 or 0."""
        return self.on_scale or self.answer == "verdict"

    @property
    def field(self) -> Literal["rank", "score", "spans", "edit"]:
        """The field of an answer that carries the judgment."""
        return "score" if self.answer == "verdict" else self.answer

    @property
    def in_text(self) -> bool:
        """Whether people work in the text itself: they mark errors or correct it."""
        return self.marked or self.edited

    @property
    def needed_column(self) -> Literal["rank", "score"] | None:
        """The column of the judgment table that a judgment needs, if there is one."""
        if self.relative:
            return "rank"
        return "score" if self.scored and not self.marked else None


@dataclass(frozen=True)
class Kind:
    """The purpose for which an output is shown.

    Attributes:
        name: its name in the column `kind`.
        meaning: what it is, in a few words.
        task: the type of task that contains it.
        translation: whether it is a genuine translation by a system or a person.
        control: whether it is there to check annotators rather than to be ranked.
        rated: whether its scores count for its system.
        judged: whether its judgments count as judgments of the campaign.
        made_from: the kinds of outputs it is made from, the preferred one first.
    """

    name: str
    meaning: str
    task: TaskKind = "work"
    translation: bool = True
    control: bool = False
    rated: bool = False
    judged: bool = True
    made_from: tuple[str, ...] = ()


PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        Protocol("ranking", "ranking", "rank"),
        Protocol("da", "direct assessment", "score", scored=True, on_scale=True),
        Protocol("pairwise", "pairwise comparison", "rank", in_pairs=True),
        Protocol("sqm", "scalar quality metric", "score", scored=True, on_scale=True),
        Protocol(
            "esa", "error span annotation", "score", scored=True, on_scale=True, severities=("minor", "major")
        ),
        Protocol(
            "mqm", "multidimensional quality metrics", "spans", scored=True, severities=SEVERITIES, categories=True
        ),
        Protocol("postedit", "post-editing", "edit"),
        Protocol("acceptability", "acceptability of post-edits", "verdict"),
    )
}  # fmt: skip

ASSUMED_OF_RANKS, ASSUMED_OF_SCORES = "ranking", "da"
"""The protocols of ranks and of scores whose file does not say how people judged."""

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("system", "an output of a system", rated=True),
        Kind("reference", "a reference shown as a control", control=True),
        Kind("degraded", "a damaged text", translation=False, control=True, made_from=("system", "reference")),
        Kind("repeat", "an output shown again", control=True, rated=True, made_from=("system",)),
        Kind("calibration", "an output that all annotators judge", task="calibration"),
        Kind("tutorial", "an example that teaches the protocol", task="tutorial", translation=False, judged=False),
        Kind("attention", "a text that says what to answer", translation=False, control=True, judged=False),
    )
}
KIND_CODES: dict[str, int] = {name: code for code, name in enumerate(KINDS)}
"""The index of every kind in the table, for arrays of codes."""

RELATIVE = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.relative)
"""Outputs are compared with each other."""
SCORED = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.scored)
"""The score measures the quality of a system."""
ON_SCALE = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.on_scale)
"""People choose the score on a scale."""
MARKED = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.marked)
"""Errors are marked in the text."""
EDITED = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.edited)
"""Translations are corrected."""
COLLECTED = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.collected)
"""The web page collects them."""
ONE_BY_ONE = tuple(name for name in COLLECTED if not PROTOCOLS[name].relative)
"""The web page collects them, each output judged by itself."""

RATED = tuple(kind.name for kind in KINDS.values() if kind.rated)
"""Scores of these count for systems."""
TRANSLATIONS = tuple(kind.name for kind in KINDS.values() if kind.translation)
"""Genuine translations; other kinds say nothing about a system."""
NOT_TRANSLATIONS = tuple(kind.name for kind in KINDS.values() if not kind.translation)
"""Outputs shown to check or to teach people."""
WORK = tuple(kind.name for kind in KINDS.values() if kind.translation and kind.task == "work")
"""Translations in tasks of work: not those that all annotators judge for calibration."""
NOT_CONTROLS = tuple(kind.name for kind in KINDS.values() if kind.translation and not kind.control)
"""Translations of systems that check nobody."""
COUNTED = tuple(kind.name for kind in KINDS.values() if kind.rated and not kind.control)
"""What counts as a judgment of the campaign: controls, repeats, calibration and tutorials are counted apart."""
COUNTED_AMONG_RANKED = (*COUNTED, "reference")
"""The same where outputs are ranked: a reference among them is ranked too, whatever else it checks."""
NOT_JUDGED = tuple(kind.name for kind in KINDS.values() if not kind.judged)
"""Answers to these do not count as judgments of the campaign."""


def counted_kinds(protocol: str) -> tuple[str, ...]:
    """The kinds of outputs whose answers count as judgments of a campaign with this protocol."""
    return COUNTED_AMONG_RANKED if PROTOCOLS[protocol].relative else COUNTED


# The rule for passing during a campaign: enough controls answered correctly, at a plausible pace.
#
# It is used for completion codes and on the organisers' page. `adjudge check` uses the same rule for pace, but tests
# controls differently (`people.check`): over all judgments of a person, a paired test asks whether degraded
# outputs got lower scores. A completion code is given after a few controls, which are too few for a test.

LEAST_SECONDS = 1.0
"""Nobody can read a source and its translation and judge it in less than a second on average."""
PASS_SHARE = 0.5
"""The default share of controls that must be answered correctly."""
FEW_JUDGMENTS = 5
"""With fewer judgments than this, the pace is not judged."""
LEAST_CONTROLS = 5
"""The default number of controls below which nobody fails by them: one slip would decide."""


@dataclass(frozen=True)
class Work:
    """What one person has done: judgments, active seconds spent on them, and controls answered correctly, of how many.

    `active_seconds` is None if time was not measured.
    """

    judgments: int
    active_seconds: float | None
    controls_right: int = 0
    controls: int = 0

    def is_too_fast(self, least_seconds: float = LEAST_SECONDS) -> bool:
        """Whether judgments took less than `least_seconds` on average."""
        if self.active_seconds is None or self.judgments < FEW_JUDGMENTS:
            return False
        return self.active_seconds < least_seconds * self.judgments

    def missed_controls(self, pass_share: float = PASS_SHARE, least_controls: int = LEAST_CONTROLS) -> bool:
        """Whether fewer than `pass_share` of the controls were answered correctly, of `least_controls` or more."""
        return self.controls >= least_controls and self.controls_right < pass_share * self.controls

    def faults(
        self,
        *,
        pass_share: float = PASS_SHARE,
        least_controls: int = LEAST_CONTROLS,
        least_seconds: float = LEAST_SECONDS,
    ) -> tuple[str, ...]:
        """List why the work does not pass: `pace`, `controls`; nothing if it passes."""
        pace = ("pace",) if self.is_too_fast(least_seconds) else ()
        return (*pace, *(("controls",) if self.missed_controls(pass_share, least_controls) else ()))
