"""What organisers see: progress, throughput, every annotator with pace, time and controls, and statistics so far."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Q, Sum
from django.db.models.functions import TruncHour
from django.utils import timezone

from adjudge.collect.adaptive import is_adaptive
from adjudge.collect.assign import is_held
from adjudge.collect.controls import ControlCount, count_controls, faults_of
from adjudge.collect.export import collected
from adjudge.collect.models import Annotator, Assignment, Decision, Link, Save, ScreenState
from adjudge.collect.running import PanelTable, running
from adjudge.core.errors import AdjudgeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_THROUGHPUT_HOURS = 24
# Databases take only so many values in one question.
_SCREENS_AT_ONCE = 500


def overview() -> dict[str, Any]:
    """Everything on the organisers' page but the statistics."""
    now = timezone.now()
    campaign = running().campaign
    return {
        "campaign": {"name": campaign.name, "protocol": campaign.protocol, "policy": campaign.assignment.policy},
        "progress": _progress(now),
        "throughput": _throughput(now),
        "annotators": _annotators(now),
        "decisions": _decisions(),
        "links": _organiser_links(now),
    }


def _progress(now: datetime) -> dict[str, Any]:
    work = [task for task in running().tasks.tasks if task.kind == "work"]
    outputs = {task.id: sum(1 for _ in task.outputs()) for task in work}
    # Excluded people do not count here: their tasks are wanted once more.
    counted = Assignment.objects.filter(annotator__excluded=False)
    assignments = [assignment for assignment in counted if assignment.task in outputs]
    states = ScreenState.objects.filter(assignment__in=counted, assignment__task__in=list(outputs))
    judged = states.aggregate(sum=Sum("judged"))["sum"]
    return {
        "tasks_wanted": sum(task.judgments for task in work),
        "tasks_finished": sum(assignment.finished is not None for assignment in assignments),
        "tasks_in_hand": sum(assignment.finished is None and is_held(assignment, now) for assignment in assignments),
        "judgments_wanted": _judgments_wanted(sum(outputs[task.id] * task.judgments for task in work)),
        "judgments": judged or 0,
    }


def _judgments_wanted(in_tasks: int) -> int:
    """What the tasks hold; of an adaptive campaign, which has more tasks than it needs, what is planned."""
    looks = running().campaign.looks
    return min(in_tasks, looks.planned) if is_adaptive() and looks is not None else in_tasks


def _throughput(now: datetime) -> list[dict[str, Any]]:
    """Saves with changes per hour of the last day, hours without any included."""
    start = (now - timedelta(hours=_THROUGHPUT_HOURS - 1)).replace(minute=0, second=0, microsecond=0)
    saves = Save.objects.filter(revision__isnull=False, received__gte=start)
    counted = saves.annotate(hour=TruncHour("received")).values_list("hour").annotate(count=Count("pk"))
    by_hour = dict(counted)
    hours = [start + timedelta(hours=i) for i in range(_THROUGHPUT_HOURS)]
    return [{"hour": hour.isoformat(), "saves": by_hour.get(hour, 0)} for hour in hours]


def _annotators(now: datetime) -> list[dict[str, Any]]:
    controls = count_controls(_control_states())
    sums = _sums()
    finished = dict(
        Assignment.objects.filter(finished__isnull=False).values_list("annotator").annotate(count=Count("pk"))
    )
    last = dict(Save.objects.values_list("state__assignment__annotator").annotate(last=Max("received")))
    links: dict[int | None, Link] = {}
    for link in Link.objects.filter(annotator__isnull=False).order_by("created", "pk"):
        links[link.annotator_id] = link
    rows = []
    for annotator in Annotator.objects.order_by("name"):
        judged, screens, active = sums.get(annotator.id, (0, 0, 0.0))
        control = controls.get(annotator.id, ControlCount())
        rows.append(
            {
                "id": annotator.id,
                "name": annotator.name,
                "excluded": annotator.excluded,
                "tasks_finished": finished.get(annotator.id, 0),
                "screens": screens,
                "judgments": judged,
                "active_seconds": active,
                "faults": list(faults_of(control, judgments=judged, active_seconds=active)),
                "controls_right": control.right,
                "controls": control.total,
                "last_save": last.get(annotator.id),
                "link": _link_status(links.get(annotator.id), now),
            }
        )
    return rows


def _sums() -> dict[int, tuple[int, int, float]]:
    """Judgments, complete screens and active seconds per annotator."""
    grouped = ScreenState.objects.values_list("assignment__annotator").annotate(
        judged=Sum("judged"), screens=Count("pk", filter=Q(complete=True)), active=Sum("active_seconds")
    )
    return {annotator: (judged, screens, active) for annotator, judged, screens, active in grouped}


def _control_states() -> Iterator[ScreenState]:
    """How the screens with controls stand. All the others are not even read: there may be very many."""
    screens = running().control_screens
    wanted = ("screen", "answers", "assignment__annotator_id", "assignment__task")
    for start in range(0, len(screens), _SCREENS_AT_ONCE):
        states = ScreenState.objects.filter(screen__in=screens[start : start + _SCREENS_AT_ONCE])
        yield from states.select_related("assignment").only(*wanted)


def _link_status(link: Link | None, now: datetime) -> dict[str, Any]:
    if link is None:
        return {"status": "none", "entered": None, "expires": None}
    status = "revoked" if link.revoked else "expired" if link.expires <= now else "valid"
    return {"status": status, "entered": link.last_entered, "expires": link.expires}


def _decisions() -> list[dict[str, Any]]:
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


def _organiser_links(now: datetime) -> list[dict[str, Any]]:
    links = Link.objects.filter(annotator__isnull=True).order_by("-created", "-pk")
    return [
        {"id": link.id, "role": link.role, "label": link.label, "created": link.created, **_link_status(link, now)}
        for link in links
    ]


_FRESH_SECONDS = 10.0
# What takes long is computed less often, so that people who judge never wait for statistics.
_REST = 10
_lock = threading.Lock()


@dataclass(frozen=True)
class _Computed:
    tables: list[dict[str, Any]]
    fresh_until: float


_last: _Computed | None = None


def panels() -> list[dict[str, Any]]:
    """The tables of all statistics functions; one that cannot be computed yet says why.

    While somebody else has them computed anew, everybody gets the last ones.
    """
    global _last  # noqa: PLW0603 - a cache of this process
    last = _last
    if last is not None and time.monotonic() < last.fresh_until:
        return last.tables
    if not _lock.acquire(blocking=last is None):
        return [] if last is None else last.tables
    try:
        if _last is None or _last is last:
            began = time.monotonic()
            tables = _compute()
            ended = time.monotonic()
            _last = _Computed(tables, ended + max(_FRESH_SECONDS, _REST * (ended - began)))
        return _last.tables
    finally:
        _lock.release()


def _compute() -> list[dict[str, Any]]:
    functions = running().panels
    if not functions:
        return []
    judgments = collected()
    if not len(judgments):
        return []
    tables: list[dict[str, Any]] = []
    for function in functions:
        try:
            tables += [asdict(table) for table in function(judgments)]
        except AdjudgeError as fault:
            title = getattr(function, "__name__", "statistics").replace("_", " ")
            tables.append(asdict(PanelTable(title, (), (), note=str(fault))))
    return tables
