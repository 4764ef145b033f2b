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

from adjudge.collect.answers import Change, check_changes, judged_field, known_before, merge, missing
from adjudge.collect.assign import lease, take_lease_again
from adjudge.collect.group_commit import durably
from adjudge.collect.policy import check_order
from adjudge.collect.refused import Refused
from adjudge.collect.running import running
from adjudge.collect.statements import (
    Place,
    Standing,
    find_place,
    note_completeness,
    prolong_lease,
    record_save,
    write_state,
)

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

    state: Standing
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
    try:
        return durably(lambda: _save(annotator_id, screen, new))
    except _LeaseRanOut:
        take_lease_again(annotator_id, new.task)
        return durably(lambda: _save(annotator_id, screen, new))


class _LeaseRanOut(Exception):  # noqa: N818 - nothing is wrong, but another lock is needed first
    """The lease of the task has run out: whether its place is still free must be settled before anything is saved."""


def _save(annotator_id: int, screen: Screen, new: NewSave) -> Saved:
    place = find_place(annotator_id, new.task, new.screen, new.id)
    if place is None:
        raise Refused(f"task '{new.task}' was not given to you")
    if place.before_digest is not None:
        return _again(place, new)
    _keep_lease(place)
    return _store(place, screen, new)


def _check_outputs(screen: Screen, spent: Spent) -> None:
    strange = set(spent.outputs) - {output.id for item in screen.items for output in item.outputs}
    if strange:
        raise Refused(f"output '{min(strange)}' is not on screen '{screen.id}'")


def _keep_lease(place: Place) -> None:
    """Renew the lease of a task that is being worked on. Seldom, because each write costs."""
    if place.lease_until is None or place.released is not None:
        return
    now, length = timezone.now(), lease(running())
    if place.lease_until <= now:
        raise _LeaseRanOut
    if place.lease_until - now < length * 0.9:
        prolong_lease(place, now + length)


def _again(place: Place, new: NewSave) -> Saved:
    state = place.state
    if state is None or place.before_state != state.id or place.before_digest != _digest(new):
        raise Refused(f"the id {new.id} belongs to another save", code="id-used")
    assert place.before_received is not None
    return Saved(state, place.before_received, (), repeated=True, released=place.released is not None)


def _store(place: Place, screen: Screen, new: NewSave) -> Saved:
    received = timezone.now()
    if new.changes:
        check_order(place, screen, new.task)
    first_shown = _not_before(place, received, new.age, new.spent.shown)
    state = place.state or Standing(None, 0, "{}", False, first_shown, 0, 0, 0)
    answers = json.loads(state.answers)
    known = _EPOCH + timedelta(microseconds=known_before(answers, new.changes, base=new.base))
    edited = max(_not_before(place, received, new.age), known)
    revision = state.revision + 1 if new.changes else None
    merged = merge(
        answers,
        new.changes,
        at=_microseconds(edited),
        base=new.base,
        tab=new.tab,
        revision=revision or state.revision,
    )
    _add_time(state, merged.answers, new.spent, (received - place.taken).total_seconds())
    was_complete = state.complete
    left = len(missing(merged.answers, screen, judged_field(running().campaign)))
    state.answers = _plain(merged.answers)
    state.revision = revision or state.revision
    state.judged = sum(len(item.outputs) for item in screen.items) - left
    state.complete = left == 0
    state.id = write_state(state, place.assignment_id, new.screen)
    _record(state.id, new, revision, edited, received)
    if state.complete != was_complete:
        note_completeness(place, len(running().task_by_id[new.task].screens))
    return Saved(state, received, merged.met, repeated=False, released=place.released is not None)


def _record(state_id: int, new: NewSave, revision: int | None, edited: datetime, received: datetime) -> None:
    record_save(
        new.id,
        state_id,
        revision=revision,
        changes=_plain([[one.output, one.field, one.value] for one in new.changes]),
        digest=_digest(new),
        edited=edited,
        received=received,
        spent=_plain([new.spent.shown, new.spent.visible, new.spent.active, new.spent.outputs]),
        events=_plain(new.events),
    )


def _add_time(state: Standing, answers: dict[str, dict[str, Any]], spent: Spent, most: float) -> None:
    """Add up the seconds; nobody can have spent more than has passed since the task was taken.

    What was counted before stays counted, also where the server's clock was set back.
    """
    state.shown_seconds = min(state.shown_seconds + spent.shown, max(most, state.shown_seconds))
    state.visible_seconds = min(state.visible_seconds + spent.visible, state.shown_seconds)
    state.active_seconds = min(state.active_seconds + spent.active, state.visible_seconds)
    for output, seconds in spent.outputs.items():
        answer = answers.setdefault(output, {})
        before = answer.get("seconds", 0)
        answer["seconds"] = min(before + seconds, max(most, before))


def _not_before(place: Place, received: datetime, *ages: float) -> datetime:
    """A time in the past by its age; never before the task was taken, whatever the page's clock says."""
    return max(received - timedelta(seconds=sum(ages)), place.taken)


def _microseconds(when: datetime) -> int:
    return (when - _EPOCH) // timedelta(microseconds=1)


def _digest(new: NewSave) -> str:
    """What makes two saves the same save: their content, not when they were sent."""
    changes = [[one.output, one.field, one.value] for one in new.changes]
    content = _plain([new.task, new.screen, new.base, changes])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
