"""How a campaign was collected, as it travels with its judgments; and what counts as one judgment.

An export carries the record (`server/record.py` writes it): in the metadata of Parquet, in a file beside CSV. The
reader of native tables puts it on `Judgments.record`, and every command that reads judgments says it.

A judgment is a genuine output judged by a person: the last revision with an answer, once per person and text, even
where several systems produced the same text. A reference that is ranked among outputs is one of them. Other controls,
repeats, calibration and tutorials are counted apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - read when a record is parsed
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from adjudge.table.judgments import CRITERION, SKIPPED
from adjudge.table.protocols import COUNTED, COUNTED_AMONG_RANKED, EDITED, KINDS, RELATIVE
from adjudge.table.wording import agreeing, counted, listed, short_list

ANSWER = ("annotator", "task", "output")
"""What identifies an answer in an export: the systems that produced the same output have a row each."""


@dataclass(frozen=True)
class JudgmentCounts:
    """Answers by what they count as: the one count of judgments, and all else apart."""

    judgments: int = 0
    """Genuine outputs judged by people, each once per person."""
    repeats: int = 0
    """Outputs that a person judged a second time."""
    controls: int = 0
    """Answers to controls, repeats included."""
    calibration: int = 0
    """Outputs that all annotators judge to compare themselves."""
    examples: int = 0
    """Answers in tutorials."""
    skipped: int = 0
    """Outputs that people skipped with a reason, whatever their kind."""


def is_answered() -> pl.Expr:
    """Mark the rows that hold an answer: a rank, a score, or a translation that was corrected."""
    relative, edited = pl.col("protocol").is_in(RELATIVE), pl.col("protocol").is_in(EDITED)
    given = pl.when(edited).then(pl.col("text").is_not_null()).otherwise(pl.col("score").is_not_null())
    return pl.when(relative).then(pl.col("rank").is_not_null()).otherwise(given).fill_null(value=False)


def is_judgment() -> pl.Expr:
    """Mark the rows that count as judgments: outputs of systems, and references that were ranked among them."""
    ranked = pl.col("protocol").is_in(RELATIVE) & pl.col("kind").is_in(COUNTED_AMONG_RANKED)
    return pl.col("kind").is_in(COUNTED) | ranked


def count_answers(final: pl.DataFrame) -> JudgmentCounts:
    """Count the answers of a table that holds the last revision of each."""
    once = once_per_text(_without_repeated_scopes(final.filter(is_answered())))
    counted = once.filter(is_judgment()).height
    by_kind = dict(once.filter(~is_judgment()).group_by("kind").len().iter_rows())
    return JudgmentCounts(
        judgments=counted,
        repeats=by_kind.get("repeat", 0),
        controls=sum(by_kind.get(kind.name, 0) for kind in KINDS.values() if kind.control),
        calibration=by_kind.get("calibration", 0),
        examples=by_kind.get("tutorial", 0),
        skipped=0
        if SKIPPED not in final.columns
        else once_per_text(final.filter(pl.col(SKIPPED).is_not_null())).height,
    )


def _without_repeated_scopes(answers: pl.DataFrame) -> pl.DataFrame:
    """The answers without scores of whole pages, where their segments were judged too: these are what counts."""
    if CRITERION not in answers.columns or answers["segment"].is_null().all():
        return answers
    return answers.filter(pl.col("segment").is_not_null())


def once_per_text(answers: pl.DataFrame) -> pl.DataFrame:
    """The answers, each once even where several systems produced the text: exports name the output that was shown."""
    if "output" not in answers.columns or answers["output"].null_count():
        return answers
    return answers.unique(ANSWER, keep="first", maintain_order=True)


@dataclass(frozen=True)
class TakenLook:
    """A look that was taken, with all that was settled after it."""

    look: int
    judgments: int
    people: int | None
    """How many people had judged; None where it is not known."""
    fraction: float
    """Of the plan."""
    level: float
    """The level spent until then, of all claims together."""
    settled: tuple[tuple[str, str], ...] = ()
    """Pairs, the better system first."""
    top: tuple[str, ...] = ()
    """The systems that are settled as the best, where that is the goal."""
    digest: str = ""
    """Over this look and those before it, as the file of looks has it."""


@dataclass(frozen=True)
class LooksRecord:
    """The plan of looks as it was when judging began, and the looks that were taken."""

    planned: int
    looks: int
    goal: str
    spending: str
    level: float
    taken: tuple[TakenLook, ...] = ()
    people: int | None = None
    """Planned people; None where no number was planned, or in the record of an earlier version."""

    @property
    def spent(self) -> float:
        """The level spent so far."""
        return self.taken[-1].level if self.taken else 0.0


@dataclass(frozen=True)
class Exclusion:
    """A decision about a person: excluded or taken back in, why, by whom and when."""

    annotator: str
    excluded: bool
    reason: str
    by: str
    made: str


@dataclass(frozen=True)
class CampaignRecord:
    """How a campaign was designed and collected, up to the moment of its export."""

    campaign: str
    protocol: str
    source_lang: str
    target_lang: str
    scale: str
    """`0 to 100 by 1`; empty where no scores are given."""
    systems: tuple[str, ...]
    human: tuple[str, ...]
    documents: int
    segments: int
    tasks: int
    outputs: int
    """The most outputs that stand side by side."""
    controls: Mapping[str, int]
    """Outputs in the tasks that check people, by kind."""
    assignment: str
    """`fixed` or `pool`."""
    adaptive: Mapping[str, Any] | None
    """The policy of an adaptive campaign by name, with its settings; None where tasks are not drawn."""
    annotators: int
    """People who gave an answer and are not excluded."""
    counts: JudgmentCounts
    """Of their answers."""
    begun: str
    last_save: str
    """When the last of the judgments came: the same data give the same record, whenever they are exported."""
    version: str
    """Of adjudge, at the export."""
    fingerprint: str
    """Of the tasks."""
    looks: LooksRecord | None = None
    exclusions: tuple[Exclusion, ...] = ()
    """All decisions, in the order in which they were made."""
    least_seconds: float | None = None
    """The pace that the campaign asks for, in seconds per judgment; None in the record of an earlier version."""
    log: Mapping[str, Any] = field(default_factory=dict)
    """The last entry of the campaign's log and its digest, as `adjudge verify` checks them."""

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """The people who are excluded now, with the decision that holds."""
        last = {decision.annotator: decision for decision in self.exclusions}
        return tuple(decision for decision in last.values() if decision.excluded)

    def to_json(self) -> str:
        """The record as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)


def parse_record(text: str) -> CampaignRecord:
    """The record that JSON holds; keys of later versions are left out. A `ValueError` says what is wrong."""
    from pydantic import TypeAdapter

    try:
        return TypeAdapter(CampaignRecord).validate_json(text)
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault


def say_record(record: CampaignRecord) -> tuple[str, ...]:
    """How the judgments were collected, a sentence for each thing that an ordinary analysis would not know."""
    texts = f"{counted(len(record.systems), 'system')} on {counted(record.segments, 'segment')}"
    design = f"{texts} of {counted(record.documents, 'document')} in {counted(record.tasks, 'task')}"
    beside = f", {record.outputs} outputs side by side" if record.outputs > 1 else ""
    tests = ", ".join(f"{count:,} {kind}" for kind, count in record.controls.items() if count)
    judged = f"{counted(record.counts.judgments, 'judgment')} by {counted(record.annotators, 'person', 'people')}"
    said = [
        f"collected by campaign '{record.campaign}' ({record.protocol}): {design}{beside}",
        f"controls in the tasks: {tests}" if tests else "the tasks have no controls",
        f"{judged} {agreeing(record.counts.judgments, 'was', 'were')} collected, before the check of people",
    ]
    if record.adaptive is not None:
        policy = record.adaptive.get("policy", "unknown")
        said.append(f"the adaptive policy '{policy}' chose what was judged next, from the judgments so far")
    if record.looks is not None:
        said += say_looks(record.looks)
    if record.excluded:
        people = [f"{decision.annotator} ({decision.reason})" for decision in record.excluded]
        said.append(f"the organisers excluded {counted(len(people), 'person', 'people')}: {short_list(people)}")
    return tuple(said)


def say_looks(looks: LooksRecord) -> tuple[str, ...]:
    """How often the growing campaign was looked at, and what that has cost and settled."""
    planned = agreeing(looks.looks, "was", "were")
    plan = f"{counted(looks.looks, 'look')} at {looks.planned:,} judgments {planned} planned"
    if not looks.taken:
        return (f"{plan}; none was taken",)
    last = looks.taken[-1]
    found = "nothing is settled"
    if last.top:
        found = f"the top is settled: {listed(last.top)}"
    elif last.settled:
        found = f"{counted(len(last.settled), 'pair')} settled"
    spent = f"{looks.spent:.4f} of the level {looks.level:g} is spent, and {found}"
    return f"{plan}, and {len(looks.taken)} {agreeing(len(looks.taken), 'was', 'were')} taken", spent
