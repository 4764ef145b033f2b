"""Saving: one transaction per save, acknowledged after it is durable, harmless when repeated, with nothing overwritten.

A save carries an id made by the page, so that a save sent twice counts once. It names the revision that the page knew;
where another tab has changed the same answer since, the newest change wins and the page is told. Every save is kept.

In which order screens may be judged and changed is the campaign's to say. `free`: any order, and answers can be changed
for as long as the campaign runs. `back-only`: a screen opens when those before it are complete, and answers can be
changed until the task is handed in. `strict`: no way back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from adjudge.collect.answers import Refused, check_changes, find_missing, judged_field, merge, time_of_change
from adjudge.collect.assign import lease_length, renew_lease
from adjudge.collect.group_commit import run_durably
from adjudge.collect.models import ScreenState
from adjudge.collect.running import ensure_tasks
from adjudge.collect.schemas import SpentIn
from adjudge.collect.served_campaign import get_served
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
    from adjudge.collect.schemas import SaveIn
    from adjudge.collect.sql_statements import SaveTarget
    from adjudge.design.tasks import Screen

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Saved:
    """The acknowledgement: what is stored now. `conflicts` are outputs that another tab had changed meanwhile."""

    state: StoredState
    received: datetime
    conflicts: tuple[str, ...]
    repeated: bool
    released: bool


def save(annotator_id: int, new: SaveIn) -> Saved:
    """Store a save durably, or raise `Refused` and store nothing."""
    ensure_tasks([new.task])
    screen = get_served().screen_by_id.get((new.task, new.screen))
    if screen is None:
        raise Refused(f"there is no screen '{new.screen}' in task '{new.task}'")
    check_changes(new.field_changes, screen, get_served().campaign)
    unknown = set(new.spent.outputs) - {output.id for item in screen.items for output in item.outputs}
    if unknown:
        raise Refused(f"output '{min(unknown)}' is not on screen '{screen.id}'")
    try:
        return run_durably(lambda: _save(annotator_id, screen, new))
    except _LeaseRanOut:
        renew_lease(annotator_id, new.task)
        return run_durably(lambda: _save(annotator_id, screen, new))


class _LeaseRanOut(Exception):  # noqa: N818 - nothing is wrong, but another lock is needed first
    """The lease of the task has run out: whether its place is still free must be settled before anything is saved."""


def _save(annotator_id: int, screen: Screen, new: SaveIn) -> Saved:
    target = find_target(annotator_id, new.task, new.screen, new.id)
    if target is None:
        raise Refused(f"task '{new.task}' was not given to you")
    if target.earlier_digest is not None:
        return _acknowledge_again(target, new)
    _renew_lease(target)
    return _store(target, screen, new)


def _renew_lease(target: SaveTarget) -> None:
    """Renew the lease of a task that is being worked on; not with every save, because each write costs."""
    if target.lease_until is None or target.released is not None:
        return
    now, length = timezone.now(), lease_length(get_served(), crowd=target.crowd, screens=target.screens)
    if target.lease_until <= now:
        raise _LeaseRanOut
    if target.lease_until - now < length * 0.9:
        prolong_lease(target, now + length)


def _acknowledge_again(target: SaveTarget, new: SaveIn) -> Saved:
    state = target.state
    if state is None or target.earlier_state != state.id or target.earlier_digest != _digest(new):
        raise Refused(f"the id {new.id} belongs to another save", code="id-used")
    assert target.earlier_received is not None
    return Saved(state, target.earlier_received, (), repeated=True, released=target.released is not None)


def _store(target: SaveTarget, screen: Screen, new: SaveIn) -> Saved:
    received = timezone.now()
    changes = new.field_changes
    if changes:
        check_order(target, screen, new.task)
    spent = _limit_to_elapsed(new.spent, target, received)
    first_shown = _date_back(target, received, new.age + spent.shown)
    state = target.state or StoredState(None, 0, "{}", False, first_shown, 0, 0, 0)
    answers = json.loads(state.answers)
    tab = "" if new.tab is None else str(new.tab)
    estimated = (_date_back(target, received, new.age) - _EPOCH) // timedelta(microseconds=1)
    at = time_of_change(answers, changes, estimated=estimated, base=new.base, tab=tab, number=new.number)
    revision = state.revision + 1 if changes else None
    merged = merge(
        answers, changes, at=at, base=new.base, tab=tab, number=new.number, revision=revision or state.revision
    )
    _add_time(state, merged.answers, spent, (received - target.taken).total_seconds())
    was_complete = state.complete
    left = len(find_missing(merged.answers, screen, judged_field(get_served().campaign)))
    state.answers = _to_json(merged.answers)
    state.revision = revision or state.revision
    state.judged = sum(len(item.outputs) for item in screen.items) - left
    state.complete = left == 0
    state.id = write_state(state, target.assignment_id, new.screen)
    record_save(
        new.id,
        state.id,
        revision=revision,
        changes=_to_json(changes),
        digest=_digest(new),
        edited=_EPOCH + timedelta(microseconds=at),
        received=received,
        spent=_to_json([spent.shown, spent.visible, spent.active, spent.outputs]),
        events=_to_json(new.events),
    )
    if state.complete != was_complete:
        note_completeness(target, len(get_served().task_by_id[new.task].screens))
    return Saved(state, received, merged.conflicts, repeated=False, released=target.released is not None)


def _limit_to_elapsed(spent: SpentIn, target: SaveTarget, received: datetime) -> SpentIn:
    """Limit the time reported to what the server can have seen pass.

    Within a task nobody can have been active for longer, on all screens together, than has passed since it was taken;
    and no output can have been looked at for longer than the screen.
    """
    passed = max(0.0, (received - target.taken).total_seconds())
    shown = min(spent.shown, passed)
    visible = min(spent.visible, shown)
    active = min(spent.active, visible, max(0.0, passed - target.active_seconds))
    reported = sum(spent.outputs.values())
    share = 1.0 if reported <= active else active / reported
    outputs = {output: share * seconds for output, seconds in spent.outputs.items()}
    return SpentIn(shown=shown, visible=visible, active=active, outputs=outputs)


def _add_time(state: StoredState, answers: dict[str, dict[str, Any]], spent: SpentIn, most: float) -> None:
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


def _date_back(target: SaveTarget, received: datetime, age: float) -> datetime:
    """When something of this age happened; never before the task was taken, whatever the page's clock says."""
    return max(received - timedelta(seconds=age), target.taken)


def _digest(new: SaveIn) -> str:
    """Identify a save by its content, not by when it was sent."""
    return fingerprint(_to_json([new.task, new.screen, new.base, new.field_changes]), digits=16)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def check_order(target: SaveTarget, screen: Screen, task: str) -> None:
    """Refuse a change that the campaign's order of work does not allow."""
    navigation = get_served().campaign.page.navigation
    if navigation == "free":
        return
    if target.finished is not None:
        raise Refused("this task has been handed in; its answers can no longer be changed")
    order = [screen.id for screen in get_served().task_by_id[task].screens]
    states = list(ScreenState.objects.filter(assignment_id=target.assignment_id))
    complete = {state.screen for state in states if state.complete}
    touched = {state.screen for state in states if state.revision}
    place = order.index(screen.id)
    if not set(order[:place]) <= complete:
        raise Refused("the screens before this one are not complete yet")
    if navigation == "strict" and any(later in touched for later in order[place + 1 :]):
        raise Refused("this screen is closed: a later one has been judged")
