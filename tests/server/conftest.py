"""What the tests of collecting share: pages of a browser, pictures of them, and databases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.helpers.databases import needed_postgres_url

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHOTS = ROOT / "artefacts" / "collect"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own; what goes wrong in its scripts fails the test."""
    faults: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB", reduced_motion="reduce")
    new = context.new_page()
    new.on("pageerror", lambda fault: faults.append(str(fault)))
    yield new
    context.close()
    assert not faults


def shoot(page: Page, name: str) -> None:
    """Keep a picture for people to look at, where they have asked for pictures."""
    if not os.environ.get("ADJUDGE_PICTURES"):
        return
    # Colours change slowly.
    page.wait_for_timeout(300)
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> str | None:
    """Both databases: the embedded one, and the PostgreSQL server that `pg_virtualenv -t` has started."""
    return None if request.param == "sqlite" else needed_postgres_url()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def own_database(request: pytest.FixtureRequest) -> str | None:
    """A database for one test alone, of both kinds."""
    return None if request.param == "sqlite" else needed_postgres_url()
