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

from adjudge.collect.export import current_stamp, read_judgments
from adjudge.collect.organisers.panels import Group, PanelTable
from adjudge.collect.served_campaign import get_served
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
        stamp = current_stamp()
        due = stamp != self.stamp and time.monotonic() >= self.rests_until
        if due and self.lock.acquire(blocking=False):
            threading.Thread(target=self._compute, args=(stamp,), daemon=True, name=f"panels {self.group}").start()
        return {"panels": self.panels, "computed": self.computed, "computing": self.lock.locked()}

    def _compute(self, stamp: Stamp) -> None:
        began, rest = time.monotonic(), 0.0
        try:
            self.panels = tuple(compute_panels(self.group, stamp))
            self.computed, self.stamp = timezone.now(), stamp
            rest = _REST * (time.monotonic() - began)
        except Exception:
            # As with a fault in a request: it goes to the log, and the page keeps what it had.
            logging.getLogger("django.request").exception("the statistics of the organisers' page failed")
        finally:
            connections.close_all()
            self.rests_until = time.monotonic() + max(_FRESH_SECONDS, rest)
            self.lock.release()


_groups: dict[Group, PanelGroup] = {"state": PanelGroup("state"), "statistics": PanelGroup("statistics")}
_judgments: tuple[Stamp, Judgments] | None = None
_reading = threading.Lock()


def latest_panels(group: Group) -> dict[str, Any]:
    """The panels of a group as they stand."""
    return _groups[group].latest()


def current_judgments(stamp: Stamp) -> Judgments:
    """The judgments so far, read once for all groups."""
    global _judgments  # noqa: PLW0603 - a cache of this process
    with _reading:
        if _judgments is None or _judgments[0] != stamp:
            _judgments = (stamp, read_judgments())
        return _judgments[1]


def compute_panels(group: Group, stamp: Stamp) -> list[dict[str, Any]]:
    """The panels of all functions of a group; one that cannot be computed yet says why."""
    wanted = [panel for panel in get_served().panels if panel.group == group]
    judgments = current_judgments(stamp) if wanted else None
    if judgments is None or not len(judgments):
        return []
    # Each function waits for a process of its own, so that all of them take as long as the slowest.
    with ThreadPoolExecutor(len(wanted)) as threads:
        parts = threads.map(partial(_make_tables, judgments=judgments), wanted)
        return [table for tables in parts for table in tables]


def _make_tables(panel: Panel, judgments: Judgments) -> list[dict[str, Any]]:
    """The panels of a function, in a thread of its own."""
    try:
        return [asdict(table) for table in panel.make(judgments)]
    except AdjudgeError as fault:
        title = getattr(panel.make, "__name__", "statistics").replace("_", " ").capitalize()
        return [asdict(PanelTable(title, (), (), note=str(fault)))]
    finally:
        connections.close_all()
