"""In the browser: nothing judged is ever lost, whatever the network, the server, the session or other tabs do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import SAVED, HeldRequests, begin, slider_values, type_number
from tests.helpers.serving import Server, scores, wait_for
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

PEOPLE = 9


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of three segments, for several people."""
    return make_campaign(
        tmp_path_factory.mktemp("lost"),
        documents=2,
        annotators=str(PEOPLE),
        design=f'structure = "pages"\njudgments = {PEOPLE}',
        more='[assignment]\npolicy = "pool"\n[page]\ncomments = true\n',
    )


@pytest.fixture(scope="module")
def server(campaign: Path) -> Iterator[Server]:
    with Server(campaign) as running:
        yield running


def test_a_change_is_saved_by_itself_and_says_when(page: Page, server: Server, tmp_path: Path) -> None:
    begin(page, server, "annotator-01")
    assert slider_values(page) == [None, None, None], "nothing is set, which is not 0"
    with page.expect_response("**/api/saves") as saved:
        page.keyboard.press("0")
    assert saved.value.status == 200
    expect(page.locator(".saved")).to_have_text(SAVED)
    assert slider_values(page) == ["0", None, None]
    assert scores(server, tmp_path, "annotator-01") == [0]
    page.reload()
    expect(page.locator("[role=slider]").first).to_have_attribute("aria-valuenow", "0")
    expect(page.locator(".left")).to_have_text("2 left here")


@pytest.mark.parametrize("seconds", [2, 30])
def test_a_network_that_is_cut_is_survived(page: Page, server: Server, tmp_path: Path, seconds: int) -> None:
    name = "annotator-02" if seconds == 2 else "annotator-03"
    page.clock.install()
    begin(page, server, name)
    type_number(page, "10")
    expect(page.locator(".saved")).to_have_text(SAVED)
    page.context.set_offline(True)
    for score in ("20", "30"):
        page.keyboard.press("Enter")
        type_number(page, score)
    expect(page.locator(".saved")).to_have_text(re.compile("No connection: [12] changes? kept here"))
    shoot(page, "offline")
    page.keyboard.press("Enter")
    expect(page.locator(".place-button")).to_have_text("2 of 2")
    type_number(page, "40")
    page.clock.run_for(seconds * 1000)
    assert scores(server, tmp_path, name) == [10]
    page.context.set_offline(False)
    expect(page.locator(".saved")).to_have_text(SAVED)
    assert scores(server, tmp_path, name) == [10, 20, 30, 40]


def test_a_correction_counts_though_what_it_corrects_was_long_on_its_way(
    page: Page, server: Server, tmp_path: Path
) -> None:
    begin(page, server, "annotator-08")
    held = HeldRequests(page, "**/api/saves", most=1)
    with page.expect_request("**/api/saves"):
        type_number(page, "10")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[role=slider]").first).to_have_attribute("aria-valuenow", "11")
    # A slow line: by its age alone, what is on its way would seem to be made after the correction.
    page.wait_for_timeout(2000)
    held.let_first_go()
    expect(page.locator(".saved")).to_have_text(SAVED)
    expect(page.locator("[role=slider]").first).to_have_attribute("aria-valuenow", "11")
    assert scores(server, tmp_path, "annotator-08") == [11]


def test_a_browser_that_dies_while_offline_sends_what_it_kept(page: Page, server: Server, tmp_path: Path) -> None:
    begin(page, server, "annotator-04")
    page.context.set_offline(True)
    type_number(page, "66")
    expect(page.locator(".saved")).to_contain_text("kept here")
    page.goto("about:blank")
    page.context.set_offline(False)
    page.goto(f"{server.url}/work")
    expect(page.locator("[role=slider]").first).to_have_attribute("aria-valuenow", "66")
    # The page may have sent it while it was closed; then there is nothing more to save.
    expect(page.locator(".saved")).to_have_text(re.compile("^Saved at|^Everything is saved"))
    assert scores(server, tmp_path, "annotator-04") == [66]


def test_an_expired_session_is_entered_again_without_leaving_the_page(
    page: Page, server: Server, tmp_path: Path
) -> None:
    begin(page, server, "annotator-05")
    page.context.clear_cookies(name=re.compile("^adjudge_session"))
    # One digit: the next would be for the dialog that opens meanwhile.
    page.keyboard.press("7")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Nothing is lost")
    shoot(page, "enter-again")
    page.keyboard.type("#wrong")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("is not valid")
    page.get_by_label("personal link").fill(server.links["annotator-06"])
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("not the link of annotator-05")
    page.get_by_label("personal link").fill(server.links["annotator-05"])
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator(".saved")).to_have_text(SAVED)
    assert scores(server, tmp_path, "annotator-05") == [7]
    assert scores(server, tmp_path, "annotator-06") == [], "nobody else gets the judgment"


def test_two_tabs_do_not_overwrite_each_other(page: Page, server: Server, tmp_path: Path) -> None:
    begin(page, server, "annotator-07")
    other = page.context.new_page()
    other.goto(f"{server.url}/work")
    expect(other.locator("[role=slider]")).to_have_count(3)
    # Different segments: both are kept, and each tab shows the other's.
    type_number(page, "11")
    other.locator("[role=slider]").nth(1).focus()
    type_number(other, "22")
    for tab in (page, other):
        expect(tab.locator("[role=slider]").first).to_have_attribute("aria-valuenow", "11")
        expect(tab.locator("[role=slider]").nth(1)).to_have_attribute("aria-valuenow", "22")
    # The same segment: the newest counts, and both say so.
    other.locator("[role=slider]").first.focus()
    type_number(other, "99")
    expect(page.locator("[role=slider]").first).to_have_attribute("aria-valuenow", "99")
    expect(page.locator(".notice")).to_contain_text("another tab")
    wait_for(lambda: scores(server, tmp_path, "annotator-07") == [99, 22])


def test_a_server_that_is_killed_and_started_again_is_survived(page: Page, tmp_path: Path) -> None:
    server = Server(make_campaign(tmp_path, documents=1)).start()
    try:
        begin(page, server, "anna")
        type_number(page, "10")
        expect(page.locator(".saved")).to_have_text(SAVED)
        server.kill()
        page.keyboard.press("Enter")
        type_number(page, "20")
        expect(page.locator(".saved")).to_contain_text("kept here")
        server.start()
        expect(page.locator(".saved")).to_have_text(SAVED)
        assert scores(server, tmp_path, "anna") == [10, 20]
    finally:
        server.__exit__(None, None, None)
