"""Marks of errors in answers: which count where none was changed, what they cost, who made them, where they snap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from adjudge.core.spans import Mark
from adjudge.design.degrade import is_spaced
from adjudge.formats.mqm.weights import Weights, score, weight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.design.campaign import Campaign
    from adjudge.design.tasks import Output, TaskSet

MOST_MARKS = 200
# What the page asks to confirm: a low score although no error is marked; a high one in spite of a major error.
WARNINGS = ("low-without-error", "high-with-major")
SEVERE = ("major", "critical")
Origin = Literal["annotator", "prefilled", "changed"]
_SAMPLE = 200

Span = dict[str, Any]


def to_mark(span: Mapping[str, Any]) -> Mark:
    """Turn a mark of a stored answer into a `Mark`."""
    return Mark(*(span[name] for name in ("start", "end", "severity", "category", "side", "text")))


def marks_to_dicts(marks: Sequence[Mark]) -> list[Span]:
    """Marks as the judgment table has them."""
    return [dict(vars(mark)) for mark in marks]


def prefilled_spans(output: Output) -> list[Span]:
    """The marks that a translation comes with, as if an answer held them."""
    return [{**span, "of": i} for i, span in enumerate(marks_to_dicts(output.prefilled))]


def is_open(value: Any) -> bool:
    """Whether a judgment is still to be made: there is none, or it has errors whose category is not chosen yet."""
    return value is None or (isinstance(value, list) and any(span["category"] is None for span in value))


def score_spans(spans: list[Span] | None, campaign: Campaign) -> float | None:
    """The score that follows from the errors, where they are the judgment; None as long as it is open."""
    if is_open(spans):
        return None
    weights = campaign.spans.weights.as_weights()
    return score([weight(span["severity"], span["category"], weights) or 0.0 for span in spans or ()])


def category_kind(category: str) -> str:
    """How a category counts, so that the page can tell what errors cost: as its severity says, or otherwise."""
    told_apart = Weights(minor=1, punctuation=2, major=1, critical=1, non_translation=3)
    kinds = {0.0: "nothing", 2.0: "punctuation", 3.0: "non_translation"}
    return kinds.get(weight("minor", category, told_apart) or 0.0, "severity")


def effective_spans(answer: Mapping[str, Any], output: Output) -> list[Span]:
    """The marks that count: the annotator's, or as long as none was changed those that the translation came with."""
    given = answer.get("spans")
    return prefilled_spans(output) if given is None else given


def find_origins(spans: Sequence[Span], output: Output) -> list[Origin]:
    """Who made each mark: the annotator, or it was there before, and was kept or changed."""

    def origin(span: Span) -> Origin:
        number = span.get("of")
        if number is None:
            return "annotator"
        return "prefilled" if to_mark(span) == output.prefilled[number] else "changed"

    return [origin(span) for span in spans]


def find_warning(answer: Mapping[str, Any], output: Output, campaign: Campaign) -> str | None:
    """What the page asks to confirm, or None."""
    given = answer.get("score")
    if given is None:
        return None
    spans = effective_spans(answer, output)
    if given < campaign.spans.warn_below and not spans:
        return WARNINGS[0]
    if given > campaign.spans.warn_above and any(span["severity"] in SEVERE for span in spans):
        return WARNINGS[1]
    return None


def choose_snapping(campaign: Campaign, tasks: TaskSet) -> dict[str, str]:
    """Whether marks end at words or at characters, in the source and in the translations."""
    if campaign.spans.snap != "auto":
        return dict.fromkeys(("source", "target"), campaign.spans.snap)
    shown = [(item, output) for task in tasks.tasks for _, item, output in task.outputs()][:_SAMPLE]
    texts = {"source": [item.source or "" for item, _ in shown], "target": [output.text for _, output in shown]}
    return {side: "words" if is_spaced("".join(several)) else "characters" for side, several in texts.items()}
