"""Progress: nothing for short work, a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import io

import pytest

from adjudge.work import tasks as progress_module
from adjudge.work.tasks import Progress, make_watcher, shown_seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Time that passes only when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stopped = Clock()
    monkeypatch.setattr(progress_module, "perf_counter", stopped)
    return stopped


def work(clock: Clock, stream: io.StringIO, *, tasks: int, seconds: float) -> str:
    with Progress("A/A splits", tasks, make_watcher(stream)) as progress:
        for _ in range(tasks):
            clock.now += seconds
            progress.advance()
    return stream.getvalue()


def test_short_work_says_nothing(clock: Clock) -> None:
    assert work(clock, Terminal(), tasks=10, seconds=0.1) == ""


def test_a_terminal_sees_one_line_that_goes_away(clock: Clock) -> None:
    shown = work(clock, Terminal(), tasks=4, seconds=3.0)
    assert "A/A splits [######..................] 1 of 4, 9 s left" in shown
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[K")


def test_a_log_gets_few_lines(clock: Clock) -> None:
    lines = work(clock, io.StringIO(), tasks=100, seconds=1.0).splitlines()
    assert lines[0] == "adjudge: A/A splits [........................] 3 of 100, 2 min left"
    assert len(lines) == 7  # every 15 s of the 97 that are left after 3 s


def test_nobody_watches(clock: Clock) -> None:
    with Progress("tasks", 2) as progress:
        clock.now += 10
        progress.advance()
    assert progress.done == 1


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.2, "1 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (7500, "2 h 5 min")]
)
def test_times_as_people_say_them(seconds: float, shown: str) -> None:
    assert shown_seconds(seconds) == shown
