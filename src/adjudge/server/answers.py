"""Answers on a screen: which are allowed, how changes from several tabs become one state, and what is still missing.

An answer is a mapping of `score`, `rank`, `spans` (the errors marked), `kept` (what the page asked back about, and the
annotator kept), `edit` (the text as corrected) and `comment`, with the time and the revision of each; null is unset,
which is not 0. The newest change of a field wins, whatever order the changes arrive in.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.campaigns.tasks import OMITTED
from adjudge.server.served_campaign import (
    MOST_MARKS,
    WARNINGS,
    Question,
    get_served,
    list_questions,
    score_spans,
    to_mark,
)
from adjudge.table.protocols import PROTOCOLS, Work
from adjudge.table.texts import find_marks_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adjudge.campaigns.campaign_file import Campaign
    from adjudge.campaigns.tasks import Item, Output, Screen, Task
    from adjudge.server.models import ScreenState


FIELDS = ("score", "rank", "both", "spans", "kept", "edit", "comment", "skipped")
BOTH = ("good", "bad")
"""What two outputs that are equally good both are, where a campaign tells that apart."""
COMMENT_LENGTH = 5000
REASON_LENGTH = 500
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


class Merged(NamedTuple):
    """The state after a save, and the outputs in which another tab and this one had changed the same field."""

    answers: Answers
    conflicts: tuple[str, ...]


def check_changes(changes: Iterable[Change], screen: Screen, campaign: Campaign) -> None:
    """Refuse a change of what is not asked on the screen, or to a value that the protocol does not have."""
    asked = {question.id: question for question in list_questions(screen, campaign)}
    for change in changes:
        question = asked.get(change.output)
        if question is None:
            raise Refused(f"output '{change.output}' is not on screen '{screen.id}'")
        if change.value is None:
            continue
        if change.field not in _list_fields(question, campaign):
            raise Refused(f"protocol '{campaign.protocol}' has no {change.field}")
        if change.field == "spans":
            _check_spans(change.value, question.item, question.output, campaign)
        else:
            _check_value(change.field, change.value, question, campaign)


def _list_fields(question: Question, campaign: Campaign) -> tuple[str, ...]:
    """The fields that an answer to a question may have."""
    remarks = ("comment", "skipped") if question.id == question.owner else ()
    if question.id != question.output.id:
        return ("score", *remarks)
    protocol = PROTOCOLS[campaign.protocol]
    marks = ("spans", "kept") if protocol.marked else ()
    return (*question.asks, *marks, *(("both",) if protocol.in_pairs else ()), *remarks)


def _check_spans(value: Any, item: Item, output: Output, campaign: Campaign) -> None:
    """Refuse marks that do not lie in the texts shown, or that the campaign does not have."""
    if len(value) > MOST_MARKS:
        raise Refused(f"{len(value)} marks are more than {MOST_MARKS} in one translation")
    marks = [to_mark(span) for span in value]
    rules = campaign.spans.rules(campaign.protocol)
    fault = find_marks_fault(marks, rules, target=output.text, source=item.source)
    if fault is not None:
        raise Refused(fault)
    numbers = [span["of"] for span in value if span.get("of") is not None]
    if len(set(numbers)) < len(numbers) or any(number >= len(output.prefilled) for number in numbers):
        raise Refused("a mark claims to come from a prefilled mark that does not exist")


def _check_value(field: str, value: Value, question: Question, campaign: Campaign) -> None:
    if field == "score":
        _check_score(value, question)
    if field == "rank":
        labels, shown = campaign.page.rank_labels, len(question.item.outputs)
        most = shown if labels is None else len(labels)
        if not isinstance(value, int) or not 1 <= value <= most:
            raise Refused(f"rank {value} does not exist among {shown} translations")
    if field == "both" and (campaign.page.ties != "good-or-bad" or value not in BOTH):
        raise Refused(f"this campaign does not ask whether both are '{value}'")
    if field == "kept" and value not in WARNINGS:
        raise Refused(f"there is no warning called '{value}'")
    if field == "comment" and not campaign.page.comments:
        raise Refused("this campaign takes no comments")
    if field == "comment" and (not isinstance(value, str) or len(value) > COMMENT_LENGTH):
        raise Refused(f"a comment is a text of at most {COMMENT_LENGTH} characters")
    if field == "edit" and (not isinstance(value, str) or not value.strip() or len(value) > EDIT_LENGTH):
        raise Refused(f"a post-edit is a text of at most {EDIT_LENGTH} characters, and not an empty one")
    if field == "skipped":
        _check_reason(value, campaign)


def _check_reason(value: Value, campaign: Campaign) -> None:
    """Refuse a reason for skipping that the campaign does not allow."""
    allowed = campaign.page.skip
    if allowed is False:
        raise Refused("in this campaign nothing can be skipped")
    own = isinstance(value, str) and value.strip() and len(value) <= REASON_LENGTH
    if not (own if allowed is True else value in allowed):
        raise Refused("this is not one of the reasons for which something can be skipped")


def _check_score(value: Value, question: Question) -> None:
    assert question.asked is not None
    scale = question.asked.scale
    if not isinstance(value, int | float) or not math.isfinite(value) or not scale.low <= value <= scale.high:
        raise Refused(f"score {value} does not lie between {scale.low:g} and {scale.high:g}")
    steps = (value - scale.low) / scale.step
    if abs(steps - round(steps)) > _STEP_TOLERANCE:
        raise Refused(f"score {value} is not a step of {scale.step:g} on the scale")


def judged_field(campaign: Campaign) -> str:
    """Which field carries the judgment."""
    return PROTOCOLS[campaign.protocol].field


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
    of_tab = [given for given in before if given.tab == tab != "" and given.number > 0]
    older = [given.at for given in before if given.revision <= base or (given in of_tab and given.number < number)]
    newer = [given.at for given in of_tab if given.number > number > 0]
    return max([min([estimated, *(at - 1 for at in newer)]), *older])


def find_missing(answers: Mapping[str, Any], screen: Screen, campaign: Campaign) -> list[str]:
    """List the questions of a screen that are neither answered nor skipped, in order."""
    return [question.id for question in list_questions(screen, campaign) if question.is_open(answers)]


def list_judged(answers: Mapping[str, Any], screen: Screen, campaign: Campaign) -> list[Question]:
    """What was judged on a screen rather than skipped, outputs or whole pages: one question about each."""
    judged = {
        question.owner: question
        for question in list_questions(screen, campaign)
        if question.counts and not question.is_open(answers) and not question.is_skipped(answers)
    }
    return list(judged.values())


# Marked-up texts as a tree of the few harmless tags: strict, by allow-list. Nothing is ever handed on as HTML.
#
# The page builds elements from the tree itself, so that no browser parses what a text contains.

# Tags without behaviour: they change how text looks or reads, and load or run nothing.
_STYLE = ["b", "code", "del", "em", "i", "ins", "mark", "q", "s", "small", "span", "strong", "sub", "sup", "u"]
_STRUCTURE = ["bdi", "br", "li", "ol", "p", "pre", "rp", "rt", "ruby", "ul"]
TAGS = frozenset([*_STYLE, *_STRUCTURE])
VOID = frozenset(["br"])
# The content of these elements is not text for readers.
DROPPED_WITH_CONTENT = frozenset(
    ["script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title"]
)
DIRECTIONS = frozenset(["ltr", "rtl", "auto"])
MAX_DEPTH = 20

Node = str | list["Node"]
"""A text, or `[tag, direction, child, ...]` where direction is `ltr`, `rtl`, `auto` or empty."""


def sanitise(markup: str) -> list[Node]:
    """The harmless part of marked-up text: known tags without attributes (but for `dir`), and all readable text."""
    parser = _Parser()
    parser.feed(markup)
    parser.close()
    return parser.root[2:]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[Node] = ["", ""]
        self._open: list[list[Node]] = [self.root]
        self._dropping: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropping or tag in DROPPED_WITH_CONTENT:
            if tag in DROPPED_WITH_CONTENT:
                self._dropping.append(tag)
            return
        if tag not in TAGS or len(self._open) > MAX_DEPTH:
            return
        direction = (dict(attrs).get("dir") or "").lower()
        node: list[Node] = [tag, direction if direction in DIRECTIONS else ""]
        self._open[-1].append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._dropping:
            if tag == self._dropping[-1]:
                self._dropping.pop()
            return
        names = [node[0] for node in self._open[1:]]
        if tag in names:
            # Closes the innermost element of this name and whatever was left open inside it.
            del self._open[len(self._open) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._dropping:
            self._open[-1].append(data)


# Control items counted, right or wrong: for completion codes and the organisers' page. No statistics here.
#
# Right is an answer within the bounds that a tutorial or attention check expects, and a degraded translation judged
# worse than the one it was made from. `adjudge check` tests people properly.


@dataclass(frozen=True)
class ControlCount:
    """How many controls were answered as they should be, of how many."""

    right: int = 0
    total: int = 0


def find_faults(count: ControlCount, *, judgments: int, active_seconds: float) -> tuple[str, ...]:
    """Say why a person's work does not pass the campaign's limits: for the organisers' page and completion codes."""
    crowd = get_served().campaign.crowd
    work = Work(judgments, active_seconds, count.right, count.total)
    return work.faults(
        pass_share=crowd.pass_share, least_controls=crowd.least_controls, least_seconds=crowd.least_seconds
    )


def passes_checks(annotator_id: int) -> bool:
    """Whether all that a person has done so far passes."""
    # Imported here, because counting controls alone needs no database.
    from adjudge.server.models import ScreenState

    states = list(ScreenState.objects.filter(assignment__annotator_id=annotator_id).select_related("assignment"))
    count = count_controls(states).get(annotator_id, ControlCount())
    judgments, seconds = sum(state.judged for state in states), sum(state.active_seconds for state in states)
    return not find_faults(count, judgments=judgments, active_seconds=seconds)


def count_controls(states: Iterable[ScreenState]) -> dict[int, ControlCount]:
    """The controls of each annotator, by id; tutorials do not count. `states` come with their assignments."""
    answers: dict[int, dict[tuple[str, str], float]] = {}
    for state in states:
        of_annotator = answers.setdefault(state.assignment.annotator_id, {})
        for output, answer in json.loads(state.answers).items():
            question = get_served().question_by_id.get((state.assignment.task, output))
            value = None if question is None or not question.leads else goodness(answer, question.output)
            if value is not None:
                of_annotator[state.assignment.task, output] = value
    return {annotator: _count_right(given) for annotator, given in answers.items()}


def goodness(answer: dict[str, Any], output: Output) -> float | None:
    """Turn an answer into a number of which more is better: fewer changes, where the text was edited."""
    if answer.get("skipped") is not None:
        return None
    campaign = get_served().campaign
    if PROTOCOLS[campaign.protocol].categories:
        return score_spans(answer.get("spans"), campaign)
    if PROTOCOLS[campaign.protocol].edited:
        edit, spaced = answer.get("edit"), get_served().snapping["target"] == "words"
        return None if edit is None else -changed_percent(output.text, edit, spaced=spaced)
    field = judged_field(campaign)
    value: float | None = answer.get(field)
    return -value if value is not None and field == "rank" else value


def find_lessons(answers: Mapping[str, Any], task: Task, screen: Screen) -> list[str]:
    """List the outputs of an example that are answered wrongly, where the examples must be passed."""
    campaign = get_served().campaign
    if campaign.page.tutorial != "pass" or task.kind != "tutorial":
        return []
    return [
        output.id for item in screen.items for output in item.outputs if _is_wrong(answers.get(output.id, {}), output)
    ]


def _is_wrong(answer: dict[str, Any], output: Output) -> bool:
    """Whether an answer lies outside of what is expected, or lacks a mark in a phrase that has an error."""
    if output.expected is None or answer.get("skipped") is not None:
        return output.expected is not None
    value = goodness(answer, output)
    if value is None:
        return False
    low, high = output.expected
    spans = answer.get("spans") or ()
    return not low <= abs(value) <= high or not all(_is_marked(phrase, output, spans) for phrase in output.to_mark)


def _is_marked(phrase: str, output: Output, spans: Sequence[Mapping[str, Any]]) -> bool:
    """Whether something is marked in a phrase of an example, or as left out."""
    if phrase == OMITTED:
        return any(span["side"] == "missing" for span in spans)
    start = output.text.find(phrase)
    end = start + len(phrase)
    return any(span["side"] == "target" and span["start"] < end and start < span["end"] for span in spans)


def _count_right(given: dict[tuple[str, str], float]) -> ControlCount:
    verdicts: list[bool] = []
    by_output = {output: value for (_, output), value in given.items()}
    for (task_id, output_id), value in given.items():
        task = get_served().task_by_id.get(task_id)
        if task is None or task.kind == "tutorial":
            continue
        question = get_served().question_by_id[task_id, output_id]
        if question.output.expected is not None:
            low, high = question.output.expected
            verdicts.append(low <= abs(value) <= high)
        elif question.output.kind == "degraded" and question.of in by_output:
            verdicts.append(value < by_output[question.of])
    return ControlCount(sum(verdicts), len(verdicts))


WORD = re.compile(r"\S+")


def changed_percent(before: str, after: str, *, spaced: bool = True) -> float:
    """The share of words (characters, where a script writes no spaces) that both versions do not have in common."""
    parts = [
        WORD.findall(text) if spaced else [character for character in text if not character.isspace()]
        for text in (before, after)
    ]
    total = len(parts[0]) + len(parts[1])
    # The length of the longest common subsequence, a row of the table at a time.
    row = [0] * (len(parts[1]) + 1)
    for word in parts[0]:
        corner = 0
        for i, wanted in enumerate(parts[1], start=1):
            above = row[i]
            row[i] = corner + 1 if word == wanted else max(above, row[i - 1])
            corner = above
    return 0.0 if not total else 100 * (1 - 2 * row[-1] / total)
