"""Organisers pause, close, reassign, extend and write to people; all of it is in the log, and nothing is lost by it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import Run
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Client, Server, new_save, outputs
from tests.server.conftest import shoot
from tests.server.test_verify import verify

if TYPE_CHECKING:
    from playwright.sync_api import Page

POOL = '[assignment]\npolicy = "pool"\n'


@pytest.fixture
def server(tmp_path: Path, own_database: str | None) -> Iterator[Server]:
    with Server(
        make_campaign(tmp_path, documents=4, task_size=6, annotators='["anna", "bert"]', more=POOL),
        database=own_database,
    ) as running:
        yield running


def judge(client: Client, work: Any) -> None:
    for i in range(len(work["task"]["screens"])):
        changes = [{"output": output, "score": 50 + i} for output in outputs(work, i)]
        assert client.post("/api/saves", new_save(work, i, changes)).status == 200
    assert client.post(f"/api/tasks/{work['task']['id']}/finish", {}).json["finished"]


def steer(server: Server, path: str, body: Any) -> Any:
    answer = server.client("organiser").post(f"/api/organiser/{path}", body)
    assert answer.status == 200, answer.json
    return answer.json


def person(server: Server, name: str) -> Any:
    people = server.client("organiser").get("/api/organiser/overview").json["annotators"]
    return next(annotator for annotator in people if annotator["name"] == name)


def test_in_a_pause_tasks_in_hand_are_finished_and_none_is_given(server: Server) -> None:
    anna, bert = server.client("anna"), server.client("bert")
    work = anna.work()
    assert steer(server, "state", {"state": "paused"}) == {"changed": 1}
    assert steer(server, "state", {"state": "paused"}) == {"changed": 0}
    judge(anna, work)
    for client in (anna, bert):
        given = client.post("/api/tasks/next", {}).json
        assert (given["task"], given["news"]["state"]) == (None, "paused")
    # Whoever has handed in nothing gets no word of thanks, and no code that a platform pays for.
    assert given["completion"] is None
    steer(server, "state", {"state": "running"})
    assert bert.post("/api/tasks/next", {}).json["task"] is not None


def test_after_the_end_only_answers_from_before_it_are_taken(server: Server) -> None:
    anna = server.client("anna")
    work = anna.work()
    steer(server, "state", {"state": "closed"})
    closed = time.monotonic()
    late = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 10}])
    refused = anna.post("/api/saves", late)
    assert (refused.status, refused.json["code"]) == (409, "closed")
    offline = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 20}], age=time.monotonic() - closed + 60)
    assert anna.post("/api/saves", offline).status == 200
    assert anna.get("/api/work").json["task"] is None
    steer(server, "state", {"state": "running"})
    assert anna.post("/api/saves", late).status == 200


def test_tasks_of_the_pool_go_to_others_without_excluding_anybody(server: Server) -> None:
    anna, bert = server.client("anna"), server.client("bert")
    first = anna.work()
    judge(anna, first)
    second = anna.post("/api/tasks/next", {}).json
    changes = [{"output": output, "score": 50} for output in outputs(second, 0)]
    assert anna.post("/api/saves", new_save(second, 0, changes)).status == 200
    third_of = person(server, "anna")
    steer(server, f"annotators/{third_of['id']}/reassign", {})
    assert person(server, "anna")["reassigned"]
    assert person(server, "anna")["judgments"] == third_of["judgments"]
    assert anna.post("/api/tasks/next", {}).json["task"] is None
    seen = set()
    while (given := bert.post("/api/tasks/next", {}).json)["task"] is not None:
        seen.add(given["task"]["id"])
        judge(bert, given)
    # The task that anna had in hand is judged by somebody else now; what anna had finished is not wanted again.
    assert second["task"]["id"] in seen
    assert first["task"]["id"] not in seen
    steer(server, f"annotators/{third_of['id']}/reassign", {"back": True})
    assert not person(server, "anna")["reassigned"]


def test_fixed_tasks_are_taken_over_by_those_who_have_done_their_own(tmp_path: Path, own_database: str | None) -> None:
    file = make_campaign(
        tmp_path, documents=4, task_size=6, annotators='["anna", "bert"]', more='[assignment]\npolicy = "fixed"\n'
    )
    with Server(file, database=own_database) as server:
        anna, bert = server.client("anna"), server.client("bert")
        planned = anna.work()
        before = 0
        while (given := bert.post("/api/tasks/next", {}).json)["task"] is not None:
            judge(bert, given)
            before += 1
        steer(server, f"annotators/{person(server, 'anna')['id']}/reassign", {})
        taken = set()
        while (given := bert.post("/api/tasks/next", {}).json)["task"] is not None:
            taken.add(given["task"]["id"])
            judge(bert, given)
        overview = server.client("organiser").get("/api/organiser/overview").json
        if before < overview["progress"]["tasks_wanted"]:
            assert planned["task"]["id"] in taken
        assert overview["progress"]["tasks_finished"] == overview["progress"]["tasks_wanted"]


def test_messages_reach_those_to_whom_they_are_written(server: Server) -> None:
    anna = person(server, "anna")["id"]
    steer(server, "messages", {"text": "Thank you all."})
    steer(server, "messages", {"text": "<b>anna</b>, please hurry.", "annotator": anna})
    texts = [
        [message["text"] for message in server.client(name).get("/api/news").json["messages"]]
        for name in ("anna", "bert")
    ]
    assert texts == [["Thank you all.", "<b>anna</b>, please hurry."], ["Thank you all."]]
    for bad in ({"text": " "}, {"text": "x" * 2001}, {"text": "hello", "annotator": 999}):
        assert server.client("organiser").post("/api/organiser/messages", bad).status in (404, 422)


def test_more_judgments_are_wanted_on_the_page(server: Server) -> None:
    organiser = server.client("organiser")
    before = organiser.get("/api/organiser/overview").json["progress"]
    steer(server, "extend", {"judgments": 6})
    deadline = time.monotonic() + 60
    # Other processes of the server load the tasks some seconds later.
    while organiser.get("/api/organiser/overview").json["progress"]["judgments_wanted"] <= before["judgments_wanted"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert organiser.post("/api/organiser/extend", {"judgments": 0}).status == 422


def test_what_organisers_do_is_logged_and_changes_of_it_are_found(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    file = make_campaign(tmp_path, documents=2, task_size=6, annotators='["anna", "bert"]', more=POOL)
    with Server(file) as server:
        anna = person(server, "anna")["id"]
        steer(server, "state", {"state": "paused"})
        steer(server, "messages", {"text": "A pause."})
        steer(server, f"annotators/{anna}/reassign", {})
        steer(server, f"annotators/{anna}/revoke", {})
        done = server.client("organiser").get("/api/organiser/overview").json["actions"]
        assert [(action["action"], action["about"], action["text"]) for action in done] == [
            ("revoke", "anna", ""),
            ("reassign", "anna", ""),
            ("message", "", "A pause."),
            ("state", "", "paused"),
        ]
        assert all(action["who"].startswith("organiser, made ") for action in done)
    assert verify(adjudge, file, None)[1]["faults"] == []
    stored = sqlite3.connect(file.with_suffix(".sqlite3"))
    with stored:
        stored.execute("DELETE FROM collect_halt")
        stored.execute("UPDATE collect_annotator SET reassigned = 0")
        stored.execute("UPDATE collect_entry SET content = replace(content, 'A pause.', 'Go on.')")
    stored.close()
    faults = " ".join(verify(adjudge, file, None)[1]["faults"])
    assert "the campaign is running, but by the log it is paused" in faults
    assert "whether the tasks of anna went to others" in faults
    assert "(organiser message) was changed" in faults


def test_a_pool_that_runs_dry_is_said_before_it_happens(server: Server) -> None:
    organiser, anna, bert = (server.client(name) for name in ("organiser", "anna", "bert"))
    warned = []
    for client in (anna, bert) * 20:
        given = client.post("/api/tasks/next", {}).json
        if given["task"] is None:
            break
        judge(client, given)
        left = organiser.get("/api/organiser/overview").json
        warned.append([warning["kind"] for warning in left["warnings"]])
    assert warned[0] == []
    assert "pool" in warned[-2] or "person" in warned[-2]


def test_the_report_opens_in_a_sandbox(server: Server) -> None:
    for name in ("anna", "bert"):
        client = server.client(name)
        judge(client, client.work())
    organiser, deadline = server.client("organiser"), time.monotonic() + 300
    while "is being made" in (answer := organiser.get("/api/organiser/report")).text:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert answer.status == 200, answer.text
    assert answer.headers["Content-Security-Policy"].startswith("sandbox allow-scripts")
    assert "<html" in answer.text


@pytest.mark.browser
def test_the_organisers_page_steers_the_campaign(page: Page, server: Server) -> None:
    from playwright.sync_api import expect

    page.goto(server.links["organiser"])
    page.get_by_role("button", name="Pause").click()
    page.locator("dialog").get_by_role("button", name="Pause").click()
    expect(page.locator(".steering strong")).to_have_text("Paused")
    page.get_by_role("button", name="Message to all…").click()
    page.get_by_label("Message", exact=True).fill("We go on at three.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("td").filter(has_text="We go on at three.")).to_be_visible()
    row = page.locator("tr").filter(has_text="bert").first
    row.get_by_role("button", name="Give tasks to others").click()
    page.locator("dialog").get_by_role("button", name="Give tasks to others").click()
    expect(row).to_contain_text("tasks given to others")
    page.get_by_role("button", name="More judgments…").click()
    page.get_by_role("spinbutton", name="More judgments").fill("6")
    page.locator("dialog").get_by_role("button", name="More judgments", exact=True).click()
    expect(page.locator("td").filter(has_text="More judgments")).to_be_visible(timeout=60_000)
    shoot(page, "steering")
    page.goto(server.links["anna"])
    expect(page.get_by_role("heading", name="The campaign is paused")).to_be_visible()
    said = page.locator(".notice").filter(has_text="We go on at three.")
    said.get_by_role("button", name="Close").click()
    page.reload()
    expect(page.get_by_role("heading", name="The campaign is paused")).to_be_visible()
    expect(said).to_have_count(0)
