"""The report in a real browser: offline, without errors, on a phone, in the dark, with hostile names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pytest

import adjudge
from adjudge.evidence.parity import ParitySettings, parity
from adjudge.metrics.join import Scores
from adjudge.metrics.meta import evaluate
from adjudge.reports.build import build_report
from adjudge.reports.display import frame_of
from adjudge.reports.files import render
from adjudge.reports.page import PairPage, ReportPage, Section
from adjudge.reports.parity_page import build_parity_page
from adjudge.reports.replication_page import build_replication_page
from adjudge.reports.result_page import build_standard_report, charts_of
from adjudge.table.files import write_text
from adjudge.table.results import Result, Table, number, text
from tests.conftest import PATIENCE
from tests.evidence.test_parity import SMALL
from tests.helpers.made import NASTY, pair_results, score_results, three_systems
from tests.helpers.papers import replication

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
PHONE = 390


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "report.html"
    results = {"en-cs": pair_results(), "de-en": pair_results(NASTY), "scores": score_results(NASTY)}
    write_text(path, render(build_report(results, title=f"Campaign {NASTY}")))
    return path


@pytest.fixture(autouse=True)
def close_pages(browser: Browser) -> Iterator[None]:
    """No page stays open longer than its test."""
    yield
    for context in browser.contexts:
        context.close()


def parity_page() -> ReportPage:
    comparison = parity(SMALL, human="ref", before=SMALL, settings=ParitySettings(resamples=20))
    return build_parity_page({"en-ko": comparison}, title=NASTY)


def metrics_page() -> ReportPage:
    """Twenty metrics with long names, as a metrics task has them."""
    rng = np.random.default_rng(1)
    human = rng.normal(size=(8, 20)) + np.arange(8)[:, None]
    metrics = {f"Some-Lab-Metric-{k:02}-refA_{NASTY}": human + rng.normal(0, k + 1, human.shape) for k in range(20)}
    scores = Scores(tuple(f"s{i}" for i in range(8)), tuple(map(str, range(20))), human, metrics)
    return build_standard_report(evaluate(scores, permutations=20, resamples=0), title="Metrics")


class Visit:
    """A page that was opened, and everything that went wrong on it."""

    def __init__(self, browser: Browser, report: Path, *, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
        )
        self.context.set_offline(True)
        self.page: Page = self.context.new_page()
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(report.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]", timeout=PATIENCE)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (PHONE, "light"), (PHONE, "dark")])
def test_every_chart_is_drawn_without_network_errors_or_overflow(
    browser: Browser, report: Path, width: int, scheme: str
) -> None:
    visit = Visit(browser, report, width=width, scheme=scheme)
    assert visit.faults == []
    assert visit.requests == [report.as_uri()]
    charts = visit.page.locator("[data-chart]")
    assert charts.count() >= 20
    assert visit.page.locator("[data-chart] svg").count() == charts.count()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    widest = "Math.max(...[...document.querySelectorAll('.chart')].map(e => e.getBoundingClientRect().right))"
    assert visit.page.evaluate(widest) <= width
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_a_plot_with_hostile_names_runs_nothing(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "plot.html"
    three_systems(NASTY).plot().save(path)
    context = browser.new_context()
    context.set_offline(True)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0


def paper_page() -> ReportPage:
    return build_replication_page(replication(NASTY), title=NASTY)


PAGES = {"parity": parity_page, "metrics": metrics_page, "paper": paper_page}


@pytest.mark.parametrize("kind", PAGES)
def test_other_pages_need_no_network_either(browser: Browser, tmp_path: Path, kind: str) -> None:
    page = PAGES[kind]()
    path = tmp_path / f"{kind}.html"
    write_text(path, render(page))
    for width in (1280, PHONE):
        visit = Visit(browser, path, width=width)
        assert visit.faults == []
        assert visit.requests == [path.as_uri()]
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        # Wide charts scroll; in all others every text is inside.
        texts = "[...document.querySelectorAll('.chart:not(.wide) svg text')]"
        assert visit.page.evaluate(f"Math.max(0, ...{texts}.map(e => e.getBoundingClientRect().right))") <= width


@pytest.mark.parametrize("width", [1280, 700, PHONE, 320])
def test_names_of_points_do_not_cover_each_other(browser: Browser, tmp_path: Path, width: int) -> None:
    """Eight points in a heap."""
    path = tmp_path / "paper.html"
    write_text(path, render(build_replication_page(replication(), title="A paper")))
    visit = Visit(browser, path, width=width)
    script = """[...document.querySelectorAll('[data-chart=paper-figure-1] text')]
        .filter(e => e.textContent.startsWith('system-'))
        .map(e => { const b = e.getBoundingClientRect(); return [e.textContent, b.left, b.top, b.right, b.bottom]; })"""
    boxes = {name: box for name, *box in visit.page.evaluate(script)}
    assert len(boxes) == 8
    for (left, top, right, bottom), (other_left, other_top, other_right, other_bottom) in combinations(
        boxes.values(), 2
    ):
        # Heights of lines are larger than letters: two lines may touch by a few pixels of empty space.
        apart = right <= other_left or other_right <= left or bottom - 4 <= other_top or other_bottom - 4 <= top
        assert apart


def test_a_chart_that_is_taller_than_a_page_shrinks_when_printed(browser: Browser, report: Path) -> None:
    """A page breaks around charts only: what does not fit would run into what follows."""
    visit = Visit(browser, report)
    visit.page.emulate_media(media="print")
    script = """() => { const chart = document.querySelector('.chart svg');
        chart.setAttribute('width', 600); chart.setAttribute('height', 3000);
        chart.setAttribute('viewBox', '0 0 600 3000'); return chart.getBoundingClientRect().height; }"""
    centimetre = 96 / 2.54
    assert visit.page.evaluate(script) <= 21 * centimetre + 1


def test_a_printed_table_of_many_systems_fits_the_page(browser: Browser, tmp_path: Path) -> None:
    """The browser would make the whole document smaller; and a button with a box keeps heads from being repeated."""
    names = [f"submission-{i:02}" for i in range(31)]
    rows = tuple((name, *(f"{i % 100}.5%" for i in range(len(names)))) for name in names)
    columns = (text("system"), *(number(name) for name in names))
    wide = Section("met", "Who met whom", tables=(Table("Tasks in which two systems met", columns, rows),))
    page = ReportPage("T", (PairPage("p", "p", "H", (), (), (wide,), (), (), ()),))
    path = tmp_path / "wide.html"
    write_text(path, render(page))
    inside_margins = 688  # an A4 page of 210 mm less two margins of 14 mm, in CSS pixels
    visit = Visit(browser, path, width=inside_margins)
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= inside_margins
    shown = "[...document.querySelectorAll('th *')].map(e => getComputedStyle(e).display)"
    assert set(visit.page.evaluate(shown)) == {"contents"}


def test_names_that_are_scripts_stay_names(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    visit.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    visit.page.locator("[data-chart=de-en-forest] circle").nth(0).hover()
    assert "window.hacked" in visit.page.locator(".tip").inner_text()
    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.locator("img").count() == 0
    assert visit.faults == []


def test_it_can_be_printed(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report, scheme="dark")
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert visit.page.pdf().startswith(b"%PDF")


def test_a_report_is_whole_without_its_script(browser: Browser, report: Path) -> None:
    """Readers of mail, and pages that forbid scripts."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("[data-chart=en-cs-forest] svg circle").count() >= 2
    assert page.locator(".follow").is_hidden()
    assert page.pdf().startswith(b"%PDF")


def test_one_system_is_followed_through_all_charts_and_tables(browser: Browser, report: Path) -> None:
    page = Visit(browser, report).page
    page.locator("#follow").select_option("alpha")
    dimmed = "[...document.querySelectorAll('.chart .dim')].map(e => e.dataset.name)"
    assert "alpha" not in page.evaluate(dimmed)
    assert {"ref", "beta"} <= set(page.evaluate(dimmed))
    lit = page.evaluate("[...document.querySelectorAll('tr.lit')].map(e => e.textContent)")
    assert lit
    assert all("alpha" in row for row in lit)
    page.locator("#follow").select_option("")
    assert page.evaluate(dimmed) == []


def test_tables_are_sorted_by_numbers_and_back(browser: Browser, report: Path) -> None:
    page = Visit(browser, report).page
    table = page.locator("table").filter(has_text="Ranking by").first
    head = table.locator("th", has_text="n").last
    column = head.evaluate("e => e.cellIndex")
    cells = table.locator(f"tbody tr td:nth-child({column + 1})")
    as_it_was = cells.all_inner_texts()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    numbers = [float(text.replace(",", "")) for text in cells.all_inner_texts()]
    assert numbers == sorted(numbers)
    head.locator("button").click()
    assert [float(text.replace(",", "")) for text in cells.all_inner_texts()] == sorted(numbers, reverse=True)
    head.locator("button").click()
    assert cells.all_inner_texts() == as_it_was


def hostile_results() -> list[Result]:
    """Results whose systems, people, documents and groups have hostile names, breakdowns among them."""
    rows = [
        {"system": f"s{k % 3} {NASTY}", "annotator": f"p{k // 36} {NASTY}", "document": f"d{k % 6} {NASTY}",
         "segment": f"{k % 36 // 3} {NASTY}", "domain": f"{k % 2} {NASTY}", "score": float(k * 37 % 100)}
        for k in range(144)
    ]  # fmt: skip
    judgments = adjudge.read(pl.DataFrame(rows), accounts_are_people=True)
    own = [adjudge.rank(judgments), adjudge.rank(judgments, by="domain"), adjudge.check(judgments)]
    return [*own, adjudge.agree(judgments), *pair_results(NASTY).results, *score_results(NASTY).results]


def displays_of(result: Result) -> Iterator[str]:
    """All that a notebook shows of a result: itself, its charts, and its tables as data frames of both libraries."""
    yield result._repr_html_()
    for name in charts_of(result):
        chart = result.plot(name)
        yield chart._repr_html_()
        yield chart._repr_svg_()
    for table in result.all_tables():
        frame = frame_of(table)
        yield frame._repr_html_()
        yield pd.DataFrame(frame.to_dict(as_series=False))._repr_html_()


def test_no_display_of_a_notebook_runs_anything(browser: Browser, tmp_path: Path) -> None:
    """As notebooks do, which put the text into the page and run the scripts in it."""
    show = """html => {
        const cell = document.body.appendChild(document.createElement('div'));
        cell.innerHTML = html;
        for (const old of cell.querySelectorAll('script')) {
            const script = document.createElement('script');
            script.textContent = old.textContent;
            old.replaceWith(script);
        }
    }"""
    page = browser.new_page()
    page.goto("about:blank")
    shown = 0
    for result in hostile_results():
        for html in displays_of(result):
            page.evaluate(show, html)
            shown += "window.hacked" in html
    # Handlers of errors run after what they are on has failed to load.
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, script, iframe, [onerror], [onload]").count() == 0
    assert shown > 20, "the names must be there"
    page.evaluate(show, f"<p>{NASTY}</p>")
    assert page.locator("img, script").count() > 0, "the names would run if they were not kept from it"
