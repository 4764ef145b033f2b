"""Statistics on the organisers' page: computed by functions that the command hands in, at most every few seconds."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict
from typing import Any

from adjudge.collect.export import collected
from adjudge.collect.running import PanelTable, running
from adjudge.core.errors import AdjudgeError

_FRESH_SECONDS = 10.0
_lock = threading.Lock()
_last: tuple[float, list[dict[str, Any]]] | None = None


def panels() -> list[dict[str, Any]]:
    """The tables of all statistics functions; one that cannot be computed yet says why."""
    global _last  # noqa: PLW0603 - a cache of this process
    with _lock:
        if _last is None or time.monotonic() - _last[0] > _FRESH_SECONDS:
            _last = (time.monotonic(), _compute())
        return _last[1]


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
