"""Marking errors in the browser by keys, and small campaigns with texts that are hard to mark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.collect.campaigns import make_campaign

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


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
