"""What spares the servers of tests their imports, beside what `warm_command` has at hand for every command.

Some modules ask for Django's settings when they are imported; they are imported under others, which each server then
makes anew. A server starts a process for every panel of the organisers' page (`adjudge.api.panels.process`), which
imports for most of a second and mostly computes for a tenth: servers of the tests ask a process beside them instead,
which forks. `tests/api/test_panels.py` starts a real one.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import signal
import socket
import sys
import threading
import traceback
from importlib import import_module
from subprocess import CompletedProcess
from typing import Any

_END_WITH_PARENT = 1
"""PR_SET_PDEATHSIG."""
# What a server imports once Django has its settings, as far as these leave no trace in it.
UNDER_DJANGO = (
    "ninja",
    "adjudge.collect.models",
    "adjudge.collect.migrations.0001_initial",
    "adjudge.collect.responses",
    "adjudge.collect.schemas",
    "adjudge.collect.organisers.responses",
    "adjudge.collect.prepare_database",
    "adjudge.collect.export",
    "adjudge.collect.adaptive",
    "adjudge.collect.saves",
    "adjudge.collect.revisions",
    "adjudge.collect.organisers.overview",
    "adjudge.collect.organisers.people",
    "adjudge.collect.organisers.panel_refresh",
)


def import_under_django() -> None:
    """Import the parts of the server that ask whether Django is configured; each server then configures it anew."""
    django, conf = import_module("django"), import_module("django.conf")
    conf.settings.configure(**import_module("adjudge.collect.django_settings")._app_settings())
    django.setup()
    for module in UNDER_DJANGO:
        import_module(module)
    assert "adjudge.collect.sessions" not in sys.modules, "it keeps the names of a campaign's cookies"
    conf.settings._wrapped = import_module("django.utils.functional").empty
    database = import_module("django.db")
    database.connections.__init__()
    vars(database.connections).pop("settings", None)


def fork_panels(connection: socket.socket) -> str:
    """Start the process that forks, which ends with this one; where it listens.

    Args:
        connection: what the process must not hold open.
    """
    listener = socket.socket(socket.AF_UNIX)
    address = f"\0adjudge-panels-{os.getpid()}"
    listener.bind(address)
    listener.listen()
    if os.fork() == 0:
        connection.close()
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
        # Nobody asks how the forked ones ended.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            asked, _ = listener.accept()
            if os.fork() == 0:
                _compute(asked)
            asked.close()
    listener.close()
    return address


def _compute(asked: socket.socket) -> None:
    """What a process of its own does, from standard input to the exit code: never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        request = json.loads(asked.makefile(encoding="utf-8").readline())
        threading.Thread(target=_end_with_server, args=[asked], daemon=True).start()
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        sys.stdin, sys.stdout = io.StringIO(request["input"]), io.StringIO()
        code, fault = 0, ""
        try:
            import_module("adjudge.api.panels.process").main()
        except BaseException:  # noqa: BLE001 - the server tells of it
            code, fault = 1, traceback.format_exc()
        asked.sendall(json.dumps([code, sys.stdout.getvalue(), fault]).encode())
    finally:
        os._exit(0)


def _end_with_server(asked: socket.socket) -> None:
    """End where the server has been killed: a process that it had started would have been killed with it."""
    if not asked.recv(1):
        os._exit(1)


class WarmPanels:
    """Stands for the module `subprocess` in the server's module that computes panels."""

    def __init__(self, address: str) -> None:
        self._address = address

    def run(self, arguments: list[str], *, input: str, **_: Any) -> CompletedProcess[str]:  # noqa: A002
        """Run the process of the panels."""
        assert arguments[-1] == "adjudge.api.panels.process"
        request = {"environment": dict(os.environ), "folder": str(os.getcwd()), "input": input}  # noqa: PTH109
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(self._address)
            asked.sendall(f"{json.dumps(request)}\n".encode())
            answer = asked.makefile(encoding="utf-8").read()
        code, out, fault = json.loads(answer or '[-9, "", "it was killed"]')
        return CompletedProcess(arguments, code, out, fault)
