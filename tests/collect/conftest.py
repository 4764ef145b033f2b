"""What the tests of collecting share: a browser, and where screenshots are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.collect.databases import postgres_url
from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
SHOTS = ROOT / "artefacts" / "collect"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}")
    from playwright.sync_api import expect, sync_playwright

    # Long, for busy machines: what is waited for comes or does not come, and time decides nothing.
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own; what goes wrong in its scripts fails the test."""
    faults: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB", reduced_motion="reduce")
    new = context.new_page()
    new.set_default_timeout(15_000)
    new.on("pageerror", lambda fault: faults.append(str(fault)))
    yield new
    context.close()
    assert not faults


def shoot(page: Page, name: str) -> None:
    """Keep a picture for people to look at."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> str | None:
    """Both databases: the embedded one, and the PostgreSQL server that `pg_virtualenv -t` has started."""
    if request.param == "sqlite":
        return None
    url = postgres_url()
    if url is None:
        pytest.skip("there is no PostgreSQL server: PGHOST is not set; run under pg_virtualenv -t")
    return url
