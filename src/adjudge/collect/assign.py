"""Who judges what next: tutorial and calibration first, then one's own tasks, or the next free one of the pool.

A task of the pool is held by a lease that every save renews. When it runs out, the place is free for somebody else;
what was judged is kept. Tasks with the fewest judgments go first, so that an early end leaves none without any.
Where everybody has tasks of their own, people who were added later stand in for those who are excluded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Count, Q
from django.utils import timezone

from adjudge.collect.adaptive import draw_task, is_adaptive, planned_is_reached, record_draw
from adjudge.collect.controls import passes_checks
from adjudge.collect.database import decision_lock, write_transaction
from adjudge.collect.models import Annotator, Assignment, Campaign, ScreenState
from adjudge.collect.running import ensure_tasks
from adjudge.collect.served_campaign import ServedCampaign, get_served
from adjudge.core.protocols import PROTOCOLS

if TYPE_CHECKING:
    from adjudge.adapt import Decision
    from adjudge.collect.sql_statements import Visitor
    from adjudge.design.tasks import Task

_KINDS_FIRST = ("tutorial", "calibration")


def lock_campaign() -> None:
    """Let one transaction at a time decide who gets what. Only the key is read, because the campaign's text is long."""
    Campaign.objects.select_for_update().values_list("pk").first()


def assignments_of(visitor: Visitor) -> list[Assignment]:
    """What a person has been given, in order."""
    given = list(Assignment.objects.filter(annotator_id=visitor.annotator_id).order_by("position"))
    ensure_tasks(assignment.task for assignment in given)
    return given


@dataclass(frozen=True)
class Proposal:
    """What a policy would hand out, and what it chose from; no decision where nothing is left."""

    decision: Decision | None
    free: list[Task]
    people: Counter[str]


def propose(visitor: Visitor) -> Proposal | None:
    """Let the policy of an adaptive campaign choose before anything is written; None where it has nothing to choose.

    Call inside `decision_lock()`. Elsewhere than on SQLite the choice is made with the assignment, under its lock.
    """
    if not is_adaptive() or visitor.excluded or connection.vendor != "sqlite":
        return None
    given = assignments_of(visitor)
    done = {assignment.task for assignment in given}
    in_hand = any(assignment.finished is None and is_held(assignment) for assignment in given)
    return None if in_hand or _preparatory_task(done) is not None else _choose(visitor, done)


def current_assignment(visitor: Visitor, proposal: Proposal | None = None) -> Assignment | None:
    """The first task that the person has not handed in, taken now if need be.

    Call inside `decision_lock()` and `write_transaction()`. `proposal` is what the policy has chosen already.
    """
    # One at a time: two people who ask at once must not get the same last place.
    lock_campaign()
    given = assignments_of(visitor)
    for assignment in given:
        if assignment.finished is None and _renew_if_free(assignment):
            return assignment
    if not may_take_more(visitor, given):
        return None
    done = {assignment.task for assignment in given}
    if is_adaptive() and _preparatory_task(done) is None:
        return _hand_out_draw(visitor, proposal or _choose(visitor, done), len(given))
    task = next_task(visitor.name, done)
    return None if task is None else _assign(visitor, task, len(given))


def may_take_more(visitor: Visitor, given: list[Assignment]) -> bool:
    """Whether a person may get another task.

    Somebody whom a crowd platform sends, and whose work does not pass by the rule of completion codes, may not: the
    platform does not pay for it, and the places in the pool are for others.
    """
    if visitor.excluded:
        return False
    tasks = get_served().task_by_id
    submitted = any(assignment.finished is not None and tasks[assignment.task].kind == "work" for assignment in given)
    return not (visitor.crowd and submitted) or passes_checks(visitor.annotator_id)


def _choose(visitor: Visitor, done: set[str]) -> Proposal:
    people = _count_holders()
    free = [task for task in _list_open_work(done) if people[task.id] < task.judgments]
    met = _texts_seen(done)
    free = [task for task in free if not _count_seen(task, met)] or free
    return Proposal(draw_task(visitor.name, free, people), free, people)


def _hand_out_draw(visitor: Visitor, proposal: Proposal, position: int) -> Assignment | None:
    """Hand out what the policy of an adaptive campaign has chosen, and write the decision down with the assignment."""
    if proposal.decision is None:
        return None
    assignment = _assign(visitor, get_served().task_by_id[proposal.decision.drawn], position)
    record_draw(assignment, proposal.decision, proposal.free, proposal.people)
    return assignment


def _preparatory_task(done: set[str]) -> Task | None:
    """The tutorial or calibration task that comes before all work."""
    tasks = get_served().tasks.tasks
    return next((task for kind in _KINDS_FIRST for task in tasks if task.kind == kind and task.id not in done), None)


def _list_open_work(done: set[str]) -> list[Task]:
    return [task for task in get_served().tasks.tasks if task.kind == "work" and task.id not in done]


def next_task(name: str, done: set[str]) -> Task | None:
    """The task that comes next for a person who has been given those in `done`; of a draw, one that could come."""
    now = get_served()
    first = _preparatory_task(done)
    if first is not None:
        return first
    if is_adaptive() and planned_is_reached():
        return None
    work = _list_open_work(done)
    people = _count_holders()
    if now.campaign.assignment.policy == "fixed":
        if name in now.tasks.annotators:
            return next((task for task in work if name in task.annotators), None)
        people = _count_planned(work)
    free = [task for task in work if people[task.id] < task.judgments]
    met = _texts_seen(done)
    return min(free, key=lambda task: (_count_seen(task, met), people[task.id]), default=None)


def _texts_seen(done: set[str]) -> set[tuple[str, str, str]]:
    """The texts of tasks that a person has been given."""
    if PROTOCOLS[get_served().campaign.protocol].relative:
        # The same text in other company is another question.
        return set()
    texts = get_served().texts_by_task
    return {text for task in done for text in texts.get(task, ())}


def _count_seen(task: Task, met: set[tuple[str, str, str]]) -> int:
    """How many texts of a task a person has met: some, where a campaign was extended by more of the same."""
    return len(get_served().texts_by_task[task.id] & met) if met else 0


def _count_holders() -> Counter[str]:
    """By task, the people who do or have done it. People who are excluded do not count: another person is needed."""
    held = Assignment.objects.filter(held_condition(), annotator__excluded=False)
    return Counter(dict(held.values_list("task").annotate(count=Count("pk"))))


def _count_planned(work: list[Task]) -> Counter[str]:
    """By task, the people planned for it who are not excluded, and those who were added later as substitutes."""
    excluded = set(Annotator.objects.filter(excluded=True).values_list("name", flat=True))
    people = Counter({task.id: len(set(task.annotators) - excluded) for task in work})
    planned = get_served().tasks.annotators
    people.update(Assignment.objects.filter(annotator__excluded=False).exclude(annotator__name__in=planned)
                  .values_list("task", flat=True))  # fmt: skip
    return people


def held_condition(at: datetime | None = None) -> Q:
    """`is_held` as a condition of the database, which counts assignments faster than they can be loaded."""
    leased = Q(lease_until__isnull=True) | Q(lease_until__gt=at or timezone.now())
    return Q(complete=True) | Q(finished__isnull=False) | (Q(released__isnull=True) & leased)


def is_held(assignment: Assignment, at: datetime | None = None) -> bool:
    """Whether this assignment counts as one of the judgments wanted of its task."""
    if assignment.complete or assignment.finished is not None:
        return True
    if assignment.released is not None:
        return False
    return assignment.lease_until is None or assignment.lease_until > (at or timezone.now())


def _renew_if_free(assignment: Assignment) -> bool:
    """Whether an unfinished task can go on: its lease holds, or its place is still free, and is then leased again."""
    if is_held(assignment):
        return True
    task = get_served().task_by_id[assignment.task]
    others = Assignment.objects.filter(task=task.id, annotator__excluded=False).exclude(pk=assignment.pk)
    if sum(is_held(other) for other in others) < task.judgments:
        assignment.lease_until = timezone.now() + _lease_length_of(assignment)
        assignment.released = None
        assignment.save(update_fields=["lease_until", "released"])
        return True
    assignment.released = assignment.released or timezone.now()
    assignment.save(update_fields=["released"])
    return False


def _assign(visitor: Visitor, task: Task, position: int) -> Assignment:
    now = timezone.now()
    leased = get_served().campaign.assignment.policy == "pool" and task.kind == "work"
    return Assignment.objects.create(
        annotator_id=visitor.annotator_id,
        task=task.id,
        position=position,
        taken=now,
        lease_until=now + lease_length(get_served(), crowd=visitor.crowd) if leased else None,
    )


def renew_lease(annotator_id: int, task: str) -> None:
    """Decide who has a task after its lease has run out: still this person, or another one by now."""
    with decision_lock(), write_transaction():
        lock_campaign()
        assignment = Assignment.objects.filter(annotator_id=annotator_id, task=task).first()
        if assignment is not None:
            _renew_if_free(assignment)


def _lease_length_of(assignment: Assignment) -> timedelta:
    screens = ScreenState.objects.filter(assignment=assignment, complete=True).count()
    return lease_length(get_served(), crowd=assignment.annotator.crowd, screens=screens)


def lease_length(now: ServedCampaign, *, crowd: bool = False, screens: int = 0) -> timedelta:
    """How long a task is held without a save.

    Somebody whom a crowd platform sends holds it for a short time at first, and for longer with every screen that is
    complete: somebody who only takes tasks, under many names, does not keep them from others for long.
    """
    settings = now.campaign.assignment
    if not crowd:
        return timedelta(minutes=settings.lease_minutes)
    return timedelta(minutes=min(settings.lease_minutes, settings.first_lease_minutes * (1 + screens)))
