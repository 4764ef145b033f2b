"""When the panels of the organisers' page are made anew: beside the answers to requests, and only if something changed.

The functions come from other stages, by the command that serves. What takes long is computed less often, so that people
who judge never wait for statistics. Requests get what was computed last, and are told that more is on its way.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.utils import timezone

from adjudge.collect.export import collected, stamp_now
from adjudge.collect.organisers.panels import Group, PanelTable
from adjudge.collect.served_campaign import served
from adjudge.core.errors import AdjudgeError

if TYPE_CHECKING:
    from datetime import datetime

    from adjudge.collect.export import Stamp
    from adjudge.collect.organisers.panels import Panel
    from adjudge.core.judgments import Judgments

_FRESH_SECONDS = 10.0
_REST = 10
"""After a computation, rest for this many times its duration."""


class PanelGroup:
    """The panels of one group, with what they were made from and when they may be made anew."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.lock = threading.Lock()
        self.panels: tuple[dict[str, Any], ...] = ()
        self.computed: datetime | None = None
        self.stamp: Stamp | None = None
        self.rests_until = 0.0

    def latest(self) -> dict[str, Any]:
        """What was computed last; where judgments have come since, it is computed anew meanwhile.

        `computed` is None before the first time.
        """
        stamp = stamp_now()
        due = stamp != self.stamp and time.monotonic() >= self.rests_until
        if due and self.lock.acquire(blocking=False):
            threading.Thread(target=self._work, args=(stamp,), daemon=True, name=f"panels {self.group}").start()
        return {"panels": self.panels, "computed": self.computed, "computing": self.lock.locked()}

    def _work(self, stamp: Stamp) -> None:
        try:
            self.compute(stamp)
        except Exception:
            # As with a fault in a request: it goes to the log, and the page keeps what it had.
            logging.getLogger("django.request").exception("the statistics of the organisers' page failed")
            self.rests_until = time.monotonic() + _FRESH_SECONDS
        finally:
            connections.close_all()
            self.lock.release()

    def compute(self, stamp: Stamp) -> None:
        """Make the panels anew."""
        began = time.monotonic()
        self.panels = tuple(compute(self.group, stamp))
        self.computed = timezone.now()
        self.stamp = stamp
        ended = time.monotonic()
        self.rests_until = ended + max(_FRESH_SECONDS, _REST * (ended - began))


_groups: dict[Group, PanelGroup] = {"state": PanelGroup("state"), "statistics": PanelGroup("statistics")}
_judgments: tuple[Stamp, Judgments] | None = None
_reading = threading.Lock()


def latest(group: Group) -> dict[str, Any]:
    """The panels of a group as they stand."""
    return _groups[group].latest()


def judgments_now(stamp: Stamp) -> Judgments:
    """The judgments so far, read once for all groups."""
    global _judgments  # noqa: PLW0603 - a cache of this process
    with _reading:
        if _judgments is None or _judgments[0] != stamp:
            _judgments = (stamp, collected())
        return _judgments[1]


def compute(group: Group, stamp: Stamp) -> list[dict[str, Any]]:
    """The panels of all functions of a group; one that cannot be computed yet says why."""
    wanted = [panel for panel in served().panels if panel.group == group]
    judgments = judgments_now(stamp) if wanted else None
    if judgments is None or not len(judgments):
        return []
    # Each waits for a process of its own, so that all are there when the longest is.
    with ThreadPoolExecutor(len(wanted)) as threads:
        parts = threads.map(partial(_tables, judgments=judgments), wanted)
        return [table for tables in parts for table in tables]


def _tables(panel: Panel, judgments: Judgments) -> list[dict[str, Any]]:
    """The panels of a function, in a thread of its own."""
    try:
        return [asdict(table) for table in panel.make(judgments)]
    except AdjudgeError as fault:
        title = getattr(panel.make, "__name__", "statistics").replace("_", " ").capitalize()
        return [asdict(PanelTable(title, (), (), note=str(fault)))]
    finally:
        connections.close_all()
