"""General instructions and headings speak of what the campaign has, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

REFERENCE = '[context]\nshow = "reference"\n'
# By protocol: what the campaign file says, what the instructions say then, and what they must not mention.
CASES = {
    "sqm": ("[scale]\nlow = 1\nhigh = 5\nstep = 1\n", ["from 1 to 5."], ["0 to 6", "texts under the scale"]),
    "ranking": ("[page]\nties = false\n", ["Each rank is given once."], ["equally good", "Equal ranks"]),
    "pairwise": ('[page]\nties = false\nnavigation = "strict"\n', ["cannot come back to a screen"], ["equally good"]),
    "esa": (
        f'{REFERENCE}[spans]\nmissing = false\nseverities = ["minor", "major", "critical"]\n',
        ["Read the reference", "critical (it does harm)", "Reference: English"],
        ["Read the source", "Something is missing", "neutral", "Source: German"],
    ),
}


@pytest.mark.parametrize("protocol", CASES)
def test_instructions_name_what_there_is(protocol: str, page: Page, tmp_path: Path) -> None:
    more, said, not_said = CASES[protocol]
    campaign = make_campaign(tmp_path, protocol, documents=1, more=more)
    with_reference = '[files.references]\nrefA = "source.txt"\n\n[files.systems]'
    campaign.write_text(campaign.read_text().replace("[files.systems]", with_reference))
    with Server(campaign) as server:
        page.goto(server.links["anna"])
        expect(page.locator("dialog[open]")).to_contain_text("Every change is saved automatically.")
        text = page.locator("body").inner_text()
        assert [words for words in said if words not in text] == []
        assert [words for words in not_said if words in text] == []


def test_what_numbers_mean_is_said_in_the_language_of_the_page(browser: Browser, tmp_path: Path) -> None:
    own = '[scale]\nlow = 0\nhigh = 6\nanchors = [{ at = 0, text = "very bad" }, { at = 6, text = "perfect" }]\n'
    context = browser.new_context(locale="de-DE")
    for more, meanings in (("", ["kein Sinn erhalten", "Sinn und Sprache perfekt"]), (own, ["very bad"])):
        page = context.new_page()
        with Server(make_campaign(tmp_path / str(len(more)), "sqm", documents=1, more=more)) as server:
            page.goto(server.links["anna"])
            for meaning in meanings:
                expect(page.locator(".anchors").first).to_contain_text(meaning)
            page.keyboard.press("Enter")
            page.keyboard.press("Home")
            expect(page.get_by_role("slider").first).to_have_attribute("aria-valuetext", f"0: {meanings[0]}")
    context.close()
