"""What all tests share: where the real data lie, and a way to run the command as a user does."""

from __future__ import annotations

import faulthandler
import gc
import os
import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

from tests.helpers.warm_command import Run, warm_command

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

# How long an example takes depends on the machine and its load, which no test is about.
# The same examples in every run, so that a commit that passed once passes again. New ones are drawn when thorough.
settings.register_profile("adjudge", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("quick", settings.get_profile("adjudge"), max_examples=10)
settings.register_profile("thorough", settings.get_profile("adjudge"), max_examples=1000, derandomize=False)
settings.load_profile("adjudge")
# Every test computes its results itself; those of the cache turn it on.
os.environ["ADJUDGE_CACHE"] = "off"
# One thread per process, read when the libraries are imported: tests run side by side, and threads of linear algebra
# that wait for each other take nine times as much.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_variable, "1")

# Tests make many objects and hardly any cycles: looking for these took four percent of the time.
gc.set_threshold(20_000, 20, 50)

__all__ = ["ROOT", "Run", "assert_explained", "data_folder", "examples"]

ROOT = Path(__file__).resolve().parent.parent
# Milliseconds, long for busy machines: what is waited for comes or does not come, and time decides nothing.
PATIENCE = 180_000
CHROMIUMS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))


def examples(usual: int) -> int:
    """How many examples of a property are tried: the usual number, few if quick, ten times as many if thorough."""
    profile = settings.get_current_profile_name()
    return {"quick": min(usual, 10), "thorough": 10 * usual}.get(profile, usual)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that drive a browser are marked as such by what they ask for, so that nobody forgets it."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Limit the time of the teardown, too: pytest limits a test no longer once it has failed."""
    limit = float(item.config.getini("faulthandler_timeout"))
    if limit:
        exits = bool(item.config.getini("faulthandler_exit_on_timeout"))
        faulthandler.dump_traceback_later(limit, file=item.config.stash[fault_handler_stderr_fd_key], exit=exits)
    return (yield)


def pytest_collection_finish() -> None:
    """Modules and collected tests stay until the end, so that garbage collection can skip them."""
    gc.freeze()


def data_folder() -> Path:
    return Path(os.environ.get("ADJUDGE_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of released judgments; tests that need it are skipped where it is missing."""
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(f"released judgments are not at {folder}; set ADJUDGE_DATA to run this test")
    return folder


@pytest.fixture(scope="session")
def adjudge() -> Callable[..., Run]:
    """Run the command `adjudge` in a process of its own."""
    return warm_command()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium: the lighter one without windows where it is installed, as Playwright itself prefers it."""
    path = next((path for path in CHROMIUMS if path.exists()), None)
    if path is None:
        pytest.skip(f"there is no Chromium at {' or '.join(map(str, CHROMIUMS))}")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        new_context = chromium.new_context

        def patient(**options: Any) -> BrowserContext:
            context = new_context(**options)
            context.set_default_timeout(PATIENCE)
            return context

        # For all pages of all tests, so that nobody forgets it.
        chromium.new_context = patient  # type: ignore[method-assign]
        yield chromium
        chromium.close()


PROGRESS = re.compile(r"^adjudge: .* \[[#.]+\] \d+ of \d+")


def assert_explained(run: Run, *, code: int = 1, names: tuple[str, ...] = ()) -> None:
    """A fault is one sentence on standard error, no traceback, nothing on standard output."""
    assert run.code == code, (run.code, run.out, run.err)
    assert run.out == ""
    assert "Traceback" not in run.err
    assert "fault of adjudge itself" not in run.err
    # On a busy machine work takes longer than two seconds, and tells how far it is.
    lines = [line for line in run.err.splitlines() if line.strip() and not PROGRESS.search(line)]
    assert len(lines) == 1, run.err
    for name in names:
        assert name in run.err
