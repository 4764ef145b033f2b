"""Who judges what next: tutorial and calibration first, then one's own tasks, or the next free one of the pool.

A task of the pool is held by a lease that every save renews. When it runs out, the place is free for somebody else;
what was judged is kept. Tasks with the fewest judgments go first, so that an early end leaves none without any.
Where everybody has tasks of their own, people who were added later stand in for those who are excluded.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from adjudge.collect.adaptive import draw_task, is_adaptive, planned_is_reached, record_draw
from adjudge.collect.database import writing
from adjudge.collect.models import Annotator, Assignment, Campaign, ScreenState
from adjudge.collect.running import Running, running

if TYPE_CHECKING:
    from adjudge.collect.statements import Visitor
    from adjudge.design.tasks import Task

_KINDS_FIRST = ("tutorial", "calibration")


def assignments_of(visitor: Visitor) -> list[Assignment]:
    """What a person has been given, in order."""
    return list(Assignment.objects.filter(annotator_id=visitor.annotator_id).order_by("position"))


def current_assignment(visitor: Visitor) -> Assignment | None:
    """The first task that the person has not handed in, taken now if need be. Call inside `writing()`."""
    # One at a time: two people who ask at once must not get the same last place.
    Campaign.objects.select_for_update().first()
    given = assignments_of(visitor)
    for assignment in given:
        if assignment.finished is None and _still_mine(assignment):
            return assignment
    if visitor.excluded:
        return None
    done = {assignment.task for assignment in given}
    if is_adaptive() and _first_of_all(done) is None:
        return _draw(visitor, done, len(given))
    task = next_task(visitor.name, done)
    return None if task is None else _take(visitor, task, len(given))


def _draw(visitor: Visitor, done: set[str], position: int) -> Assignment | None:
    """Let the policy of an adaptive campaign choose, and write the decision down with the assignment."""
    people = _people_holding()
    free = [task for task in _work(done) if people[task.id] < task.judgments]
    decision = draw_task(visitor.name, free, people)
    if decision is None:
        return None
    assignment = _take(visitor, running().task_by_id[decision.drawn], position)
    record_draw(assignment, decision, free, people)
    return assignment


def _first_of_all(done: set[str]) -> Task | None:
    """The tutorial or calibration task that comes before all work."""
    tasks = running().tasks.tasks
    return next((task for kind in _KINDS_FIRST for task in tasks if task.kind == kind and task.id not in done), None)


def _work(done: set[str]) -> list[Task]:
    return [task for task in running().tasks.tasks if task.kind == "work" and task.id not in done]


def next_task(name: str, done: set[str]) -> Task | None:
    """The task that comes next for a person who has been given those in `done`; of a draw, one that could come."""
    now = running()
    first = _first_of_all(done)
    if first is not None:
        return first
    if is_adaptive() and planned_is_reached():
        return None
    work = _work(done)
    people = _people_holding()
    if now.campaign.assignment.policy == "fixed":
        if name in now.tasks.annotators:
            return next((task for task in work if name in task.annotators), None)
        people = _people_planned(work)
    free = [task for task in work if people[task.id] < task.judgments]
    return min(free, key=lambda task: people[task.id], default=None)


def _people_holding() -> Counter[str]:
    """By task, the people who do or have done it. Those who are excluded do not count: somebody else is needed."""
    columns = ("task", "complete", "finished", "released", "lease_until")
    taken = Assignment.objects.filter(annotator__excluded=False).only(*columns)
    return Counter(assignment.task for assignment in taken if is_held(assignment))


def _people_planned(work: list[Task]) -> Counter[str]:
    """By task, the people planned for it who are not excluded, and those who were added later and stand in."""
    excluded = set(Annotator.objects.filter(excluded=True).values_list("name", flat=True))
    people = Counter({task.id: len(set(task.annotators) - excluded) for task in work})
    planned = running().tasks.annotators
    people.update(Assignment.objects.filter(annotator__excluded=False).exclude(annotator__name__in=planned)
                  .values_list("task", flat=True))  # fmt: skip
    return people


def is_held(assignment: Assignment, at: datetime | None = None) -> bool:
    """Whether this assignment counts as one of the judgments wanted of its task."""
    if assignment.complete or assignment.finished is not None:
        return True
    if assignment.released is not None:
        return False
    return assignment.lease_until is None or assignment.lease_until > (at or timezone.now())


def _still_mine(assignment: Assignment) -> bool:
    """Whether an unfinished task can go on: its lease holds, or its place is still free (and is leased anew)."""
    if is_held(assignment):
        return True
    task = running().task_by_id[assignment.task]
    others = Assignment.objects.filter(task=task.id, annotator__excluded=False).exclude(pk=assignment.pk)
    if sum(is_held(other) for other in others) < task.judgments:
        assignment.lease_until = timezone.now() + _lease_of(assignment)
        assignment.released = None
        assignment.save(update_fields=["lease_until", "released"])
        return True
    assignment.released = assignment.released or timezone.now()
    assignment.save(update_fields=["released"])
    return False


def _take(visitor: Visitor, task: Task, position: int) -> Assignment:
    now = timezone.now()
    leased = running().campaign.assignment.policy == "pool" and task.kind == "work"
    return Assignment.objects.create(
        annotator_id=visitor.annotator_id,
        task=task.id,
        position=position,
        taken=now,
        lease_until=now + lease(running(), crowd=visitor.crowd) if leased else None,
    )


def take_lease_again(annotator_id: int, task: str) -> None:
    """Settle whose a task is after its lease has run out: still this person's, or somebody else's by now."""
    with writing():
        Campaign.objects.select_for_update().first()
        assignment = Assignment.objects.filter(annotator_id=annotator_id, task=task).first()
        if assignment is not None:
            _still_mine(assignment)


def _lease_of(assignment: Assignment) -> timedelta:
    screens = ScreenState.objects.filter(assignment=assignment, complete=True).count()
    return lease(running(), crowd=assignment.annotator.crowd, screens=screens)


def lease(now: Running, *, crowd: bool = False, screens: int = 0) -> timedelta:
    """How long a task is held without a save.

    Somebody whom a crowd platform sends holds it for a short time at first, and for longer with every screen that is
    complete: who only takes tasks, under many names, keeps them from nobody for long.
    """
    settings = now.campaign.assignment
    if not crowd:
        return timedelta(minutes=settings.lease_minutes)
    return timedelta(minutes=min(settings.lease_minutes, settings.first_lease_minutes * (1 + screens)))
