"""Who is at work on a database: servers say so every few seconds, so that it is not moved from under them.

A note in the database is seen from every host that shares it, and survives poolers and restarts of PostgreSQL, which
locks do not. A process that was killed takes nothing back; whether it is there is then asked of the system, or, on
another machine, told by how long it has been silent.
"""

from __future__ import annotations

import os
import socket
import threading
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, transaction
from django.utils import timezone

from adjudge.collect.database import writing
from adjudge.collect.models import Campaign, Process
from adjudge.core.errors import DataError
from adjudge.core.files import is_alive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime

    from django.db.backends.base.base import BaseDatabaseWrapper

SAY_EVERY = 5.0
"""Seconds between two signs of life."""
GONE_AFTER = timedelta(seconds=60)
"""A process on another machine that has been silent for so long has gone."""
# On this machine, the system knows whether a process is there. One that hangs, or another that has its number by now,
# is in nobody's way for longer.
FORGOTTEN_AFTER = timedelta(hours=6)


def machine() -> str:
    """Where the number of a process means something: the host, since it was started, and its space of numbers."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)


def is_there(process: Process, at: datetime) -> bool:
    """Whether a process that has been noted is still at work."""
    silent = at - process.seen
    if process.machine == machine():
        return silent < FORGOTTEN_AFTER and is_alive(process.number)
    return silent < GONE_AFTER


def announce(doing: Literal["serve", "move"], using: str = DEFAULT_DB_ALIAS, *, url: str = "") -> str:
    """Note that this process is at work, unless it would be in the way of another; returns the name of the note."""
    opposite = {"serve": ("move",), "move": ("serve", "move")}[doing]
    with transaction.atomic(using=using):
        # One at a time, so that neither misses the other.
        Campaign.objects.using(using).select_for_update().values_list("pk").first()
        now = timezone.now()
        others = Process.objects.using(using)
        there = [process for process in others.order_by("pk") if is_there(process, now)]
        for process in there:
            if process.doing in opposite:
                raise DataError(_in_the_way(process))
        others.exclude(pk__in=[process.pk for process in there]).delete()
        noted = others.create(
            id=uuid.uuid4().hex, machine=machine(), number=os.getpid(), doing=doing, url=url, seen=now
        )
    return noted.id


def _in_the_way(process: Process) -> str:
    host = process.machine.split(" ")[0]
    killed = f"(one that was killed on another host is forgotten after {GONE_AFTER.seconds} s)"
    if process.doing == "move":
        return f"the database is being moved by process {process.number} on {host}; wait until it is done {killed}"
    return (
        f"the campaign is being served by process {process.number} on {host}; stop the server first, and start it "
        f"again afterwards {killed}"
    )


def leave(name: str, using: str = DEFAULT_DB_ALIAS) -> None:
    """Take a note back."""
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
        while not self._stopped.wait(SAY_EVERY):
            try:
                self._give_sign()
            except Exception:  # noqa: BLE001 - whatever it is, the next sign must come
                # Full disks and restarts of the database pass; saves tell people of them.
                connections.close_all()

    def stop(self) -> None:
        """Give no more signs."""
        self._stopped.set()


@contextmanager
def moving(using: str, connect: Callable[[], AbstractContextManager[BaseDatabaseWrapper]]) -> Iterator[None]:
    """Keep servers away while a database is copied to another one.

    Args:
        using: the alias of the connection to it.
        connect: opens another connection to it, for the thread that gives signs of life.
    """
    note = announce("move", using)

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
        leave(note, using)


@dataclass
class _Serving:
    """The note of the server that this process belongs to."""

    note: str = ""
    url: str = ""
    master: int = 0


_serving = _Serving()


def begin_serving(url: str) -> None:
    """Note that this process and those that it starts serve the database; refused while it is being moved."""
    _serving.note, _serving.url, _serving.master = announce("serve", url=url), url, os.getpid()


def url_of_server(using: str) -> str | None:
    """The address of a server that is at work on a database; None where there is none."""
    servers = Process.objects.using(using).filter(doing="serve").order_by("-seen")
    now = timezone.now()
    return next((server.url for server in servers if server.url and is_there(server, now)), None)


def end_serving() -> None:
    """Take that note back when the server stops."""
    if os.getpid() == _serving.master:
        leave(_serving.note)
        connections.close_all()


def keep_serving() -> None:
    """Say that the server of this process is there, and take up tasks that were added."""
    now = timezone.now()
    with writing():
        if not Process.objects.filter(pk=_serving.note).update(seen=now):
            # Another process has forgotten this one, as after a long sleep of the machine.
            Process.objects.create(
                id=_serving.note,
                machine=machine(),
                number=_serving.master,
                doing="serve",
                url=_serving.url,
                seen=now,
            )
    take_up_new_tasks()


def know_tasks(tasks: Iterable[str]) -> None:
    """Take up tasks that were added a moment ago, if these are among them: another process may have known earlier."""
    from adjudge.collect.served_campaign import served

    known = served().task_by_id
    if any(task not in known for task in tasks):
        take_up_new_tasks()


def take_up_new_tasks() -> None:
    """Serve tasks that were added to the campaign, if there are any, without a restart."""
    from adjudge.collect.adaptive import forget_tasks
    from adjudge.collect.django_settings import serve_these
    from adjudge.collect.organisers.people import forget_work_done
    from adjudge.collect.served_campaign import served
    from adjudge.design.tasks import parse_tasks

    now = served()
    stored = Campaign.objects.values_list("fingerprint", flat=True).first()
    if stored is None or stored == now.fingerprint:
        return
    campaign = Campaign.objects.get()
    tasks = parse_tasks(campaign.tasks, "the database")
    former = now.tasks.tasks
    # Others than before were made for a server that was started meanwhile; only additions are taken up.
    if tasks.tasks[: len(former)] != former:
        return
    serve_these(replace(now, tasks=tasks, fingerprint=campaign.fingerprint))
    forget_tasks()
    forget_work_done()
