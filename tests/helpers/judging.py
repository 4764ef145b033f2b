"""Judging and marking errors in the browser, as a person does who hardly touches the mouse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page, Route

    from tests.helpers.serving import Server

# What is pressed for the n-th output of a screen.
SCORES = {"da": ("72", "0", "100", "35"), "sqm": ("4", "0", "6", "3")}


def begin(page: Page, server: Server, name: str = "anna") -> None:
    """Open the personal link and close the instructions."""
    page.goto(server.links[name])
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)


def judge_screen(page: Page, protocol: str, screen: int) -> None:
    """Judge everything on the screen shown, by keys."""
    if protocol == "ranking":
        for i in range(page.locator("article.card").count()):
            page.keyboard.press(str(1 + (i + screen) % 3))
        return
    if protocol == "pairwise":
        page.keyboard.press(("ArrowLeft", "ArrowRight", "=")[screen % 3])
        return
    for i in range(page.locator("article.item").count()):
        if i:
            page.keyboard.press("Enter")
        type_number(page, SCORES[protocol][(i + screen) % 4])


SCORE_IN_HAND = """() =>
  document.activeElement.closest(".judge, article").querySelector("[role=slider]").getAttribute("aria-valuenow")"""


def type_number(page: Page, number: str) -> None:
    """Type a score; its digits belong together only if they come soon after each other."""
    type_together(page, number, lambda: page.evaluate(SCORE_IN_HAND) == number)


def type_together(page: Page, text: str, is_there: Callable[[], bool]) -> None:
    """Type what belongs together only if it comes soon after each other; on a machine too busy for that, once more."""
    for _ in range(20):
        page.keyboard.type(text)
        if is_there():
            return
        # Longer than the page or the browser waits for the next one.
        page.wait_for_timeout(2000)
    raise AssertionError(f"{text} was typed in vain")


def judge_all(page: Page, protocol: str, picture: str = "") -> int:
    """Judge from the first screen, of which there may be a picture, to handing in; returns how many there were."""
    count = int(page.locator(".place-button").inner_text().split()[-1])
    for screen in range(count):
        expect(page.locator(".place-button")).to_have_text(f"{screen + 1} of {count}")
        judge_screen(page, protocol, screen)
        if picture and screen == 0:
            shoot(page, picture)
        page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_contain_text("hand them in")
    page.keyboard.press("h")
    return count


def slider_values(page: Page) -> list[Any]:
    """What the sliders show; None where nothing is set."""
    return [element.get_attribute("aria-valuenow") for element in page.locator("[role=slider]").all()]


class HeldRequests:
    """Requests to an address that wait until they are let go, as behind a slow connection."""

    def __init__(self, page: Page, address: str, most: int | None = None) -> None:
        self.page = page
        self.routes: list[Route] = []
        page.route(address, self._hold, times=most)

    def _hold(self, route: Route) -> None:
        self.routes.append(route)

    def let_first_go(self) -> None:
        """Wait until there is a request, which may come after the page has said so, and let it go on."""
        for _ in range(6000):
            if self.routes:
                return self.routes[0].continue_()
            self.page.wait_for_timeout(20)
        raise AssertionError("nothing was asked for in two minutes")


SAVED = re.compile(r"^Saved at \d\d:\d\d:\d\d$")


def texts_of(page: Page) -> Locator:
    """The texts in which errors are marked, translations only."""
    return page.locator("article .columns > div:last-child .markable")


def forward_key(page: Page) -> str:
    """The arrow that goes on in the text that has the focus."""
    direction = page.evaluate("getComputedStyle(document.activeElement).direction")
    return "ArrowLeft" if direction == "rtl" else "ArrowRight"


def mark_words(page: Page, first: int, count: int = 1, *, severity: int = 0) -> None:
    """Mark words of the text that has the focus, and go through severities to the one wanted."""
    key = forward_key(page)
    page.keyboard.press("Home")
    for _ in range(first):
        page.keyboard.press(key)
    for _ in range(count - 1):
        page.keyboard.press(f"Shift+{key}")
    for _ in range(1 + severity):
        page.keyboard.press("Space")


def errors(page: Page, segment: int = 0) -> list[str]:
    """The list of a segment's errors, as a screen reader has it."""
    rows = page.locator("article").nth(segment).locator("li.error")
    return [row.get_attribute("aria-label") or "" for row in rows.all()]


def campaign_of_texts(
    folder: Path, lines: list[str], *, protocol: str = "esa", target: str = "en", more: str = "", **options: Any
) -> Path:
    """A campaign whose only system has exactly these lines, on one page."""
    campaign = make_campaign(folder, protocol, documents=1, systems=1, more=more, task_size=30, **options)
    campaign.write_text(campaign.read_text().replace('target = "en"', f'target = "{target}"'))
    (folder / "source.txt").write_text("\n".join(f"Quelle {i}" for i in range(len(lines))) + "\n", encoding="utf-8")
    (folder / "alpha.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return campaign


def drag(page: Page, start: Locator, end: Locator) -> None:
    """Drag with the mouse from one word to another."""
    origin, target = start.bounding_box(), end.bounding_box()
    assert origin is not None
    assert target is not None
    page.mouse.move(origin["x"] + origin["width"] / 2, origin["y"] + origin["height"] / 2)
    page.mouse.down()
    page.mouse.move(target["x"] + target["width"] / 2, target["y"] + target["height"] / 2, steps=5)
    page.mouse.up()


def saved(page: Page) -> None:
    """Wait until everything is saved."""
    expect(page.locator(".saved.good")).to_be_visible()
