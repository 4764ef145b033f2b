"""Several translations side by side: by keys alone from texts to the verdict, on wide and narrow screens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, mark_words, saved, type_together
from tests.helpers.serving import Server, export_file, exported, new_save, outputs, run
from tests.server.conftest import shoot
from tests.server.test_layout import OVERLAPS
from tests.server.test_media import picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# What a person gives who sees how often a translation was spoilt, more or less.
POINTS = {"alpha": 90, "beta": 65, "gamma": 40}
IN_HAND = (
    """() => document.activeElement.closest(".side").querySelector("[role=slider]").getAttribute("aria-valuenow")"""
)


def score(page: Page, number: str) -> None:
    type_together(page, number, lambda: page.evaluate(IN_HAND) == number)


def makers(folder: Path) -> dict[str, str]:
    """The system of each text."""
    return {line: name for name in POINTS for line in (folder / f"{name}.txt").read_text().splitlines() if line}


def judge_all_sides(page: Page, made_by: dict[str, str], name: str) -> None:
    """Judge every screen by keys: mark errors in what is spoilt, type a score, Enter."""
    count = int(page.locator(".place-button").inner_text().split()[-1])
    for number in range(1, count + 1):
        expect(page.locator(".place-button")).to_have_text(f"{number} of {count}")
        for side in page.locator(".side").all():
            text = side.locator(".markable")
            expect(text).to_be_focused()
            system = made_by[text.inner_text().replace("\u200b", "")]
            if system != "alpha":
                mark_words(page, 1, 2, severity=int(system == "gamma"))
            score(page, str(POINTS[system] + crc32(f"{name} {text.inner_text()}".encode()) % 10))
            page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_contain_text("hand them in")
    page.keyboard.press("h")
    page.get_by_text("Thank you!").wait_for()


def test_a_whole_campaign_from_texts_to_the_verdict_by_keys(
    browser: Browser, database: str | None, tmp_path: Path
) -> None:
    people = ["anna", "bert"]
    campaign = make_campaign(
        tmp_path, "esa", documents=4, task_size=12, annotators=json.dumps(people), design="judgments = 2\noutputs = 3"
    )
    made_by = makers(tmp_path)
    with Server(campaign, database=database) as server:
        for name in people:
            context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
            page = context.new_page()
            begin(page, server, name)
            judge_all_sides(page, made_by, name)
            context.close()
        run("verify", campaign, *(["--database", database] if database else []))
        table = exported(server, tmp_path).final().table
    assert table.height == 4 * 3 * 3 * 2
    # The export tells which outputs stood on one screen, and where.
    assert table.group_by("annotator", "screen", "segment").agg(pl.col("position").cast(pl.Int64).sort()).select(
        pl.col("position").list.eval(pl.element().cast(pl.String)).list.join(" ").unique()
    )["position"].to_list() == ["0 1 2"]
    stood = table.group_by("system").agg(pl.col("position").n_unique())
    assert stood["position"].to_list() == [3, 3, 3]
    if database is None:
        verdict = json.loads(run("rank", export_file(campaign), "--json").out)
        assert [row["system"] for row in verdict["systems"]] == ["alpha", "beta", "gamma"]
        report = tmp_path / "report.html"
        run("report", export_file(campaign), "-o", report)
        assert "alpha" in report.read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("sides")
    campaign = make_campaign(
        folder,
        "esa",
        documents=1,
        task_size=20,
        annotators="12",
        design='judgments = 12\noutputs = 3\nstructure = "mixed"',
        more='[assignment]\npolicy = "pool"\n[page]\ncomments = true\n[spans]\nsource = true\n',
    )
    with Server(campaign) as running:
        yield running


def test_sliders_show_each_others_values_and_keys_switch_between_translations(page: Page, server: Server) -> None:
    begin(page, server, "annotator-01")
    score(page, "72")
    places = "all => all.map((one) => [one.textContent, Number(one.style.getPropertyValue('--at'))])"
    for i, shown in enumerate([[], [["A", 0.72]], [["A", 0.72]]]):
        assert page.locator(".side").nth(i).locator(".other").evaluate_all(places) == shown
    expect(page.get_by_role("slider", name="Score of translation B")).to_have_attribute("aria-description", "A 72")
    page.keyboard.press("Shift+Digit3")
    expect(page.locator(".side").nth(2).locator(".markable")).to_be_focused()
    score(page, "10")
    page.keyboard.press("Shift+Digit1")
    expect(page.locator(".side").first.locator(".markable")).to_be_focused()
    # Enter passes over the score that is given, and goes to the text of the next.
    page.keyboard.press("Enter")
    expect(page.locator(".side").nth(1).locator(".markable")).to_be_focused()
    assert page.locator(".side").nth(1).locator(".other").evaluate_all(places) == [["A", 0.72], ["C", 0.1]]
    page.keyboard.press("Shift+Digit3")
    score(page, "72")
    # Two letters at one place would hide each other.
    assert page.locator(".side").nth(1).locator(".other").evaluate_all(places) == [["AC", 0.72]]
    page.keyboard.press("Shift+Digit2")
    shoot(page, "sides-wide")


def test_undo_and_another_tab_reach_the_right_translation(page: Page, server: Server) -> None:
    begin(page, server, "annotator-02")
    page.keyboard.press("Shift+Digit2")
    mark_words(page, 1)
    expect(page.locator(".side").nth(1).locator("li.error")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(page.locator("li.error")).to_have_count(0)
    mark_words(page, 1)
    saved(page)
    page.reload()
    expect(page.locator(".side").nth(1).locator("li.error")).to_have_count(1)
    expect(page.locator("li.error")).to_have_count(1)


def test_marks_in_the_source_belong_to_one_translation(page: Page, server: Server) -> None:
    begin(page, server, "annotator-03")
    page.keyboard.press("s")
    mark_words(page, 1)
    expect(page.locator(".above mark")).to_have_count(1)
    page.keyboard.press("Shift+Digit2")
    expect(page.locator(".above mark:visible")).to_have_count(0)
    page.keyboard.press("Shift+Digit1")
    expect(page.locator(".above mark:visible")).to_have_count(1)


PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_on_a_phone_buttons_go_from_one_translation_to_the_next_and_the_source_stays(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(locale="en-GB", reduced_motion="reduce", **PHONE)
    page = context.new_page()
    begin(page, server, "annotator-04")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    jumps = page.locator(".jump-side")
    jumps.nth(2).tap()
    third = page.locator(".side").nth(2)
    expect(third).to_contain_class("current")
    expect(third.locator("[role=slider]")).to_be_in_viewport()
    expect(page.locator(".above .words:visible")).to_be_in_viewport()
    box = third.locator(".track").bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(jumps.nth(2)).to_have_text(re.compile(r"^C(49|50|51)$"))
    expect(jumps.nth(0)).to_have_text("A–")
    shoot(page, "sides-phone")
    context.close()


@pytest.mark.parametrize(("width", "outputs_shown"), [(1440, 6), (1024, 4), (640, 3)])
def test_nothing_overhangs_with_any_number_and_direction(
    width: int, outputs_shown: int, page: Page, tmp_path: Path
) -> None:
    names = 5
    campaign = make_campaign(
        tmp_path,
        "mqm",
        source="en",
        target="ar",
        documents=1,
        systems=names,
        task_size=20,
        design=f"outputs = {min(outputs_shown, names)}",
    )
    with Server(campaign) as running:
        page.set_viewport_size({"width": width, "height": 900})
        begin(page, running)
        mark_words(page, 1, 2)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        overhanging = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
        assert page.locator(".side").evaluate_all(overhanging) == 0
        page.keyboard.press("d")
        shoot(page, f"sides-{width}-ar-dark")


@pytest.mark.parametrize(("width", "language"), [(860, "de-DE"), (390, "de-DE"), (1440, "ar"), (1180, "ar")])
def test_scales_can_be_read_and_pictures_are_whole_at_every_width(
    width: int, language: str, browser: Browser, tmp_path: Path
) -> None:
    criteria = (
        '[criteria.meaning]\nscale = { low = 0, high = 100 }\n[criteria.whole]\n[criteria.steps]\nscale = "sqm"\n'
    )
    media = '[files.media]\nfolder = "media"\nsource = "media.txt"\n'
    campaign = make_campaign(tmp_path, "esa", documents=1, design="outputs = 3", more=criteria + media)
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "shot.png").write_bytes(picture(600))
    segments = len((tmp_path / "source.txt").read_text(encoding="utf-8").splitlines())
    (tmp_path / "media.txt").write_text("shot.png\tshot.png\n" * segments)
    with Server(campaign) as running:
        context = browser.new_context(locale=language, viewport={"width": width, "height": 900})
        page = context.new_page()
        begin(page, running)
        assert page.evaluate(OVERLAPS) == 0
        ends = page.locator(".criterion").first.locator(".anchor:visible")
        expect(ends).to_have_text(["0", "100"])
        expect(page.locator(".given img").first).to_be_visible()
        # Of a picture that is cut off, nobody would know how it goes on.
        cut = "all => all.filter((one) => one.scrollHeight > one.clientHeight + 1).length"
        assert page.locator(".given").evaluate_all(cut) == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        context.close()


LONG = "The train to Hamburg leaves from platform seven today, and nobody knows why. " * 40


@pytest.mark.parametrize("design", ["outputs = 2", "outputs = 1"])
@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_beside_texts_of_3000_characters_slider_and_marks_stay_in_sight(
    design: str, size: tuple[int, int], page: Page, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, "esa", documents=1, systems=2, task_size=20, design=design)
    for name in ("source", "alpha", "beta"):
        (tmp_path / f"{name}.txt").write_text(f"{LONG}{name}\n" * 2)
    with Server(campaign) as running:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        begin(page, running)
        mark_words(page, 1)
        article = page.locator("article").first
        height = page.evaluate("document.querySelector('article').scrollHeight")
        assert height > size[1]
        for part in (0.1, 0.4, 0.7, 0.95):
            page.evaluate(
                "(part) => { const a = document.querySelector('article');"
                " scrollTo(0, a.offsetTop + part * (a.offsetHeight - innerHeight)); }",
                part,
            )
            if size[0] > 1000 or design == "outputs = 1":
                expect(article.locator("[role=slider]").first).to_be_in_viewport()
                expect(article.locator("li.error").first).to_be_in_viewport()
            else:
                expect(article.locator("[role=slider]").nth(int(part > 0.5))).to_be_in_viewport()
            if design == "outputs = 2":
                expect(article.locator(".given")).to_be_in_viewport()
        shoot(page, f"long-{design[-1]}-{size[0]}")


def test_five_ordinary_segments_are_seen_at_once(page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, "esa", documents=1, systems=1, task_size=20)
    for name in ("source", "alpha"):
        file = tmp_path / f"{name}.txt"
        file.write_text((file.read_text().strip() + "\n") * 3)
    with Server(campaign) as running:
        page.set_viewport_size({"width": 1440, "height": 900})
        begin(page, running)
        whole = """() => {
          const bottom = document.querySelector("footer").getBoundingClientRect().top;
          return [...document.querySelectorAll("article")].filter((one) =>
            one.getBoundingClientRect().bottom <= bottom).length;
        }"""
        assert page.evaluate(whole) >= 5


def test_what_others_see_is_refused_and_blind(server: Server) -> None:
    """The same rules as elsewhere: only what is on the screen, on the scale, in the texts; nothing says who made it."""
    client = server.client("annotator-05")
    work = client.work()
    first = outputs(work, 0)
    assert len(first) == 3
    assert "alpha" not in json.dumps(work)
    wrong: list[tuple[list[dict[str, Any]], str]] = [
        ([{"output": "elsewhere", "score": 5}], "is not on screen"),
        ([{"output": first[1], "score": 500}], "does not lie between"),
        ([{"output": first[2], "rank": 1}], "has no rank"),
    ]
    for changes, why in wrong:
        answer = client.post("/api/saves", new_save(work, 0, changes))
        assert answer.status == 409
        assert why in answer.text
    good = [{"output": output, "score": 10 * i} for i, output in enumerate(first)]
    answer = client.post("/api/saves", new_save(work, 0, good))
    assert answer.status == 200
    assert answer.json["state"]["complete"]
