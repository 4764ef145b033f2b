"""Keys answer for what somebody has turned to, once, and nothing on the page takes an answer back by itself."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import (
    begin,
    campaign_of_texts,
    errors,
    judge_all,
    mark_words,
    saved,
    slider_values,
    type_number,
)
from tests.helpers.serving import PATIENCE, Server

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser

LINES = ["The train leaves soon.", "The bus is late today."]


def mark_both(page: Page) -> None:
    """Mark a word in each of two segments, and turn back to the first."""
    mark_words(page, 1)
    page.locator("article .markable").nth(1).focus()
    mark_words(page, 2)
    page.locator("article .markable").first.focus()


def test_a_score_goes_to_the_segment_whose_errors_were_last_dealt_with(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES)) as server:
        begin(page, server)
        mark_both(page)
        page.locator("article").nth(1).get_by_role("button", name="Major").click()
        page.keyboard.press("7")
        assert slider_values(page) == [None, "7"]


def test_delete_on_an_error_takes_the_error_back_and_not_the_score(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES)) as server:
        begin(page, server)
        mark_both(page)
        page.locator("[role=slider]").first.focus()
        page.keyboard.press("8")
        page.locator("article").first.get_by_role("button", name="Major").click()
        page.keyboard.press("Delete")
        assert (errors(page), len(errors(page, 1)), slider_values(page)) == ([], 1, ["8", None])


def test_after_a_comment_keys_are_for_what_was_commented_on(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES, protocol="postedit", more="[page]\ncomments = true\n")) as server:
        begin(page, server)
        page.locator("article").nth(1).get_by_role("button", name="Comment").click()
        page.keyboard.type("is this right?")
        page.keyboard.press("Escape")
        page.keyboard.press("f")
        pressed = [button.get_attribute("aria-pressed") for button in page.locator(".no-error").all()]
        assert pressed == ["false", "true"]


def test_a_key_held_too_long_answers_once(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, "ranking", documents=1)) as server:
        begin(page, server)
        for _ in range(3):
            page.keyboard.down("2")
        page.keyboard.up("2")
        expect(page.locator(".rank[aria-checked=true]")).to_have_count(1)
        page.keyboard.press("2")
        expect(page.locator(".rank[aria-checked=true]")).to_have_count(2)


def test_what_the_server_said_before_a_save_does_not_take_it_back(page: Page, tmp_path: Path) -> None:
    held: list[tuple[Route, Any]] = []
    with Server(make_campaign(tmp_path, "da", documents=1)) as server:
        begin(page, server)
        type_number(page, "35")
        saved(page)
        page.route("**/api/work?task=*", lambda route: held.append((route, route.fetch())))
        # The page comes back into sight, and asks how things stand.
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        end = time.monotonic() + PATIENCE
        while not held:
            assert time.monotonic() < end, "the page did not ask how things stand"
            page.wait_for_timeout(50)
        with page.expect_response("**/api/saves"):
            page.keyboard.press("End")
        saved(page)
        route, response = held[0]
        with page.expect_response("**/api/work?task=*"):
            route.fulfill(response=response)
        page.wait_for_timeout(300)
        assert slider_values(page)[0] == "100"


def test_handing_in_without_a_connection_says_that_it_failed(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, "da", documents=1, systems=1)) as server:
        begin(page, server)
        page.route("**/finish", lambda route: route.abort())
        judge_all(page, "da")
        expect(page.locator(".notice.warning")).to_contain_text("does not answer")
        page.unroute("**/finish")
        page.keyboard.press("Enter")
        page.keyboard.press("h")
        page.get_by_text("Thank you!").wait_for()


def test_work_begins_where_the_browsers_storage_is_full(page: Page, tmp_path: Path) -> None:
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    page.add_init_script(full)
    with Server(make_campaign(tmp_path, "da", documents=1)) as server:
        begin(page, server)
        type_number(page, "35")
        saved(page)
        # Now there is a task in hand when the page is built.
        page.reload()
        expect(page.locator(".place-button")).to_be_visible()
        expect(page.locator("dialog[open]")).to_be_visible()


def test_an_edition_given_up_by_a_slip_comes_back(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES[:1], protocol="postedit")) as server:
        begin(page, server)
        page.keyboard.press("e")
        page.keyboard.press("End")
        page.keyboard.type(" Hurry!")
        page.get_by_role("button", name="Start again").click()
        expect(page.locator("textarea.edition")).to_have_value(LINES[0])
        page.keyboard.press("ControlOrMeta+z")
        expect(page.locator("textarea.edition")).to_have_value(f"{LINES[0]} Hurry!")
        saved(page)
        page.reload()
        expect(page.locator("textarea.edition")).to_have_value(f"{LINES[0]} Hurry!")


def ranks(page: Page) -> list[str]:
    """The ranks given, in the order of the translations."""
    return [button.inner_text() for button in page.locator(".rank[aria-checked=true]").all()]


def test_where_single_keys_are_switched_off_every_rank_is_given_by_arrows_and_space(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, "ranking")) as server:
        begin(page, server)
        page.keyboard.press("?")
        page.get_by_label("Single keys act").uncheck()
        page.keyboard.press("Escape")
        for keys in (["Space"], ["ArrowRight", "Space"], ["ArrowRight"] * 5 + ["ArrowLeft", "Space"]):
            for key in keys:
                page.keyboard.press(key)
            page.keyboard.press("Tab")
        assert ranks(page) == ["1", "2", "4"]


def test_the_focus_is_on_what_a_key_has_chosen_and_space_changes_nothing(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path / "r", "ranking")) as server:
        begin(page, server)
        for key in ("1", "2", "3", "4", "5"):
            page.keyboard.press(key)
        expect(page.get_by_role("radiogroup", name="E").get_by_role("radio", name="5")).to_be_focused()
        page.keyboard.press("Space")
        assert ranks(page) == ["1", "2", "3", "4", "5"]
    with Server(make_campaign(tmp_path / "p", "pairwise")) as server:
        begin(page, server)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        expect(page.get_by_role("radio", name="B is better")).to_be_checked()
        # A click takes a choice back, as before.
        page.get_by_role("radio", name="B is better").click()
        expect(page.get_by_role("radio", checked=True)).to_have_count(0)
