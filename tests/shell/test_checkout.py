"""Trying an example leaves nothing that git would show."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.conftest import ROOT
from tests.helpers.warm_command import PATIENCE

LEFT = ("campaign.secret", "campaign.sqlite3", "campaign.sqlite3-wal", "campaign.sqlite3-shm", "tasks.json")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is no .git: the sources are not a checkout of git")
@pytest.mark.parametrize("name", LEFT)
def test_what_a_served_example_leaves_is_ignored(name: str) -> None:
    path = f"examples/da/{name}"
    asked = ["git", "check-ignore", "--no-index", path]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.stdout.strip() == path
