"""Which processes use a database: servers record it every few seconds, so that nobody moves the database meanwhile.

A record in the database is seen from every host that shares it, and survives poolers and restarts of PostgreSQL, which
locks do not. A process that was killed leaves its record behind: on this machine the operating system knows that it has
gone, on another one its silence tells.
"""

from __future__ import annotations

import os
import socket
import threading
import uuid
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, transaction
from django.utils import timezone

from adjudge.server.database import write_transaction
from adjudge.server.models import Campaign, Process
from adjudge.server.sites import OfSite, all_sites, close_connections, working_for
from adjudge.table.errors import DataError
from adjudge.table.files import is_alive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from django.db.backends.base.base import BaseDatabaseWrapper

    from adjudge.campaigns.tasks import Task

SIGN_SECONDS = 5.0
"""Seconds between two signs of life."""
GONE_AFTER = timedelta(seconds=60)
"""A process on another machine that has been silent for so long has gone."""
# On this machine the operating system knows whether a process runs. The limit is for one that hangs, and for a number
# that belongs to another process by now.
FORGOTTEN_AFTER = timedelta(hours=6)


def machine_id() -> str:
    """Identify the scope of process numbers: the host, its last start, and the namespace (of a container)."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)


def is_running(process: Process, at: datetime) -> bool:
    """Whether a process that has a record is still at work."""
    silent = at - process.seen
    if process.machine == machine_id():
        return silent < FORGOTTEN_AFTER and is_alive(process.number)
    return silent < GONE_AFTER


def _announce(doing: Literal["serve", "move"], using: str = DEFAULT_DB_ALIAS, *, url: str = "") -> str:
    """Record that this process serves or moves the database; returns the id of the record.

    Nobody may move a database that is served, and nobody may serve or move one that is being moved.
    """
    opposite = {"serve": ("move",), "move": ("serve", "move")}[doing]
    with transaction.atomic(using=using):
        # The lock on the campaign lets one process at a time decide, so that neither misses the other.
        Campaign.objects.using(using).select_for_update().values_list("pk").first()
        now = timezone.now()
        others = Process.objects.using(using)
        there = [process for process in others.order_by("pk") if is_running(process, now)]
        for process in there:
            if process.doing in opposite:
                what = {
                    "move": "the database is being moved by {}; wait until it is done",
                    "serve": "the campaign is being served by {}; stop the server first, and start it again afterwards",
                }[process.doing]
                who = f"process {process.number} on {process.machine.split(' ')[0]}"
                killed = f"(one that was killed on another host is forgotten after {GONE_AFTER.seconds} s)"
                raise DataError(f"{what.format(who)} {killed}")
        others.exclude(pk__in=[process.pk for process in there]).delete()
        noted = others.create(
            id=uuid.uuid4().hex, machine=machine_id(), number=os.getpid(), doing=doing, url=url, seen=now
        )
    return noted.id


def _withdraw(name: str, using: str = DEFAULT_DB_ALIAS) -> None:
    """Delete the record of a process."""
    with suppress(DatabaseError):
        Process.objects.using(using).filter(pk=name).delete()


class SignsOfLife(threading.Thread):
    """A thread that calls `give_sign` every few seconds, so that others see that this process is there."""

    def __init__(self, give_sign: Callable[[], None]) -> None:
        super().__init__(name="signs of life", daemon=True)
        self._give_sign = give_sign
        self._stopped = threading.Event()

    def run(self) -> None:
        """Give signs until stopped."""
        while not self._stopped.wait(SIGN_SECONDS):
            try:
                self._give_sign()
            except Exception:  # noqa: BLE001 - whatever it is, the next sign must come
                # Full disks and restarts of the database pass; saves tell people of them.
                connections.close_all()

    def stop(self) -> None:
        """Give no more signs."""
        self._stopped.set()


@contextmanager
def lock_for_move(using: str, connect: Callable[[], AbstractContextManager[BaseDatabaseWrapper]]) -> Iterator[None]:
    """Keep servers away while a database is copied to another one.

    Args:
        using: the alias of the connection to it.
        connect: opens another connection to it, for the thread that gives signs of life.
    """
    note = _announce("move", using)

    def give_sign() -> None:
        with connect() as connection:
            Process.objects.using(connection.alias).filter(pk=note).update(seen=timezone.now())

    signs = SignsOfLife(give_sign)
    signs.start()
    try:
        yield
    finally:
        signs.stop()
        signs.join()
        _withdraw(note, using)


@dataclass
class _Serving:
    """The record of the server that this process belongs to."""

    note: str = ""
    url: str = ""
    master: int = 0


_serving = OfSite(_Serving)


def begin_serving(url: str) -> None:
    """Record that this process and those that it starts serve the database; refused while it is being moved."""
    serving = _serving()
    serving.note, serving.url, serving.master = _announce("serve", url=url), url, os.getpid()


def url_of_server(using: str) -> str | None:
    """The address of a server that is at work on a database; None where there is none."""
    servers = Process.objects.using(using).filter(doing="serve").order_by("-seen")
    now = timezone.now()
    return next((server.url for server in servers if server.url and is_running(server, now)), None)


def end_serving() -> None:
    """Delete the records of all campaigns when the server stops."""
    for site in all_sites():
        with working_for(site):
            if os.getpid() == _serving().master:
                _withdraw(_serving().note)
    close_connections()


def keep_serving() -> None:
    """Record of each campaign that the server of this process is there, and load tasks that were added."""
    faults = []
    for site in all_sites():
        with working_for(site):
            try:
                _keep_serving_one()
            except Exception as fault:  # noqa: BLE001 - the other campaigns go on
                faults.append(fault)
    if faults:
        raise faults[0]


def _keep_serving_one() -> None:
    now, serving = timezone.now(), _serving()
    with write_transaction():
        if not Process.objects.filter(pk=serving.note).update(seen=now):
            # Another process has forgotten this one, as after a long sleep of the machine.
            known = {"id": serving.note, "number": serving.master, "url": serving.url}
            Process.objects.create(machine=machine_id(), doing="serve", seen=now, **known)
    load_new_tasks()


def ensure_tasks(tasks: Iterable[str]) -> None:
    """Load tasks that were added meanwhile, if one of these is unknown: another process may have handed it out."""
    from adjudge.server.served_campaign import get_served

    known = get_served().task_by_id
    if any(task not in known for task in tasks):
        load_new_tasks()


def _without_names(task: Task) -> list[object]:
    """What a task asks, whoever does it."""
    shown = ((item.source, output.id, output.text) for _, item, output in task.outputs())
    return [task.id, task.kind, task.judgments, *shown]


def load_new_tasks() -> None:
    """Serve tasks that were added to the campaign, if there are any, without a restart."""
    from adjudge.campaigns.tasks import parse_tasks
    from adjudge.server.database import set_served
    from adjudge.server.organisers import counted_work
    from adjudge.server.served_campaign import get_served
    from adjudge.server.tasks import known_estimates

    now = get_served()
    stored = Campaign.objects.values_list("fingerprint", flat=True).first()
    if stored is None or stored == now.fingerprint:
        return
    campaign = Campaign.objects.get()
    tasks = parse_tasks(campaign.tasks, "the database")
    former = now.tasks.tasks
    # Only additions are loaded, and names of people who were erased: other changes were made for a server that was
    # started with them.
    same = all(_without_names(task) == _without_names(other) for task, other in zip(tasks.tasks, former, strict=False))
    if len(tasks.tasks) < len(former) or not same:
        return
    set_served(replace(now, tasks=tasks, fingerprint=campaign.fingerprint))
    known_estimates.forget()
    counted_work.forget()
