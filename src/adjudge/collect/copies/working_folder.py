"""Folders for work in progress, which the next command removes where one was killed.

A folder is locked while it is in use. The system gives the lock up when its process ends, however it ends. Numbers of
processes would not do: in containers, one process after the other has the same number.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING = ".part"


@contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """A folder beside a file or folder, readable by its owner alone; what killed processes left there is removed."""
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        for former in beside.parent.iterdir():
            if is_working_folder(former, beside):
                _remove_if_free(former)
        folder, lock = _make_folder(beside)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror}); choose another place", file=beside) from fault
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def is_working_folder(path: Path, beside: Path) -> bool:
    """Whether this is a folder for work in progress on `beside`."""
    return path.name.startswith(_prefix(beside)) and path.name.endswith(ENDING)


def _prefix(beside: Path) -> str:
    return f".{beside.name[:100]}."


def _make_folder(beside: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(beside), suffix=ENDING, dir=beside.parent))
        # Another command may take it for one that was left, in the moment before it is locked.
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            # A file system without locks does without: there, what is left must be removed by hand.
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _remove_if_free(folder: Path) -> None:
    with suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
