"""Mutations: damages of the code that keeps judgments safe. Does a test notice each of them?

The sources are copied, one place is damaged (a sync left out, a check skipped, a header gone), and only the tests run
that should notice it. A damage that all of them pass is a promise that nobody checks.

    python -m bench mutations                                         all, about six seconds of CPU each
    ADJUDGE_MUTATIONS=files,sessions python -m bench mutations        those of files with such names
    pg_virtualenv -t .venv/bin/python -m bench mutations              also those that only PostgreSQL can show

What was found is kept in `bench/results/mutations.json`: a damage is tried again where its file, its tests or the
damage itself have changed, so that a run that was interrupted goes on where it stopped. `ADJUDGE_MUTATIONS=all` tries
all again. The test that noticed a damage before runs first, and the others only if it passes now.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from adjudge.table.files import write_text

ROOT = Path(__file__).resolve().parents[1]
# What stands outside of the sources and is needed by tests.
COPIED = ("src", "tests", "bench", "deploy", "docs", "scripts", "pyproject.toml", "README.md", "SECURITY.md")
FOUND = ROOT / "bench" / "results" / "mutations.json"
# A damage that makes a test wait for ever is noticed, too.
PATIENCE = 900
PASSED, FAILED = 0, 1
NOTICED, NOT_TRIED, UNFIT = "noticed", "not tried", "unfit"


@dataclass(frozen=True)
class Damage:
    """A place of a file below src/adjudge, what it becomes, and the tests that should notice it."""

    file: str
    what: str
    before: str
    after: str
    tests: tuple[str, ...]
    postgres: bool = False
    """Whether only a PostgreSQL server can show it."""
    unnoticed: str = ""
    """Why no test can notice it, where none can."""

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


def load_damages() -> list[Damage]:
    """All damages."""
    with Path(__file__).with_name("damages.toml").open("rb") as file:
        return [Damage(**{**entry, "tests": tuple(entry["tests"])}) for entry in tomllib.load(file)["damage"]]


@dataclass(frozen=True)
class Outcome:
    """What the tests said of a damage (noticed, survived, not tried, unfit for the sources), and which test it was."""

    damage: Damage
    said: str
    details: str = ""


def run() -> None:
    """Try all damages, or those that were asked for, and print what was noticed."""
    asked = os.environ.get("ADJUDGE_MUTATIONS", "")
    wanted = [] if asked == "all" else [name for name in asked.split(",") if name]
    chosen = [damage for damage in load_damages() if not wanted or any(name in damage.file for name in wanted)]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copyfile)(source, copy / name)
        found = Found(copy)
        outcomes = [_try_and_tell(copy, damage, found, again=asked == "all") for damage in chosen]
    tried = [outcome for outcome in outcomes if outcome.said != NOT_TRIED]
    noticed = sum(outcome.said == NOTICED for outcome in tried)
    share = 100 * noticed / max(1, len(tried))
    print(f"{noticed} of {len(tried)} damages noticed ({share:.0f}%), {time.monotonic() - began:.0f} s")
    for outcome in outcomes:
        if outcome.said != NOTICED:
            print(f"{outcome.said}: {outcome.damage}: {outcome.damage.unnoticed or outcome.details}")


def _digest(copy: Path, damage: Damage) -> str:
    """What identifies a damage, the file that it is in, and the tests that should notice it."""
    files = {copy / "src" / "adjudge" / damage.file, *(copy / test.partition("::")[0] for test in damage.tests)}
    digest = hashlib.sha256(repr(damage).encode())
    for file in sorted(files):
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()[:12]


class Found:
    """What runs found: the outcome of each damage, and of which sources and tests it is."""

    def __init__(self, copy: Path) -> None:
        self.copy = copy
        self.damages: dict[str, list[str]] = {}
        if FOUND.exists():
            self.damages = json.loads(FOUND.read_text(encoding="utf-8"))

    def outcome(self, damage: Damage) -> Outcome | None:
        """What was found of a damage, if nothing has changed since."""
        digest, said, details = self.damages.get(str(damage), ("", "", ""))
        return Outcome(damage, said, details) if digest == _digest(self.copy, damage) else None

    def order(self, damage: Damage) -> list[str]:
        """The tests that should notice a damage, after the one that noticed it last."""
        _, said, details = self.damages.get(str(damage), ("", "", ""))
        return [*([details] if said == NOTICED and details.startswith("tests/") else []), *damage.tests]

    def keep(self, outcome: Outcome) -> None:
        """Write an outcome down, unless the damage could not be tried."""
        if outcome.said not in (NOT_TRIED, UNFIT):
            digest = _digest(self.copy, outcome.damage)
            self.damages[str(outcome.damage)] = [digest, outcome.said, outcome.details]
            write_text(FOUND, json.dumps(self.damages, indent=1, sort_keys=True) + "\n")


def _try_and_tell(copy: Path, damage: Damage, found: Found, *, again: bool) -> Outcome:
    outcome = None if again else found.outcome(damage)
    if outcome is None:
        outcome = _try(copy, damage, found.order(damage))
        found.keep(outcome)
    print(f"{outcome.said:<10}{damage!s:<78}{outcome.details}", flush=True)
    return outcome


def _try(copy: Path, damage: Damage, tests: Sequence[str]) -> Outcome:
    if damage.postgres and "PGHOST" not in os.environ:
        return Outcome(damage, NOT_TRIED, "there is no PostgreSQL server; run under pg_virtualenv -t")
    file = copy / "src" / "adjudge" / damage.file
    whole = file.read_text(encoding="utf-8")
    if (places := whole.count(damage.before)) != 1:
        return Outcome(damage, UNFIT, f"{places} places of the file read {damage.before!r}, there must be one")
    file.write_text(whole.replace(damage.before, damage.after), encoding="utf-8")
    try:
        code, out = _run_tests(copy, tests)
    finally:
        file.write_text(whole, encoding="utf-8")
    if code == PASSED:
        return Outcome(damage, "survived")
    if code is None:
        return Outcome(damage, NOTICED, f"the tests did not end within {PATIENCE} s")
    failed = [line.removeprefix("FAILED ") for line in out.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if code == FAILED and not failed:
        return Outcome(damage, NOTICED, "the tests were ended from outside, as those that hang are")
    if code != FAILED:
        return Outcome(damage, UNFIT, f"the tests could not be run: {out[-500:]}")
    return Outcome(damage, NOTICED, failed[0].partition(" - ")[0])


def _run_tests(copy: Path, tests: Sequence[str]) -> tuple[int | None, str]:
    """The exit code of the tests, None where they did not end, and what they printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr
