"""Saving: one transaction per save, acknowledged after it is durable, harmless when repeated, with nothing overwritten.

A save carries an id made by the page, so that a save sent twice counts once. It names the revision that the page knew;
where another tab has changed the same answer since, the newest change wins and the page is told. Every save is kept.

In which order screens may be judged and changed is the campaign's to say. `free`: any order, and answers can be changed
for as long as the campaign runs. `back-only`: a screen opens when those before it are complete, and answers can be
changed until the task is handed in. `strict`: no way back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from adjudge.collect.answers import Change, Refused, check_changes, judged_field, merge, missing, time_of_change
from adjudge.collect.assign import lease, take_lease_again
from adjudge.collect.group_commit import durably
from adjudge.collect.models import ScreenState
from adjudge.collect.running import know_tasks
from adjudge.collect.served_campaign import served
from adjudge.collect.sql_statements import (
    StoredState,
    find_target,
    note_completeness,
    prolong_lease,
    record_save,
    write_state,
)
from adjudge.core.fingerprint import fingerprint

if TYPE_CHECKING:
    from uuid import UUID

    from adjudge.collect.sql_statements import SaveTarget
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
    """A save as the page sends it. `age` is how many seconds ago the change was made; `number` counts a tab's saves."""

    id: UUID
    task: str
    screen: str
    base: int
    tab: str
    number: int
    age: float
    changes: tuple[Change, ...]
    spent: Spent
    events: list[Any]


@dataclass(frozen=True)
class Saved:
    """The acknowledgement: what is stored now. `conflicts` are outputs that another tab had changed meanwhile."""

    state: StoredState
    received: datetime
    conflicts: tuple[str, ...]
    repeated: bool
    released: bool


def save(annotator_id: int, new: NewSave) -> Saved:
    """Store a save durably, or raise `Refused` and store nothing."""
    know_tasks([new.task])
    screen = served().screen_by_id.get((new.task, new.screen))
    if screen is None:
        raise Refused(f"there is no screen '{new.screen}' in task '{new.task}'")
    check_changes(new.changes, screen, served().campaign)
    _check_outputs(screen, new.spent)
    try:
        return durably(lambda: _save(annotator_id, screen, new))
    except _LeaseRanOut:
        take_lease_again(annotator_id, new.task)
        return durably(lambda: _save(annotator_id, screen, new))


class _LeaseRanOut(Exception):  # noqa: N818 - nothing is wrong, but another lock is needed first
    """The lease of the task has run out: whether its place is still free must be settled before anything is saved."""


def _save(annotator_id: int, screen: Screen, new: NewSave) -> Saved:
    target = find_target(annotator_id, new.task, new.screen, new.id)
    if target is None:
        raise Refused(f"task '{new.task}' was not given to you")
    if target.earlier_digest is not None:
        return _again(target, new)
    _keep_lease(target)
    return _store(target, screen, new)


def _check_outputs(screen: Screen, spent: Spent) -> None:
    strange = set(spent.outputs) - {output.id for item in screen.items for output in item.outputs}
    if strange:
        raise Refused(f"output '{min(strange)}' is not on screen '{screen.id}'")


def _keep_lease(target: SaveTarget) -> None:
    """Renew the lease of a task that is being worked on. Seldom, because each write costs."""
    if target.lease_until is None or target.released is not None:
        return
    now, length = timezone.now(), lease(served(), crowd=target.crowd, screens=target.screens)
    if target.lease_until <= now:
        raise _LeaseRanOut
    if target.lease_until - now < length * 0.9:
        prolong_lease(target, now + length)


def _again(target: SaveTarget, new: NewSave) -> Saved:
    state = target.state
    if state is None or target.earlier_state != state.id or target.earlier_digest != _digest(new):
        raise Refused(f"the id {new.id} belongs to another save", code="id-used")
    assert target.earlier_received is not None
    return Saved(state, target.earlier_received, (), repeated=True, released=target.released is not None)


def _store(target: SaveTarget, screen: Screen, new: NewSave) -> Saved:
    received = timezone.now()
    if new.changes:
        check_order(target, screen, new.task)
    spent = _limited_to_elapsed(new.spent, target, received)
    first_shown = _not_before(target, received, new.age, spent.shown)
    state = target.state or StoredState(None, 0, "{}", False, first_shown, 0, 0, 0)
    answers = json.loads(state.answers)
    estimated = _microseconds(_not_before(target, received, new.age))
    at = time_of_change(answers, new.changes, estimated=estimated, base=new.base, tab=new.tab, number=new.number)
    edited = _EPOCH + timedelta(microseconds=at)
    revision = state.revision + 1 if new.changes else None
    merged = merge(
        answers,
        new.changes,
        at=at,
        base=new.base,
        tab=new.tab,
        number=new.number,
        revision=revision or state.revision,
    )
    _add_time(state, merged.answers, spent, (received - target.taken).total_seconds())
    was_complete = state.complete
    left = len(missing(merged.answers, screen, judged_field(served().campaign)))
    state.answers = _plain(merged.answers)
    state.revision = revision or state.revision
    state.judged = sum(len(item.outputs) for item in screen.items) - left
    state.complete = left == 0
    state.id = write_state(state, target.assignment_id, new.screen)
    _record(state.id, replace(new, spent=spent), revision, edited, received)
    if state.complete != was_complete:
        note_completeness(target, len(served().task_by_id[new.task].screens))
    return Saved(state, received, merged.conflicts, repeated=False, released=target.released is not None)


def _record(state_id: int, new: NewSave, revision: int | None, edited: datetime, received: datetime) -> None:
    record_save(
        new.id,
        state_id,
        revision=revision,
        changes=_plain([[change.output, change.field, change.value] for change in new.changes]),
        digest=_digest(new),
        edited=edited,
        received=received,
        spent=_plain([new.spent.shown, new.spent.visible, new.spent.active, new.spent.outputs]),
        events=_plain(new.events),
    )


def _limited_to_elapsed(spent: Spent, target: SaveTarget, received: datetime) -> Spent:
    """The time as far as the server can have seen it pass.

    Within a task nobody can have been active for longer, on all screens together, than has passed since it was taken;
    and no output can have been looked at for longer than the screen.
    """
    passed = max(0.0, (received - target.taken).total_seconds())
    shown = min(spent.shown, passed)
    visible = min(spent.visible, shown)
    active = min(spent.active, visible, max(0.0, passed - target.active_seconds))
    given = sum(spent.outputs.values())
    share = 1.0 if given <= active else active / given
    return Spent(shown, visible, active, {output: share * seconds for output, seconds in spent.outputs.items()})


def _add_time(state: StoredState, answers: dict[str, dict[str, Any]], spent: Spent, most: float) -> None:
    """Add up the seconds; none can have spent more than has passed since the task was taken.

    What was counted before stays counted, also where the server's clock was set back.
    """
    state.shown_seconds = min(state.shown_seconds + spent.shown, max(most, state.shown_seconds))
    state.visible_seconds = min(state.visible_seconds + spent.visible, state.shown_seconds)
    state.active_seconds = min(state.active_seconds + spent.active, state.visible_seconds)
    for output, seconds in spent.outputs.items():
        answer = answers.setdefault(output, {})
        before = answer.get("seconds", 0)
        answer["seconds"] = min(before + seconds, max(most, before))


def _not_before(target: SaveTarget, received: datetime, *ages: float) -> datetime:
    """A time in the past by its age; never before the task was taken, whatever the page's clock says."""
    return max(received - timedelta(seconds=sum(ages)), target.taken)


def _microseconds(when: datetime) -> int:
    return (when - _EPOCH) // timedelta(microseconds=1)


def _digest(new: NewSave) -> str:
    """What makes two saves the same save: their content, not when they were sent."""
    changes = [[change.output, change.field, change.value] for change in new.changes]
    content = _plain([new.task, new.screen, new.base, changes])
    return fingerprint(content, digits=16)


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def check_order(target: SaveTarget, screen: Screen, task: str) -> None:
    """Refuse a change that the campaign's order of work does not allow."""
    navigation = served().campaign.page.navigation
    if navigation == "free":
        return
    if target.finished is not None:
        raise Refused("this task has been handed in; its answers can no longer be changed")
    order = [screen.id for screen in served().task_by_id[task].screens]
    states = list(ScreenState.objects.filter(assignment_id=target.assignment_id))
    complete = {state.screen for state in states if state.complete}
    touched = {state.screen for state in states if state.revision}
    place = order.index(screen.id)
    if not set(order[:place]) <= complete:
        raise Refused("the screens before this one are not complete yet")
    if navigation == "strict" and any(later in touched for later in order[place + 1 :]):
        raise Refused("this screen is closed: a later one has been judged")
