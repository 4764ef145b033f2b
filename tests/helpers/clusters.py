"""A dask cluster on loopback: a scheduler and workers in processes of their own, as on several machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

needs_distributed = pytest.mark.skipif(
    find_spec("distributed") is None, reason="the package distributed is not installed; it comes with adjudge[cluster]"
)
PATIENCE = 300.0
"""Seconds to wait for the cluster on a machine that is busy with other work."""


class Cluster:
    """Ends with `close`; everything it writes lies in `folder`."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        self._file = folder / "scheduler.json"
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--scheduler-file", str(self._file))
        self.address = self._address()
        self.workers = [self.add_worker() for _ in range(workers)]

    def add_worker(self) -> subprocess.Popen[bytes]:
        """One more worker with one thread."""
        local = str(self.folder / "worker")
        return self._start("dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", local)

    def _start(self, tool: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{tool}", "--host", "127.0.0.1", "--no-dashboard", *arguments]
        environment = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s"}
        with (self.folder / f"{tool}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def _address(self) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                return str(json.loads(self._file.read_text())["address"])
            except (OSError, ValueError, KeyError):
                time.sleep(0.1)
        raise TimeoutError((self.folder / "dask_scheduler.log").read_text())

    def wait_for_workers(self) -> None:
        """Return when all workers have come."""
        from distributed import Client

        with Client(self.address, timeout=PATIENCE, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(len(self.workers), timeout=PATIENCE)

    def close(self) -> None:
        """End all processes."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait(PATIENCE)
