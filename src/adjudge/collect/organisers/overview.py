"""What organisers see at once: progress, cost and time so far, throughput, people, decisions and links."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min
from django.db.models.functions import TruncHour
from django.utils import timezone

from adjudge.collect.adaptive import is_adaptive
from adjudge.collect.assign import held_condition
from adjudge.collect.models import Annotator, Assignment, Decision, Link, Save
from adjudge.collect.organisers.people import count_work, link_status, list_people, special_kind
from adjudge.collect.served_campaign import get_served

_THROUGHPUT_HOURS = 24
_PACE_DAYS = 7
"""The end is expected at the pace of so many days."""


def make_overview() -> dict[str, Any]:
    """Everything on the organisers' page but the statistics."""
    now = timezone.now()
    campaign = get_served().campaign
    progress = _count_progress(now)
    return {
        "campaign": {"name": campaign.name, "protocol": campaign.protocol, "policy": campaign.assignment.policy},
        "progress": progress,
        "cost": _estimate_cost(progress, now),
        "throughput": _count_saves_by_hour(now),
        "annotators": list_people(now),
        "decisions": _list_decisions(),
        "links": _list_links(now),
    }


def judgments_planned() -> int:
    """How many judgments that count the tasks of this campaign will bring; of an adaptive one, what is planned."""
    sizes = get_served().judgments_by_task
    in_tasks = sum(sizes[task.id] * task.judgments for task in get_served().tasks.tasks if task.kind == "work")
    return _limit_to_planned(in_tasks)


def _count_progress(now: datetime) -> dict[str, Any]:
    work = {task.id: task for task in get_served().tasks.tasks if task.kind == "work"}
    others = [task.id for task in get_served().tasks.tasks if task.kind != "work"]
    # Excluded people do not count here: their tasks are wanted once more.
    counted = Assignment.objects.filter(annotator__excluded=False).exclude(task__in=others)
    done = _list_counted()
    wanted = sum(
        task.judgments * sum(special_kind(output.kind) is None for _, _, output in task.outputs())
        for task in work.values()
    )
    return {
        "tasks_wanted": sum(task.judgments for task in work.values()),
        "tasks_finished": counted.filter(finished__isnull=False).count(),
        "tasks_in_hand": counted.filter(held_condition(now), finished__isnull=True).count(),
        "judgments_wanted": _limit_to_planned(wanted),
        "judgments": sum(work.work_judgments for work in done),
        "control_judgments": sum(work.work_controls for work in done),
    }


def _list_counted() -> list[Any]:
    """What everybody has done who is not excluded."""
    excluded = set(Annotator.objects.filter(excluded=True).values_list("pk", flat=True))
    return [work for annotator, work in count_work().items() if annotator not in excluded]


def _limit_to_planned(in_tasks: int) -> int:
    """What the tasks hold; of an adaptive campaign, which has more tasks than it needs, what is planned."""
    looks = get_served().campaign.looks
    return min(in_tasks, looks.planned) if is_adaptive() and looks is not None else in_tasks


def _estimate_cost(progress: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Time spent so far, and when judging will end at the pace of the last days."""
    done = _list_counted()
    seconds = sum(work.active_seconds for work in done)
    judgments = sum(work.judgments for work in done)
    per_day = _judgments_per_day(progress["judgments"], now)
    left = progress["judgments_wanted"] - progress["judgments"]
    days = left / per_day if per_day and left > 0 else None
    return {
        "active_seconds": seconds,
        "judgments_per_hour": judgments / (seconds / 3600) if seconds > 0 else None,
        "judgments_per_day": per_day,
        # What takes longer than a century has no date worth showing.
        "expected_end": now + timedelta(days=days) if days is not None and days < 36_500 else None,
    }


def _judgments_per_day(judgments: int, now: datetime) -> float | None:
    """Judgments per day of the last days, by the share of all saves that came in them."""
    saves = Save.objects.filter(revision__isnull=False)
    first = saves.aggregate(first=Min("received"))["first"]
    if first is None:
        return None
    start = max(first, now - timedelta(days=_PACE_DAYS))
    days: float = max((now - start) / timedelta(days=1), 1 / 24)
    return judgments * saves.filter(received__gte=start).count() / saves.count() / days


def _count_saves_by_hour(now: datetime) -> list[dict[str, Any]]:
    """Saves with changes per hour of the last day, hours without any included."""
    start = (now - timedelta(hours=_THROUGHPUT_HOURS - 1)).replace(minute=0, second=0, microsecond=0)
    saves = Save.objects.filter(revision__isnull=False, received__gte=start)
    counted = saves.annotate(hour=TruncHour("received")).values_list("hour").annotate(count=Count("pk"))
    by_hour = dict(counted)
    hours = [start + timedelta(hours=i) for i in range(_THROUGHPUT_HOURS)]
    return [{"hour": hour.isoformat(), "saves": by_hour.get(hour, 0)} for hour in hours]


def _list_decisions() -> list[dict[str, Any]]:
    return [
        {
            "annotator": decision.annotator.name,
            "excluded": decision.excluded,
            "reason": decision.reason,
            "who": decision.who,
            "made": decision.made,
        }
        for decision in Decision.objects.select_related("annotator").order_by("-made", "-pk")
    ]


def _list_links(now: datetime) -> list[dict[str, Any]]:
    links = Link.objects.filter(annotator__isnull=True).order_by("-created", "-pk")
    return [
        {"id": link.id, "role": link.role, "label": link.label, "created": link.created, **link_status(link, now)}
        for link in links
    ]
