"""The machine: linear algebra, processors, memory, terminal, port and clock."""

from __future__ import annotations

import locale
import os
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.datasets.sets import shown_size
from adjudge.doctor.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

LITTLE_MEMORY = 1_000_000_000
_PACKAGE = Path(__file__).resolve().parent.parent


def linear_algebra() -> Iterator[Finding]:
    """The library behind numpy and scipy, and how many threads it starts."""
    import scipy.linalg  # noqa: F401 - so that its library is loaded and counted
    import threadpoolctl

    pools = [one for one in threadpoolctl.threadpool_info() if one.get("user_api") == "blas"]
    if not pools:
        yield Finding("linear algebra", "warning", "no library was recognised", "expect the mixed model to be slow")
        return
    most = max(int(one["num_threads"]) for one in pools)
    found = f"{', '.join(sorted({str(one['internal_api']) for one in pools}))}, {most} thread{'s' if most > 1 else ''}"
    if most > processors():
        yield Finding("linear algebra", "warning", found, "set OPENBLAS_NUM_THREADS=1: threads wait for each other")
    else:
        yield Finding("linear algebra", "ok", found)


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resources(
    meminfo: Path = Path("/proc/meminfo"), limit: Path = Path("/sys/fs/cgroup/memory.max")
) -> Iterator[Finding]:
    """Processors, and the memory that is left, also where a container sets a limit."""
    yield Finding("processors", "ok", str(processors()))
    known = [one for one in (_available(meminfo), _limit(limit)) if one is not None]
    if not known:
        yield Finding("memory", "ok", "not known on this system")
    elif min(known) < LITTLE_MEMORY:
        advice = "close other programs, or give the container more: large campaigns need 1 GB"
        yield Finding("memory", "warning", f"{shown_size(min(known))} free", advice)
    else:
        yield Finding("memory", "ok", f"{shown_size(min(known))} free")


def _available(meminfo: Path) -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _limit(limit: Path) -> int | None:
    try:
        return int(limit.read_text()) - int(limit.with_name("memory.current").read_text())
    except (OSError, ValueError):
        return None


def terminal() -> Iterator[Finding]:
    """Whether every script can be printed."""
    written = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    found = f"output {written}, files {locale.getpreferredencoding(do_setlocale=False).lower()}"
    if written == "utf8":
        yield Finding("encoding", "ok", found)
    else:
        yield Finding("encoding", "warning", found, "set PYTHONUTF8=1 or LC_ALL=C.UTF-8, to see names in every script")


def port(number: int) -> Iterator[Finding]:
    """Whether `serve` could listen."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", number))
        except OSError as fault:
            reason = fault.strerror or str(fault)
            yield Finding("port", "warning", f"{number}: {reason}", "serve with another one: --port")
            return
    yield Finding("port", "ok", f"{number} is free for serve")


def clock(now: float | None = None) -> Iterator[Finding]:
    """A clock that stands before the time at which adjudge was installed is wrong, and so is every time it gives."""
    seconds = time.time() if now is None else now
    shown = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    installed = max(one.stat().st_mtime for one in _PACKAGE.glob("*.py"))
    if seconds < installed - 86_400:
        yield Finding(
            "clock", "warning", f"{shown}, before adjudge was installed", "set the clock: links and times depend on it"
        )
    else:
        yield Finding("clock", "ok", shown)
