"""The annotator's page: what is missing, keys, mouse, time, other languages, narrow screens, and harmless texts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, judge_screen
from tests.helpers.serving import Server, exported, wait_for
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Locator, Page

pytestmark = pytest.mark.browser

PEOPLE = 14
POOL = '[assignment]\npolicy = "pool"\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Scores on pages of three segments, with comments, judged by whoever comes."""
    campaign = make_campaign(
        tmp_path_factory.mktemp("page"),
        documents=2,
        annotators=str(PEOPLE),
        design=f'structure = "pages"\njudgments = {PEOPLE}',
        more=f"{POOL}[page]\ncomments = true\n",
    )
    with Server(campaign) as running:
        yield running


def sliders(page: Page) -> Locator:
    return page.locator("[role=slider]")


def test_what_is_left_is_counted_and_gone_to(page: Page, server: Server) -> None:
    begin(page, server, "annotator-01")
    page.keyboard.press("5")
    page.keyboard.press("n")
    expect(page.locator(".place-button")).to_have_text("2 of 2")
    expect(page.locator(".left")).to_have_text("3 left here")
    for digit in "123":
        page.keyboard.press(digit)
        page.keyboard.press("Enter")
    # The last screen is done, two segments of the first are not: Enter went there instead of handing in.
    expect(page.locator(".notice")).to_have_text(re.compile("^2 judgments are still open. Here is the first."))
    expect(page.locator(".place-button")).to_have_text("1 of 2")
    expect(sliders(page).nth(1)).to_be_focused()
    shoot(page, "two-left")
    page.locator(".left").click()
    expect(sliders(page).nth(2)).to_be_focused()
    page.keyboard.press("m")
    expect(sliders(page).nth(1)).to_be_focused()


def test_one_translation_stands_out_as_the_one_that_is_judged(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, "ranking", documents=1)) as ranked:
        begin(page, ranked)
        for i, key in ((0, "ArrowDown"), (1, "ArrowUp"), (0, "ArrowDown")):
            expect(page.locator("article.card").nth(i)).to_contain_class("current")
            expect(page.locator("article.card.current")).to_have_count(1)
            page.keyboard.press(key)


def test_the_slider_by_keys_and_by_pointer(page: Page, server: Server) -> None:
    begin(page, server, "annotator-02")
    slider = sliders(page).first
    expect(slider).to_have_attribute("aria-valuetext", "not judged yet")
    for key, value in (
        ("ArrowRight", "50"), ("ArrowRight", "51"), ("ArrowUp", "52"), ("ArrowLeft", "51"), ("PageUp", "61"),
        ("PageDown", "51"), ("End", "100"), ("ArrowRight", "100"), ("Home", "0"), ("7", "7"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuenow", value)
    page.keyboard.press("3")
    expect(slider).to_have_attribute("aria-valuenow", "73")
    page.keyboard.press("Delete")
    expect(slider).not_to_have_attribute("aria-valuenow", re.compile("."))
    box = slider.locator(".track").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] / 2)
    expect(slider).to_have_attribute("aria-valuenow", "25")
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 2, box["y"])
    page.mouse.up()
    expect(slider).to_have_attribute("aria-valuenow", "100")


def test_a_key_that_opens_a_question_does_not_answer_it(page: Page, server: Server) -> None:
    begin(page, server, "annotator-13")
    count = int(page.locator(".place-button").inner_text().split()[-1])
    for screen in range(count):
        expect(page.locator(".place-button")).to_have_text(f"{screen + 1} of {count}")
        judge_screen(page, "da", screen)
        page.keyboard.press("Enter")
    question = page.locator("dialog[open]")
    expect(question).to_contain_text("hand them in")
    for key in ("Enter", "Enter", " "):
        page.keyboard.press(key)
        expect(question).to_be_visible()
    # The button itself, once somebody has gone to it by another key, and not by the key that opened the question.
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    page.locator(".next").focus()
    page.keyboard.down("Enter")
    page.keyboard.down("Enter")
    expect(question).to_be_visible()
    page.keyboard.up("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(question).to_have_count(0)
    expect(page.locator(".place-button")).to_be_visible()


def test_keys_are_shown_and_can_be_switched_off(page: Page, server: Server) -> None:
    begin(page, server, "annotator-03")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_contain_text("go to what is missing")
    page.get_by_label("Single keys act").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.press("8")
    expect(page.locator(".place-button")).to_have_text("1 of 2")
    expect(sliders(page).first).to_have_attribute("aria-valuetext", "not judged yet")
    page.keyboard.press("ArrowRight")
    expect(sliders(page).first).to_have_attribute("aria-valuenow", "50")


def test_all_screens_can_be_seen_and_gone_to(page: Page, server: Server) -> None:
    begin(page, server, "annotator-04")
    page.keyboard.press("o")
    shoot(page, "overview")
    page.get_by_label("Screen 2, not begun").click()
    expect(page.locator(".place-button")).to_have_text("2 of 2")
    page.keyboard.press("p")
    expect(page.locator(".place-button")).to_have_text("1 of 2")


def test_a_comment_is_written_and_saved(page: Page, server: Server, tmp_path: Path) -> None:
    begin(page, server, "annotator-05")
    page.keyboard.press("6")
    page.keyboard.press("c")
    page.keyboard.type("näher am Original, <b>wirklich</b>?")
    page.keyboard.press("Escape")

    def comments() -> list[str]:
        table = exported(server, tmp_path).final().table
        return table.filter(pl.col("annotator") == "annotator-05")["text"].to_list()

    wait_for(lambda: comments() == ["näher am Original, <b>wirklich</b>?"])
    page.reload()
    expect(page.locator("textarea").first).to_have_value("näher am Original, <b>wirklich</b>?")


def shown_seconds(page: Page) -> int:
    minutes, seconds = re.findall(r"(\d+):(\d\d)", page.locator(".time").inner_text())[0]
    return int(minutes) * 60 + int(seconds)


def stop_clock(page: Page) -> None:
    """Let time pass only when it is told to; a minute further on, which is taken for a sleep of the machine."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)


def test_time_stops_when_nobody_is_there_and_is_what_the_organisers_see(page: Page, server: Server) -> None:
    page.clock.install()
    began = time.time()
    begin(page, server, "annotator-06")
    stop_clock(page)
    page.context.set_offline(True)
    page.keyboard.press("5")
    before = shown_seconds(page)
    for _ in range(200):
        page.clock.run_for(1000)
    expect(page.locator(".time")).to_contain_text("paused")
    # The idle limit is 120 seconds after the last key.
    assert 119 <= shown_seconds(page) - before <= 121
    page.keyboard.press("6")
    page.clock.run_for(5000)
    expect(page.locator(".time")).not_to_contain_text("paused")
    assert 124 <= shown_seconds(page) - before <= 126
    page.clock.resume()
    page.context.set_offline(False)
    expect(page.locator(".saved")).to_have_text(re.compile("^Saved"))
    seconds = counted_seconds(server, "annotator-06")
    # The clock of the page ran faster than the real one: the server never counts more than has really passed.
    assert 0 < seconds <= time.time() - began
    with page.expect_response("**/api/work") as answer:
        page.reload()
    told = answer.value.json()["active_seconds"]
    expect(page.locator(".time")).to_contain_text("Time")
    # From there on it counts further.
    assert int(told) <= shown_seconds(page) <= time.time() - began
    assert seconds <= told <= counted_seconds(server, "annotator-06")


def counted_seconds(server: Server, name: str) -> float:
    """The working time of somebody as organisers see it."""
    people = server.client("organiser").get("/api/organiser/overview").json["annotators"]
    return float(next(person for person in people if person["name"] == name)["active_seconds"])


def test_raw_events_are_kept(page: Page, server: Server) -> None:
    begin(page, server, "annotator-07")
    bodies: list[Any] = []
    page.on("request", lambda sent: bodies.append(json.loads(sent.post_data or "{}")) if "saves" in sent.url else None)
    page.keyboard.press("5")
    expect(page.locator(".saved")).to_have_text(re.compile("^Saved"))
    kinds = [event[1] for body in bodies for event in body["events"]]
    assert {"shown", "attended", "set"} <= set(kinds)
    assert bodies[0]["spent"]["active"] > 0
    assert sum(bodies[0]["spent"]["outputs"].values()) == pytest.approx(bodies[0]["spent"]["active"])


@pytest.mark.parametrize("language", ["de", "ar"])
def test_the_interface_speaks_the_browsers_language(language: str, browser: Browser, server: Server) -> None:
    name = "annotator-08" if language == "de" else "annotator-09"
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale=language)
    page = context.new_page()
    page.goto(server.links[name])
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dir") == ("rtl" if language == "ar" else "ltr")
    page.keyboard.press("ArrowLeft" if language == "ar" else "ArrowRight")
    page.keyboard.press("ArrowLeft" if language == "ar" else "ArrowRight")
    expect(sliders(page).first).to_have_attribute("aria-valuenow", "51")
    shoot(page, f"interface-{language}")
    context.close()


@pytest.mark.parametrize("protocol", ["da", "sqm", "ranking", "pairwise"])
def test_narrow_and_zoomed_screens_show_everything(protocol: str, page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, protocol, source="en", target="ja", documents=1)) as server:
        page.set_viewport_size({"width": 390, "height": 844})
        begin(page, server)
        shoot(page, f"{protocol}-phone")
        assert _overflow(page) <= 0, "nothing is wider than a telephone"
        page.keyboard.press("d")
        shoot(page, f"{protocol}-phone-dark")
        # 200% on a common screen is half as many pixels.
        page.set_viewport_size({"width": 640, "height": 400})
        assert _overflow(page) <= 0
        for _ in range(5):
            page.keyboard.press("+")
        assert _overflow(page) <= 0, "nor with the largest text"


def _overflow(page: Page) -> int:
    overflow: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return overflow


def test_letters_are_dragged_to_ranks_and_ties_are_allowed(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, "ranking", documents=1)) as server:
        begin(page, server)
        chips = page.locator(".chip")
        for i, rank in ((0, 2), (1, 2), (2, 1)):
            chips.filter(has_text="ABC"[i]).drag_to(page.locator(f".shelf[data-rank='{rank}']"))
        shoot(page, "ranking-dragged")
        groups = page.get_by_role("radiogroup")
        for i, name in ((0, "2"), (1, "2"), (2, "1 best")):
            checked = groups.nth(i).get_by_role("radio", checked=True)
            expect(checked).to_have_attribute("aria-label", name)
        page.locator(".badge").first.drag_to(page.locator(".shelf.tray"))
        expect(groups.first.get_by_role("radio", checked=True)).to_have_count(0)
        expect(page.locator(".left")).to_have_text("3 left here")


EVIL = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"


@pytest.mark.parametrize("html", ["no", "sanitised"])
def test_scripts_in_texts_names_and_comments_are_inert(html: str, page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path,
        documents=1,
        annotators=json.dumps([f"anna {EVIL}"]),
        more=f'[page]\nhtml = "{html}"\ncomments = true\n[instructions]\nen = """{EVIL}"""\n',
    )
    for file in (tmp_path / "source.txt", tmp_path / "alpha.txt", tmp_path / "beta.txt", tmp_path / "gamma.txt"):
        lines = file.read_text().splitlines()
        file.write_text("\n".join(f"<b>{line}</b> {EVIL}" if line else "" for line in lines) + "\n")
    dialogs: list[str] = []

    def opened(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", opened)
    with Server(campaign) as server:
        begin(page, server, f"anna {EVIL}")
        words = page.locator(".words").last
        if html == "no":
            expect(words).to_contain_text("<b>")
            expect(words).to_contain_text("<script>")
        else:
            expect(words.locator("b")).to_have_count(1)
            expect(words).not_to_contain_text("script")
        page.keyboard.press("5")
        page.keyboard.press("c")
        page.keyboard.type(EVIL)
        page.keyboard.press("Escape")
        expect(page.locator(".saved")).to_have_text(re.compile("^Saved"))
        shoot(page, f"injection-{html}")
        assert page.evaluate("window.hacked") is None
        organiser = page.context.new_page()
        organiser.goto(server.links["organiser"])
        organiser.get_by_role("button", name="Exclude…").click()
        organiser.get_by_label("Reason").fill(EVIL)
        organiser.get_by_role("button", name="Record the decision").click()
        expect(organiser.get_by_text("Excluded", exact=True).first).to_be_visible()
        expect(organiser.locator("td").filter(has_text="onerror").first).to_be_visible()
        assert organiser.evaluate("window.hacked") is None
    assert dialogs == []
