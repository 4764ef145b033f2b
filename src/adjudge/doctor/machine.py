"""The machine: linear algebra, processors, memory, folders, charts and their fonts, terminal, port and clock."""

from __future__ import annotations

import locale
import os
import shutil
import socket
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.files import exists
from adjudge.core.wording import counted
from adjudge.datasets import data_folder
from adjudge.datasets.catalogue import show_size
from adjudge.doctor.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

LITTLE_MEMORY = 1_000_000_000
_PACKAGE = Path(__file__).resolve().parent.parent


def examine_linear_algebra() -> Iterator[Finding]:
    """The library behind numpy and scipy, and how many threads it starts."""
    import scipy.linalg  # noqa: F401 - so that its library is loaded and counted
    import threadpoolctl

    pools = [pool for pool in threadpoolctl.threadpool_info() if pool.get("user_api") == "blas"]
    if not pools:
        yield Finding("linear algebra", "warning", "no library was recognised", "expect the mixed model to be slow")
        return
    most = max(int(pool["num_threads"]) for pool in pools)
    library = f"{', '.join(sorted({str(pool['internal_api']) for pool in pools}))}, {counted(most, 'thread')}"
    if most > count_processors():
        yield Finding("linear algebra", "warning", library, "set OPENBLAS_NUM_THREADS=1: threads wait for each other")
    else:
        yield Finding("linear algebra", "ok", library)


def count_processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def examine_resources(
    meminfo: Path = Path("/proc/meminfo"), limit: Path = Path("/sys/fs/cgroup/memory.max")
) -> Iterator[Finding]:
    """Processors, and the memory that is left, also where a container sets a limit."""
    yield Finding("processors", "ok", str(count_processors()))
    known = [size for size in (_read_available(meminfo), _read_limit(limit)) if size is not None]
    if not known:
        yield Finding("memory", "ok", "not known on this system")
    elif min(known) < LITTLE_MEMORY:
        advice = "close other programs, or give the container more: large campaigns need 1 GB"
        yield Finding("memory", "warning", f"{show_size(min(known))} free", advice)
    else:
        yield Finding("memory", "ok", f"{show_size(min(known))} free")


def _read_available(meminfo: Path) -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _read_limit(limit: Path) -> int | None:
    try:
        return int(limit.read_text()) - int(limit.with_name("memory.current").read_text())
    except (OSError, ValueError):
        return None


def examine_terminal() -> Iterator[Finding]:
    """Whether every script can be printed."""
    written = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    encodings = f"output {written}, files {locale.getpreferredencoding(do_setlocale=False).lower()}"
    if written == "utf8":
        yield Finding("encoding", "ok", encodings)
    else:
        yield Finding(
            "encoding", "warning", encodings, "set PYTHONUTF8=1 or LC_ALL=C.UTF-8, to see names in every script"
        )


def examine_port(number: int) -> Iterator[Finding]:
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


def examine_clock(now: float | None = None) -> Iterator[Finding]:
    """A clock that stands before the time at which adjudge was installed is wrong, and so is every time it gives."""
    seconds = time.time() if now is None else now
    shown = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    installed = max(file.stat().st_mtime for file in _PACKAGE.glob("*.py"))
    if seconds < installed - 86_400:
        yield Finding(
            "clock", "warning", f"{shown}, before adjudge was installed", "set the clock: links and times depend on it"
        )
    else:
        yield Finding("clock", "ok", shown)


LITTLE_ROOM = 200_000_000


def examine_folders() -> Iterator[Finding]:
    """Temporary files, the data sets, and the folder where the command was called."""
    yield examine_folder(
        "temporary files", Path(tempfile.gettempdir()), "set TMPDIR to a folder of your own", needed=True
    )
    yield examine_folder("data sets", data_folder(), "set ADJUDGE_DATA or XDG_CACHE_HOME to a folder of your own")
    yield examine_folder("this folder", Path.cwd(), "write results elsewhere with --output")


def examine_folder(what: str, folder: Path, advice: str, *, needed: bool = False) -> Finding:
    """Whether a file can be written to the folder, or to the nearest one above it that exists."""
    existing = next((parent for parent in (folder, *folder.parents) if exists(parent)), folder)
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
        room = shutil.disk_usage(existing).free
    except OSError as fault:
        return Finding(what, "fault" if needed else "warning", f"{folder}: {fault.strerror or fault}", advice)
    state = f"{folder}, {show_size(room)} free"
    if room < LITTLE_ROOM:
        return Finding(what, "warning", state, "make room, or " + advice)
    return Finding(what, "ok", state if existing == folder else f"{state} (made when needed)")


_CHART = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"x": 1, "y": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}
_SCRIPTS = {"Latin": "A", "Greek": "Ω", "Cyrillic": "Ж", "Arabic": "ع", "Hindi": "क", "Chinese": "中", "Korean": "한"}
# Not assigned to any script: drawn as what a font shows for letters that it lacks.
_NO_LETTER = "\u0378"
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30">'
    '<text x="5" y="20" font-family="sans-serif" font-size="16">{}</text></svg>'
)
FONTS = "install fonts for them, on Debian fonts-noto-core and fonts-noto-cjk; pages in a browser are not affected"


def examine_charts() -> Iterator[Finding]:
    """Charts as SVG and PNG, and the scripts that can be drawn in PNG."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(_CHART)
    if not svg.startswith("<svg") or not vl_convert.svg_to_png(svg).startswith(b"\x89PNG"):
        yield Finding("charts", "fault", "a small chart could not be drawn", "install vl-convert-python again")
        return
    yield Finding("charts", "ok", "a small chart was drawn as SVG and PNG")
    missing = find_missing_scripts()
    if missing:
        yield Finding("letters in PNG charts", "warning", f"none for {', '.join(missing)}", FONTS)
    else:
        yield Finding("letters in PNG charts", "ok", ", ".join(_SCRIPTS))


def find_missing_scripts() -> list[str]:
    """Scripts whose letters look like a letter that no font has."""
    none = _draw(_NO_LETTER)
    return [script for script, letter in _SCRIPTS.items() if _draw(letter) in (none, _draw(""))]


def _draw(letters: str) -> bytes:
    import vl_convert

    return bytes(vl_convert.svg_to_png(_SVG.format(letters)))
