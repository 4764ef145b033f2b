"""Control items counted, right or wrong: for completion codes and the organisers' page. No statistics here.

Right is an answer within the bounds that a tutorial or attention check expects, and a degraded translation judged worse
than the one it was made from. `adjudge check` tests people properly.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.collect.answers import judged_field
from adjudge.collect.marking import score_spans
from adjudge.collect.served_campaign import get_served
from adjudge.core.passing_rule import Work
from adjudge.core.protocols import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adjudge.collect.models import ScreenState
    from adjudge.design.tasks import Output


@dataclass(frozen=True)
class ControlCount:
    """How many controls were answered as they should be, of how many."""

    right: int = 0
    total: int = 0


def find_faults(count: ControlCount, *, judgments: int, active_seconds: float) -> tuple[str, ...]:
    """Say why a person's work does not pass the campaign's limits: for the organisers' page and completion codes."""
    crowd = get_served().campaign.crowd
    work = Work(judgments, active_seconds, count.right, count.total)
    return work.faults(pass_share=crowd.pass_share, least_seconds=crowd.least_seconds)


def passes_checks(annotator_id: int) -> bool:
    """Whether all that a person has done so far passes."""
    # Only here: counting controls needs no database.
    from adjudge.collect.models import ScreenState

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
            placed = get_served().output_by_id.get((state.assignment.task, output))
            value = None if placed is None else goodness(answer, placed.output)
            if value is not None:
                of_annotator[state.assignment.task, output] = value
    return {annotator: _count_right(given) for annotator, given in answers.items()}


def goodness(answer: dict[str, Any], output: Output) -> float | None:
    """Turn an answer into a number of which more is better: fewer changes, where the text was edited."""
    campaign = get_served().campaign
    if PROTOCOLS[campaign.protocol].categories:
        return score_spans(answer.get("spans"), campaign)
    if PROTOCOLS[campaign.protocol].edited:
        edit, spaced = answer.get("edit"), get_served().snapping["target"] == "words"
        return None if edit is None else -changed_percent(output.text, edit, spaced=spaced)
    value: float | None = answer.get(judged_field(campaign))
    if value is None:
        return None
    return -value if judged_field(campaign) == "rank" else value


def _count_right(given: dict[tuple[str, str], float]) -> ControlCount:
    verdicts: list[bool] = []
    by_output = {output: value for (_, output), value in given.items()}
    for (task_id, output_id), value in given.items():
        task = get_served().task_by_id.get(task_id)
        if task is None or task.kind == "tutorial":
            continue
        verdict = _verdict(get_served().output_by_id[task_id, output_id].output, value, by_output)
        if verdict is not None:
            verdicts.append(verdict)
    return ControlCount(sum(verdicts), len(verdicts))


def _verdict(output: Output, value: float, given: dict[str, float]) -> bool | None:
    if output.expected is not None:
        low, high = output.expected
        return low <= abs(value) <= high
    if output.kind == "degraded" and output.of in given:
        return value < given[output.of]
    return None


WORD = re.compile(r"\S+")


def changed_percent(before: str, after: str, *, spaced: bool = True) -> float:
    """The share of words (characters, where a script writes no spaces) that both versions do not have in common."""
    parts = [
        WORD.findall(text) if spaced else [character for character in text if not character.isspace()]
        for text in (before, after)
    ]
    total = len(parts[0]) + len(parts[1])
    return 0.0 if not total else 100 * (1 - 2 * _common_length(*parts) / total)


def _common_length(before: Sequence[str], after: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(after) + 1)
    for word in before:
        corner = 0
        for i, wanted in enumerate(after, start=1):
            above = row[i]
            row[i] = corner + 1 if word == wanted else max(above, row[i - 1])
            corner = above
    return row[-1]
