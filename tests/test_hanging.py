"""A test that hangs ends with the stacks of its threads, and the tests after it are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HANGING = """
import threading, pytest

@pytest.fixture
def never_torn_down():
    yield
    threading.Event().wait()

def test_that_hangs(): {body}

def test_after_it(): pass
"""


@pytest.mark.parametrize(
    "hangs",
    ["threading.Event().wait()", "assert False", "__import__('time').sleep(1000)"],
    ids=["a lock", "teardown of a failed test", "a sleep"],
)
def test_a_test_that_hangs_ends_with_its_stack_and_the_others_are_run(tmp_path: Path, hangs: str) -> None:
    tests = HANGING.format(body=hangs)
    if hangs == "assert False":
        tests = tests.replace("test_that_hangs()", "test_that_hangs(never_torn_down)")
    (tmp_path / "test_it.py").write_text(tests, encoding="utf-8")
    # The project's own settings, but for the limit. Two workers, as one that is killed is replaced by another.
    call = (
        f"{sys.executable} -m pytest -n 2 --dist load -p tests.conftest -p no:cacheprovider --rootdir {tmp_path} "
        f"-c {ROOT / 'pyproject.toml'} -o faulthandler_timeout=3 {tmp_path / 'test_it.py'}"
    ).split()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    run = subprocess.run(
        call, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300, check=False
    )  # fmt: skip
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 passed" in run.stdout
    assert "test_that_hangs" in run.stdout
    assert "Timeout (0:00:03)!" in run.stderr
    assert "test_it.py" in run.stderr.partition("Timeout")[2], "the stack names the line that waits"
