"""What organisers do: pause, resume and close a campaign, give somebody's tasks to others, write to annotators.

Every action is an entry of the log (`server.log`), with who did it, in the transaction of what it changes. Messages
have no other place: they are read from the log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from django.utils import timezone
from ninja import Schema

from adjudge.server import log
from adjudge.server.answers import Refused
from adjudge.server.database import decision_lock, write_transaction
from adjudge.server.export import current_stamp
from adjudge.server.models import Annotator, Assignment, Decision, Entry, Halt
from adjudge.server.processes import load_new_tasks
from adjudge.server.served_campaign import get_served
from adjudge.server.sites import OfSite, Site, current_site, working_for
from adjudge.server.tasks import lock_campaign

State = Literal["running", "paused", "closed"]
Action = Literal["state", "message", "reassign", "return", "person", "link", "revoke", "extend"]
_ERASED = "erase"
_SHOWN_ACTIONS = 200
_SHOWN_MESSAGES = 20


def enter_action(action: Action, who: str, about: str = "", text: str = "") -> None:
    """Enter what an organiser does. Call in the transaction of what it changes."""
    lock_campaign()
    log.enter(log.ORGANISER, action, [who, about, text])


def current_state() -> State:
    """Whether the campaign runs, is paused or closed."""
    states: dict[str, State] = {"paused": "paused", "closed": "closed"}
    return states.get(Halt.objects.values_list("state", flat=True).first() or "", "running")


def change_state(state: State, who: str) -> bool:
    """Pause, close or resume; returns whether that is a change."""
    with decision_lock(), write_transaction():
        lock_campaign()
        if state == current_state():
            return False
        Halt.objects.all().delete()
        if state != "running":
            Halt.objects.create(state=state, since=timezone.now())
        enter_action("state", who, text=state)
    return True


def reassign(person: Annotator, who: str, *, back: bool) -> bool:
    """Give a person's unfinished and future tasks to others, or let the person get tasks again.

    What the person has judged counts as before. An unfinished task is taken back; its answers are kept.
    """
    with decision_lock(), write_transaction():
        lock_campaign()
        if person.reassigned is not back:
            return False
        person.reassigned = not back
        person.save(update_fields=["reassigned"])
        if not back:
            unfinished = Assignment.objects.filter(annotator=person, finished=None, complete=False, released=None)
            unfinished.update(released=timezone.now())
        enter_action("return" if back else "reassign", who, person.name)
    return True


def send_message(text: str, who: str, person: Annotator | None) -> None:
    """Write to one annotator, or to all."""
    with write_transaction():
        enter_action("message", who, "" if person is None else person.name, text)


def messages_for(name: str) -> list[dict[str, Any]]:
    """The last messages to a person, the oldest first."""
    sent = Entry.objects.filter(kind=log.ORGANISER, subject="message").order_by("-number")
    found = [
        {"number": entry.number, "text": text, "sent": entry.made}
        for entry in sent
        for _, about, text in [json.loads(entry.content)]
        if about in ("", name)
    ]
    return found[:_SHOWN_MESSAGES][::-1]


def news_for(name: str) -> dict[str, Any]:
    """What a person must know besides the task."""
    return {"state": current_state(), "messages": messages_for(name)}


def list_actions() -> list[dict[str, Any]]:
    """What organisers have done lately, exclusions included, the newest first."""
    entries = Entry.objects.filter(kind=log.ORGANISER).order_by("-number")[:_SHOWN_ACTIONS]
    rows = [(entry.made, entry.subject, *json.loads(entry.content)) for entry in entries]
    decisions = Decision.objects.order_by("-made", "-pk")[:_SHOWN_ACTIONS]
    rows += [
        (made, "exclude" if excluded else "include", who, name, reason)
        for made, excluded, who, name, reason in decisions.values_list(
            "made", "excluded", "who", "annotator__name", "reason"
        )
    ]
    for made, content in Entry.objects.filter(kind=log.ERASURE).values_list("made", "content"):
        held = json.loads(content)
        rows.append((made, _ERASED, held["who"], held["name"], ""))
    newest = sorted(rows, key=lambda row: row[0], reverse=True)[:_SHOWN_ACTIONS]
    return [dict(zip(("made", "action", "who", "about", "text"), row, strict=True)) for row in newest]


# Commands that organisers start on their page. They run in processes of their own, as on the command line.

_REPORT_FRESH = timedelta(minutes=5)
# A report or an extension that takes longer is given up; reports of large campaigns take some minutes.
MOST_SECONDS = 1800
"""A report that is older is made anew when somebody opens it, if judgments have come since."""


def extend_campaign(judgments: int, who: str) -> str:
    """Want so many more judgments; returns what the command says."""
    place = get_served().place
    if place is None:
        raise Refused("this server does not know the campaign file", status=409)
    finished = _run("extend", str(place[0]), "--judgments", str(judgments), database=place[1])
    if finished.returncode:
        raise Refused(finished.stderr.strip().removeprefix("adjudge: ")[-1000:] or "nothing was added", status=409)
    with write_transaction():
        enter_action("extend", who, text=str(judgments))
    load_new_tasks()
    return finished.stdout


def _run(*command: str, database: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({} if database is None else {"ADJUDGE_DATABASE": database})}
    call = [sys.executable, "-m", "adjudge", *command]
    try:
        return subprocess.run(call, capture_output=True, text=True, check=False, env=environment, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        # Otherwise a command that hangs would hold a thread for ever, and nobody could try again.
        said = f"adjudge: not done after {MOST_SECONDS} s; try again, or run adjudge {command[0]} beside the server"
        return subprocess.CompletedProcess(call, 1, "", said)


@dataclass
class _Report:
    """The report that was made last, of which judgments, when; or why none could be made."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    stamp: Any = None
    made: datetime | None = None
    page: bytes = b""
    trouble: str = ""


_report = OfSite(_Report)


def open_report() -> tuple[bytes | None, str]:
    """The report of the judgments so far, or None while it is being made; and why it cannot be made, if so."""
    report, stamp, site = _report(), current_stamp(), current_site()
    fresh = report.made is not None and (report.stamp == stamp or timezone.now() - report.made < _REPORT_FRESH)
    if fresh:
        return report.page or None, report.trouble
    if report.lock.acquire(blocking=False):
        threading.Thread(target=_make_report, args=(report, stamp, site), daemon=True, name="report").start()
    return None, ""


def _make_report(report: _Report, stamp: Any, site: Site) -> None:
    try:
        with working_for(site):
            served = get_served()
        with TemporaryDirectory(prefix="adjudge-") as folder:
            table, page = str(Path(folder) / "judgments.parquet"), Path(folder) / "report.html"
            file, database = served.place or (Path(), None)
            finished = _run("export", str(file), "-o", table, database=database)
            if not finished.returncode:
                finished = _run("report", table, "-o", str(page), "--title", served.campaign.name)
            report.page = page.read_bytes() if page.exists() else b""
            said = finished.stderr.strip().removeprefix("adjudge: ")[-1000:]
            report.trouble = "" if report.page else said or "no report was made"
    finally:
        report.stamp, report.made = stamp, timezone.now()
        report.lock.release()


class ActionOut(Schema):
    """Something that an organiser has done: to whom or what, and what was said or chosen."""

    action: Literal[
        "state", "message", "reassign", "return", "person", "link", "revoke", "extend", "exclude", "include", "erase"
    ]
    who: str
    about: str
    text: str
    made: datetime


class MessageOut(Schema):
    """A message from the organisers; `number` identifies it."""

    number: int
    text: str
    sent: datetime


class NewsOut(Schema):
    """What an annotator must know besides the task: whether the campaign goes on, and messages."""

    state: State
    messages: list[MessageOut]
