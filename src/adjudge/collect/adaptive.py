"""Adaptive campaigns: the next task of the pool is drawn by a policy from what has been handed in so far.

A decision is made under the lock of the campaign, and is written with its probabilities in the same transaction as the
assignment that follows from it. A task that is handed in adds its observations in the order of handing in, so that a
finished campaign can be replayed from the database: `replay` gives the first decision that comes out otherwise.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max
from django.utils import timezone

from adjudge.adapt import Adaptive, Candidate, Decision, Observation, decide, first_difference
from adjudge.adapt import RunningEstimates as Estimates
from adjudge.collect.controls import goodness
from adjudge.collect.models import Assignment, Draw, Observed, ScreenState
from adjudge.collect.served_campaign import get_served
from adjudge.core.protocols import PROTOCOLS, RATED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adjudge.design.tasks import Item, Screen, Task

WITHIN_PAGE = 0.3
"""How much the segments of one page are alike: n of them are worth n / (1 + (n - 1) WITHIN_PAGE) single ones."""


def is_adaptive() -> bool:
    """Whether a policy decides which task comes next."""
    return get_served().campaign.adaptive is not None


def draw_task(annotator: str, free: Sequence[Task], people: Mapping[str, int]) -> Decision | None:
    """Draw one of the free tasks for a person. Call under the lock of the campaign.

    Args:
        annotator: who asks.
        free: the tasks that the person could be given.
        people: by task, how many people do it or have done it.
    """
    if not free or planned_is_reached():
        return None
    candidates = [_make_candidate(task, people[task.id]) for task in free]
    return decide(
        _update_estimates(), candidates, annotator=annotator, number=Draw.objects.count(), settings=_policy_settings()
    )


def planned_is_reached() -> bool:
    """Whether as many judgments as planned have been made or handed out."""
    looks = get_served().campaign.looks
    if looks is None:
        return False
    given = Assignment.objects.filter(annotator__excluded=False, released__isnull=True)
    sizes = get_served().judgments_by_task
    people = given.values_list("task").annotate(count=Count("pk"))
    return bool(sum(sizes.get(task, 0) * count for task, count in people) >= looks.planned)


def record_draw(assignment: Assignment, decision: Decision, free: Sequence[Task], people: Mapping[str, int]) -> None:
    """Write a decision down, with all that is needed to make it again."""
    Draw.objects.create(
        number=decision.number,
        assignment=assignment,
        made=timezone.now(),
        probability=decision.probability,
        candidates=json.dumps([[task.id, people[task.id]] for task in free]),
        decision=json.dumps(asdict(decision)),
    )


def observe(assignment: Assignment) -> None:
    """Add what a task that was handed in says of its systems. Call under the lock of the campaign."""
    task = get_served().task_by_id[assignment.task]
    if task.kind != "work" or Observed.objects.filter(assignment=assignment).exists():
        return
    states = ScreenState.objects.filter(assignment=assignment).values_list("screen", "answers")
    answers: dict[str, Any] = {}
    for _, given in states:
        answers.update(json.loads(given))
    last = Observed.objects.aggregate(last=Max("number"))["last"]
    first = 0 if last is None else last + 1
    observations = [value for screen in task.screens for value in _observe_screen(screen, answers)]
    Observed.objects.bulk_create(
        Observed(number=first + index, assignment=assignment, system=system, item=item, value=value, weight=weight)
        for index, (system, item, value, weight) in enumerate(observations)
    )


def draws() -> list[dict[str, Any]]:
    """Every decision so far, for export: who, when, what was drawn, and all probabilities."""
    logged = Draw.objects.select_related("assignment__annotator").order_by("number")
    return [
        {
            "number": draw.number,
            "made": draw.made.isoformat(),
            "task": draw.assignment.task,
            "probability": draw.probability,
            "policy": _policy_settings().policy,
            "candidates": json.loads(draw.candidates),
            **json.loads(draw.decision),
        }
        for draw in logged
    ]


def replay() -> int | None:
    """Make all decisions again: the number of the first that comes out otherwise, None where all agree."""
    log = []
    for draw in Draw.objects.order_by("number"):
        tasks = get_served().task_by_id
        candidates = [_make_candidate(tasks[task], judged) for task, judged in json.loads(draw.candidates)]
        log.append((_parse_decision(json.loads(draw.decision)), candidates))
    return first_difference(log, list(_read_observations(0)), Estimates(get_served().tasks.systems), _policy_settings())


def _parse_decision(stored: dict[str, Any]) -> Decision:
    pairs = stored.get("open_pairs")
    return Decision(
        **{
            **stored,
            "groups": tuple(tuple(group) for group in stored["groups"]),
            "probabilities": tuple(stored["probabilities"]),
            "pages": tuple(stored["pages"]),
            "systems": tuple(stored["systems"]),
            "open_pairs": None if pairs is None else tuple((first, second) for first, second in pairs),
        }
    )


def _policy_settings() -> Adaptive:
    campaign = get_served().campaign
    assert campaign.adaptive is not None
    chosen = campaign.adaptive
    return Adaptive(policy=chosen.policy, floor=chosen.floor, warm_up=chosen.warm_up, seed=campaign.seed)


def _make_candidate(task: Task, judged: int) -> Candidate:
    return Candidate(task.id, get_served().systems_by_task[task.id], judged)


@lru_cache(maxsize=1)
def _known_estimates() -> Estimates:
    """What this process knows so far; other processes may have added since."""
    return Estimates(get_served().tasks.systems)


def forget_tasks() -> None:
    """Learn anew what is known so far: there are other tasks than before."""
    _known_estimates.cache_clear()


def _update_estimates() -> Estimates:
    known = _known_estimates()
    known.add_all(_read_observations(known.count))
    return known


def _read_observations(start: int) -> Iterator[Observation]:
    columns = ("system", "item", "assignment__annotator__name", "value", "weight")
    saved = Observed.objects.filter(number__gte=start).order_by("number").values_list(*columns)
    for system, item, annotator, value, weight in saved.iterator(chunk_size=5000):
        yield Observation(system, item, annotator, value, weight)


def _observe_screen(screen: Screen, answers: Mapping[str, Any]) -> Iterator[tuple[str, str, float, float]]:
    """System, item, value and weight of what a screen says: the mean of a page, or standings side by side."""
    if PROTOCOLS[get_served().campaign.protocol].relative:
        for item in screen.items:
            yield from _observe_standings(item, answers)
        return
    values: dict[str, list[float]] = defaultdict(list)
    for item in screen.items:
        for output in item.outputs:
            value = goodness(answers.get(output.id, {}), output) if output.kind in RATED else None
            if value is not None:
                for system in output.systems:
                    values[system].append(value)
    shared = screen.document if len(screen.items) > 1 else f"{screen.document}\n{screen.items[0].segment}"
    for system in sorted(values):
        count = len(values[system])
        yield system, shared, sum(values[system]) / count, count / (1 + (count - 1) * WITHIN_PAGE)


def _observe_standings(item: Item, answers: Mapping[str, Any]) -> Iterator[tuple[str, str, float, float]]:
    """The share of the others that each output beats, ties counting half."""
    given = [
        (output, value)
        for output in item.outputs
        if output.kind in RATED and (value := goodness(answers.get(output.id, {}), output)) is not None
    ]
    for index, (output, value) in enumerate(given):
        others = [other for number, (_, other) in enumerate(given) if number != index]
        if others:
            standing = sum((value > other) + (value == other) / 2 for other in others) / len(others)
            for system in output.systems:
                yield system, item.id, standing, 1.0
