"""On screens of every size nothing overhangs or overlaps, what has the focus is in sight, and pages are accessible."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, campaign_of_texts, mark_words
from tests.helpers.serving import Server
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route

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


# What axe-core finds against the rules of WCAG 2 (A and AA) and against good practice: the rule, and where.
AXE = """async () => {
  const found = await axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  });
  return found.violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}"""
LOOKS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1440, "height": 900}, "locale": "en-GB"},
    # From right to left, dark, and narrow.
    "phone": {"viewport": {"width": 390, "height": 844}, "locale": "ar", "color_scheme": "dark", "is_mobile": True},
}
KINDS = ("da", "sqm", "ranking", "pairwise", "esa", "mqm", "postedit", "acceptability")
SIDES = ("da", "sqm", "esa", "mqm")
CRITERIA = '[criteria.meaning]\nquestion = "Is it kept?"\n[criteria.whole]\nof = "document"\n'
FORM = """[form.consent]
en = "We keep **your judgments**."
[[form.questions]]
key = "first"
ask = "Is English your first language?"
answers = ["yes", "no"]
[[form.questions]]
key = "address"
ask = "Where shall we write to?"
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a campaign of every kind, each for one person with a wide screen and one with a phone."""
    folder = tmp_path_factory.mktemp("kinds")

    def make(name: str, protocol: str, design: str = "", more: str = "", **options: Any) -> None:
        people, design = '["wide", "phone"]', f"judgments = 2\n{design}"
        make_campaign(folder / name, protocol, annotators=people, design=design, more=more, **options)

    page = "[page]\ncomments = true\nskip = true\n"
    for kind in KINDS:
        around = "" if kind == "postedit" else "[context]\nbefore = 1\nafter = 1\n"
        make(kind, kind, more=page + around)
    for kind in SIDES:
        make(f"sides-{kind}", kind, "outputs = 3\n", page, documents=1, task_size=9)
    make("arabic", "esa", more=page, target="ar")
    make("criteria", "da", 'structure = "pages"\n', CRITERIA)
    make("form", "da", more=FORM)
    with Server(folder) as running:
        yield running


@pytest.fixture(params=list(LOOKS))
def look(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[str, Page]]:
    context = browser.new_context(reduced_motion="reduce", **LOOKS[request.param])
    page = context.new_page()
    yield request.param, page
    context.close()


def violations(page: Page) -> list[str]:
    """What axe-core finds on a screen so high that no bar lies over a part of a button, which can be scrolled away."""
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": size["width"], "height": 5000})
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found: list[str] = page.evaluate(AXE)
    page.set_viewport_size(size)
    return found


def test_what_is_not_accessible_would_be_found(page: Page, many: Server) -> None:
    page.goto(f"{many.url}/da/enter")
    page.get_by_role("button").wait_for()
    page.evaluate("document.querySelector('main').append(new Image())")
    assert [rule.partition(":")[0] for rule in violations(page)] == ["image-alt"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *(f"sides-{kind}" for kind in SIDES), "arabic", "criteria"])
def test_pages_for_judging_are_accessible(kind: str, many: Server, look: tuple[str, Page]) -> None:
    name, page = look
    page.goto(many.links[f"/{kind}:{name}"])
    expect(page.locator("dialog[open]")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    if page.locator(".markable:focus").count():
        mark_words(page, 1, 2, severity=1)
    for key in ("3", "Enter"):
        page.keyboard.press(key)
    assert violations(page) == []
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


OVERHANGING = """() => [...document.querySelectorAll("td")]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"""


def add_verdict(route: Route) -> None:
    """A verdict as long as they come, which takes a while to be computed."""
    answer = route.fetch()
    said = "Go on: 25 of 45 pairs are not settled yet. About 387 more judgments should settle 9 of them."
    verdict = {"headline": said, "computed": "2026-01-02T03:04:05Z", "judgments": 605}
    route.fulfill(response=answer, json={**answer.json(), "verdict": verdict})


@pytest.mark.slow
def test_the_other_pages_are_accessible(many: Server, look: tuple[str, Page]) -> None:
    name, page = look
    page.goto(f"{many.url}/da/enter")
    page.get_by_role("button").wait_for()
    assert violations(page) == []
    page.goto(many.links[f"/form:{name}"])
    page.locator("form").wait_for()
    assert violations(page) == []
    page.route("**/api/organiser/summary", add_verdict)
    page.goto(many.links["overview"])
    page.locator("tbody .hint[lang=en]").first.wait_for()
    assert violations(page) == []
    assert page.evaluate(OVERHANGING) == []
    page.goto(many.links["/esa:organiser"])
    # With the statistics, where somebody has judged.
    page.locator(".figures").wait_for()
    assert violations(page) == []
    page.locator("td.actions button").last.click()
    expect(page.locator("dialog[open]")).to_be_visible()
    assert violations(page) == []
