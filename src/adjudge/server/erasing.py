"""Erasing a person: name, form and links go; judgments stay under a number, or go too. The log says so and holds.

What the log said with the person's name is written anew with the number. Its own digests would not fit any more, so the
entry of the erasure holds, for every entry that was changed, the digest of what it says now, and for every screen the
digest that its saves are chained to. `verify` takes these instead; the entry itself is chained like all others.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adjudge.campaigns.campaign_file import named_annotators
from adjudge.campaigns.tasks import load_tasks, parse_tasks, save_tasks, to_json
from adjudge.server import log
from adjudge.server.answers import Refused
from adjudge.server.database import decision_lock, write_transaction
from adjudge.server.models import (
    Annotator,
    Assignment,
    Campaign,
    Decision,
    Draw,
    Entry,
    FilledForm,
    Link,
    Save,
    ScreenState,
)
from adjudge.server.preparation import FIRST_TASKS, PEOPLE
from adjudge.server.tasks import is_adaptive, lock_campaign
from adjudge.table.errors import AdjudgeError
from adjudge.table.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adjudge.campaigns.tasks import Item, Task, TaskSet


@dataclass(frozen=True)
class Erasure:
    """What was erased: the number that stands for the person now, and how many saves went; `notes` say what is left."""

    number: int
    saves: int
    notes: tuple[str, ...] = ()


def erase(person: Annotator, who: str, *, judgments: bool, campaign_file: Path | None) -> Erasure:
    """Erase a person, in the database and in the files beside the campaign.

    Args:
        person: who is erased.
        who: the organiser.
        judgments: whether the judgments go, too.
        campaign_file: the campaign file, whose names are changed with those of the tasks.
    """
    if judgments and is_adaptive():
        raise Refused("the draws of an adaptive campaign rest on these judgments; keep them under a number", status=409)
    with decision_lock(), write_transaction():
        lock_campaign()
        # The names that tasks get where only the number of people is given say nothing of anybody.
        former = person.name
        own = former == f"erased-{person.number}" or is_numbered(former)
        name = former if own else _free_name(person)
        removed, saves = _remove(person, judgments=judgments)
        changed = {} if own else _rename(person, former, name)
        anchors = {} if own else dict(_anchor_saves(person, former))
        if not person.reassigned:
            person.reassigned = True
            log.enter(log.ORGANISER, "reassign", [who, name, ""])
        person.browser_hash = ""
        person.save(update_fields=["name", "reassigned", "browser_hash"])
        FilledForm.objects.filter(annotator=person).delete()
        Link.objects.filter(annotator=person).delete()
        content = {"who": who, "name": name, "judgments": judgments, "entries": changed, "screens": anchors}
        log.enter(log.ERASURE, person.number, {**content, "tasks": removed, "saves": saves})
        tasks = None if own else _rename_in_tasks(former, name)
    notes = () if own else _rename_in_files(campaign_file, tasks, former, name)
    return Erasure(person.number, saves, notes)


def is_numbered(name: str) -> bool:
    """Whether somebody has a name that was made of a number."""
    stored = Campaign.objects.values_list("settings", flat=True).first()
    people = json.loads(stored or "{}").get(PEOPLE)
    return isinstance(people, int) and name in named_annotators(people)


def _free_name(person: Annotator) -> str:
    while Annotator.objects.filter(name=f"erased-{person.number}").exists():
        person.number += 1
    person.save(update_fields=["number"])
    return f"erased-{person.number}"


def _remove(person: Annotator, *, judgments: bool) -> tuple[list[int], int]:
    """Take away judgments if wanted: the numbers of the assignments, and how many saves they held.

    Unfinished tasks go back to the pool in any case, and keep their answers unless these go.
    """
    from django.utils import timezone

    given = Assignment.objects.filter(annotator=person)
    given.filter(finished=None, complete=False, released=None).update(released=timezone.now())
    if not judgments:
        return [], 0
    saves = Save.objects.filter(state__assignment__annotator=person).count()
    numbers = sorted(given.values_list("pk", flat=True))
    given.delete()
    return numbers, saves


def _anchor_saves(person: Annotator, former: str) -> Iterator[tuple[str, str]]:
    """What the saves of every screen are chained to, from which the name cannot be read."""
    earlier = earlier_anchors()
    for state in ScreenState.objects.filter(assignment__annotator=person, saves__gt=0).select_related("assignment"):
        first = log.first_link(former, state.assignment.task, state.screen, state.first_shown)
        yield str(state.id), earlier.get(str(state.id), first)


def read_erasures() -> Iterator[dict[str, Any]]:
    """What the log says of erasures, in order."""
    for content in Entry.objects.filter(kind=log.ERASURE).order_by("number").values_list("content", flat=True):
        held = json.loads(content)
        if isinstance(held, dict):
            yield held


def earlier_anchors() -> dict[str, str]:
    """What the saves of screens are chained to, where the person was erased."""
    return {state: digest for held in read_erasures() for state, digest in held.get("screens", {}).items()}


# The name in what was logged.


def _rename(person: Annotator, former: str, name: str) -> dict[str, str]:
    """Put the new name into the decisions, draws and entries that hold the former one; the digests of these entries."""
    person.name = name
    for decision in Decision.objects.filter(annotator=person):
        decision.reason = _replace_name(decision.reason, former, name)
        decision.save(update_fields=["reason"])
    for draw in Draw.objects.filter(assignment__annotator=person):
        decided = json.loads(draw.decision)
        draw.decision = json.dumps({**decided, "annotator": name})
        draw.save(update_fields=["decision"])
    changed = {}
    for entry in Entry.objects.exclude(kind__in=[log.TASKS, log.BEGUN, log.LOOK, log.ERASURE]).order_by("number"):
        content = _renamed_content(entry, person, former)
        if content is not None and (text := log.to_text(content)) != entry.content:
            entry.content = text
            entry.save(update_fields=["content"])
            changed[str(entry.number)] = log.digest(text)
    return changed


def _renamed_content(entry: Entry, person: Annotator, former: str) -> Any:
    """What an entry says with the new name; None where it is about somebody else."""
    held = json.loads(entry.content)
    if entry.kind == log.DRAWN:
        draw = Draw.objects.filter(number=int(entry.subject), assignment__annotator=person).first()
        return None if draw is None else log.content_of_draw(draw)
    if entry.kind == log.EXCLUSION and held[0] == former:
        return [person.name, held[1], _replace_name(held[2], former, person.name), *held[3:]]
    if entry.kind == log.HANDED_IN and held[0] == former:
        return [person.name, *held[1:]]
    if entry.kind == log.ORGANISER and held[1] == former:
        # What was written to the person may tell of the person.
        text = "" if entry.subject == "message" else _replace_name(held[2], former, person.name)
        return [held[0], person.name, text]
    return None


def _replace_name(text: str, former: str, name: str) -> str:
    """A text with a name replaced where it stands as a word: `Al` is no part of `Albert`."""
    return re.sub(rf"(?<!\w){re.escape(former)}(?!\w)", name, text)


# The name in the tasks and in files.


def _renamed_tasks(tasks: TaskSet, former: str, name: str) -> TaskSet:
    def rename(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name if each == former else each for each in names)

    def rename_item(item: Item) -> Item:
        outputs = (replace(each, editor=name) if each.editor == former else each for each in item.outputs)
        return replace(item, outputs=tuple(outputs))

    def rename_in(task: Task) -> Task:
        screens = task.screens
        if any(output.editor == former for *_, output in task.outputs()):
            screens = tuple(replace(screen, items=tuple(map(rename_item, screen.items))) for screen in screens)
        return replace(task, annotators=rename(task.annotators), screens=screens)

    changed = tuple(map(rename_in, tasks.tasks))
    return replace(tasks, annotators=rename(tasks.annotators), tasks=changed)


def _rename_in_tasks(former: str, name: str) -> TaskSet | None:
    """Put the new name into the stored tasks and settings; None where they do not hold the former one."""
    stored = Campaign.objects.get()
    settings = json.loads(stored.settings or "{}")
    if isinstance(people := settings.get(PEOPLE), list):
        settings[PEOPLE] = [name if each == former else each for each in people]
        stored.settings = json.dumps(settings)
        stored.save(update_fields=["settings"])
    before = parse_tasks(stored.tasks, "the database")
    tasks = _renamed_tasks(before, former, name)
    if tasks == before:
        return None
    # Browsers keep unsent answers under the fingerprint of the first tasks.
    settings.setdefault(FIRST_TASKS, stored.fingerprint)
    stored.settings, stored.tasks, stored.fingerprint = json.dumps(settings), to_json(tasks), tasks.fingerprint
    stored.save()
    log.enter(log.TASKS, stored.fingerprint, [stored.fingerprint, len(tasks.tasks)])
    return tasks


def _rename_in_files(campaign_file: Path | None, tasks: TaskSet | None, former: str, name: str) -> tuple[str, ...]:
    """Put the new name into `tasks.json` and the campaign file; returns what has to be done by hand."""
    if campaign_file is None:
        return (f"put '{name}' in the place of the person's name in the campaign file before the next start",)
    notes = []
    file = campaign_file.with_name("tasks.json")
    try:
        if tasks is not None and file.exists():
            save_tasks(_renamed_tasks(load_tasks(file), former, name), file)
    except AdjudgeError as fault:
        notes.append(f"tasks.json still holds the name: {fault.for_command_line()}")
    try:
        _rename_in_campaign_file(campaign_file, former, name)
    except (AdjudgeError, OSError, ValueError):
        notes.append(f"put '{name}' in the place of the person's name in {campaign_file.name} before the next start")
    notes.append("backups, exports and files of links from before still hold the name: remove them")
    return tuple(notes)


def _rename_in_campaign_file(file: Path, former: str, name: str) -> None:
    """Change the name in the list of annotators, and nothing else."""
    text = file.read_text(encoding="utf-8")
    wanted = tomllib.loads(text)
    people = wanted.get("design", {}).get("annotators")
    if not isinstance(people, list) or former not in people:
        return
    wanted["design"]["annotators"] = [name if each == former else each for each in people]
    for quote in ('"', "'"):
        parts = text.split(f"{quote}{former}{quote}")
        for place in range(1, len(parts)):
            before, after = (f"{quote}{former}{quote}".join(some) for some in (parts[:place], parts[place:]))
            changed = f'{before}"{name}"{after}'
            if tomllib.loads(changed) == wanted:
                write_text(file, changed)
                return
    raise ValueError("the name is written in another way")
