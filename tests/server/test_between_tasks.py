"""Between tasks and after the last: the pause, the way back to the code, taking back, telephones, other scripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, judge_all, slider_values
from tests.helpers.serving import Server, exported, wait_for
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

CODE = '[crowd]\ncompletion_code = "DONE-1"\nleast_seconds = 0\n'


def test_a_pause_between_tasks_and_a_way_back_to_the_code(page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, documents=2, task_size=9, more=CODE)
    with Server(campaign) as server:
        begin(page, server)
        judge_all(page, "da")
        # While the dialog closes, its heading stands beside that of the pause.
        expect(page.get_by_role("heading", name="Task 1 of 2 done")).to_be_visible()
        expect(page.locator(".pause")).to_contain_text("One more task is left.")
        shoot(page, "pause")
        expect(page.locator(".notice")).to_have_count(0)
        page.get_by_role("button", name="Go on to the next task").click()
        judge_all(page, "da")
        expect(page.locator(".code")).to_have_text("DONE-1")
        # The time of the finished task is not added to another one; otherwise an alert would cover the last page.
        expect(page.locator(".notice")).to_have_count(0)
        page.get_by_role("button", name=re.compile("^Task 1")).click()
        expect(page.locator(".place-button")).to_be_visible()
        shoot(page, "looking-again")
        page.get_by_role("button", name="Back to the last page").click()
        expect(page.locator(".code")).to_have_text("DONE-1")
        assert "refused" not in server.log()


def test_handing_in_by_keys_again_and_again_raises_no_alarm(page: Page, tmp_path: Path) -> None:
    """Time that is left over when a task is handed in belongs to that task, not to the next one."""
    refused: list[str] = []
    page.on(
        "response", lambda answer: refused.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
    )
    with Server(make_campaign(tmp_path, documents=4, task_size=9)) as server:
        begin(page, server)
        for task in range(1, 5):
            judge_all(page, "da")
            expect(page.get_by_text("Thank you!" if task == 4 else f"Task {task} of 4 done")).to_be_visible()
            # Long enough for whatever waits to be sent.
            page.wait_for_timeout(1500)
            expect(page.locator(".notice")).to_have_count(0)
            if task < 4:
                page.keyboard.press("Enter")
                expect(page.locator("article.item").first).to_be_visible()
    assert refused == []


def test_changes_are_taken_back(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, documents=1, task_size=9, design='structure = "pages"')) as server:
        begin(page, server)
        # One digit each: on a slow machine the second would be a change of its own.
        for i in range(page.locator("article.item").count()):
            if i:
                page.keyboard.press("Enter")
            page.keyboard.press(str(i + 1))
        before = slider_values(page)
        assert None not in before
        page.keyboard.press("Control+z")
        expect(page.locator(".notice")).to_contain_text("undone")
        wait_for(lambda: slider_values(page) == [*before[:-1], None])
        page.keyboard.press("n")
        expect(page.locator(".place-button")).to_have_text(re.compile("^2 of"))
        page.keyboard.press("Control+z")
        expect(page.locator(".place-button")).to_have_text(re.compile("^1 of"))
        wait_for(lambda: slider_values(page) == [*before[:-2], None, None])
        expect(page.locator(".saved")).to_have_text(re.compile("^Saved"))
        table = exported(server, tmp_path).final().table
        assert table["score"].null_count() == table.height - 1, "what was taken back is unset, and the history is kept"


def test_marks_and_ranks_are_taken_back(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path / "esa", "esa", documents=1)) as server:
        begin(page, server)
        page.keyboard.press("Space")
        expect(page.locator("li.error")).to_have_count(1)
        page.keyboard.press("Control+z")
        expect(page.locator("li.error")).to_have_count(0)
    with Server(make_campaign(tmp_path / "ranking", "ranking", documents=1)) as server:
        begin(page, server)
        page.keyboard.press("2")
        checked = page.locator("button.rank[aria-checked=true]")
        expect(checked).to_have_count(1)
        page.keyboard.press("Control+z")
        expect(checked).to_have_count(0)


@pytest.mark.parametrize("protocol", ["da", "esa", "postedit"])
def test_a_telephone_offers_language_and_size_and_says_nothing_of_keys(
    protocol: str, browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True, locale="en-GB", reduced_motion="reduce"
    )
    page = context.new_page()
    with Server(make_campaign(tmp_path, protocol, documents=1)) as server:
        page.goto(server.links["anna"])
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("select.language")).to_be_visible()
        # Everybody finds their language by the name that it has in itself.
        assert {"Deutsch", "Čeština", "日本語", "العربية"} <= set(
            page.locator("select.language option").all_inner_texts()
        )
        expect(page.get_by_role("button", name="A+")).to_be_visible()
        assert [key for key in page.locator("kbd, .keys-hint").all() if key.is_visible()] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off at the side"
        shoot(page, "telephone")
        page.locator("select.language").select_option("ar")
        expect(page.locator("html")).to_have_attribute("dir", "rtl")
        shoot(page, "telephone-ar")
    context.close()


def test_a_crowd_link_without_an_id_says_what_is_missing(page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, more='[assignment]\npolicy = "pool"\n[crowd]\ncompletion_code = "X"\n')
    with Server(campaign) as server:
        page.goto(server.links["crowd"])
        expect(page.get_by_role("alert")).to_contain_text("needs the id that the crowd platform gives you")
        page.goto(server.links["crowd"].replace("#", "?PROLIFIC_PID=P1#"))
        expect(page.locator("dialog[open]")).to_be_visible()


def test_a_link_that_got_no_answer_is_tried_again_without_looking_for_it(page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, more='[assignment]\npolicy = "pool"\n[crowd]\ncompletion_code = "X"\n')
    page.route("**/api/enter", lambda route: route.abort())
    with Server(campaign) as server:
        page.goto(server.links["crowd"].replace("#", "?PROLIFIC_PID=P1#"))
        expect(page.get_by_role("alert")).to_contain_text("no connection")
        page.unroute("**/api/enter")
        page.get_by_role("button", name="Enter").click()
        expect(page.locator("dialog[open]")).to_be_visible()


def test_notes_keep_their_direction_and_arabic_changes_stand_apart(page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, "postedit", source="en", target="ar", documents=1)
    (tmp_path / "tutorial.tsv").write_text("source\ttarget\tnote\tlow\thigh\na\tب\tصحيح كما هو\t0\t100\n")
    text = campaign.read_text().replace('source = "source.txt"', 'source = "source.txt"\ntutorial = "tutorial.tsv"', 1)
    campaign.write_text(text)
    with Server(campaign) as server:
        begin(page, server)
        note = page.locator(".lesson").first
        assert note.evaluate("element => getComputedStyle(element).direction") == "rtl"
        page.keyboard.press("e")
        page.keyboard.press("Control+a")
        page.keyboard.type("ت")
        expect(page.locator(".original ins")).to_have_text("ت")
        assert "\u200c" in page.locator(".original").inner_text()
        shoot(page, "arabic-change")
