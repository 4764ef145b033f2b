"""Statistics on the organisers' page: computed by functions that the command hands in, at most every few seconds."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass
from typing import Any

from adjudge.collect.export import collected
from adjudge.collect.running import PanelTable, running
from adjudge.core.errors import AdjudgeError

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
