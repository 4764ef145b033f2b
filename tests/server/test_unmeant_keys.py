"""Keys that scroll, keys that are held, and keys pressed while the server is slow answer nothing that was not meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import HeldRequests, begin, campaign_of_texts, errors, judge_all, saved, slider_values
from tests.helpers.serving import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

LINES = ["The train leaves soon.", "The bus is late today."]
SCROLLING = ("Space", "PageDown", "PageUp", "End", "Home", "ArrowDown", "ArrowUp")


@pytest.mark.parametrize("protocol", ["da", "esa", "pairwise"])
def test_where_nothing_has_the_focus_keys_that_scroll_do_not_answer(protocol: str, page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, protocol, documents=1)) as server:
        begin(page, server)
        page.locator(".words:not(.markable)").first.click()
        for key in SCROLLING:
            page.keyboard.press(key)
        assert set(slider_values(page)) <= {None}
        assert errors(page) == []
        expect(page.locator(".choice[aria-checked=true]")).to_have_count(0)
        # What is no key for scrolling still goes to what was turned to.
        page.keyboard.press("1")
        expect(page.locator("[aria-valuenow='1'], .choice[aria-checked=true]").first).to_be_visible()


def test_enter_held_too_long_goes_on_once(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, [*LINES, *LINES], protocol="postedit")) as server:
        begin(page, server)
        page.keyboard.press("e")
        for _ in range(3):
            page.keyboard.down("Enter")
        page.keyboard.up("Enter")
        expect(page.locator(".edit-box").nth(1)).to_be_focused()


def test_caps_lock_and_ctrl_with_enter_while_editing(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES, protocol="postedit")) as server:
        begin(page, server)
        # As with Caps Lock: the letter is large, and Shift is not held.
        page.evaluate("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'E', bubbles: true}))")
        edition = page.locator("textarea.edition").first
        expect(edition).to_be_focused()
        page.keyboard.press("Control+Enter")
        expect(edition).to_be_focused()


def test_the_request_to_enter_again_is_not_closed_before_it_is_answered(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, documents=1)) as server:
        begin(page, server)
        page.context.clear_cookies()
        page.keyboard.press("5")
        request = page.locator("dialog[open]")
        expect(request).to_contain_text("Please log in again")
        for key in ("a", "Escape", "Escape", "Escape"):
            page.keyboard.press(key)
        expect(request).to_be_visible()
        page.locator("#link").fill(server.links["anna"])
        page.keyboard.press("Enter")
        expect(request).to_have_count(0)
        saved(page)
        assert slider_values(page)[0] == "5"


def test_a_task_asked_for_twice_on_a_slow_connection_is_shown_once(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, documents=2, systems=1, task_size=3)) as server:
        begin(page, server)
        judge_all(page, "da")
        held = HeldRequests(page, "**/api/tasks/next")
        go_on = page.get_by_role("button", name="Go on to the next task")
        go_on.click()
        expect(page.locator(".notice")).to_contain_text("One moment")
        go_on.click()
        held.let_first_go()
        expect(page.locator(".place-button")).to_be_visible()
        assert page.locator(".notice").count() == 0, "nobody waits any more"
        assert len(held.routes) == 1


def test_enter_on_a_task_that_was_handed_in_leads_back_to_the_end(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, documents=1, systems=1)) as server:
        begin(page, server)
        judge_all(page, "da")
        page.get_by_role("button", name="Task 1").click()
        expect(page.locator(".next")).to_be_disabled()
        page.locator("[role=slider]").last.focus()
        page.keyboard.press("Enter")
        page.get_by_text("Thank you!").wait_for()
        expect(page.locator("dialog[open]")).to_have_count(0)


def test_after_a_comment_the_score_has_the_focus_again(page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, documents=1, design='structure = "pages"', more="[page]\ncomments = true\n")
    with Server(campaign) as server:
        begin(page, server)
        page.keyboard.press("Enter")
        page.keyboard.press("c")
        page.keyboard.type("is this right?")
        page.keyboard.press("Escape")
        expect(page.locator("[role=slider]").nth(1)).to_be_focused()


def test_a_mark_is_taken_back_while_its_kind_is_being_chosen(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES, protocol="mqm")) as server:
        begin(page, server)
        page.keyboard.press("Space")
        page.keyboard.press("t")
        expect(page.locator("select.category")).to_be_focused()
        page.keyboard.press("Control+z")
        expect(page.locator("li.error")).to_have_count(0)
        expect(page.locator(".markable").first).to_be_focused()


def test_another_language_without_a_connection_leaves_the_page_as_it_is(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, documents=1)) as server:
        begin(page, server)
        page.context.set_offline(True)
        page.locator("select.language").select_option("de")
        expect(page.locator(".notice")).to_contain_text("does not answer")
        expect(page.locator("select.language")).to_have_value("en")
        page.context.set_offline(False)
        page.locator("select.language").select_option("de")
        expect(page.locator("html")).to_have_attribute("lang", "de")
