"""The log of faults: what is wrong once, not once per request, so that nobody can fill the disk with it."""

from __future__ import annotations

import logging
import threading
import time
import traceback

# A fault that goes on is said again after so many seconds, with how often it came meanwhile.
AGAIN_SECONDS = 600.0
# Kinds that are kept in mind; strangers must not be able to make up more.
MOST_KINDS = 200


class OncePerKind(logging.Filter):
    """Lets the first fault of a kind pass whole, and counts the others.

    A kind is an exception and the line that raised it. What a stranger did wrong, such as asking for another host, has
    a line without its traceback.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._said: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the fault is to be written."""
        kind = _kind(record)
        now = time.monotonic()
        with self._lock:
            if kind not in self._said and len(self._said) >= MOST_KINDS:
                return False
            last, left_out = self._said.get(kind, (now - AGAIN_SECONDS, 0))
            if now - last < AGAIN_SECONDS:
                self._said[kind] = (last, left_out + 1)
                return False
            self._said[kind] = (now, 0)
        if record.name.startswith("django.security"):
            record.exc_info = record.exc_text = None
        text = " ".join(record.getMessage().split())[:500]
        record.msg = f"{text} (and {left_out} more of this kind)" if left_out else text
        record.args = ()
        return True


def _kind(record: logging.LogRecord) -> tuple[object, ...]:
    fault = record.exc_info[1] if record.exc_info else None
    if fault is None:
        return record.name, record.levelno, str(record.msg)[:200]
    frames = traceback.extract_tb(fault.__traceback__)
    where = (frames[-1].filename, frames[-1].lineno) if frames else ()
    return record.name, type(fault).__name__, where
