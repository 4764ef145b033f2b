"""Answers on a screen: which are allowed, how changes from several tabs become one state, and what is still missing.

An answer is a mapping of `score`, `rank`, `spans` (the errors marked), `kept` (what the page asked back about, and the
annotator kept), `edit` (the text as corrected) and `comment`, with the time and the revision of each; null is unset,
which is not 0. The newest change of a field wins, whatever order the changes arrive in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.collect.marking import MOST_MARKS, WARNINGS, is_open, to_mark
from adjudge.core.protocols import PROTOCOLS
from adjudge.core.spans import fault_of_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adjudge.design.campaign import Campaign
    from adjudge.design.tasks import Item, Output, Screen


FIELDS = ("score", "rank", "spans", "kept", "edit", "comment")
COMMENT_LENGTH = 5000
EDIT_LENGTH = 50_000
_STEP_TOLERANCE = 1e-6

Value = float | int | str | list[dict[str, Any]] | None
Answers = dict[str, dict[str, Any]]


class Refused(Exception):  # noqa: N818 - it reads as what happened
    """A request that cannot be accepted, and why, in words for the person; `code` names a text of the page."""

    def __init__(self, reason: str, code: str = "refused", status: int = 409) -> None:
        super().__init__(reason)
        self.code, self.status = code, status


class Change(NamedTuple):
    """One field of one output set to a value; null unsets it."""

    output: str
    field: str
    value: Value


@dataclass(frozen=True)
class Merged:
    """The state after a save, and the outputs in which another tab and this one had changed the same field."""

    answers: Answers
    conflicts: tuple[str, ...]


def check_changes(changes: Iterable[Change], screen: Screen, campaign: Campaign) -> None:
    """Refuse a change of an output that is not on the screen, or to a value that the protocol does not have."""
    shown = {output.id: (item, output) for item in screen.items for output in item.outputs}
    for change in changes:
        if change.output not in shown:
            raise Refused(f"output '{change.output}' is not on screen '{screen.id}'")
        if change.value is not None:
            _check_value(change, *shown[change.output], campaign)


def _check_value(change: Change, item: Item, output: Output, campaign: Campaign) -> None:
    if change.field != "comment" and change.field not in answer_fields(campaign):
        raise Refused(f"protocol '{campaign.protocol}' has no {change.field}")
    if change.field == "spans":
        _check_spans(change.value, item, output, campaign)
    elif change.field == "rank":
        if not isinstance(change.value, int) or not 1 <= change.value <= len(item.outputs):
            raise Refused(f"rank {change.value} does not exist among {len(item.outputs)} translations")
    elif change.field == "score":
        _check_score(change.value, campaign)
    else:
        _check_text(change.field, change.value, campaign)


def _check_spans(value: Any, item: Item, output: Output, campaign: Campaign) -> None:
    """Refuse marks that do not lie in the texts shown, or that the campaign does not have."""
    if len(value) > MOST_MARKS:
        raise Refused(f"{len(value)} marks are more than {MOST_MARKS} in one translation")
    marks = [to_mark(span) for span in value]
    rules = campaign.spans.rules(campaign.protocol)
    fault = fault_of_marks(marks, rules, target=output.text, source=item.source)
    if fault is not None:
        raise Refused(fault)
    numbers = [span["of"] for span in value if span.get("of") is not None]
    if len(set(numbers)) < len(numbers) or any(number >= len(output.prefilled) for number in numbers):
        raise Refused("a mark claims to come from a prefilled mark that does not exist")


def _check_text(field: str, value: Value, campaign: Campaign) -> None:
    if field == "kept" and value not in WARNINGS:
        raise Refused(f"there is no warning called '{value}'")
    if field == "comment" and not campaign.page.comments:
        raise Refused("this campaign takes no comments")
    if field == "comment" and (not isinstance(value, str) or len(value) > COMMENT_LENGTH):
        raise Refused(f"a comment is a text of at most {COMMENT_LENGTH} characters")
    if field == "edit" and (not isinstance(value, str) or not value.strip() or len(value) > EDIT_LENGTH):
        raise Refused(f"a post-edit is a text of at most {EDIT_LENGTH} characters, and not an empty one")


def _check_score(value: Value, campaign: Campaign) -> None:
    scale = campaign.score_scale
    if not isinstance(value, int | float) or not math.isfinite(value) or not scale.low <= value <= scale.high:
        raise Refused(f"score {value} does not lie between {scale.low:g} and {scale.high:g}")
    steps = (value - scale.low) / scale.step
    if abs(steps - round(steps)) > _STEP_TOLERANCE:
        raise Refused(f"score {value} is not a step of {scale.step:g} on the scale")


def answer_fields(campaign: Campaign) -> tuple[str, ...]:
    """The fields of an answer in this protocol, comments apart."""
    protocol = PROTOCOLS[campaign.protocol]
    return ("score", "spans", "kept") if protocol.marked and protocol.on_scale else (protocol.answer,)


def judged_field(campaign: Campaign) -> str:
    """Which field carries the judgment."""
    return PROTOCOLS[campaign.protocol].answer


class _Given(NamedTuple):
    """Who gave the value that a field has: when (microseconds), in which revision, and in which save of which tab."""

    at: int = 0
    revision: int = 0
    tab: str = ""
    number: int = 0
    """0 where the page did not say, as those of earlier versions."""

    @classmethod
    def find(cls, answers: Mapping[str, Any], change: Change) -> _Given:
        return cls(*answers.get(change.output, {}).get(f"{change.field}_last", ()))


def merge(
    answers: Mapping[str, Any],
    changes: Iterable[Change],
    *,
    at: int,
    base: int,
    revision: int,
    tab: str = "",
    number: int = 0,
) -> Merged:
    """Apply changes that were made at time `at` (microseconds) in a tab that knew revision `base`."""
    merged: Answers = {output: {**answer} for output, answer in answers.items()}
    conflicts: dict[str, None] = {}
    for change in changes:
        answer = merged.setdefault(change.output, {})
        before = _Given.find(merged, change)
        if before.revision > base and before.tab != tab and answer.get(change.field) != change.value:
            conflicts[change.output] = None
        if at >= before.at:
            answer[change.field] = change.value
            answer[f"{change.field}_last"] = _Given(at, revision, tab, number)
    return Merged(merged, tuple(conflicts))


def time_of_change(
    answers: Mapping[str, Any], changes: Iterable[Change], *, estimated: int, base: int, tab: str, number: int
) -> int:
    """Date changes (microseconds): as estimated from their age, but in the order that is known for sure.

    What is changed knowingly is newer than what it replaces, even if a clock was set back in between. The saves of one
    tab are numbered as they were made: their age does not tell how long each was on its way, so that a correction could
    seem older than what it corrects.
    """
    before = [_Given.find(answers, change) for change in changes]
    older = [
        given.at for given in before if given.revision <= base or (_is_numbered(given, tab) and given.number < number)
    ]
    newer = [given.at for given in before if _is_numbered(given, tab) and given.number > number > 0]
    return max([min([estimated, *(at - 1 for at in newer)]), *older])


def _is_numbered(given: _Given, tab: str) -> bool:
    """Whether a value comes from a numbered save of this tab."""
    return given.tab == tab != "" and given.number > 0


def find_missing(answers: Mapping[str, Any], screen: Screen, field: str) -> list[str]:
    """List the outputs of a screen without a judgment, in order."""
    return [
        output.id for item in screen.items for output in item.outputs if is_open(answers.get(output.id, {}).get(field))
    ]
