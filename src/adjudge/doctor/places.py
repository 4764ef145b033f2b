"""Folders that adjudge writes to, and the room that is left in them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.files import exists
from adjudge.datasets import data_folder
from adjudge.datasets.sets import shown_size
from adjudge.doctor.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

LITTLE_ROOM = 200_000_000


def folders() -> Iterator[Finding]:
    """Temporary files, the data sets, and the folder where the command was called."""
    yield writable("temporary files", Path(tempfile.gettempdir()), "set TMPDIR to a folder of your own", needed=True)
    yield writable("data sets", data_folder(), "set ADJUDGE_DATA or XDG_CACHE_HOME to a folder of your own")
    yield writable("this folder", Path.cwd(), "write results elsewhere with --output")


def writable(what: str, folder: Path, advice: str, *, needed: bool = False) -> Finding:
    """Whether a file can be written to the folder, or to the nearest one above it that exists."""
    place = next((one for one in (folder, *folder.parents) if exists(one)), folder)
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
        room = shutil.disk_usage(place).free
    except OSError as fault:
        return Finding(what, "fault" if needed else "warning", f"{folder}: {fault.strerror or fault}", advice)
    found = f"{folder}, {shown_size(room)} free"
    if room < LITTLE_ROOM:
        return Finding(what, "warning", found, "make room, or " + advice)
    return Finding(what, "ok", found if place == folder else f"{found} (made when needed)")
