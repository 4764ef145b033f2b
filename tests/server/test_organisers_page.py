"""The organisers' page by keys and on a phone: it asks before it takes a link away, and keeps the focus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page, Route

pytestmark = pytest.mark.browser

POOL = '[assignment]\npolicy = "pool"\n[crowd]\ncompletion_code = "DONE"\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("organisers")
    with Server(make_campaign(folder, documents=1, annotators='["anna", "bert"]', more=POOL)) as running:
        yield running


def row(page: Page, name: str) -> Locator:
    return page.locator("tr").filter(has_text=name).first


def test_a_link_of_organisers_or_of_the_crowd_is_not_revoked_by_a_slip(page: Page, server: Server) -> None:
    page.goto(server.links["organiser"])
    question, crowd = page.locator("dialog[open]"), row(page, "crowd")
    row(page, "organiser, made").get_by_role("button", name="Revoke").click()
    expect(question).to_contain_text("If it is your own, you need another one to log in again.")
    page.keyboard.press("Escape")
    crowd.get_by_role("button", name="Revoke").press("Enter")
    expect(question).to_contain_text("Nobody can log in with it any more")
    expect(crowd).to_contain_text("valid")
    question.get_by_role("button", name="Revoke").click()
    expect(crowd).to_contain_text("revoked")
    # The button has gone with the link: its row has the focus.
    expect(crowd).to_be_focused()


def test_the_focus_stays_while_figures_come_in_behind_a_dialog(page: Page, server: Server) -> None:
    page.clock.install()
    page.goto(server.links["organiser"])
    exclude = row(page, "anna").get_by_role("button", name="Exclude…")
    exclude.press("Enter")
    before = exclude.element_handle()
    with page.expect_response("**/api/organiser/overview"):
        page.clock.run_for(4000)
    assert before is not None
    before.wait_for_element_state("hidden")
    page.keyboard.press("Escape")
    expect(exclude).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("only clicked")
    page.get_by_role("button", name="Record the decision").press("Enter")
    expect(row(page, "anna").get_by_role("button", name="Include again…")).to_be_focused()


@pytest.mark.parametrize("by", ["mouse", "key"])
def test_a_button_that_is_pressed_while_figures_come_in_is_clicked(by: str, page: Page, server: Server) -> None:
    page.clock.install()
    page.goto(server.links["organiser"])
    button = row(page, "bert").get_by_role("button", name="New link")
    button.hover()
    button.focus()
    updated = page.locator(".updated")
    expect(updated).to_contain_text("Updated")
    before = updated.inner_text()
    page.mouse.down() if by == "mouse" else page.keyboard.down("Space")
    page.clock.run_for(4000)
    expect(updated).not_to_have_text(before)
    expect(updated).to_contain_text("Updated")
    page.mouse.up() if by == "mouse" else page.keyboard.up("Space")
    expect(page.locator("dialog[open]")).to_contain_text("The old one and its sessions end at once")


def test_the_actions_on_a_person_take_two_lines_and_numbers_are_those_of_the_language(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="de-DE")
    page = context.new_page()
    page.goto(server.links["organiser"])
    expect(page.get_by_text("0,0 Std.")).to_be_visible()
    person = row(page, "bert")
    # All but the revocation of a link that another test has revoked.
    assert person.get_by_role("button").count() >= 5
    tops = person.get_by_role("button").evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
    assert len(set(tops)) == 2
    scroll = page.locator(".scroll").first
    assert scroll.evaluate("one => one.scrollWidth <= one.clientWidth")
    shoot(page, "organise-german")
    context.close()


@pytest.mark.parametrize("language", ["en", "ar"])
def test_an_edge_beyond_which_a_table_goes_on_is_shaded(language: str, browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, is_mobile=True, locale=language)
    page = context.new_page()
    page.clock.install()
    page.goto(server.links["organiser"])
    page.locator("td bdi").first.wait_for()
    # Figures that come in meanwhile would be another picture, and so is the first word of a lost connection.
    page.route("**/api/organiser/**", lambda route: route.abort())
    page.evaluate("window.stop()")
    for _ in range(2):
        with page.expect_event("requestfailed", lambda request: request.url.endswith("/overview")):
            page.clock.run_for(4000)
    first, last = ("left", "right") if language == "en" else ("right", "left")
    at_first = [edge(page, side) for side in (first, last)]
    shoot(page, f"organise-narrow-{language}")
    page.locator(".scroll").first.evaluate(
        "one => one.scrollTo(one.scrollWidth * (document.dir === 'rtl' ? -1 : 1), 0)"
    )
    at_last = [edge(page, side) for side in (first, last)]
    paper = at_first[0]
    assert at_first[1] != paper
    assert at_last[0] != paper
    assert at_last[1] == paper
    context.close()


def edge(page: Page, side: str) -> bytes:
    """A picture of the lowest pixels at an edge of the table of annotators, where it has no words."""
    table = page.locator(".scroll").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    x = box["x"] if side == "left" else box["x"] + box["width"] - 6
    return page.screenshot(clip={"x": x, "y": box["y"] + box["height"] - 6, "width": 6, "height": 4})


def test_a_failure_stays_told_and_a_reason_stays_written(page: Page, server: Server) -> None:
    page.clock.install()
    # Before the page is there: what is set up while one page makes way for the next can get lost.
    page.route("**/renew", lambda route: route.fulfill(status=500, body="broken", content_type="text/plain"))
    page.route("**/decision", lambda route: route.abort())
    page.goto(server.links["organiser"])
    row(page, "bert").get_by_role("button", name="New link").click()
    page.locator("dialog[open]").get_by_role("button", name="New link").click()
    failed = page.get_by_text("That did not work: the server answered 500")
    expect(failed).to_be_visible()
    with page.expect_response("**/api/organiser/overview"):
        page.clock.run_for(4000)
    expect(page.locator(".updated")).to_contain_text("Updated")
    expect(failed).to_be_visible()
    row(page, "bert").get_by_role("button", name="Exclude…").click()
    page.get_by_label("Reason").fill("only clicked")
    page.get_by_role("button", name="Record the decision").click()
    expect(page.locator("dialog[open]")).to_contain_text("That did not work")
    expect(page.get_by_label("Reason")).to_have_value("only clicked")


def test_selected_words_stay_selected_and_only_trouble_is_read_out(page: Page, server: Server) -> None:
    page.clock.install()
    page.goto(server.links["organiser"])
    expect(row(page, "anna")).to_be_visible()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('td bdi'))")
    with page.expect_response("**/api/organiser/overview"):
        page.clock.run_for(4000)
    expect(page.locator(".updated")).to_contain_text("Updated")
    assert page.evaluate("getSelection().toString()") == "anna"
    expect(page.get_by_role("status")).to_have_text("")
    page.route("**/api/organiser/overview", lambda route: route.abort())
    page.clock.run_for(4000)
    expect(page.get_by_role("status")).to_contain_text("No connection")


def test_the_page_of_hundreds_of_people_stays_short_and_says_that_the_crowds_link_was_used(
    page: Page, tmp_path: Path
) -> None:
    names = ", ".join(f'"anna-{i:03d}"' for i in range(120))
    with Server(make_campaign(tmp_path, documents=1, annotators=f"[{names}]", more=POOL)) as server:
        page.goto(server.links["organiser"])
        expect(row(page, "crowd")).to_contain_text("valid, not used yet")
        assert server.client().enter(server.secret("crowd"), person="w-1").status == 200
        expect(row(page, "crowd")).to_contain_text("valid, used")
        expect(page.get_by_role("button", name="Revoke anna-119")).to_have_count(1)
        # Not a line for each of them.
        assert page.locator(".scroll.long").bounding_box()["height"] < 700  # type: ignore[index]
        page.get_by_role("button", name="Revoke anna-119").focus()
        shoot(page, "organisers-hundreds")


def test_many_who_need_attention_are_named_when_asked_for(page: Page, server: Server) -> None:
    page.clock.install()

    def all_missed(route: Route) -> None:
        answer = route.fetch()
        now = answer.json()
        one = {**now["annotators"][0], "attention": ["controls"], "controls": 2}
        now["annotators"] = [{**one, "id": i, "name": f"worker {i}"} for i in range(40)]
        route.fulfill(response=answer, json=now)

    page.route("**/api/organiser/overview", all_missed)
    page.goto(server.links["organiser"])
    who = page.locator(".attention")
    expect(who).to_contain_text("40 people need attention")
    expect(who.get_by_role("listitem")).to_have_count(0)
    who.locator("summary").click()
    with page.expect_response("**/api/organiser/overview"):
        page.clock.run_for(4000)
    # Named, they stay named when figures come in.
    expect(who.get_by_role("listitem")).to_have_count(40)
