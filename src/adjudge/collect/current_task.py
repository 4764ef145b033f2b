"""What the server sends to an annotator's page: the current task with its screens, blind, and its state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db.models import Sum

from adjudge.collect.adaptive import is_adaptive
from adjudge.collect.answers import FIELDS
from adjudge.collect.assign import assignments_of, may_take_more, next_task
from adjudge.collect.controls import passes_checks
from adjudge.collect.marking import category_kind, prefilled_spans
from adjudge.collect.models import Assignment, ScreenState
from adjudge.collect.sanitise import sanitise
from adjudge.collect.served_campaign import get_served
from adjudge.core.protocols import PROTOCOLS

if TYPE_CHECKING:
    from adjudge.collect.sql_statements import StoredState, Visitor
    from adjudge.design.tasks import ContextSegment, Item, Screen


def describe_work(visitor: Visitor, *, task: str | None = None) -> dict[str, Any]:
    """All that the page needs to go on working, even without a connection. `task` opens one that was given before."""
    given = assignments_of(visitor)
    in_hand = (assignment for assignment in given if assignment.finished is None and assignment.released is None)
    shown = next((assignment for assignment in given if assignment.task == task), None) or next(in_hand, None)
    return {
        "annotator": {"id": visitor.annotator_id, "name": visitor.name},
        "campaign": _describe_campaign(),
        "tasks": [_summarise_task(assignment) for assignment in given],
        "task": None if shown is None else _describe_task(shown),
        "completion": describe_completion(visitor, given),
        "tasks_planned": _count_planned_tasks(visitor),
        "active_seconds": total_seconds(visitor.annotator_id),
    }


def _count_planned_tasks(visitor: Visitor) -> int | None:
    """How many tasks this person has in all; None where they come from a pool."""
    now = get_served()
    if now.campaign.assignment.policy == "pool" or visitor.name not in now.tasks.annotators:
        return None
    return sum(task.kind != "work" or visitor.name in task.annotators for task in now.tasks.tasks)


def total_seconds(annotator_id: int) -> float:
    """The active seconds of a person over all screens: the number that organisers see too."""
    total = ScreenState.objects.filter(assignment__annotator_id=annotator_id).aggregate(sum=Sum("active_seconds"))
    return total["sum"] or 0.0


def describe_completion(visitor: Visitor, given: list[Assignment]) -> dict[str, Any] | None:
    """What a person is told who has handed in: the platform's code or page, for work that passed or did not."""
    kinds = get_served().task_by_id
    work_done = [
        assignment for assignment in given if assignment.finished is not None and kinds[assignment.task].kind == "work"
    ]
    in_hand = any(assignment.finished is None and assignment.released is None for assignment in given)
    crowd = get_served().campaign.crowd
    # Where tasks come from a pool, one that is handed in is enough; those of one's own are all to be done. The tasks of
    # an adaptive campaign are short: people who are not paid for each go on to the next without being asked.
    paid = bool(crowd.completion_code or crowd.return_url)
    enough = bool(work_done) and get_served().campaign.assignment.policy == "pool" and (paid or not is_adaptive())
    if not given or (in_hand and not enough):
        return None
    more = in_hand or (
        may_take_more(visitor, given) and next_task(visitor.name, {assignment.task for assignment in given}) is not None
    )
    if more and not enough:
        return None
    passed = passes_checks(visitor.annotator_id)
    return {
        "code": crowd.completion_code if passed else crowd.failure_code,
        "url": crowd.return_url if passed else crowd.failure_url,
        "more": more,
    }


def _describe_campaign() -> dict[str, Any]:
    campaign, tasks = get_served().campaign, get_served().tasks
    return {
        "id": get_served().id,
        "name": campaign.name,
        "protocol": campaign.protocol,
        "source": {"lang": tasks.source_lang, "dir": tasks.source_direction},
        "target": {"lang": tasks.target_lang, "dir": tasks.target_direction},
        "scale": campaign.score_scale.model_dump(),
        "shows": campaign.context.show,
        "navigation": campaign.page.navigation,
        "comments": campaign.page.comments,
        "ties": campaign.page.ties,
        "idle_seconds": campaign.page.idle_seconds,
        "spans": _describe_marking() if PROTOCOLS[campaign.protocol].marked else None,
        "snap": get_served().snapping,
        "instructions": {language: instruction.text or "" for language, instruction in campaign.instructions.items()},
    }


def _describe_marking() -> dict[str, Any]:
    """What can be marked, what errors cost, and when the page asks for confirmation."""
    campaign = get_served().campaign
    rules = campaign.spans.rules(campaign.protocol)
    return {
        **vars(rules),
        "categories": [{"name": category, "counts": category_kind(category)} for category in rules.categories],
        "weights": campaign.spans.weights.model_dump(),
        "warn_below": campaign.spans.warn_below,
        "warn_above": campaign.spans.warn_above,
    }


def _summarise_task(assignment: Assignment) -> dict[str, Any]:
    return {
        "id": assignment.task,
        "number": assignment.position + 1,
        "kind": get_served().task_by_id[assignment.task].kind,
        "complete": assignment.complete,
        "finished": assignment.finished is not None,
        "released": assignment.released is not None,
    }


def _describe_task(assignment: Assignment) -> dict[str, Any]:
    task = get_served().task_by_id[assignment.task]
    states = ScreenState.objects.filter(assignment=assignment)
    return {
        **_summarise_task(assignment),
        "screens": [_describe_screen(screen, tutorial=task.kind == "tutorial") for screen in task.screens],
        "states": {state.screen: describe_state(state) for state in states},
    }


def describe_state(state: ScreenState | StoredState) -> dict[str, Any]:
    """How a screen stands, for the page: answers without their history."""
    answers: dict[str, dict[str, Any]] = json.loads(state.answers)
    shown = {
        output: {field: answer[field] for field in FIELDS if field in answer} for output, answer in answers.items()
    }
    return {
        "revision": state.revision,
        "answers": {output: answer for output, answer in shown.items() if answer},
        "complete": state.complete,
        "active_seconds": state.active_seconds,
    }


def _describe_screen(screen: Screen, *, tutorial: bool) -> dict[str, Any]:
    """A screen without anything that tells who made a translation or which items are controls."""
    return {
        "id": screen.id,
        "context_before": [_describe_context(segment) for segment in screen.context_before],
        "items": [_describe_item(item, tutorial=tutorial) for item in screen.items],
        "context_after": [_describe_context(segment) for segment in screen.context_after],
    }


def _describe_item(item: Item, *, tutorial: bool) -> dict[str, Any]:
    outputs = [
        {
            "id": output.id,
            "text": _show_text(output.text),
            "expected": output.expected if tutorial else None,
            "prefilled": prefilled_spans(output),
        }
        for output in item.outputs
    ]
    return {
        "source": _show_text(item.source),
        "reference": _show_text(item.reference),
        "note": item.note,
        "outputs": outputs,
    }


def _describe_context(segment: ContextSegment) -> dict[str, Any]:
    return {"source": _show_text(segment.source), "target": _show_text(segment.target)}


def _show_text(text: str | None) -> Any:
    """A text as it is shown: as it stands, or as a tree of harmless tags where the campaign allows markup."""
    if text is None or get_served().campaign.page.html == "no":
        return text
    return sanitise(text)
