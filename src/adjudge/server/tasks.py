"""Who judges what next: tutorial and calibration first, then one's own tasks, or the next free one of the pool.

A task of the pool is held by a lease that every save renews. When it runs out, the place is free for somebody else;
what was judged is kept. Tasks with the fewest judgments go first, so that an early end leaves none without any.
Where everybody has tasks of their own, people who were added later stand in for those who are excluded.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from adjudge.campaigns.adaptive import Adaptive, Candidate, Decision, Observation, decide, first_difference
from adjudge.campaigns.adaptive import RunningEstimates as Estimates
from adjudge.server import log
from adjudge.server.answers import FIELDS, find_lessons, goodness, passes_checks, sanitise
from adjudge.server.database import decision_lock, write_transaction
from adjudge.server.forms import must_fill_in
from adjudge.server.media import describe_media
from adjudge.server.models import (
    Annotator,
    Assignment,
    Campaign,
    Draw,
    Halt,
    Observed,
    ScreenState,
    StoredState,
    Visitor,
)
from adjudge.server.processes import ensure_tasks
from adjudge.server.served_campaign import (
    Question,
    asked_fields,
    category_kind,
    get_served,
    list_questions,
    prefilled_spans,
    shared_item,
)
from adjudge.server.sites import OfSite
from adjudge.table.protocols import PROTOCOLS, RATED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adjudge.campaigns.tasks import ContextSegment, Item, Screen, Task


# Adaptive campaigns: the next task of the pool is drawn by a policy from what has been handed in so far.
#
# A decision is made under the lock of the campaign, and is written with its probabilities in the same transaction as
# the assignment that follows from it. A task that is handed in adds its observations in the order of handing in, so
# that a finished campaign can be replayed from the database.

WITHIN_PAGE = 0.3
"""How much the segments of one page are alike: n of them are worth n / (1 + (n - 1) WITHIN_PAGE) single ones."""


def is_adaptive() -> bool:
    """Whether a policy decides which task comes next."""
    return get_served().campaign.adaptive is not None


def planned_is_reached() -> bool:
    """Whether as many judgments as planned have been made or handed out."""
    looks = get_served().campaign.looks
    if looks is None:
        return False
    given = Assignment.objects.filter(annotator__excluded=False, released__isnull=True)
    sizes = get_served().judgments_by_task
    people = given.values_list("task").annotate(count=Count("pk"))
    return bool(sum(sizes.get(task, 0) * count for task, count in people) >= looks.planned)


def observe(assignment: Assignment) -> None:
    """Add what a task that was handed in says of its systems. Call under the lock of the campaign."""
    task = get_served().task_by_id[assignment.task]
    if task.kind != "work" or Observed.objects.filter(assignment=assignment).exists():
        return
    answers: dict[str, Any] = {}
    for given in ScreenState.objects.filter(assignment=assignment).values_list("answers", flat=True):
        answers.update(json.loads(given))
    last = Observed.objects.aggregate(last=Max("number"))["last"]
    observations = [value for screen in task.screens for value in _observe_screen(screen, answers)]
    Observed.objects.bulk_create(
        Observed(number=number, assignment=assignment, system=system, item=item, value=value, weight=weight)
        for number, (system, item, value, weight) in enumerate(observations, start=0 if last is None else last + 1)
    )


OBSERVED = ("number", "system", "item", "value", "weight")


def enter_handed_in(assignment: Assignment, annotator: str) -> None:
    """Enter a task that was handed in, with the last save of each screen, in the log of the campaign."""
    screens = ScreenState.objects.filter(assignment=assignment).values_list("screen", "saves", "chain")
    observed = Observed.objects.filter(assignment=assignment).order_by("number").values_list(*OBSERVED)
    log.enter(log.HANDED_IN, assignment.id, log.content_of_task(annotator, assignment, screens, observed))


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


def parse_decision(text: str) -> Decision:
    """The decision that a draw holds as JSON."""

    def to_tuples(value: Any) -> Any:
        """What JSON made a list, as a decision has it."""
        return tuple(map(to_tuples, value)) if isinstance(value, list) else value

    return Decision(**{name: to_tuples(value) for name, value in json.loads(text).items()})


def replay() -> int | None:
    """Make all decisions again: the number of the first that comes out otherwise, None where all agree."""
    logged = []
    for draw in Draw.objects.order_by("number"):
        candidates = [_make_candidate(task, judged) for task, judged in json.loads(draw.candidates)]
        logged.append((parse_decision(draw.decision), candidates))
    return first_difference(
        logged, list(_read_observations(0)), Estimates(get_served().tasks.systems), _policy_settings()
    )


def _policy_settings() -> Adaptive:
    campaign = get_served().campaign
    assert campaign.adaptive is not None
    return Adaptive(**campaign.adaptive.model_dump(), seed=campaign.seed)


def _make_candidate(task: str, judged: int) -> Candidate:
    return Candidate(task, get_served().systems_by_task[task], judged, get_served().items_by_task[task])


def _draws_pair() -> bool:
    """Whether draws lead systems to the same documents: a campaign goes on as it began, also under an older version."""
    first = Draw.objects.order_by("number").values_list("decision", flat=True).first()
    return first is None or bool(json.loads(first).get("paired", False))


@OfSite
def known_estimates() -> Estimates:
    """What this process knows so far; other processes may have added since."""
    return Estimates(get_served().tasks.systems)


def _read_observations(start: int) -> Iterator[Observation]:
    columns = ("system", "item", "assignment__annotator__name", "value", "weight")
    saved = Observed.objects.filter(number__gte=start).order_by("number").values_list(*columns)
    yield from (Observation(*values) for values in saved.iterator(chunk_size=5000))


def _observe_screen(screen: Screen, answers: Mapping[str, Any]) -> Iterator[tuple[str, str, float, float]]:
    """System, item, value and weight of what a screen says: the mean of a page, or standings side by side."""
    values: dict[str, list[float]] = defaultdict(list)
    for item in screen.items:
        given = [
            (output.systems, value)
            for output in item.outputs
            if output.kind in RATED and (value := goodness(answers.get(output.id, {}), output)) is not None
        ]
        for index, (systems, value) in enumerate(given):
            for system in systems:
                values[system].append(value)
            others = [other for number, (_, other) in enumerate(given) if number != index]
            if others and PROTOCOLS[get_served().campaign.protocol].relative:
                # The share of the others that it beats, ties counting half.
                standing = sum((value > other) + (value == other) / 2 for other in others) / len(others)
                yield from ((system, item.id, standing, 1.0) for system in systems)
    if PROTOCOLS[get_served().campaign.protocol].relative:
        return
    shared = shared_item(screen)
    for system in sorted(values):
        count = len(values[system])
        yield system, shared, sum(values[system]) / count, count / (1 + (count - 1) * WITHIN_PAGE)


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
        if assignment.finished is None and not visitor.reassigned and _renew_if_free(assignment):
            return assignment
    if not may_take_more(visitor, given):
        return None
    done = {assignment.task for assignment in given}
    if is_adaptive() and _preparatory_task(done) is None:
        chosen = proposal or _choose(visitor, done)
        if chosen.decision is None:
            return None
        assignment = _assign(visitor, get_served().task_by_id[chosen.decision.drawn], len(given))
        # The decision is written down with all that is needed to make it again.
        draw = Draw.objects.create(
            number=chosen.decision.number,
            assignment=assignment,
            made=timezone.now(),
            probability=chosen.decision.probability,
            candidates=json.dumps([[task.id, chosen.people[task.id]] for task in chosen.free]),
            decision=json.dumps(asdict(chosen.decision)),
        )
        log.enter(log.DRAWN, draw.number, log.content_of_draw(draw))
        return assignment
    task = next_task(visitor.name, done)
    return None if task is None else _assign(visitor, task, len(given))


def may_take_more(visitor: Visitor, given: list[Assignment]) -> bool:
    """Whether a person may get another task.

    Somebody whom a crowd platform sends, and whose work does not pass by the rule of completion codes, may not: the
    platform does not pay for it, and the places in the pool are for others.
    """
    if visitor.excluded or visitor.reassigned or Halt.objects.exists() or must_fill_in(visitor.annotator_id):
        return False
    return not (visitor.crowd and _has_submitted_work(given)) or passes_checks(visitor.annotator_id)


def _has_submitted_work(given: list[Assignment]) -> bool:
    tasks = get_served().task_by_id
    return any(assignment.finished is not None and tasks[assignment.task].kind == "work" for assignment in given)


def _choose(visitor: Visitor, done: set[str]) -> Proposal:
    """Draw one of the free tasks for a person, from all that has been handed in so far."""
    people = _count_holders()
    free = [task for task in _list_open_work(done, visitor.name) if people[task.id] < task.judgments]
    met = _texts_seen(done)
    free = [task for task in free if not _count_seen(task, met)] or free
    if not free or planned_is_reached():
        return Proposal(None, free, people)
    known = known_estimates()
    known.add_all(_read_observations(known.count))
    candidates = [_make_candidate(task.id, people[task.id]) for task in free]
    number = Draw.objects.count()
    decision = decide(
        known, candidates, annotator=visitor.name, number=number, settings=_policy_settings(), paired=_draws_pair()
    )
    return Proposal(decision, free, people)


def _preparatory_task(done: set[str]) -> Task | None:
    """The tutorial or calibration task that comes before all work."""
    tasks = get_served().tasks.tasks
    return next((task for kind in _KINDS_FIRST for task in tasks if task.kind == kind and task.id not in done), None)


def _list_open_work(done: set[str], name: str) -> list[Task]:
    """The tasks of work that a person has not been given, without those that show the person's own edits."""
    editors = get_served().editors_by_task
    tasks = (task for task in get_served().tasks.tasks if task.kind == "work" and task.id not in done)
    return [task for task in tasks if name not in editors.get(task.id, ())]


def next_task(name: str, done: set[str]) -> Task | None:
    """The task that comes next for a person who has been given those in `done`; of a draw, one that could come."""
    now = get_served()
    first = _preparatory_task(done)
    if first is not None:
        return first
    if is_adaptive() and planned_is_reached():
        return None
    work = _list_open_work(done, name)
    people = _count_holders()
    if now.campaign.assignment.policy == "fixed":
        own = next((task for task in work if name in task.annotators), None)
        if own is not None:
            return own
        if name in now.tasks.annotators:
            # Those who have done their own take over what was taken from others; for excluded people others come.
            left = set(Annotator.objects.filter(reassigned=True, excluded=False).values_list("name", flat=True))
            work = [task for task in work if left & set(task.annotators)]
        people = _count_planned(work)
    free = [task for task in work if people[task.id] < task.judgments]
    met = _texts_seen(done)
    return min(free, key=lambda task: (_count_seen(task, met), people[task.id]), default=None)


def _texts_seen(done: set[str]) -> set[tuple[str, str, str]]:
    """The texts of tasks that a person has been given."""
    if get_served().campaign.side_by_side > 1:
        # A text that stands beside other outputs is another question, so it may come again.
        return set()
    texts = get_served().texts_by_task
    return {text for task in done for text in texts.get(task, ())}


def _count_seen(task: Task, met: set[tuple[str, str, str]]) -> int:
    """How many texts of a task a person has met: some, where a campaign was extended by more of the same."""
    return len(get_served().texts_by_task[task.id] & met) if met else 0


def _count_holders() -> Counter[str]:
    """Count the people who do or have done each task. Excluded people do not count: another person is needed."""
    held = Assignment.objects.filter(held_condition(), annotator__excluded=False)
    return Counter(dict(held.values_list("task").annotate(count=Count("pk"))))


def _count_planned(work: list[Task]) -> Counter[str]:
    """Count the people planned for each task who are neither excluded nor reassigned, and all others who hold it."""
    gone = Annotator.objects.filter(Q(excluded=True) | Q(reassigned=True)).values_list("name", flat=True)
    planned = {task.id: set(task.annotators) - set(gone) for task in work}
    people = Counter({task: len(names) for task, names in planned.items()})
    held = Assignment.objects.filter(held_condition(), annotator__excluded=False)
    for task, name in held.values_list("task", "annotator__name"):
        people[task] += task in planned and name not in planned[task]
    return people


def held_condition(at: datetime | None = None) -> Q:
    """`is_held` as a condition of the database, which counts assignments faster than they can be loaded."""
    leased = Q(lease_until__isnull=True) | Q(lease_until__gt=at or timezone.now())
    return Q(complete=True) | Q(finished__isnull=False) | (Q(released__isnull=True) & leased)


def is_held(assignment: Assignment) -> bool:
    """Whether this assignment counts as one of the judgments wanted of its task."""
    if assignment.complete or assignment.finished is not None:
        return True
    leased = assignment.lease_until is None or assignment.lease_until > timezone.now()
    return assignment.released is None and leased


def _renew_if_free(assignment: Assignment) -> bool:
    """Whether an unfinished task can go on: its lease holds, or its place is still free, and is then leased again."""
    if is_held(assignment):
        return True
    task = get_served().task_by_id[assignment.task]
    others = Assignment.objects.filter(task=task.id, annotator__excluded=False).exclude(pk=assignment.pk)
    if sum(is_held(other) for other in others) < task.judgments:
        screens = ScreenState.objects.filter(assignment=assignment, complete=True).count()
        length = lease_length(crowd=assignment.annotator.crowd, screens=screens)
        assignment.lease_until = timezone.now() + length if _is_leased(task) else None
        assignment.released = None
        assignment.save(update_fields=["lease_until", "released"])
        return True
    assignment.released = assignment.released or timezone.now()
    assignment.save(update_fields=["released"])
    return False


def _assign(visitor: Visitor, task: Task, position: int) -> Assignment:
    now = timezone.now()
    return Assignment.objects.create(
        annotator_id=visitor.annotator_id,
        task=task.id,
        position=position,
        taken=now,
        lease_until=now + lease_length(crowd=visitor.crowd) if _is_leased(task) else None,
    )


def _is_leased(task: Task) -> bool:
    """Whether a task comes from the pool, and goes back to it after some time without a save."""
    return get_served().campaign.assignment.policy == "pool" and task.kind == "work"


def renew_lease(annotator_id: int, task: str) -> None:
    """Decide who has a task after its lease has run out: still this person, or another one by now."""
    with decision_lock(), write_transaction():
        lock_campaign()
        assignment = Assignment.objects.filter(annotator_id=annotator_id, task=task).first()
        if assignment is not None:
            _renew_if_free(assignment)


def lease_length(*, crowd: bool, screens: int = 0) -> timedelta:
    """How long a task is held without a save.

    Somebody whom a crowd platform sends holds it for a short time at first, and for longer with every screen that is
    complete: somebody who only takes tasks, under many names, does not keep them from others for long.
    """
    settings = get_served().campaign.assignment
    first = settings.first_lease_minutes * (1 + screens) if crowd else settings.lease_minutes
    return timedelta(minutes=min(settings.lease_minutes, first))


# What the server sends to an annotator's page: the current task with its screens, blind, and its state.


def describe_work(visitor: Visitor, *, task: str | None = None) -> dict[str, Any]:
    """All that the page needs to go on working, even without a connection. `task` opens one that was given before."""
    given, form = assignments_of(visitor), must_fill_in(visitor.annotator_id)
    in_hand = (assignment for assignment in given if assignment.finished is None and assignment.released is None)
    shown = next((assignment for assignment in given if assignment.task == task), None)
    if shown is None and not Halt.objects.filter(state="closed").exists():
        shown = next(in_hand, None)
    states = ScreenState.objects.filter(assignment__annotator_id=visitor.annotator_id)
    return {
        "annotator": {"id": visitor.annotator_id, "name": visitor.name},
        "campaign": _describe_campaign(),
        "tasks": [_summarise_task(assignment) for assignment in given],
        "form": form,
        "task": None if shown is None or form else _describe_task(shown),
        "completion": None if form else describe_completion(visitor, given),
        "tasks_planned": _count_planned_tasks(visitor),
        # Over all screens: the number that organisers see too.
        "active_seconds": states.aggregate(sum=Sum("active_seconds"))["sum"] or 0.0,
    }


def _count_planned_tasks(visitor: Visitor) -> int | None:
    """How many tasks this person has in all; None where they come from a pool."""
    now = get_served()
    if now.campaign.assignment.policy == "pool" or visitor.name not in now.tasks.annotators:
        return None
    return sum(task.kind != "work" or visitor.name in task.annotators for task in now.tasks.tasks)


def describe_completion(visitor: Visitor, given: list[Assignment]) -> dict[str, Any] | None:
    """What a person is told who has handed in: the platform's code or page, for work that passed or did not."""
    in_hand = any(assignment.finished is None and assignment.released is None for assignment in given)
    crowd = get_served().campaign.crowd
    # Where tasks come from a pool, one that is handed in is enough; those of one's own are all to be done. The tasks of
    # an adaptive campaign are short: people who are not paid for each go on to the next without being asked.
    paid = bool(crowd.completion_code or crowd.return_url)
    pooled = get_served().campaign.assignment.policy == "pool" and (paid or not is_adaptive())
    enough = pooled and _has_submitted_work(given)
    if not given or (in_hand and not enough):
        return None
    more = in_hand or (
        may_take_more(visitor, given) and next_task(visitor.name, {assignment.task for assignment in given}) is not None
    )
    if not enough and (more or Halt.objects.exists()):
        return None
    passed = passes_checks(visitor.annotator_id)
    return {
        "code": crowd.completion_code if passed else crowd.failure_code,
        "url": crowd.return_url if passed else crowd.failure_url,
        "more": more,
    }


def _describe_campaign() -> dict[str, Any]:
    campaign, tasks = get_served().campaign, get_served().tasks
    rules = campaign.spans.rules(campaign.protocol)
    # What can be marked, what errors cost, and when the page asks for confirmation.
    marking = {
        **vars(rules),
        "categories": [{"name": category, "counts": category_kind(category)} for category in rules.categories],
        "weights": campaign.spans.weights.model_dump(),
        "warn_below": campaign.warn_limits[0],
        "warn_above": campaign.warn_limits[1],
    }
    return {
        "id": get_served().id,
        "name": campaign.name,
        "protocol": campaign.protocol,
        "source": {"lang": tasks.source_lang, "dir": tasks.source_direction},
        "target": {"lang": tasks.target_lang, "dir": tasks.target_direction},
        "scale": campaign.score_scale.model_dump(),
        "criteria": [
            {"name": asked.name, "of": asked.of, "question": asked.question, "scale": asked.scale.model_dump()}
            for asked in campaign.asked
        ],
        "shows": campaign.context.show,
        "navigation": campaign.page.navigation,
        "comments": campaign.page.comments,
        "skip": None if campaign.page.skip is False else [] if campaign.page.skip is True else campaign.page.skip,
        "ties": campaign.page.ties is not False,
        "ties_apart": campaign.page.ties == "good-or-bad",
        "rank_labels": list(campaign.page.rank_labels or ()),
        "side_by_side": campaign.side_by_side,
        "idle_seconds": campaign.page.idle_seconds,
        "spans": marking if PROTOCOLS[campaign.protocol].marked else None,
        "snap": get_served().snapping,
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
    screens = {screen.id: screen for screen in task.screens}
    return {
        **_summarise_task(assignment),
        "screens": [_describe_screen(screen, tutorial=task.kind == "tutorial") for screen in task.screens],
        "states": {state.screen: describe_state(state, task, screens.get(state.screen)) for state in states},
    }


def describe_state(
    state: ScreenState | StoredState, task: Task | None = None, screen: Screen | None = None
) -> dict[str, Any]:
    """How a screen stands, for the page: answers without their history, and what of an example is wrong."""
    answers: dict[str, dict[str, Any]] = json.loads(state.answers)
    shown = {
        output: {field: answer[field] for field in FIELDS if field in answer} for output, answer in answers.items()
    }
    return {
        "revision": state.revision,
        "answers": {output: answer for output, answer in shown.items() if answer},
        "complete": state.complete,
        "active_seconds": state.active_seconds,
        "wrong": [] if task is None or screen is None else find_lessons(answers, task, screen),
    }


def _describe_screen(screen: Screen, *, tutorial: bool) -> dict[str, Any]:
    """A screen without anything that tells who made a translation or which items are controls."""
    plain = get_served().campaign.page.html == "no"
    more = _describe_more(list_questions(screen, get_served().campaign))

    def show(text: str | None) -> Any:
        """A text as it stands, or as a tree of harmless tags where the campaign allows markup."""
        return text if text is None or plain else sanitise(text)

    def describe_context(segments: Sequence[ContextSegment]) -> list[dict[str, Any]]:
        return [{"source": show(segment.source), "target": show(segment.target)} for segment in segments]

    def describe_item(item: Item) -> dict[str, Any]:
        outputs = [
            {
                "id": output.id,
                "text": show(output.text),
                "expected": output.expected if tutorial else None,
                "to_mark": list(output.to_mark) if tutorial else [],
                "explanation": output.explanation,
                "prefilled": prefilled_spans(output),
                "more": more[output.id],
                "media": describe_media(output.id, output.media),
            }
            for output in item.outputs
        ]
        shown: dict[str, Any] = {"source": show(item.source), "reference": show(item.reference)}
        shown["media"] = describe_media(item.id, item.media)
        return {**shown, "asks": list(asked_fields(get_served().campaign)), "note": item.note, "outputs": outputs}

    return {
        "id": screen.id,
        "context_before": describe_context(screen.context_before),
        "items": [describe_item(item) for item in screen.items],
        "context_after": describe_context(screen.context_after),
        "whole": [questions for judged, questions in more.items() if judged.startswith(f"{screen.id}-d")],
    }


def _describe_more(questions: Sequence[Question]) -> dict[str, list[dict[str, Any]]]:
    """The questions beyond the first one about each output, by output and by page, each with its criterion."""
    more: dict[str, list[dict[str, Any]]] = defaultdict(list)
    criteria = get_served().campaign.asked
    for question in questions:
        if question.id != question.output.id and question.asked is not None:
            more[question.judged].append({"id": question.id, "criterion": criteria.index(question.asked)})
    return more
