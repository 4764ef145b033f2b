"""Writes that wait together are committed together: one trip to the disk acknowledges them all.

SQLite has one writer, and a durable commit waits for the disk. One by one, a slow disk would allow some hundred saves a
second at best; together they cost little more than one. Each job still stands or falls alone, by a savepoint.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection, transaction

from adjudge.collect.database import write_transaction

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")
Job = tuple["Callable[[], Any]", "Future[Any]"]
# So that no save waits for very many others.
MOST_TOGETHER = 64


def run_durably(job: Callable[[], Value]) -> Value:
    """Run a job in a transaction; returns its value once that is on the disk, or raises what the job raised."""
    if connection.vendor != "sqlite":
        # PostgreSQL has many writers, and shares trips to the disk among them by itself.
        with write_transaction():
            return job()
    outcome: Future[Value] = Future()
    _get_writer().jobs.put((job, outcome))
    return outcome.result()


class _Writer(threading.Thread):
    """The one thread of this process that commits saves."""

    def __init__(self) -> None:
        super().__init__(name="commits", daemon=True)
        self.jobs: SimpleQueue[Job] = SimpleQueue()
        self.process = os.getpid()

    def run(self) -> None:
        while True:
            self._commit(self._waiting())

    def _waiting(self) -> list[Job]:
        """All jobs that wait, at least one."""
        jobs = [self.jobs.get()]
        while len(jobs) < MOST_TOGETHER:
            try:
                jobs.append(self.jobs.get_nowait())
            except Empty:
                break
        return jobs

    def _commit(self, jobs: list[Job]) -> None:
        outcomes: list[Any] = []
        try:
            with write_transaction():
                outcomes += [_run_job(job) for job, _ in jobs]
        except Exception as fault:  # noqa: BLE001 - whatever it is, the waiting threads must learn of it
            outcomes = [fault] * len(jobs)
        for (_, future), outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


def _run_job(job: Callable[[], Any]) -> Any:
    """The job's value, or the exception that undid it."""
    try:
        with transaction.atomic():
            return job()
    except Exception as fault:  # noqa: BLE001 - handed to the one who waits for this job
        return fault


_lock = threading.Lock()
_current: _Writer | None = None


def _get_writer() -> _Writer:
    """The writer of this process; threads do not survive a fork."""
    global _current  # noqa: PLW0603 - one per process
    with _lock:
        if _current is None or _current.process != os.getpid():
            _current = _Writer()
            _current.start()
        return _current
