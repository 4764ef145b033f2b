"""Whether the server can do its work: read the database and write to it. A full disk shows here first."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from django.db import connection
from django.db.utils import DatabaseError
from django.utils import timezone

from adjudge.collect.database import writing
from adjudge.collect.models import Campaign

# Anybody may ask, and each answer is a write: so it holds for a while.
_FRESH_SECONDS = 5.0
LEAST_FREE_BYTES = 50_000_000
_lock = threading.Lock()
_last: tuple[float, str] | None = None


def trouble() -> str:
    """What is wrong, in a few words; empty where nothing is. Tried anew every few seconds."""
    global _last  # noqa: PLW0603 - a cache of this process
    with _lock:
        if _last is None or time.monotonic() - _last[0] > _FRESH_SECONDS:
            _last = (time.monotonic(), _try())
        return _last[1]


def _try() -> str:
    try:
        with writing():
            if not Campaign.objects.update(checked=timezone.now()):
                return "no campaign"
    except DatabaseError:
        return "the database cannot be written to (is the disk full?)"
    return _about_the_disk()


def _about_the_disk() -> str:
    """Whether there is room left where the embedded database lies."""
    if connection.vendor != "sqlite":
        return ""
    disk = os.statvfs(Path(str(connection.settings_dict["NAME"])).parent)
    return "the disk is almost full" if disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES else ""
