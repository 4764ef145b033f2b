"""Keys pressed too soon, twice or with another one do no more than was meant, and each slip is taken back by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import HeldRequests, begin, campaign_of_texts, errors, judge_screen, slider_values
from tests.helpers.serving import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

PEOPLE = '["anna", "bert", "carla", "dora"]'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Scores of three segments on one page, a task for everybody."""
    design = 'structure = "pages"\njudgments = 4'
    folder = tmp_path_factory.mktemp("slips")
    with Server(make_campaign(folder, documents=1, systems=1, annotators=PEOPLE, design=design)) as running:
        yield running


def ask_to_hand_in(page: Page) -> None:
    judge_screen(page, "da", 0)
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_contain_text("hand them in")


def test_a_slow_hand_in_is_told_and_asked_for_once(page: Page, server: Server) -> None:
    held = HeldRequests(page, "**/finish")
    begin(page, server, "anna")
    ask_to_hand_in(page)
    page.keyboard.press("h")
    expect(page.locator("dialog[open]")).to_contain_text("Handing in…")
    for key in ("Escape", "Escape", "Enter", "h", "7"):
        page.keyboard.press(key)
    page.mouse.click(5, 5)
    expect(page.locator("dialog[open]")).to_contain_text("Handing in…")
    held.let_first_go()
    page.get_by_text("Thank you!").wait_for()
    assert len(held.routes) == 1
    expect(page.locator("dialog")).to_have_count(0)


def test_a_key_pressed_with_ctrl_alt_or_meta_is_not_the_key_alone(page: Page, server: Server) -> None:
    begin(page, server, "bert")
    for modifier in ("Control", "Alt", "Meta"):
        for key in ("5", "End", "n", "o", "Enter", "?"):
            page.keyboard.press(f"{modifier}+{key}")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("[role=slider]").first).to_be_focused()
    assert slider_values(page) == [None, None, None]
    ask_to_hand_in(page)
    for modifier in ("Control", "Alt", "Meta"):
        page.keyboard.press(f"{modifier}+h")
    expect(page.locator("dialog[open]")).to_contain_text("hand them in")
    page.keyboard.press("H")
    page.get_by_text("Thank you!").wait_for()


def test_a_number_ends_where_it_is_taken_back_or_left(page: Page, server: Server) -> None:
    begin(page, server, "carla")
    page.keyboard.press("7")
    page.keyboard.press("Control+z")
    page.keyboard.press("2")
    assert slider_values(page)[0] == "2"
    for key in ("Enter", "Shift+Enter", "3"):
        page.keyboard.press(key)
    assert slider_values(page)[0] == "3"


# Both keys are pressed at once, and three seconds pass before the page comes to the second.
TWO_DIGITS = """() => {
  const [seven, two] = ["7", "2"].map((key) => new KeyboardEvent("keydown", { key, bubbles: true }));
  const now = Date.now;
  document.activeElement.dispatchEvent(seven);
  Date.now = () => now() + 3000;
  document.activeElement.dispatchEvent(two);
  Date.now = now;
}"""


def test_digits_belong_together_by_when_they_were_pressed(page: Page, server: Server) -> None:
    begin(page, server, "dora")
    page.evaluate(TWO_DIGITS)
    assert slider_values(page)[0] == "72"


def test_marks_made_one_right_after_the_other_are_taken_back_one_by_one(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, ["The train leaves soon."])) as marked:
        begin(page, marked)
        for key in ("Space", "ArrowRight", "Space", "Space"):
            page.keyboard.press(key)
        assert errors(page) == ["“The”, Minor", "“train”, Major"]
        left = []
        for _ in range(3):
            page.keyboard.press("Control+z")
            left.append(errors(page))
        assert left == [["“The”, Minor", "“train”, Minor"], ["“The”, Minor"], []]
        page.keyboard.press("Control+z")
        expect(page.locator(".notice").last).to_contain_text("nothing to undo")


RING_AND_NUMBER = """(article) => {
  const ringed = document.activeElement;
  const { outlineWidth, outlineOffset } = getComputedStyle(ringed);
  const [ring, number] = [ringed, article.querySelector(".place")].map((one) => one.getBoundingClientRect());
  const out = parseFloat(outlineWidth) + parseFloat(outlineOffset);
  const beside = ring.right + out <= number.left || ring.left - out >= number.right;
  return [parseFloat(outlineWidth), beside || ring.top - out >= number.bottom];
}"""


@pytest.mark.parametrize("protocol", ["postedit", "esa"])
def test_the_ring_of_the_focus_leaves_the_number_of_the_segment_alone(
    protocol: str, page: Page, tmp_path: Path
) -> None:
    lines = [f"The train number {i} leaves soon, and nobody knows from which platform today." for i in range(12)]
    with Server(campaign_of_texts(tmp_path, lines, protocol=protocol)) as numbered:
        begin(page, numbered)
        last = page.locator("article").nth(11)
        last.locator(".edit-box, .markable").last.focus()
        assert last.evaluate(RING_AND_NUMBER) == [3 if protocol == "postedit" else 2, True]
