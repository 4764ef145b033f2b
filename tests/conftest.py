"""What all tests share: where the real data lie, and a way to run the command as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes depends on the machine and its load, which no test is about.
settings.register_profile("adjudge", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("adjudge")

ROOT = Path(__file__).resolve().parent.parent


def data_folder() -> Path:
    return Path(os.environ.get("ADJUDGE_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of released judgments; tests that need it are skipped where it is missing."""
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(f"released judgments are not at {folder}; set ADJUDGE_DATA to run this test")
    return folder


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


@pytest.fixture(scope="session")
def adjudge() -> Callable[..., Run]:
    """Run the command `adjudge` in a process of its own."""

    def run(*arguments: str | Path) -> Run:
        command = [sys.executable, "-m", "adjudge", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        return Run(done.returncode, done.stdout, done.stderr)

    return run


def assert_explained(run: Run, *, code: int = 1, names: tuple[str, ...] = ()) -> None:
    """A fault is one sentence on standard error, no traceback, nothing on standard output."""
    assert run.code == code, (run.code, run.out, run.err)
    assert run.out == ""
    assert "Traceback" not in run.err
    assert "fault of adjudge itself" not in run.err
    lines = [line for line in run.err.splitlines() if line.strip()]
    assert len(lines) == 1, run.err
    for name in names:
        assert name in run.err
