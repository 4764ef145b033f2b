"""On small and enlarged screens: nothing overhangs or overlaps, and what has the focus is in sight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, campaign_of_texts
from tests.helpers.serving import Server
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SCREENS: dict[str, dict[str, Any]] = {
    "phone": {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True},
    # A window of 1280 x 800 at twice the size.
    "twice": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
}
IN_SIGHT = """() => {
  const box = document.activeElement.getBoundingClientRect();
  const there = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return document.activeElement === there || document.activeElement.contains(there);
}"""
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll(".anchors")].map((row) =>
    [...row.children].map((one) => {
      const words = document.createRange();
      words.selectNodeContents(one);
      return words.getBoundingClientRect();
    }).sort((one, other) => one.left - other.left));
  return boxes.flatMap((row) => row.slice(1).filter((box, i) => box.left < row[i].right - 1)).length;
}"""


@pytest.fixture(scope="module", params=["da", "sqm", "ranking", "pairwise"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    around = "[context]\nbefore = 1\nafter = 1\n" if request.param != "sqm" else ""
    folder = tmp_path_factory.mktemp(request.param)
    names = '["anna", "bert"]'
    campaign = make_campaign(
        folder, request.param, annotators=names, design="judgments = 2", more=f"[page]\ncomments = true\n{around}"
    )
    with Server(campaign) as running:
        running.protocol = request.param  # type: ignore[attr-defined]
        yield running


@pytest.fixture(params=list(SCREENS))
def small(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[str, Page]]:
    context = browser.new_context(locale="en-GB", reduced_motion="reduce", **SCREENS[request.param])
    page = context.new_page()
    yield request.param, page
    context.close()


def test_everything_fits_and_the_focus_is_in_sight(server: Server, small: tuple[str, Page]) -> None:
    name, page = small
    begin(page, server, "anna" if name == "phone" else "bert")
    assert page.get_by_role("heading", level=1).count() == 1
    for key in ("2", "1", "Enter", "2"):
        page.keyboard.press(key)
        if key != "Enter":  # a new screen begins at its top, to be read first
            page.wait_for_function(IN_SIGHT)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(OVERLAPS) == 0
    shoot(page, f"{name}-{server.campaign.parent.name.rstrip('0')}")


def test_what_is_left_comes_into_sight_below_a_text_longer_than_the_screen(
    small: tuple[str, Page], tmp_path: Path
) -> None:
    _, page = small
    long = "The train leaves soon. " * 80
    campaign = campaign_of_texts(tmp_path, [long, "The bus is late today."], protocol="da")
    campaign.write_text(campaign.read_text().replace("[design]\n", '[design]\nstructure = "pages"\n'))
    with Server(campaign) as server:
        begin(page, server)
        for _ in range(3):
            page.locator("button.left").click()
            # At once, for people who have asked for less motion.
            assert page.evaluate(IN_SIGHT)
        # Next, with something missing, says so in a notice, which must not lie on it.
        page.locator("button.next").click()
        expect(page.locator(".notice")).to_contain_text("still open")
        assert page.evaluate(IN_SIGHT)
