"""Every annotator as organisers see them: judgments, controls, time, pace, link, and whether they need attention."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Q, Sum

from adjudge.collect.answers import judged_field
from adjudge.collect.assign import held_condition
from adjudge.collect.controls import ControlCount, count_controls, find_faults
from adjudge.collect.export import current_stamp
from adjudge.collect.marking import is_open
from adjudge.collect.models import Annotator, Assignment, Link, Save, ScreenState
from adjudge.collect.served_campaign import get_served
from adjudge.core.protocols import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

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
    work_judgments: int = 0
    """Of the judgments, those in tasks of work."""
    work_controls: int = 0
    screens: int = 0
    active_seconds: float = 0.0
    checked: ControlCount = field(default_factory=ControlCount)

    @property
    def answers(self) -> int:
        """All answers: those to controls and examples take time too."""
        return self.judgments + self.controls + self.examples

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the work does not pass, by the rule of completion codes and of `adjudge check`."""
        return find_faults(self.checked, judgments=self.answers, active_seconds=self.active_seconds)


def count_work() -> dict[int, WorkDone]:
    """What every annotator has done, by number."""
    return _count_work(*current_stamp())


def forget_counts() -> None:
    """Count anew: there are other tasks than before."""
    _count_work.cache_clear()


@lru_cache(maxsize=1)
def _count_work(*stamp: object) -> dict[int, WorkDone]:  # noqa: ARG001 - what they depend on
    tasks = get_served().task_by_id
    counted: dict[int, WorkDone] = {}
    special, checked = _count_special_answers()
    sums = ScreenState.objects.values_list("assignment", "assignment__annotator", "assignment__task").annotate(
        judged=Sum("judged"), screens=Count("pk", filter=Q(complete=True)), active=Sum("active_seconds")
    )
    for assignment, annotator, task, judged, screens, active in sums:
        work = counted.setdefault(annotator, WorkDone(checked=checked.get(annotator, ControlCount())))
        controls, examples = special["control", assignment], special["example", assignment]
        work.judgments += judged - controls - examples
        work.controls += controls
        work.examples += examples
        work.screens += screens
        work.active_seconds += active
        if task in tasks and tasks[task].kind == "work":
            work.work_judgments += judged - controls - examples
            work.work_controls += controls
    return counted


def _count_special_answers() -> tuple[Counter[tuple[str, int]], dict[int, ControlCount]]:
    """Answers to controls and to examples by assignment, and the controls answered rightly by annotator."""
    counts: Counter[tuple[str, int]] = Counter()
    states = list(_read_special_states())
    field_judged = judged_field(get_served().campaign)
    for state in states:
        answers = json.loads(state.answers)
        for output, answer in answers.items():
            placed = get_served().output_by_id.get((state.assignment.task, output))
            what = None if placed is None else special_kind(placed.output.kind)
            if what is not None and not is_open(answer.get(field_judged)):
                counts[what, state.assignment_id] += 1
    return counts, count_controls(states)


def special_kind(kind: str) -> str | None:
    """Whether an output of this kind is a control or an example; None for what is judged for its own sake."""
    return "example" if kind == "tutorial" else "control" if KINDS[kind].control else None


def _read_special_states() -> Iterator[ScreenState]:
    """How the screens with controls and examples stand. All the others are not even read: there may be very many."""
    screens = get_served().special_screens
    wanted = ("screen", "answers", "assignment_id", "assignment__annotator_id", "assignment__task")
    for start in range(0, len(screens), _SCREENS_AT_ONCE):
        states = ScreenState.objects.filter(screen__in=screens[start : start + _SCREENS_AT_ONCE])
        yield from states.select_related("assignment").only(*wanted)


def list_people(now: datetime) -> list[dict[str, Any]]:
    """One row per annotator, by name."""
    done = count_work()
    finished = dict(
        Assignment.objects.filter(finished__isnull=False).values_list("annotator").annotate(count=Count("pk"))
    )
    last = dict(Save.objects.values_list("state__assignment__annotator").annotate(last=Max("received")))
    unfinished = Assignment.objects.filter(held_condition(now), finished__isnull=True)
    open_tasks = set(unfinished.values_list("annotator", flat=True))
    links = _latest_links()
    rows = []
    for annotator in Annotator.objects.order_by("name"):
        work = done.get(annotator.id, WorkDone())
        row: dict[str, Any] = {
            "id": annotator.id,
            "name": annotator.name,
            "excluded": annotator.excluded,
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
        row["attention"] = [] if annotator.excluded else _find_attention(row, now, in_hand=annotator.id in open_tasks)
        rows.append(row)
    return rows


def _latest_links() -> dict[int | None, Link]:
    """The link that every annotator got last."""
    oldest_first = Link.objects.filter(annotator__isnull=False).order_by("created", "pk")
    return {link.annotator_id: link for link in oldest_first}


def _find_attention(row: dict[str, Any], now: datetime, *, in_hand: bool) -> list[str]:
    """Why this person needs the organisers' attention."""
    reasons = list(row["faults"])
    if in_hand and row["last_save"] is not None and now - row["last_save"] > timedelta(hours=IDLE_HOURS):
        reasons.append("idle")
    if in_hand and row["link"]["status"] == "expired":
        reasons.append("expired")
    return reasons


def link_status(link: Link | None, now: datetime) -> dict[str, Any]:
    """Whether a link is valid, when it was last used, and when it expires."""
    if link is None:
        return {"status": "none", "entered": None, "expires": None}
    status = "revoked" if link.revoked else "expired" if link.expires <= now else "valid"
    return {"status": status, "entered": link.last_entered, "expires": link.expires}
