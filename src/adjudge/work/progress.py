"""Progress of repeated work: how much is done, and how long the rest will take. Short work says nothing."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import TextIO

SILENT = 2.0
"""Seconds for which nobody wants to be told anything."""
BETWEEN_LINES = 15.0
"""Seconds between two lines in a log."""
WIDTH = 24


class Progress:
    """Counts tasks and tells whoever watches; use it in a `with` statement."""

    def __init__(self, what: str, total: int, watch: Callable[[str | None], None] | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self._watch = watch
        self._started = perf_counter()
        self._told = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._told and self._watch is not None:
            self._watch(None)

    def advance(self, tasks: int = 1) -> None:
        """So many tasks more are done."""
        self.done += tasks
        seconds = perf_counter() - self._started
        if self._watch is not None and seconds > SILENT and self.done < self.total:
            self._watch(self.line(seconds))
            self._told = True

    def line(self, seconds: float) -> str:
        """What is done after so many seconds, and what is left."""
        left = seconds / self.done * (self.total - self.done) if self.done else 0.0
        filled = WIDTH * self.done // max(self.total, 1)
        bar = "#" * filled + "." * (WIDTH - filled)
        return f"{self.what} [{bar}] {self.done} of {self.total}, {shown_seconds(left)} left"


def shown_seconds(seconds: float) -> str:
    """A time as people say it: `8 s`, `3 min`, `2 h 5 min`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def watch_on(stream: TextIO | None = None) -> Callable[[str | None], None]:
    """A watcher that rewrites one line on a terminal, and adds a line to a log now and then."""
    target = stream or sys.stderr
    return _on_terminal(target) if target.isatty() else _in_log(target)


def _on_terminal(stream: TextIO) -> Callable[[str | None], None]:
    def show(line: str | None) -> None:
        stream.write(f"\r\x1b[K{line or ''}")
        stream.flush()

    return show


def _in_log(stream: TextIO) -> Callable[[str | None], None]:
    last = -BETWEEN_LINES

    def show(line: str | None) -> None:
        nonlocal last
        now = perf_counter()
        if line is not None and now - last >= BETWEEN_LINES:
            last = now
            stream.write(f"adjudge: {line}\n")
            stream.flush()

    return show
