"""What organisers see at once: progress, cost and time so far, throughput, people, decisions and links."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db.models import Count, Max, Min, Q, Sum
from django.db.models.functions import TruncHour
from django.utils import timezone
from ninja import Schema

from adjudge.server.actions import ActionOut, State, current_state, list_actions
from adjudge.server.answers import ControlCount, count_controls, find_faults, list_judged
from adjudge.server.export import Stamp, current_stamp
from adjudge.server.log import ERASURE, enter_looks
from adjudge.server.models import Annotator, Assignment, Entry, Link, Save, ScreenState
from adjudge.server.panels import Computed, Group
from adjudge.server.served_campaign import get_served
from adjudge.server.sites import OfSite, Site, current_site, working_for
from adjudge.server.tasks import held_condition, is_adaptive
from adjudge.table.protocols import KINDS, counted_kinds

# When the panels of the organisers' page are made anew: beside the answers to requests, and only if something changed.
#
# The functions come from other stages, by the command that serves. What takes long is computed less often, so that
# people who judge never wait for statistics. Requests get what was computed last, and are told that more is on its
# way.

_FRESH_SECONDS = 10.0
_REST = 10
"""After a computation, rest for this many times its duration."""


class PanelGroup:
    """The panels of one group, with what they were made from and when they may be made anew."""

    def __init__(self, group: Group, site: Site) -> None:
        self.group = group
        self.site = site
        self.lock = threading.Lock()
        self.panels: tuple[dict[str, Any], ...] = ()
        self.computed: datetime | None = None
        self.judgments: int | None = None
        self.stamp: Stamp | None = None
        self.rests_until = 0.0

    def latest(self) -> dict[str, Any]:
        """What was computed last; where judgments have come since, it is computed anew meanwhile.

        `computed` is when the judgments were read that it is of, and `judgments` how many they were; None before the
        first time.
        """
        stamp = current_stamp()
        due = stamp != self.stamp and time.monotonic() >= self.rests_until
        if due and self.lock.acquire(blocking=False):
            threading.Thread(target=self._compute, args=(stamp,), daemon=True, name=f"panels {self.group}").start()
        return {
            "panels": self.panels,
            "computed": self.computed,
            "judgments": self.judgments,
            "computing": self.lock.locked(),
        }

    def _compute(self, stamp: Stamp) -> None:
        rest = 0.0
        try:
            with _AT_ONCE, working_for(self.site):
                began, read, made = time.monotonic(), timezone.now(), Computed(0, ())
                saves, _ = stamp
                if saves and (statistics := get_served().statistics) is not None:
                    made = statistics.compute(self.group)
                    if self.group == "state" and (looks := statistics.read_looks()) is not None:
                        enter_looks(looks.taken)
            self.panels, self.judgments = made.panels, made.judgments
            self.computed, self.stamp = read, stamp
            rest = _REST * (time.monotonic() - began)
        except Exception:
            # As with a fault in a request: it goes to the log, and the page keeps what it had.
            logging.getLogger("django.request").exception("the statistics of the organisers' page failed")
        finally:
            self.rests_until = time.monotonic() + max(_FRESH_SECONDS, rest)
            self.lock.release()


@OfSite
def panel_groups() -> dict[Group, PanelGroup]:
    """The panels of a campaign."""
    site = current_site()
    return {"state": PanelGroup("state", site), "statistics": PanelGroup("statistics", site)}


# However many campaigns a server has, statistics leave room for people who judge.
_AT_ONCE = threading.Semaphore(2)


# Every annotator as organisers see them: judgments, controls, time, pace, link, and whether they need attention.

# Databases take only so many values in one question.
_SCREENS_AT_ONCE = 500
IDLE_HOURS = 24
"""Who has a task in hand and has saved nothing for so long is idle."""


@dataclass
class WorkDone:
    """What a person has done: answers by what they count as, complete screens, active seconds and controls."""

    judgments: int = 0
    controls: int = 0
    examples: int = 0
    """Answers in tutorials and calibration."""
    screens: int = 0
    active_seconds: float = 0.0
    checked: ControlCount = field(default_factory=ControlCount)

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the work does not pass, by the rule of completion codes and of `adjudge check`."""
        # All answers: those to controls and examples take time too.
        answers = self.judgments + self.controls + self.examples
        return find_faults(self.checked, judgments=answers, active_seconds=self.active_seconds)


@OfSite
def counted_work() -> dict[Stamp, dict[int, WorkDone]]:
    """What `count_work` counted last, by what it depends on besides the tasks."""
    return {}


def count_work(stamp: Stamp) -> dict[int, WorkDone]:
    """What every annotator has done, by number."""
    last = counted_work()
    if stamp not in last:
        work = _count_work()
        last.clear()
        last[stamp] = work
    return last[stamp]


def _count_work() -> dict[int, WorkDone]:
    tasks = get_served().task_by_id
    counted: dict[int, WorkDone] = {}
    special, checked = _count_special_answers()
    sums = ScreenState.objects.values_list("assignment", "assignment__annotator", "assignment__task").annotate(
        judged=Sum("judged"), screens=Count("pk", filter=Q(complete=True)), active=Sum("active_seconds")
    )
    for assignment, annotator, task, judged, screens, active in sums:
        work = counted.setdefault(annotator, WorkDone(checked=checked.get(annotator, ControlCount())))
        controls, examples = special["control", assignment], special["example", assignment]
        if task in tasks and tasks[task].kind != "work":
            examples = judged - controls
        work.judgments += judged - controls - examples
        work.controls += controls
        work.examples += examples
        work.screens += screens
        work.active_seconds += active
    return counted


def _count_special_answers() -> tuple[Counter[tuple[str, int]], dict[int, ControlCount]]:
    """Answers to controls and to examples by assignment, and the controls answered rightly by annotator."""
    counts: Counter[tuple[str, int]] = Counter()
    served = get_served()
    ordinary = counted_kinds(served.tasks.protocol)
    # All the other screens are not even read: there may be very many.
    screens = served.special_screens
    states: list[ScreenState] = []
    wanted = ("screen", "answers", "assignment_id", "assignment__annotator_id", "assignment__task")
    for start in range(0, len(screens), _SCREENS_AT_ONCE):
        some = ScreenState.objects.filter(screen__in=screens[start : start + _SCREENS_AT_ONCE])
        states += some.select_related("assignment").only(*wanted)
    for state in states:
        screen = served.screen_by_id.get((state.assignment.task, state.screen))
        judged = list_judged(json.loads(state.answers), screen, served.campaign) if screen is not None else []
        for question in judged:
            what = None if question.output.kind in ordinary else special_kind(question.output.kind)
            if what is not None:
                counts[what, state.assignment_id] += 1
    return counts, count_controls(states)


def special_kind(kind: str) -> str | None:
    """Whether an output of this kind is a control or an example; None for what is judged for its own sake."""
    return "example" if kind == "tutorial" else "control" if KINDS[kind].control else None


def _list_people(done: dict[int, WorkDone], now: datetime) -> list[dict[str, Any]]:
    """One row per annotator, by name."""
    finished = dict(
        Assignment.objects.filter(finished__isnull=False).values_list("annotator").annotate(count=Count("pk"))
    )
    last = dict(Save.objects.values_list("state__assignment__annotator").annotate(last=Max("received")))
    unfinished = Assignment.objects.filter(held_condition(now), finished__isnull=True)
    open_tasks = set(unfinished.values_list("annotator", flat=True))
    # The link that every annotator got last.
    links = {link.annotator_id: link for link in Link.objects.filter(annotator__isnull=False).order_by("created", "pk")}
    erased = set(map(int, Entry.objects.filter(kind=ERASURE).values_list("subject", flat=True)))
    rows = []
    for annotator in Annotator.objects.order_by("name"):
        work = done.get(annotator.id, WorkDone())
        row: dict[str, Any] = {
            "id": annotator.id,
            "name": annotator.name,
            "erased": annotator.number in erased,
            "excluded": annotator.excluded,
            "reassigned": annotator.reassigned,
            "tasks_finished": finished.get(annotator.id, 0),
            "screens": work.screens,
            "judgments": work.judgments,
            "control_judgments": work.controls + work.examples,
            "active_seconds": work.active_seconds,
            "faults": list(work.faults),
            "controls_right": work.checked.right,
            "controls": work.checked.total,
            "last_save": last.get(annotator.id),
            "link": link_status(links.get(annotator.id), now),
        }
        row["attention"] = [] if annotator.excluded else list(work.faults)
        if annotator.id in open_tasks and not annotator.excluded:
            idle = row["last_save"] is not None and now - row["last_save"] > timedelta(hours=IDLE_HOURS)
            expired = row["link"]["status"] == "expired"
            row["attention"] += [*(["idle"] if idle else []), *(["expired"] if expired else [])]
        rows.append(row)
    return rows


def link_status(link: Link | None, now: datetime) -> dict[str, Any]:
    """Whether a link is valid, when it was last used, and when it expires."""
    if link is None:
        return {"status": "none", "entered": None, "expires": None}
    status = "revoked" if link.revoked else "expired" if link.expires <= now else "valid"
    return {"status": status, "entered": link.last_entered, "expires": link.expires}


# What will go wrong unless somebody acts, found before it happens.

_UNEVEN_SHARE = 1.5
_UNEVEN_LEAST = 20
"""Systems are uneven where one has so many times, and so many more, judgments than another."""


def _find_warnings(now: datetime) -> list[dict[str, Any]]:
    """Whether tasks run out for the people at work, and whether some systems are judged far more than others."""
    if current_state() == "closed":
        return []
    active = Save.objects.filter(
        received__gt=now - timedelta(hours=IDLE_HOURS), state__assignment__annotator__excluded=False
    )
    people = dict(active.values_list("state__assignment__annotator", "state__assignment__annotator__name").distinct())
    found = []
    if get_served().campaign.assignment.policy == "pool":
        found += _find_shortages(people, now)
    return found + ([] if is_adaptive() else _find_uneven_systems())


def _find_shortages(people: dict[int, str], now: datetime) -> list[dict[str, Any]]:
    """Places of the pool or of the plan that are left, and people who have met all tasks there are."""
    served = get_served()
    held = Counter(dict(
        Assignment.objects.filter(held_condition(now), annotator__excluded=False)
        .values_list("task").annotate(count=Count("pk"))
    ))  # fmt: skip
    work = [task for task in served.tasks.tasks if task.kind == "work"]
    places = {task.id: task.judgments - held[task.id] for task in work if held[task.id] < task.judgments}
    left, kind = sum(places.values()), "pool"
    if is_adaptive() and served.campaign.looks is not None:
        size = max(1, round(sum(served.judgments_by_task.values()) / len(work)))
        given = sum(served.judgments_by_task.get(task, 0) * count for task, count in held.items())
        in_plan = max(0, served.campaign.looks.planned - given) // size
        left, kind = min((left, "pool"), (in_plan, "plan"))
    if people and left < len(people):
        return [{"kind": kind, "few": left, "many": len(people), "names": []}]
    met: dict[int, set[str]] = {person: set() for person in people}
    for person, task in Assignment.objects.filter(annotator__in=people).values_list("annotator", "task"):
        met[person].add(task)
    alone = sorted(people[person] for person, tasks in met.items() if len(places.keys() - tasks) == 0)
    return [{"kind": "person", "few": left, "many": len(alone), "names": alone}] if alone else []


def _find_uneven_systems() -> list[dict[str, Any]]:
    """Systems with far more finished judgments than others, where all should get the same."""
    served = get_served()
    finished = Assignment.objects.filter(finished__isnull=False, annotator__excluded=False)
    counts: Counter[str] = Counter(dict.fromkeys(served.tasks.systems, 0))
    for task, times in finished.values_list("task").annotate(count=Count("pk")):
        for system, number in served.rated_by_task.get(task, Counter()).items():
            counts[system] += number * times
    wanted: Counter[str] = Counter()
    for task in served.tasks.tasks:
        for system, number in served.rated_by_task.get(task.id, Counter()).items():
            wanted[system] += number * task.judgments
    share = {system: counts[system] / wanted[system] for system in counts if wanted[system]}
    if not share:
        return []
    least, most = min(share, key=lambda name: share[name]), max(share, key=lambda name: share[name])
    few, many = counts[least], counts[most]
    uneven = many - few >= _UNEVEN_LEAST and share[most] > _UNEVEN_SHARE * share[least]
    return [{"kind": "uneven", "few": few, "many": many, "names": [least, most]}] if uneven else []


_THROUGHPUT_HOURS = 24
_PACE_DAYS = 7
"""The end is expected at the pace of so many days."""


def make_overview() -> dict[str, Any]:
    """Everything on the organisers' page but the statistics."""
    now = timezone.now()
    campaign, tasks = get_served().campaign, get_served().tasks
    stamp = current_stamp()
    work_by_person, excluded = count_work(stamp), stamp[1]
    # Excluded people do not count in progress and cost: their tasks are wanted once more.
    done = [work for annotator, work in work_by_person.items() if annotator not in excluded]
    progress = _count_progress(done, now)
    links = Link.objects.filter(annotator__isnull=True).order_by("-created", "-pk")
    return {
        "campaign": {
            "name": campaign.name,
            "source_lang": tasks.source_lang,
            "target_lang": tasks.target_lang,
            "protocol": campaign.protocol,
            "policy": campaign.assignment.policy,
            "state": current_state(),
            "asks": campaign.form.asks,
        },
        "warnings": _find_warnings(now),
        "progress": progress,
        "cost": _estimate_cost(done, progress, now),
        "throughput": _count_saves_by_hour(now),
        "annotators": _list_people(work_by_person, now),
        "actions": list_actions(),
        "links": [
            {"id": link.id, "role": link.role, "label": link.label, "created": link.created, **link_status(link, now)}
            for link in links
        ],
    }


def make_summary() -> dict[str, Any]:
    """The campaign in a line of the overview of all campaigns."""
    overview = make_overview()
    head = overview["campaign"]
    saved = [person["last_save"] for person in overview["annotators"] if person["last_save"] is not None]
    state = panel_groups()["state"]
    headline = next((panel["headline"] for panel in state.panels if panel["headline"]), "")
    verdict = {"headline": headline, "computed": state.computed, "judgments": state.judgments}
    return {
        **{key: head[key] for key in ("name", "protocol", "source_lang", "target_lang", "state")},
        "progress": overview["progress"],
        "attention": sum(bool(person["attention"]) for person in overview["annotators"]),
        "last_save": max(saved, default=None),
        "expected_end": overview["cost"]["expected_end"],
        "verdict": verdict if headline and state.computed is not None else None,
    }


def judgments_planned() -> int:
    """How many judgments the tasks of this campaign will bring; of an adaptive one, which has more, what is planned."""
    sizes, looks = get_served().judgments_by_task, get_served().campaign.looks
    in_tasks = sum(sizes[task.id] * task.judgments for task in get_served().tasks.tasks if task.kind == "work")
    return min(in_tasks, looks.planned) if is_adaptive() and looks is not None else in_tasks


def _count_progress(done: list[WorkDone], now: datetime) -> dict[str, Any]:
    work = [task for task in get_served().tasks.tasks if task.kind == "work"]
    others = [task.id for task in get_served().tasks.tasks if task.kind != "work"]
    counted = Assignment.objects.filter(annotator__excluded=False).exclude(task__in=others)
    return {
        "tasks_wanted": sum(task.judgments for task in work),
        "tasks_finished": counted.filter(finished__isnull=False).count(),
        "tasks_in_hand": counted.filter(held_condition(now), finished__isnull=True).count(),
        "judgments_wanted": judgments_planned(),
        "judgments": sum(work.judgments for work in done),
        "control_judgments": sum(work.controls for work in done),
    }


def _estimate_cost(done: list[WorkDone], progress: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Time spent so far, and when judging will end at the pace of the last days."""
    seconds = sum(work.active_seconds for work in done)
    judgments = sum(work.judgments for work in done)
    # By the share of all saves that came in the last days.
    saves, per_day = Save.objects.filter(revision__isnull=False), None
    first = saves.aggregate(first=Min("received"))["first"]
    if first is not None:
        start = max(first, now - timedelta(days=_PACE_DAYS))
        passed: float = max((now - start) / timedelta(days=1), 1 / 24)
        per_day = progress["judgments"] * saves.filter(received__gte=start).count() / saves.count() / passed
    left = progress["judgments_wanted"] - progress["judgments"]
    days = left / per_day if per_day and left > 0 else None
    return {
        "active_seconds": seconds,
        "judgments_per_hour": judgments / (seconds / 3600) if seconds > 0 else None,
        "judgments_per_day": per_day,
        # What takes longer than a century has no date worth showing.
        "expected_end": now + timedelta(days=days) if days is not None and days < 36_500 else None,
    }


def _count_saves_by_hour(now: datetime) -> list[dict[str, Any]]:
    """Saves with changes per hour of the last day, hours without any included."""
    start = (now - timedelta(hours=_THROUGHPUT_HOURS - 1)).replace(minute=0, second=0, microsecond=0)
    saves = Save.objects.filter(revision__isnull=False, received__gte=start)
    counted = saves.annotate(hour=TruncHour("received")).values_list("hour").annotate(count=Count("pk"))
    by_hour = dict(counted)
    hours = [start + timedelta(hours=i) for i in range(_THROUGHPUT_HOURS)]
    return [{"hour": hour.isoformat(), "saves": by_hour.get(hour, 0)} for hour in hours]


# What the server answers the organisers' page. The types of the page's scripts are made from this description.


class LinkOut(Schema):
    """A new link: its secret is shown this once. `path` is to be put behind the server's address."""

    annotator: int
    name: str
    path: str


class DoneOut(Schema):
    """How many links or records were changed."""

    changed: int


class ExtendedOut(Schema):
    """What the command that extends the campaign says."""

    said: str


class ErasedOut(Schema):
    """The number that stands for a person who was erased, and what is left to be done by hand."""

    number: int
    notes: list[str]


class PanelIntervalOut(Schema):
    """An estimate with its interval, to be drawn."""

    label: str
    low: float
    estimate: float
    high: float
    settled: bool


class PanelRanksOut(Schema):
    """A system with the ranks that it may have, to be drawn."""

    label: str
    best: int
    worst: int
    of: int


class PanelBarOut(Schema):
    """A bar with its value in numbers and words; flagged ones need attention."""

    label: str
    value: float
    shown: str
    flagged: bool


class PanelOut(Schema):
    """Statistics of the judgments so far: a sentence, what is drawn, and the figures as a table."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str
    headline: str
    intervals: list[PanelIntervalOut]
    ranks: list[PanelRanksOut]
    bars: list[PanelBarOut]


class StatisticsOut(Schema):
    """Panels as they were computed last: of which judgments, when; and whether they are being computed anew."""

    panels: list[PanelOut]
    computed: datetime | None
    judgments: int | None
    computing: bool


class LinkStateOut(Schema):
    """Whether a link is valid, and whether it has been used."""

    status: Literal["none", "valid", "revoked", "expired"]
    entered: datetime | None
    expires: datetime | None


class OtherLinkOut(LinkStateOut):
    """An organiser's link, or the crowd's."""

    id: int
    role: str
    label: str
    created: datetime


class AnnotatorOut(Schema):
    """A person as organisers see them."""

    id: int
    name: str
    excluded: bool
    reassigned: bool
    erased: bool
    tasks_finished: int
    screens: int
    judgments: int
    control_judgments: int
    active_seconds: float
    faults: list[Literal["pace", "controls"]]
    attention: list[Literal["pace", "controls", "idle", "expired"]]
    controls_right: int
    controls: int
    last_save: datetime | None
    link: LinkStateOut


class CampaignHeadOut(Schema):
    """The campaign's name, languages, protocol and policy of assignment, and whether it runs."""

    name: str
    source_lang: str
    target_lang: str
    protocol: str
    policy: str
    state: State
    asks: bool
    """Whether people fill in a form before they judge."""


class WarningOut(Schema):
    """What will go wrong unless organisers do something: `few` of something are left for `many`, or `names` are met."""

    kind: Literal["pool", "plan", "person", "uneven"]
    few: int
    many: int
    names: list[str]


class ProgressOut(Schema):
    """How much is wanted, and how much is done."""

    tasks_wanted: int
    tasks_finished: int
    tasks_in_hand: int
    judgments_wanted: int
    judgments: int
    control_judgments: int


class CostOut(Schema):
    """Work so far: judgments count without controls, and the end is expected at the pace of the last week's saves."""

    active_seconds: float
    judgments_per_hour: float | None
    judgments_per_day: float | None
    expected_end: datetime | None


class HourOut(Schema):
    """Saves with changes within an hour."""

    hour: str
    saves: int


class OverviewOut(Schema):
    """Progress, throughput, people, warnings and what organisers have done."""

    campaign: CampaignHeadOut
    progress: ProgressOut
    cost: CostOut
    throughput: list[HourOut]
    annotators: list[AnnotatorOut]
    actions: list[ActionOut]
    warnings: list[WarningOut]
    links: list[OtherLinkOut]


class VerdictOut(Schema):
    """What was last said of the systems, when, and of how many judgments."""

    headline: str
    computed: datetime
    judgments: int


class SummaryOut(Schema):
    """A campaign in a line of the overview of all campaigns."""

    name: str
    protocol: str
    source_lang: str
    target_lang: str
    state: State
    progress: ProgressOut
    attention: int
    last_save: datetime | None
    expected_end: datetime | None
    verdict: VerdictOut | None
