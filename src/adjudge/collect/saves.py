"""Saving: one transaction per save, acknowledged after it is durable, harmless when repeated, with nothing overwritten.

A save carries an id made by the page, so that a save sent twice counts once. It names the revision that the page knew;
where another tab has changed the same answer since, the newest change wins and the page is told. Every save is kept.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from adjudge.collect.answers import Change, Refused, check_changes, judged_field, merge, missing
from adjudge.collect.assign import keep_lease
from adjudge.collect.database import writing
from adjudge.collect.models import Assignment, Save, ScreenState
from adjudge.collect.policy import check_order
from adjudge.collect.running import running

if TYPE_CHECKING:
    from uuid import UUID

    from adjudge.design.tasks import Screen

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Spent:
    """Seconds since the page's last save of this screen; `outputs` are the active seconds of each output."""

    shown: float
    visible: float
    active: float
    outputs: dict[str, float]


@dataclass(frozen=True)
class NewSave:
    """A save as the page sends it. `age` is how many seconds ago the change was made."""

    id: UUID
    task: str
    screen: str
    base: int
    tab: str
    age: float
    changes: tuple[Change, ...]
    spent: Spent
    events: list[Any]


@dataclass(frozen=True)
class Saved:
    """The acknowledgement: what is stored now. `met` are outputs that another tab had changed meanwhile."""

    state: ScreenState
    received: datetime
    met: tuple[str, ...]
    repeated: bool
    released: bool


def save(annotator_id: int, new: NewSave) -> Saved:
    """Store a save durably, or raise `Refused` and store nothing."""
    screen = running().screen_by_id.get((new.task, new.screen))
    if screen is None:
        raise Refused(f"there is no screen '{new.screen}' in task '{new.task}'")
    check_changes(new.changes, screen, running().campaign)
    _check_outputs(screen, new.spent)
    with writing():
        before = Save.objects.select_related("state__assignment").filter(pk=new.id).first()
        if before is not None:
            return _again(before, annotator_id, new)
        return _store(_assignment(annotator_id, new.task), screen, new)


def _check_outputs(screen: Screen, spent: Spent) -> None:
    strange = set(spent.outputs) - {output.id for item in screen.items for output in item.outputs}
    if strange:
        raise Refused(f"output '{min(strange)}' is not on screen '{screen.id}'")


def _again(before: Save, annotator_id: int, new: NewSave) -> Saved:
    assignment = before.state.assignment
    if assignment.annotator_id != annotator_id or before.digest != _digest(new):
        raise Refused(f"the id {new.id} belongs to another save", code="id-used")
    return Saved(before.state, before.received, (), repeated=True, released=assignment.released is not None)


def _assignment(annotator_id: int, task: str) -> Assignment:
    mine = Assignment.objects.filter(annotator_id=annotator_id, task=task)
    assignment = mine.first()
    if assignment is None:
        raise Refused(f"task '{task}' was not given to you")
    keep_lease(assignment, timezone.now())
    return mine.select_for_update().get()


def _store(assignment: Assignment, screen: Screen, new: NewSave) -> Saved:
    received = timezone.now()
    states = {one.screen: one for one in _states_needed(assignment, screen)}
    if new.changes:
        check_order(assignment, screen, states.values())
    state = states.get(screen.id) or ScreenState(
        assignment=assignment, screen=screen.id, first_shown=_not_before(assignment, received, new.age, new.spent.shown)
    )
    edited = _not_before(assignment, received, new.age)
    revision = state.revision + 1 if new.changes else None
    merged = merge(
        json.loads(state.answers),
        new.changes,
        at=_microseconds(edited),
        base=new.base,
        tab=new.tab,
        revision=revision or state.revision,
    )
    answers = merged.answers
    _add_time(state, answers, new.spent, (received - assignment.taken).total_seconds())
    state.answers = _plain(answers)
    state.revision = revision or state.revision
    was_complete = state.complete
    left = len(missing(answers, screen, judged_field(running().campaign)))
    state.judged = sum(len(item.outputs) for item in screen.items) - left
    state.complete = left == 0
    state.save()
    _record(state, new, revision, edited, received)
    if state.complete != was_complete:
        _note_completeness(assignment)
    return Saved(state, received, merged.met, repeated=False, released=assignment.released is not None)


def _states_needed(assignment: Assignment, screen: Screen) -> list[ScreenState]:
    states = ScreenState.objects.filter(assignment=assignment)
    if running().campaign.page.navigation == "free":
        states = states.filter(screen=screen.id)
    return list(states)


def _record(state: ScreenState, new: NewSave, revision: int | None, edited: datetime, received: datetime) -> None:
    Save.objects.create(
        id=new.id,
        state=state,
        revision=revision,
        changes=_plain([[one.output, one.field, one.value] for one in new.changes]),
        digest=_digest(new),
        edited=edited,
        received=received,
        spent=_plain([new.spent.shown, new.spent.visible, new.spent.active, new.spent.outputs]),
        events=_plain(new.events),
    )


def _note_completeness(assignment: Assignment) -> None:
    done = ScreenState.objects.filter(assignment=assignment, complete=True).count()
    complete = done == len(running().task_by_id[assignment.task].screens)
    if complete != assignment.complete:
        assignment.complete = complete
        assignment.save(update_fields=["complete"])


def _add_time(state: ScreenState, answers: dict[str, dict[str, Any]], spent: Spent, most: float) -> None:
    """Add up the seconds; nobody can have spent more than has passed since the task was taken."""
    state.shown_seconds = min(state.shown_seconds + spent.shown, most)
    state.visible_seconds = min(state.visible_seconds + spent.visible, state.shown_seconds)
    state.active_seconds = min(state.active_seconds + spent.active, state.visible_seconds)
    for output, seconds in spent.outputs.items():
        answer = answers.setdefault(output, {})
        answer["seconds"] = min(answer.get("seconds", 0) + seconds, most)


def _not_before(assignment: Assignment, received: datetime, *ages: float) -> datetime:
    """A time in the past by its age; never before the task was taken, whatever the page's clock says."""
    return max(received - timedelta(seconds=sum(ages)), assignment.taken)


def _microseconds(when: datetime) -> int:
    return (when - _EPOCH) // timedelta(microseconds=1)


def _digest(new: NewSave) -> str:
    """What makes two saves the same save: their content, not when they were sent."""
    changes = [[one.output, one.field, one.value] for one in new.changes]
    content = _plain([new.task, new.screen, new.base, changes])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
