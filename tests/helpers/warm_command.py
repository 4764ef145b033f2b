"""Run the command in a process of its own without paying for its imports each time.

A helper process imports what the commands import, computes nothing, and forks for every call. The forked process is as
fresh as one that was started anew, but has its modules at hand. The start of a real process has tests of its own.

A call is either waited for (`warm_command()(...)`) or goes on in the background as a server does (`start`). Python code
that needs a process of its own, because Django is configured once per process, is run in the same way (`run_code`).
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import adjudge

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300
"""Seconds after which a call that is waited for counts as hung, such as a server that should have refused to start."""
# What the commands import from elsewhere, and what a server imports before Django asks for its settings.
OUTSIDE = (
    "numpy",
    "polars",
    "polars.exceptions",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.special",
    "scipy.stats",
    "jinja2",
    "joblib",
    "rich.console",
    "rich.table",
    "sacrebleu",
    "typer",
    "pydantic",
    "waitress.server",
    "gunicorn.app.base",
    "gunicorn.glogging",
    "gunicorn.workers.base",
    "django.contrib.sessions.backends.signed_cookies",
    "django.contrib.sessions.middleware",
    "django.contrib.sessions.serializers",
    "django.core.management.commands.migrate",
    "django.core.wsgi",
    "django.db.backends.sqlite3.base",
    "django.db.models.sql.compiler",
    "django.middleware.clickjacking",
    "django.middleware.common",
    "django.middleware.csrf",
    "django.middleware.http",
    "django.middleware.security",
    "django.template.backends.django",
    "django.template.context_processors",
    "django.template.loaders.cached",
    "django.template.loaders.filesystem",
    "django.templatetags.cache",
    "django.templatetags.l10n",
    "django.templatetags.tz",
    "django.test",
    "adjudge.server.serve",
    "adjudge.server.web_server",
)
_MIGRATIONS = Path(adjudge.__file__).with_name("server") / "migrations"
# What a server imports once Django has its settings, as far as these leave no trace in it.
UNDER_DJANGO = (
    "ninja",
    "adjudge.server.models",
    *(f"adjudge.server.migrations.{file.stem}" for file in sorted(_MIGRATIONS.glob("0*.py"))),
    "adjudge.server.responses",
    "adjudge.server.saves",
    "adjudge.server.organisers",
    "adjudge.server.preparation",
    "adjudge.server.sessions",
    "adjudge.server.endpoints",
)


@dataclass(frozen=True)
class Run:
    """The output and the exit code of a call."""

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
                [sys.executable, "-m", "tests.helpers.warm_command", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env=_users_environment(),
            )
        self._answers = self._own.makefile("r", encoding="utf-8")

    def __call__(self, *arguments: str | Path, folder: Path = ROOT) -> Run:
        """Call the command as `adjudge ARGUMENTS` in a folder."""
        return self._run(arguments, folder=folder)

    def run_code(self, code: str, *arguments: str | Path) -> Run:
        """Run code as `python -c CODE ARGUMENTS` does, in the root of the project."""
        return self._run(arguments, code=code)

    def start(self, *arguments: str | Path, stderr: IO[Any]) -> Started:
        """Start the command in a session of its own, and leave it running."""
        reading, writing = os.pipe()
        with os.fdopen(writing, "wb") as out:
            return Started(self, self._fork(arguments, out, stderr), os.fdopen(reading, encoding="utf-8"))

    def exit_code(self, pid: int) -> int:
        """How a call ended; waits for its end."""
        return self._ask({"wait": pid}, [])

    def close(self) -> None:
        """End the helper process."""
        self._answers.close()
        self._own.close()
        self._process.wait(300)

    def _run(self, arguments: tuple[str | Path, ...], **more: Any) -> Run:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = self._fork(arguments, out, err, **more)
            ended = os.pidfd_open(pid)
            try:
                in_time = bool(select.select([ended], [], [], PATIENCE)[0])
            finally:
                os.close(ended)
            if not in_time:
                os.killpg(pid, signal.SIGKILL)
            code = self.exit_code(pid)
            assert in_time, f"{arguments} went on for {PATIENCE} seconds and was ended: {_content(out)}{_content(err)}"
            return Run(code, _content(out), _content(err))

    def _fork(
        self, arguments: tuple[str | Path, ...], out: IO[Any], err: IO[Any], *, folder: Path = ROOT, code: str = ""
    ) -> int:
        request = {
            "arguments": [str(argument) for argument in arguments],
            "environment": _users_environment(),
            "folder": str(folder),
            "code": code,
        }
        return self._ask(request, [out.fileno(), err.fileno()])

    def _ask(self, request: dict[str, Any], descriptors: list[int]) -> int:
        socket.send_fds(self._own, [f"{json.dumps(request)}\n".encode()], descriptors)
        answer = self._answers.readline()
        assert answer, "the helper process has ended"
        return int(answer)


def _users_environment() -> dict[str, str]:
    """The environment of this process, but with as many threads of Polars as a user has."""
    return {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"}


@cache
def warm_command() -> WarmCommand:
    """The helper process of this process, started when first asked for."""
    command = WarmCommand()
    atexit.register(command.close)
    return command


class Started:
    """A call that goes on, with what the tests need of `subprocess.Popen`."""

    def __init__(self, command: WarmCommand, pid: int, stdout: IO[str]) -> None:
        self.pid, self.stdout = pid, stdout
        self.returncode: int | None = None
        self._command = command
        # Known to the system until the helper asks for its end, so the number cannot be another process's.
        self._ended = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        """Wait for its end."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("adjudge", timeout)
            self.returncode = self._command.exit_code(self.pid)
            os.close(self._ended)
        return self.returncode

    def first_line(self) -> str:
        """The first line that it prints; nothing where it ends before."""
        assert select.select([self.stdout], [], [], PATIENCE)[0], f"it has printed nothing for {PATIENCE} s"
        return self.stdout.readline()

    def terminate(self) -> None:
        """Ask it to end."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)


def _content(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode("utf-8"))


def _serve(connection: socket.socket) -> None:
    """Answer every request until the other end closes: with the number of a new process, or with how one ended."""
    for module in (*OUTSIDE, *_own_modules()):
        import_module(module)
    import_module("adjudge.shell.line").command_tree()
    _import_under_django()
    # Objects that exist now stay until the end: garbage collection in the forked processes can skip them.
    gc.freeze()
    running: dict[int, int] = {}
    while True:
        line, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 2)
        if not line:
            # The tests have ended, or were killed: servers end with them.
            for process in running:
                _kill(process)
            return
        while not line.endswith(b"\n"):
            more = connection.recv(1 << 20)
            if not more:
                return
            line += more
        request = json.loads(line)
        if "wait" in request:
            answer = _exit_code(running.pop(request["wait"]), request["wait"], connection)
        else:
            answer = os.fork()
            if answer == 0:
                connection.close()
                _call(request, descriptors)
            running[answer] = os.pidfd_open(answer)
            for descriptor in descriptors:
                os.close(descriptor)
        connection.sendall(f"{answer}\n".encode())


def _exit_code(ended: int, process: int, connection: socket.socket) -> int:
    """How a process ended; one that does not end, or that nobody waits for any more, is killed with its children."""
    ready, _, _ = select.select([ended, connection.fileno()], [], [], PATIENCE)
    if not ready or (ended not in ready and not connection.recv(1, socket.MSG_PEEK)):
        _kill(process)
    os.close(ended)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _kill(process: int) -> None:
    """Kill a process and those it has started."""
    for kill in (os.killpg, os.kill):  # the group is there once the process has made it
        with contextlib.suppress(ProcessLookupError):
            kill(process, signal.SIGKILL)


def _own_modules() -> list[str]:
    """All of adjudge but the parts of its server that Django must be configured for."""
    modules = pkgutil.walk_packages(adjudge.__path__, "adjudge.")
    return [module.name for module in modules if not module.name.startswith(("adjudge.server.", "adjudge.__main__"))]


def _import_under_django() -> None:
    """Import the parts of the server that ask whether Django is configured; each server then configures it anew."""
    django, conf = import_module("django"), import_module("django.conf")
    conf.settings.configure(**import_module("adjudge.server.database")._app_settings())
    django.setup()
    for module in UNDER_DJANGO:
        import_module(module)
    conf.settings._wrapped = import_module("django.utils.functional").empty
    database = import_module("django.db")
    database.connections.__init__()
    vars(database.connections).pop("settings", None)


def _call(request: dict[str, Any], descriptors: list[int]) -> None:
    """The command, in the forked process: never returns."""
    code = 1
    try:
        os.setsid()
        for descriptor, standard in zip(descriptors, (1, 2), strict=True):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(request["environment"])
        # As the interpreter opens them for files and pipes.
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.chdir(request["folder"])
        try:
            _run_here(request["code"], request["arguments"])
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


def _run_here(code: str, arguments: list[str]) -> None:
    if code:
        sys.argv = ["-c", *arguments]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        return
    sys.argv = ["adjudge", *arguments]
    from adjudge.shell.app import main

    main()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
