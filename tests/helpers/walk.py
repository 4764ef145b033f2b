"""Which files of adjudge run, and which receive data, while a command runs.

A file receives data if one of its functions is called from another file with a frame, an array or an object of one of
adjudge's own classes among its arguments. Settings and options do not count. The command runs in a process of its own,
because a profiler slows down everything else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from types import FrameType

DATA = {"Judgments", "DataFrame", "LazyFrame", "Series", "ndarray"}
NO_DATA = ("Options", "Settings", "Reading")


class Walk(NamedTuple):
    """The files of a command, in the order in which they run and in which data reach them."""

    runs: list[str]
    receives: list[str]


def walk(*arguments: str) -> Walk:
    """The files through which `adjudge` passes when it is called with these arguments."""
    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, "-m", "tests.helpers.walk", *arguments]
        root = Path(__file__).resolve().parents[2]
        done = subprocess.run(
            call, capture_output=True, text=True, check=True, cwd=folder, env=_environment(root), timeout=300
        )
    return Walk(*json.loads(done.stderr.splitlines()[-1]))


def _environment(root: Path) -> dict[str, str]:
    path = os.pathsep.join([str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "ADJUDGE_CACHE": "off"}


def _carries_data(frame: FrameType) -> bool:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return any(_is_data(frame.f_locals.get(name)) for name in names)


def _is_data(value: Any) -> bool:
    kind = type(value)
    if kind.__module__.startswith("adjudge"):
        return kind.__name__[:1].isupper() and not kind.__name__.endswith(NO_DATA)
    if kind in (dict, list, tuple) and value:
        return type(next(iter(value.values() if kind is dict else value))).__name__ in DATA
    return kind.__name__ in DATA


def _trace(arguments: list[str]) -> Walk:
    import adjudge
    from adjudge.shell.line import command_tree

    package = str(Path(adjudge.__file__).parent) + "/"
    runs: dict[str, None] = {}
    receives: dict[str, None] = {}

    def profile(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(package) or frame.f_code.co_name == "<module>":
            return
        runs[name.removeprefix(package)] = None
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(package):
            caller = caller.f_back
        if (caller is None or caller.f_code.co_filename != name) and _carries_data(frame):
            receives[name.removeprefix(package)] = None

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        command_tree().main(arguments, standalone_mode=False)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Walk(list(runs), list(receives))


if __name__ == "__main__":
    print(json.dumps(_trace(sys.argv[1:])), file=sys.stderr)
