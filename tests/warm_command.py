"""Run the command in a process of its own without paying for its imports each time.

A helper process imports what the commands import, computes nothing, and forks for every call. The forked process is as
fresh as one that was started anew, but has its modules at hand. The start of a real process has tests of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    "numpy",
    "polars",
    "polars.exceptions",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.special",
    "scipy.stats",
    "altair",
    "jinja2",
    "rich.console",
    "rich.table",
    "sacrebleu",
    "typer",
    "vl_convert",
    "adjudge.cli.app",
)


@dataclass(frozen=True)
class Run:
    """What came of a call."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


class WarmCommand:
    """A helper process that forks for every call of the command."""

    def __init__(self) -> None:
        self._own, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_command", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
            )
        self._answers = self._own.makefile("r", encoding="utf-8")

    def __call__(self, *arguments: str | Path) -> Run:
        """Call the command as `adjudge ARGUMENTS` in the root of the project."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            request = {"arguments": [str(argument) for argument in arguments], "environment": dict(os.environ)}
            socket.send_fds(self._own, [f"{json.dumps(request)}\n".encode()], [out.fileno(), err.fileno()])
            answer = self._answers.readline()
            assert answer, "the helper process has ended"
            return Run(int(answer), _content(out), _content(err))

    def close(self) -> None:
        """End the helper process."""
        self._answers.close()
        self._own.close()
        self._process.wait(30)


def _content(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode("utf-8"))


def _serve(connection: socket.socket) -> None:
    """Fork for every request until the other end closes."""
    from importlib import import_module

    for module in MODULES:
        import_module(module)
    while True:
        request, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 2)
        if not request:
            return
        while not request.endswith(b"\n"):
            request += connection.recv(1 << 20)
        child = os.fork()
        if child == 0:
            _call(json.loads(request), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(f"{code}\n".encode())


def _call(request: dict[str, Any], descriptors: list[int]) -> None:
    """The command, in the forked process: never returns."""
    code = 1
    try:
        os.dup2(descriptors[0], 1)
        os.dup2(descriptors[1], 2)
        os.environ.clear()
        os.environ.update(request["environment"])
        # As the interpreter opens them for files and pipes.
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        sys.argv = ["adjudge", *request["arguments"]]
        from adjudge.cli import main

        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:  # noqa: BLE001 - whatever goes wrong is told, and the process ends
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
