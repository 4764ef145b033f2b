"""In the browser: refused saves are kept and offered again; answers of a proxy in between lead to another try."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import SAVED, begin, type_number
from tests.helpers.serving import Server, scores, wait_for
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser

PEOPLE = 9


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Pages of three segments, for several people."""
    campaign = make_campaign(
        tmp_path_factory.mktemp("refused"),
        annotators=str(PEOPLE),
        design=f'structure = "pages"\njudgments = {PEOPLE}',
        more='[assignment]\npolicy = "pool"\n',
    )
    with Server(campaign) as running:
        yield running


def answer_with(page: Page, status: int, body: str, kind: str) -> None:
    """Answer saves in place of the server from now on, as a proxy would."""

    def answer(route: Route) -> None:
        route.fulfill(status=status, body=body, content_type=kind)

    page.route("**/api/saves", answer)


def test_what_was_refused_is_kept_shown_and_sent_again(page: Page, server: Server, tmp_path: Path) -> None:
    begin(page, server, "annotator-01")
    answer_with(page, 409, json.dumps({"detail": "not today", "code": "refused"}), "application/json")
    # One digit, which is one save: those of a longer number may be two.
    page.keyboard.press("6")
    offer = page.locator("button.refused")
    expect(offer).to_have_text("1 answer not accepted")
    page.unroute("**/api/saves")
    page.reload()
    expect(offer).to_have_text("1 answer not accepted")
    offer.focus()
    page.keyboard.press("Enter")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("1 of 2 · 6 · not today")
    shoot(page, "refused")
    # The key that opened the dialog does not confirm it until another key was pressed.
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    page.keyboard.press("Shift")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(offer).to_be_hidden()
    expect(page.locator(".saved")).to_have_text(SAVED)
    expect(page.locator("[role=slider]").first).to_have_attribute("aria-valuenow", "6")
    assert scores(server, tmp_path, "annotator-01") == [6]


def test_what_was_refused_is_deleted_only_when_somebody_says_so(page: Page, server: Server) -> None:
    begin(page, server, "annotator-02")
    answer_with(page, 422, json.dumps({"detail": [{"msg": "odd"}]}), "application/json")
    page.keyboard.press("1")
    page.locator("button.refused").click()
    page.get_by_role("button", name="Delete them").click()
    expect(page.locator("button.refused")).to_be_hidden()
    page.unroute("**/api/saves")
    page.reload()
    expect(page.locator(".saved")).to_have_text("Everything is saved")
    expect(page.locator("button.refused")).to_be_hidden()


@pytest.mark.parametrize(
    ("name", "status", "body", "kind"),
    [
        ("annotator-03", 200, "<p>Welcome to our hotel: please accept our terms", "text/html"),
        ("annotator-04", 403, "<h1>403 Forbidden</h1> by the firewall", "text/html"),
        ("annotator-05", 413, "<h1>413 Request Entity Too Large</h1>", "text/html"),
    ],
)
def test_what_a_proxy_or_network_says_decides_nothing(
    page: Page, server: Server, tmp_path: Path, name: str, status: int, body: str, kind: str
) -> None:
    begin(page, server, name)
    answer_with(page, status, body, kind)
    type_number(page, "52")
    expect(page.locator(".saved")).to_contain_text("kept here")
    assert page.locator("button.refused").is_hidden()
    page.unroute("**/api/saves")
    expect(page.locator(".saved")).to_have_text(SAVED)
    assert scores(server, tmp_path, name) == [52]


def test_one_save_that_the_server_cannot_digest_does_not_hold_up_the_others(
    page: Page, server: Server, tmp_path: Path
) -> None:
    begin(page, server, "annotator-06")

    def fail_for_seven(route: Route) -> None:
        if any(change.get("score") == 7 for change in json.loads(route.request.post_data or "{}")["changes"]):
            route.fulfill(status=500, body="broken", content_type="text/plain")
        else:
            route.continue_()

    page.route("**/api/saves", fail_for_seven)
    page.keyboard.press("7")
    expect(page.locator(".saved")).to_contain_text("kept here")
    page.keyboard.press("n")
    expect(page.locator(".place-button")).to_have_text("2 of 2")
    type_number(page, "33")

    def other_is_saved() -> bool:
        states = page.evaluate("fetch('/api/work').then((answer) => answer.json())")["task"]["states"]
        return [answer["score"] for state in states.values() for answer in state["answers"].values()] == [33]

    wait_for(other_is_saved)
    page.unroute("**/api/saves")
    expect(page.locator(".saved")).to_have_text(SAVED)
    assert scores(server, tmp_path, "annotator-06") == [7, 33]


LEAVE_BEHIND = """([sealed, age]) => {
  const owner = Object.keys(localStorage).find((one) => one.startsWith("adjudge:welcome:")).slice(16);
  const id = crypto.randomUUID();
  const record = {
    ...window.left, id, at: Date.now() - age, tab: crypto.randomUUID(), sealed,
    spent: { shown: 9e9, visible: 1, active: 1, outputs: {} }, events: [],
  };
  localStorage.setItem(`adjudge:save:${owner}:${id}`, JSON.stringify(record));
}"""


@pytest.mark.parametrize(
    ("name", "sealed", "age"),
    [
        # A page killed a moment ago with a change it had not begun to send; and one that waited since last year.
        ("annotator-07", False, 1_000),
        ("annotator-08", True, 400 * 86_400_000),
    ],
)
def test_what_a_page_left_behind_is_taken_up(
    page: Page, server: Server, tmp_path: Path, name: str, sealed: bool, age: int
) -> None:
    begin(page, server, name)
    work: Any = page.evaluate("fetch('/api/work').then((answer) => answer.json())")
    screen = work["task"]["screens"][0]
    left = {
        "annotator": work["annotator"]["id"],
        "task": work["task"]["id"],
        "screen": screen["id"],
        "base": 0,
        "changes": {screen["items"][0]["outputs"][0]["id"]: {"score": 81}},
    }
    page.evaluate("(left) => { window.left = left; }", left)
    page.evaluate(LEAVE_BEHIND, [sealed, age])
    page.reload()
    expect(page.locator("[role=slider]").first).to_have_attribute("aria-valuenow", "81")
    expect(page.locator(".saved")).to_have_text(SAVED)
    assert scores(server, tmp_path, name) == [81]


def test_who_loses_entry_but_is_also_an_organiser_enters_again(page: Page, server: Server, tmp_path: Path) -> None:
    begin(page, server, "annotator-09")
    page.goto(server.links["organiser"])
    expect(page.locator("h1")).to_be_visible()
    page.goto(f"{server.url}/work")
    expect(page.locator("[role=slider]")).to_have_count(3)
    organiser = server.client("organiser")
    people = organiser.get("/api/organiser/overview").json["annotators"]
    number = next(score["id"] for score in people if score["name"] == "annotator-09")
    made = organiser.post(f"/api/organiser/annotators/{number}/renew").json
    page.keyboard.press("4")
    expect(page.locator("dialog[open]")).to_contain_text("Nothing is lost")
    page.get_by_label("personal link").fill(made["path"])
    page.keyboard.press("Enter")
    expect(page.locator(".saved")).to_have_text(SAVED)
    assert scores(server, tmp_path, "annotator-09") == [4]
