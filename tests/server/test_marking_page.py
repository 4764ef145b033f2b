"""Marking errors on the page: by keys alone, by mouse, by touch, in every script; asking back; marks found there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from playwright.sync_api import expect

from adjudge.table.judgments import Judgments
from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import (
    begin,
    campaign_of_texts,
    drag,
    errors,
    forward_key,
    mark_words,
    saved,
    texts_of,
    type_number,
)
from tests.helpers.serving import Server, exported, wait_for
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

EMOJI = "Die 👩‍🚀 sieht ein cafe\u0301, ganz nah\u0308."
# Line, first unit to be marked, how many, and what must be marked then.
WORDS = (
    (EMOJI, 1, 1, "👩‍🚀"),
    (EMOJI, 4, 1, "cafe\u0301"),
    (EMOJI, 5, 1, ","),
    ("👍🏽🇩🇪 it’s 20.5 % (ok)", 2, 2, "it’s 20.5"),
    ("הרכבת יוצאת ב-20 דקות (לפי DB) היום", 1, 1, "יוצאת"),
    ("यह क्षेत्र है", 1, 1, "क्षेत्र"),
)
CHARACTERS = (
    ("工事のため、出発は約20分遅れます。", 9, 3, "約20"),
    ("𠮷野家で🍣を食べた", 0, 1, "𠮷"),
    ("รถไฟไปกรุงเทพ", 1, 1, "ถ"),
    ("ที่นี่", 0, 1, "ที่"),
    ("か\u3099くせい と", 0, 2, "か\u3099く"),
)


PEOPLE = 8


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One page of two segments, judged by whoever comes."""
    lines = ["one two three four five.", "six seven eight."]
    folder = tmp_path_factory.mktemp("shared")
    campaign = campaign_of_texts(folder, lines, annotators=str(PEOPLE), design=f"judgments = {PEOPLE}")
    with Server(campaign) as running:
        yield running


def spans_of(judgments: Judgments, segment: str = "1", *, annotator: str | None = None) -> list[dict[str, Any]]:
    table = judgments.final().table.filter(pl.col("segment") == segment)
    table = table if annotator is None else table.filter(pl.col("annotator") == annotator)
    spans: list[dict[str, Any]] = table["spans"].to_list()[0] if table.height else []
    return spans or []


@pytest.mark.parametrize("target", ["en", "ar"])
def test_errors_are_marked_and_scored_to_the_export_by_keys_alone(target: str, page: Page, tmp_path: Path) -> None:
    source = "de" if target == "en" else "en"
    campaign = make_campaign(tmp_path, "esa", source=source, target=target, documents=1, task_size=30)
    with Server(campaign) as server:
        begin(page, server)
        shoot(page, f"esa-{target}-unset")
        places = (
            page.locator(".score")
            .first.locator(".tick")
            .evaluate_all("all => all.map((one) => Number(one.style.getPropertyValue('--at')))")
        )
        assert places == [0, 0.33, 0.66, 1], "marks stand where the scale has its meanings"
        count = int(page.locator(".place-button").inner_text().split()[-1])
        for screen in range(count):
            expect(page.locator(".place-button")).to_have_text(f"{screen + 1} of {count}")
            for i in range(texts_of(page).count()):
                expect(texts_of(page).nth(i)).to_be_focused()
                if i == 0:
                    mark_words(page, 1, 2, severity=1)
                    mark_words(page, 5)
                    page.keyboard.press("g")
                page.keyboard.press("Enter")
                type_number(page, "60" if i == 0 else "100")
                if (screen, i) == (0, 1):
                    shoot(page, f"esa-{target}")
                page.keyboard.press("Enter")
        expect(page.locator("dialog[open]")).to_contain_text("hand them in")
        page.keyboard.press("h")
        page.get_by_text("Thank you!").wait_for()
        table = exported(server, tmp_path).final().table
    assert table["protocol"].unique().to_list() == ["esa"]
    assert table.height == 9
    assert table["score"].null_count() == 0
    lines = {name: (tmp_path / f"{name}.txt").read_text().splitlines() for name in table["system"].unique()}
    for row in table.iter_rows(named=True):
        text = lines[row["system"]][int(row["segment"]) - 1]
        kinds = [(span["side"], span["severity"]) for span in row["spans"]]
        first = row["segment"] == "1"
        assert kinds == ([("target", "major"), ("target", "minor"), ("missing", "minor")] if first else [])
        for span in row["spans"]:
            assert span["text"] == (None if span["side"] == "missing" else text[span["start"] : span["end"]])


def test_a_mark_is_changed_and_deleted_by_keys_and_by_buttons(page: Page, shared: Server, tmp_path: Path) -> None:
    begin(page, shared, "annotator-01")
    mark_words(page, 1, 2)
    assert errors(page) == ["“two three”, Minor"]
    page.keyboard.press("Space")
    assert errors(page) == ["“two three”, Major"]
    # A mark that meets another becomes one with it, and the graver of both counts.
    mark_words(page, 2, 3)
    assert errors(page) == ["“two three four five”, Major"]
    page.get_by_role("button", name="Minor").click()
    assert errors(page) == ["“two three four five”, Minor"]
    expect(page.get_by_role("button", name="Minor")).to_be_focused()
    expect(page.get_by_role("button", name="Minor")).to_have_attribute("aria-pressed", "true")
    texts_of(page).first.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    assert len(errors(page)) == 1, "nothing is marked under the cursor"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Delete")
    assert errors(page) == []
    for _ in range(2):
        page.keyboard.press("g")
    assert errors(page) == ["something is missing, Minor"] * 2
    page.keyboard.press("Delete")
    assert errors(page) == ["something is missing, Minor"]
    page.get_by_role("button", name="Delete the mark: something is missing").click()
    assert errors(page) == []
    saved(page)
    page.reload()
    expect(texts_of(page).first).to_be_visible()
    expect(page.locator("li.error")).to_have_count(0)
    assert errors(page) == []
    assert spans_of(exported(shared, tmp_path), annotator="annotator-01") == []


def test_words_are_marked_by_dragging_clicking_and_touching(page: Page, browser: Browser, shared: Server) -> None:
    begin(page, shared, "annotator-02")
    units = page.locator(".columns > div:last-child .unit")
    drag(page, units.nth(2), units.nth(1))
    units.nth(4).click()
    assert errors(page) == ["“two three”, Minor", "“five”, Minor"]
    units.nth(1).click()
    expect(page.locator("li.error.current")).to_have_attribute("aria-label", "“two three”, Minor")
    assert len(errors(page)) == 2, "a click on a mark shows it and makes no other"
    saved(page)
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, locale="en-GB")
    phone = context.new_page()
    phone.goto(shared.links["annotator-02"])
    phone.get_by_role("button", name="Begin").tap()
    phone.locator(".columns > div:last-child .unit").nth(3).tap()
    expect(phone.locator("li.error")).to_have_count(3)
    phone.get_by_role("button", name="Major").nth(1).tap()
    # What a tap does comes after it, other than what a click does.
    wait_for(lambda: errors(phone) == ["“two three”, Minor", "“four”, Major", "“five”, Minor"])
    shoot(phone, "esa-phone-marked")
    context.close()


@pytest.mark.parametrize("snap", ["words", "characters"])
def test_marks_snap_to_what_readers_see(snap: str, page: Page, tmp_path: Path) -> None:
    marked = WORDS if snap == "words" else CHARACTERS
    lines = [line for line, *_ in marked]
    target = "de" if snap == "words" else "ja"
    with Server(campaign_of_texts(tmp_path, lines, target=target)) as server:
        begin(page, server)
        for i, (_, first, count, _) in enumerate(marked):
            texts_of(page).nth(i).focus()
            mark_words(page, first, count)
        saved(page)
        shoot(page, f"esa-scripts-{snap}")
        wait_for(lambda: spans_of(exported(server, tmp_path), str(len(marked))))
        judgments = exported(server, tmp_path)
    for i, (line, _, _, quoted) in enumerate(marked):
        [span] = spans_of(judgments, str(i + 1))
        assert span["text"] == quoted
        assert line[span["start"] : span["end"]] == quoted


def test_no_word_moves_when_it_is_marked(page: Page, tmp_path: Path) -> None:
    line = "بسبب أعمال البناء يتأخر موعد المغادرة نحو 20 دقيقة (حسب موقع DB 2.0) إلى 14:30 غدا"
    with Server(campaign_of_texts(tmp_path, [line], target="ar")) as server:
        begin(page, server)
        expect(texts_of(page).first).to_have_attribute("dir", "rtl")
        units = "[...document.querySelectorAll('.columns > div:last-child .unit')]"
        places = (
            f"{units}.map(one => {{const b = one.getBoundingClientRect(); return [Math.round(b.x), one.textContent]}})"
        )
        before = page.evaluate(places)
        for first, count in ((7, 1), (9, 4), (14, 2)):
            mark_words(page, first, count, severity=1)
        assert len(errors(page)) == 3
        shoot(page, "esa-bidi")
        assert page.evaluate(places) == before
        assert texts_of(page).first.inner_text() == line


def test_what_is_asked_back_can_be_kept_and_blocks_nothing(page: Page, shared: Server, tmp_path: Path) -> None:
    begin(page, shared, "annotator-03")
    asked = page.locator(".ask-back").first
    expect(asked).to_be_hidden()
    type_number(page, "20")
    expect(asked).to_contain_text("no error is marked")
    mark_words(page, 0, severity=1)
    expect(asked).to_be_hidden()
    type_number(page, "95")
    expect(asked).to_contain_text("major error")
    shoot(page, "esa-asked-back")
    page.keyboard.press("k")
    expect(asked).to_be_hidden()
    texts_of(page).nth(1).focus()
    page.keyboard.press("0")
    expect(page.locator(".ask-back").nth(1)).to_be_visible()
    saved(page)
    page.keyboard.press("n")
    expect(page.locator("dialog[open]")).to_contain_text("hand them in")
    table = exported(shared, tmp_path).final().table.filter(pl.col("annotator") == "annotator-03").sort("segment")
    assert table["warning"].to_list() == ["high-with-major", "low-without-error"]
    assert table["warning_kept"].to_list() == ["true", "false"]


def test_marks_that_were_there_are_kept_changed_and_deleted(page: Page, tmp_path: Path) -> None:
    campaign = campaign_of_texts(tmp_path, ["one two three four.", "five six."], more="")
    text = campaign.read_text().replace("[files]\n", '[files]\nprefilled = "marks.tsv"\n')
    campaign.write_text(text)
    rows = ["0\t3\tminor\tone", "4\t7\tmajor\ttwo", "8\t13\tminor\tthree"]
    (tmp_path / "marks.tsv").write_text(
        "system\tsegment\tstart\tend\tseverity\ttext\n" + "\n".join(f"alpha\t1\t{row}" for row in rows) + "\n"
    )
    with Server(campaign) as server:
        begin(page, server)
        assert errors(page) == ["“one”, Minor", "“two”, Major", "“three”, Minor"]
        expect(page.locator("li.error .hint").first).to_have_text("marked beforehand")
        type_number(page, "70")
        saved(page)
        wait_for(lambda: len(spans_of(exported(server, tmp_path))) == 3)
        table = exported(server, tmp_path).final().table.filter(pl.col("segment") == "1")
        assert table["span_origins"].to_list() == ["prefilled prefilled prefilled"]
        page.get_by_role("button", name="Minor").nth(1).click()
        page.get_by_role("button", name="Delete the mark: “three”").click()
        mark_words(page, 3)
        expect(page.locator("li.error .hint")).to_have_text(["marked beforehand", "marked beforehand, changed"])
        shoot(page, "esa-prefilled")
        saved(page)
        page.reload()
        expect(page.locator("li.error .hint")).to_have_text(["marked beforehand", "marked beforehand, changed"])
        table = exported(server, tmp_path).final().table.filter(pl.col("segment") == "1")
    assert table["span_origins"].to_list() == ["prefilled changed annotator"]
    assert [span["severity"] for span in table["spans"][0]] == ["minor", "minor", "minor"]
    assert table["prefilled"][0].count("severity") == 3


def test_marks_made_without_a_connection_are_saved_later(page: Page, shared: Server, tmp_path: Path) -> None:
    begin(page, shared, "annotator-04")
    page.context.set_offline(True)
    mark_words(page, 1, severity=1)
    type_number(page, "40")
    expect(page.locator(".saved")).to_contain_text("kept here")
    page.context.set_offline(False)
    saved(page)
    page.reload()
    expect(texts_of(page).first).to_be_visible()
    expect(page.locator("li.error")).to_have_count(1)
    assert errors(page) == ["“two”, Major"]
    [span] = spans_of(exported(shared, tmp_path), annotator="annotator-04")
    assert (span["start"], span["end"], span["text"]) == (4, 7, "two")


def test_the_source_can_be_marked_where_the_campaign_says_so(page: Page, tmp_path: Path) -> None:
    campaign = campaign_of_texts(tmp_path, ["one two."], more="[spans]\nsource = true\nmissing = false\n")
    with Server(campaign) as server:
        begin(page, server)
        expect(page.get_by_role("button", name="Something is missing")).to_have_count(0)
        page.keyboard.press("s")
        mark_words(page, 0)
        page.keyboard.press("s")
        expect(texts_of(page).first).to_be_focused()
        saved(page)
        [span] = spans_of(exported(server, tmp_path))
    assert (span["side"], span["text"]) == ("source", "Quelle")


def test_marks_are_announced_and_keys_are_shown(page: Page, shared: Server) -> None:
    begin(page, shared, "annotator-05")
    status = page.locator(".marking [role=status]").first
    page.keyboard.press(forward_key(page))
    expect(status).to_have_text("two")
    page.keyboard.press("Space")
    expect(status).to_have_text("Marked: “two”, Minor")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_contain_text("from word to word")
    shoot(page, "esa-keys")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    mark = page.locator("mark.error-mark")
    style = mark.evaluate("one => getComputedStyle(one).textDecorationStyle")
    letter = mark.evaluate("one => getComputedStyle(one, '::before').content")
    assert (style, letter.split('"')[1]) == ("dotted", "m")
    page.keyboard.press("Space")
    style = mark.evaluate("one => getComputedStyle(one).textDecorationStyle")
    assert style == "solid"


def test_scripts_in_marked_texts_are_inert(page: Page, tmp_path: Path) -> None:
    evil = "<img src=x onerror='window.hacked=1'> bad"
    with Server(campaign_of_texts(tmp_path, [evil])) as server:
        begin(page, server)
        page.keyboard.press("Shift+End")
        page.keyboard.press("Space")
        expect(page.locator("li.error")).to_contain_text("<img src=x")
        saved(page)
        assert page.evaluate("window.hacked") is None
        assert re.search("img", spans_of(exported(server, tmp_path))[0]["text"])


@pytest.mark.parametrize("protocol", ["esa", "mqm"])
def test_narrow_and_zoomed_screens_show_all_of_the_marking(protocol: str, page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, protocol, source="en", target="ja", documents=1)) as server:
        page.set_viewport_size({"width": 390, "height": 844})
        begin(page, server)
        mark_words(page, 1, 3)
        page.keyboard.press("g")
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) <= 0
        shoot(page, f"{protocol}-phone")
        page.keyboard.press("d")
        shoot(page, f"{protocol}-phone-dark")
        page.set_viewport_size({"width": 640, "height": 400})
        for _ in range(5):
            page.keyboard.press("+")
        assert page.evaluate(wide) <= 0


def test_two_tabs_that_mark_the_same_segment_are_told(page: Page, shared: Server) -> None:
    begin(page, shared, "annotator-06")
    other = page.context.new_page()
    other.goto(shared.url + "/work")
    expect(texts_of(other).first).to_be_focused()
    mark_words(page, 0)
    saved(page)
    expect(other.locator("li.error")).to_have_count(1)
    other.bring_to_front()
    texts_of(other).nth(1).focus()
    mark_words(other, 1)
    saved(other)
    expect(page.locator("li.error")).to_have_count(2)
    assert (errors(page, 0), errors(page, 1)) == (["“one”, Minor"], ["“seven”, Minor"])


def test_fingers_mark_by_moving_along_the_line_and_scroll_by_moving_across(browser: Browser, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, ["one two three four five.", *["six seven eight."] * 6])) as server:
        context = browser.new_context(viewport={"width": 390, "height": 600}, has_touch=True, locale="en-GB")
        phone = context.new_page()
        phone.goto(server.links["anna"])
        phone.get_by_role("button", name="Begin").tap()
        expect(phone.locator("dialog[open]")).to_have_count(0)
        touch = context.new_cdp_session(phone)

        def swipe(start: tuple[float, float], end: tuple[float, float]) -> None:
            for i in range(11):
                x, y = (begin + (other - begin) * i / 10 for begin, other in zip(start, end, strict=True))
                points = [{"x": x, "y": y}]
                touch.send(
                    "Input.dispatchTouchEvent", {"type": "touchMove" if i else "touchStart", "touchPoints": points}
                )
            touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

        units = phone.locator(".columns > div:last-child .unit")
        boxes = [units.nth(i).bounding_box() for i in (1, 3)]
        (x, y), (to_x, to_y) = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box]
        swipe((x, y), (to_x, to_y))
        expect(phone.locator("li.error")).to_have_count(1)
        assert errors(phone) == ["“two three four”, Minor"]
        box = units.nth(1).bounding_box()
        assert box is not None
        swipe((box["x"] + 5, box["y"] + 5), (box["x"] + 5, box["y"] - 120))
        wait_for(lambda: phone.evaluate("window.scrollY") > 0)
        assert errors(phone) == ["“two three four”, Minor"], "scrolling marks nothing"
        context.close()


def test_marks_that_were_saved_survive_a_power_cut(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, ["one two three four."])) as server:
        begin(page, server)
        mark_words(page, 1, severity=1)
        saved(page)
        server.kill()
        mark_words(page, 3)
        expect(page.locator(".saved")).to_contain_text("kept here")
        server.start()
        saved(page)
        table = exported(server, tmp_path).final().table
    assert [span["text"] for span in table["spans"][0]] == ["two", "four"]
