"""Organisers see progress and people live, and decide; decisions are recorded and nothing is deleted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import PATIENCE_WITH_STATISTICS, Client, Server, exported, new_save, outputs, panels_of
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    campaign = make_campaign(
        tmp_path,
        documents=4,
        task_size=12,
        annotators='["anna", "bert"]',
        more="[controls]\ndegraded = 3\nrepeats = 1\n[crowd]\nleast_controls = 3\n",
    )
    with Server(campaign) as running:
        yield running


def person(overview: Any, name: str) -> Any:
    return next(annotator for annotator in overview["annotators"] if annotator["name"] == name)


def judge(client: Client, *, fair: bool) -> Any:
    """Judge the task in hand; the fair one sees which translations are degraded (they are longer or odd)."""
    work = client.work()
    for i in range(len(work["task"]["screens"])):
        for number, output in enumerate(outputs(work, i)):
            score = 10 if not fair else 80 - (i + number) % 3
            spent = {"shown": 0.02, "visible": 0.02, "active": 0.01, "outputs": {output: 0.01}}
            save = new_save(work, i, [{"output": output, "score": score}], spent=spent)
            assert client.post("/api/saves", save).status == 200
    return work


def test_progress_people_and_decisions(server: Server, tmp_path: Path) -> None:
    organiser, anna = server.client("organiser"), server.client("anna")
    before = organiser.get("/api/organiser/overview").json
    assert (before["progress"]["judgments"], before["progress"]["tasks_finished"]) == (0, 0)
    assert person(before, "anna")["link"]["status"] == "valid"
    work = judge(anna, fair=True)
    during = organiser.get("/api/organiser/overview").json
    count = sum(len(outputs(work, i)) for i in range(len(work["task"]["screens"])))
    # Three degraded translations and a repeat are controls, and counted by themselves as in the export.
    assert during["progress"]["judgments"] == count - 4
    assert during["progress"]["control_judgments"] == 4
    assert during["cost"]["active_seconds"] == pytest.approx(anna.get("/api/work").json["active_seconds"])
    assert during["cost"]["expected_end"] is not None
    assert during["progress"]["tasks_in_hand"] == 1
    row = person(during, "anna")
    assert (row["judgments"], row["control_judgments"]) == (count - 4, 4)
    assert row["attention"] == ["pace", "controls"]
    assert row["screens"] == len(work["task"]["screens"])
    assert row["controls"] == 3
    assert row["active_seconds"] == pytest.approx(anna.get("/api/work").json["active_seconds"])
    assert sum(hour["saves"] for hour in during["throughput"]) == count
    assert len(during["throughput"]) == 24

    decision = {"excluded": True, "reason": "only clicked"}
    assert organiser.post(f"/api/organiser/annotators/{row['id']}/decision", decision).json == {"changed": 1}
    after = organiser.get("/api/organiser/overview").json
    assert person(after, "anna")["excluded"]
    assert (after["actions"][0]["action"], after["actions"][0]["text"]) == ("exclude", "only clicked")
    assert after["actions"][0]["who"].startswith("organiser, made ")
    assert set(exported(server, tmp_path).table["excluded"]) == {"true"}
    back = {"excluded": False, "reason": "it was somebody else"}
    organiser.post(f"/api/organiser/annotators/{row['id']}/decision", back)
    done = organiser.get("/api/organiser/overview").json["actions"]
    assert [action["action"] for action in done] == ["include", "exclude"]


def test_a_decision_needs_a_reason(server: Server) -> None:
    organiser = server.client("organiser")
    for reason in ("", "  ", "x"):
        answer = organiser.post("/api/organiser/annotators/1/decision", {"excluded": True, "reason": reason})
        assert answer.status == 422


def test_an_annotator_is_added_once(server: Server) -> None:
    organiser = server.client("organiser")
    made = organiser.post("/api/organiser/annotators", {"name": " dora "}).json
    assert made["name"] == "dora"
    assert server.client().enter(made["path"].partition("#")[2]).status == 200
    assert organiser.post("/api/organiser/annotators", {"name": "dora"}).status == 409


def test_statistics_of_the_judgments_so_far_are_shown(server: Server) -> None:
    judge(server.client("anna"), fair=True)
    panels = panels_of(server)
    assert any("anna" in row for panel in panels for row in panel["rows"]), panels


@pytest.mark.browser
def test_the_organisers_page(page: Page, server: Server) -> None:
    from playwright.sync_api import expect

    judge(server.client("anna"), fair=True)
    page.goto(server.links["organiser"])
    row = page.locator("tr").filter(has_text="anna").first
    expect(row).to_contain_text("valid, used")
    expect(page.locator(".attention")).to_contain_text("anna: 0.0 s per answer, faster than one can read")
    # The two groups of panels arrive one after the other: which is the first changes meanwhile, its name does not.
    first = page.locator(".panels details").first
    panel = first.get_attribute("data-panel", timeout=1000 * PATIENCE_WITH_STATISTICS)
    details = page.locator(f'.panels details[data-panel="{panel}"]')
    details.locator("summary").click()
    details.locator("table").wait_for()
    page.get_by_label("Name").fill("dora")
    page.get_by_role("button", name="Add an annotator").click()
    secret = page.locator(".secret").inner_text()
    assert re.fullmatch(rf"{server.url}/enter#[\w-]{{43}}", secret)
    page.locator("dialog").get_by_role("button", name="Close").click()
    expect(page.locator("td").filter(has_text="dora").first).to_be_visible()
    row.get_by_role("button", name="Exclude…").click()
    page.get_by_label("Reason").fill("much too fast to have read")
    page.get_by_role("button", name="Record the decision").click()
    expect(page.locator("tr.excluded")).to_contain_text("anna")
    row.get_by_role("button", name="Revoke").click()
    page.locator("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    shoot(page, "organise")
    with page.expect_download() as download:
        page.get_by_text("Export judgments").click()
    assert download.value.suggested_filename == "judgments.csv"
    page.set_viewport_size({"width": 390, "height": 844})
    shoot(page, "organise-phone")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.set_viewport_size({"width": 1280, "height": 900})
    shoot(page, "organise-dark")


@pytest.mark.browser
def test_new_figures_leave_the_reader_where_he_was(page: Page, server: Server) -> None:
    """A panel that is open stays open with its focus, and one whose figures are the same is not replaced."""
    from playwright.sync_api import expect

    values = ["4.0"]

    def panels(route: Route) -> None:
        words = {"title": "Pace", "headline": "", "note": "", "columns": ["annotator", "seconds"]}
        table = {**words, "rows": [["anna", values[-1]]], "ranks": [], "intervals": [], "bars": []}
        # While statistics are computed, the page asks for them every other second.
        route.fulfill(json={"computing": True, "computed": None, "panels": [table]})

    page.route("**/api/organiser/panels", panels)
    page.goto(server.links["organiser"])
    details = page.locator("details[data-panel=Pace]")
    details.evaluate("(shown) => { shown.former = true; shown.open = true; shown.firstChild.focus(); }")
    for _ in range(2):
        # The first is being shown at the latest when the second is asked for.
        with page.expect_response("**/api/organiser/panels"):
            pass
    assert details.evaluate("(shown) => shown.former")
    values.append("5.0")
    expect(details).to_contain_text("5.0")
    assert not details.evaluate("(shown) => shown.former")
    assert details.evaluate("(shown) => shown.open && document.activeElement === shown.querySelector('summary')")


@pytest.mark.browser
def test_a_link_in_use_is_not_renewed_by_a_slip_and_failures_are_told(page: Page, server: Server) -> None:
    from playwright.sync_api import expect

    page.goto(server.links["organiser"])
    row = page.locator("tr").filter(has_text="bert").first
    row.get_by_role("button", name="New link").click()
    expect(page.locator("dialog[open]")).to_contain_text("The old one and its sessions end at once")
    page.get_by_role("button", name="Cancel").click()
    assert server.client().enter(server.secret("bert")).status == 200
    page.route("**/renew", lambda route: route.fulfill(status=500, body="broken", content_type="text/plain"))
    row.get_by_role("button", name="New link").click()
    page.locator("dialog[open]").get_by_role("button", name="New link").click()
    expect(page.get_by_role("alert").first).to_contain_text("That did not work: the server answered 500")
    page.unroute("**/renew")
    row.get_by_role("button", name="New link").click()
    page.locator("dialog[open]").get_by_role("button", name="New link").click()
    expect(page.locator(".secret")).to_contain_text("/enter#")


@pytest.mark.browser
def test_what_is_typed_and_scrolled_stays_while_figures_come_in(server: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(server.links["organiser"])
    page.get_by_role("row", name="anna").wait_for()
    page.get_by_label("Name").fill("Carla")
    page.keyboard.press("Tab")
    scrolled = "document.querySelector('.scroll').scrollLeft"
    page.evaluate(f"{scrolled} = 100")
    for _ in range(2):
        with page.expect_response("**/api/organiser/overview"):
            pass
    page.wait_for_timeout(200)
    assert page.get_by_label("Name").input_value() == "Carla"
    assert page.evaluate(scrolled) == 100
    page.keyboard.press("Enter")
    page.get_by_role("row", name="Carla").first.wait_for()
