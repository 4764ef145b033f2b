"""A whole adaptive campaign in real browsers: three people judge by keys until the best system is settled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import expect

from adjudge.campaigns.tasks import load_tasks
from adjudge.evidence.look import read_history
from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, type_number
from tests.helpers.serving import PATIENCE_WITH_STATISTICS, Server
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SCORES = {"alpha": 95, "beta": 40, "gamma": 10}
# Keys are pressed as fast as the machine can, which the check of people would count as too fast to have read.
MORE = """
[crowd]
least_seconds = 0

[assignment]
policy = "pool"

[adaptive]
policy = "best"
warm_up = 1

[looks]
looks = 2
planned = 54
goal = "best"
"""


def test_three_people_judge_until_the_best_is_settled(browser: Browser, tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path,
        documents=6,
        systems=3,
        task_size=3,
        annotators='["anna", "ben", "cleo"]',
        design='structure = "pages"\njudgments = 2',
        more=MORE,
    )
    with Server(campaign) as server:
        tasks = load_tasks(campaign.with_name("tasks.json"))
        system_of = {output.text: output.systems[0] for task in tasks.tasks for _, _, output in task.outputs()}
        pages, rng = [], np.random.default_rng(3)
        for name in ("anna", "ben", "cleo"):
            page = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce").new_page()
            begin(page, server, name)
            pages.append(page)
        while not all(_is_done(page) for page in pages):
            for page in pages:
                if not _is_done(page):
                    _judge_task(page, system_of, rng)
        organiser = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        organiser.goto(server.links["organiser"])
        verdict = organiser.locator("section.panel", has_text="adjudge look").first
        expect(verdict.locator(".headline")).to_contain_text("Stop", timeout=1000 * PATIENCE_WITH_STATISTICS)
        expect(verdict.locator(".drawn.settled")).not_to_have_count(0)
        verdict.scroll_into_view_if_needed()
        shoot(organiser, "adaptive-settled")
        for page in (*pages, organiser):
            page.context.close()
    history = read_history(campaign.with_name("looks.json"))
    assert history is not None
    assert len(history.records) == 1


def _is_done(page: Page) -> bool:
    """Whether the person is thanked; otherwise there is something to judge."""
    expect(page.locator("article.item, h1").filter(visible=True).first).to_be_visible()
    return page.get_by_text("Thank you!").count() > 0


def _judge_task(page: Page, system_of: dict[str, str], rng: np.random.Generator) -> None:
    """Judge the task in hand by keys, each translation as its system deserves but for chance, and hand it in."""
    items = page.locator("article.item")
    expect(items.first).to_be_visible()
    for number in range(items.count()):
        if number:
            page.keyboard.press("Enter")
        text = items.nth(number).locator("[lang=en]").last.inner_text().strip()
        type_number(page, str(SCORES[system_of[text]] + int(rng.integers(5))))
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_contain_text("hand them in")
    page.keyboard.press("h")
    # The next task, on which nothing is set, or the last page, which has no sliders.
    expect(page.locator("[role=slider][aria-valuenow]")).to_have_count(0)
