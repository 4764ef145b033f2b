"""Expensive results, kept by everything they depend on: what was computed from which data, and by which code.

They lie in `~/.cache/adjudge` (`XDG_CACHE_HOME` moves it). `ADJUDGE_CACHE=off` turns it off.
"""

from __future__ import annotations

import os
import pickle
import sys
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from adjudge._version import __version__
from adjudge.table.judgments import fingerprint
from adjudge.work.tasks import current_workers

if TYPE_CHECKING:
    from collections.abc import Callable

_Computed = TypeVar("_Computed")

MOST_BYTES = 1_000_000_000
"""When the folder holds more, what was not used for the longest time goes."""
WORTH_KEEPING = 0.5
"""Seconds that a result must have taken."""
VARIABLE = "ADJUDGE_CACHE"
# Whatever can be wrong with a file that was cut, or whose modules are gone.
_UNREADABLE = (OSError, EOFError, pickle.PickleError, LookupError, AttributeError, ImportError, TypeError, ValueError)


def cached(what: str, key: object, compute: Callable[[], _Computed]) -> _Computed:
    """The result, from the cache if it is there.

    Args:
        what: what is computed, as `audit aa`.
        key: everything else that the result depends on; its `repr` must tell it apart from all others.
        compute: makes the result; it must be picklable.
    """
    if not (current_workers().cache and _is_allowed()):
        return compute()
    file = folder() / f"{fingerprint(f'{what}|{key!r}|{code_fingerprint()}', digits=32)}.pickle"
    try:
        return _load(file)  # type: ignore[no-any-return]
    except _UNREADABLE:
        started = perf_counter()
    result = compute()
    if perf_counter() - started >= WORTH_KEEPING:
        _store(file, result)
    return result


def _is_allowed() -> bool:
    """Whether anything may be kept on this machine at all."""
    return os.environ.get(VARIABLE, "on").lower() not in ("off", "0", "no")


def folder() -> Path:
    """Where results are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "adjudge"


@cache
def code_fingerprint() -> str:
    """What the code was: version, interpreter, and the size and time of every source file, so that edits count."""
    root = Path(__file__).resolve().parent.parent
    files = sorted(root.rglob("*.py"))
    stamps = ((str(file.relative_to(root)), file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    return fingerprint(repr((__version__, sys.version, *stamps)))


def _load(file: Path) -> Any:
    with file.open("rb") as opened:
        state = os.fstat(opened.fileno())
        # Only if nobody but the user can have written it: what is loaded could run anything.
        if state.st_uid != os.getuid() or state.st_mode & 0o022:
            raise PermissionError(file)
        result = pickle.load(opened)  # noqa: S301 (the user's own file)
    os.utime(file)
    return result


def _store(file: Path, result: object) -> None:
    """Write beside and rename, so that nobody ever sees half a file; a full or closed disk is no fault."""
    temporary: str | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with NamedTemporaryFile(dir=file.parent, prefix=".", delete=False) as opened:
            temporary = opened.name
            pickle.dump(result, opened, protocol=pickle.HIGHEST_PROTOCOL)
        Path(temporary).replace(file)
    except (OSError, pickle.PicklingError):
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        return
    shrink(file.parent, MOST_BYTES)


def shrink(cache_folder: Path, most: int) -> None:
    """Remove what was not used for the longest time, until the folder holds no more than `most` bytes."""
    files = []
    for file in cache_folder.glob("*.pickle"):
        try:
            state = file.stat()
        except OSError:  # another process was faster
            continue
        files.append((state.st_mtime_ns, state.st_size, file))
    total = sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if total <= most:
            break
        file.unlink(missing_ok=True)
        total -= size
