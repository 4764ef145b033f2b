"""Consent, questions and a quiz before judging; the pay list, and answers apart from names. On both databases."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from adjudge.campaigns.campaign_file import load_campaign
from adjudge.table.errors import InputError
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Client, Server, new_save, outputs
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

FORM = """
[form.consent]
en = "Your judgments are **published** under a number. See [the plan](https://example.org/plan)."
de = "Ihre Urteile werden unter einer Nummer veröffentlicht."

[[form.questions]]
key = "first_language"
ask = { en = "Is English your first language?", de = "Ist Englisch Ihre Muttersprache?" }
answers = { en = ["yes", "no"], de = ["ja", "nein"] }

[[form.questions]]
key = "jobs"
ask = "What do you do?"
answers = ["translator", "student", "=other"]
several = true
required = false

[[form.questions]]
key = "email"
ask = "Where shall we write to about your pay?"
personal = true

[[form.questions]]
key = "quiz"
ask = "A wrong number is..."
answers = ["a minor error", "a major error"]
right = "a major error"

[pay]
currency = "EUR"
per_judgment = 0.5
per_task = 2
"""
GIVEN = {"first_language": "yes", "jobs": ["student", "=other"], "email": "anna@example.org", "quiz": "a major error"}


@pytest.fixture
def server(tmp_path: Path, own_database: str | None) -> Any:
    with Server(make_campaign(tmp_path, documents=1, more=FORM), database=own_database) as running:
        yield running


def judge_all(client: Client) -> int:
    """Judge and hand in a task; returns how many answers that were."""
    work = client.work()
    for screen in range(len(work["task"]["screens"])):
        changes = [{"output": output, "score": 50} for output in outputs(work, screen)]
        assert client.post("/api/saves", new_save(work, screen, changes)).status == 200
    assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
    return sum(len(outputs(work, screen)) for screen in range(len(work["task"]["screens"])))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_nobody_judges_before_the_form_is_filled_in(server: Server) -> None:
    client = server.client("anna")
    work = client.get("/api/work").json
    assert work["form"]
    assert work["task"] is None
    assert client.post("/api/tasks/next", {}).json["task"] is None
    assert "right" not in client.get("/api/form").text
    for filled, why in (
        ({"agreed": False, "answers": GIVEN}, "agreed"),
        ({"agreed": True, "answers": {**GIVEN, "email": " "}}, "no answer"),
        ({"agreed": True, "answers": {**GIVEN, "first_language": "maybe"}}, "no such answer"),
        ({"agreed": True, "answers": {**GIVEN, "first_language": ["yes", "no"]}}, "one answer"),
        ({"agreed": True, "answers": {**GIVEN, "age": "5"}}, "no question"),
        ({"agreed": True, "answers": {**GIVEN, "email": "x" * 2001}}, "2000 characters"),
    ):
        answer = client.post("/api/form", filled)
        assert answer.status == 422
        assert why in answer.json["detail"]
    wrong = client.post("/api/form", {"agreed": True, "answers": {**GIVEN, "quiz": "a minor error"}})
    assert wrong.json == {"wrong": ["quiz"]}
    assert client.get("/api/work").json["form"]
    assert client.post("/api/form", {"agreed": True, "answers": GIVEN}).json == {"wrong": []}
    assert client.post("/api/tasks/next", {}).json["task"] is not None


def test_answers_lie_apart_from_names_and_the_pay_list_has_what_was_done(server: Server) -> None:
    client, organiser = server.client("anna"), server.client("organiser")
    assert client.post("/api/form", {"agreed": True, "answers": GIVEN}).status == 200
    done = judge_all(client)
    answers = organiser.get("/api/organiser/people?what=answers")
    assert answers.headers["Content-Disposition"] == 'attachment; filename="answers.csv"'
    [person] = rows(answers.text)
    assert set(person) == {"annotator", "first_language", "jobs"}
    # What a spreadsheet would take for a formula is not one.
    assert person["jobs"] == "student; =other"
    assert person["annotator"].isdigit()
    assert "anna" not in answers.text
    [paid] = rows(organiser.get("/api/organiser/people?what=pay").text)
    assert (paid["annotator"], paid["email"], paid["tasks"]) == ("anna", "anna@example.org", "1")
    # The rates of the campaign: half a euro for each answer, two for the task.
    assert float(paid["amount"]) == 0.5 * int(paid["answers"]) + 2
    assert int(paid["answers"]) == done
    assert "first_language" not in paid


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ('[[form.questions]]\nkey = "A"\nask = "?"', "form.questions.0.key"),
        ('[[form.questions]]\nkey = "a"\nask = "?"\nseveral = true', "needs 'answers'"),
        ('[[form.questions]]\nkey = "a"\nask = "?"\nanswers = ["x"]', "2 to 300"),
        ('[[form.questions]]\nkey = "a"\nask = "?"\nanswers = ["x", "y"]\nright = "z"', "must be among its answers"),
        ('[[form.questions]]\nkey = "a"\nask = "?"\nanswers = { en = ["x", "y"], de = ["x"] }', "as many"),
        ('[[form.questions]]\nkey = "a"\nask = "?"\n[[form.questions]]\nkey = "a"\nask = "?"', "the same 'key'"),
        ('[form.consent]\nen = { file = "no.md" }', "no such file"),
    ],
)
def test_a_form_that_cannot_be_is_refused(more: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=fault):
        load_campaign(make_campaign(tmp_path, more=more))


@pytest.mark.browser
def test_the_form_by_keys_on_a_phone_and_in_another_language(browser: Browser, tmp_path: Path) -> None:
    faults: list[str] = []
    with Server(make_campaign(tmp_path, documents=1, more=FORM)) as server:
        context = browser.new_context(locale="de-DE", viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.goto(server.links["anna"])
        expect(page.locator("h2")).to_be_focused()
        expect(page.get_by_text("Ihre Urteile werden unter einer Nummer")).to_be_visible()
        shoot(page, "form-phone")
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        # Answers stand together, below their question.
        rows = page.locator("fieldset .choice").evaluate_all("all => all.map((one) => one.offsetHeight)")
        assert max(rows) <= 32
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.get_by_label("Where shall we write to").fill("anna@example.org")
        page.get_by_label("a minor error").check()
        page.keyboard.press("Enter")
        expect(page.locator("[role=alert]", has_text="Noch nicht richtig")).to_be_visible()
        page.get_by_label("a major error").check()
        page.get_by_role("button", name="Beginnen").click()
        expect(page.locator("dialog")).to_contain_text("Besondere Fälle")
        context.close()
    assert faults == []


@pytest.mark.browser
def test_who_does_not_agree_leaves_no_answer_behind(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, documents=1, more=FORM)) as server:
        page.goto(server.links["anna"])
        expect(page.get_by_role("link", name="the plan")).to_have_attribute("href", "https://example.org/plan")
        shoot(page, "form")
        page.get_by_role("button", name="I do not agree").click()
        expect(page.get_by_role("heading")).to_have_text(["Test da de-en", "You have not agreed"])
        # The name is in the campaign file; nothing says that the link was opened.
        expect(page.get_by_text("None of your answers was stored")).to_be_visible()
        people = server.client("organiser").get("/api/organiser/overview").json["annotators"]
        assert {person["link"]["entered"] for person in people if person["name"] == "anna"} == {None}
        assert rows(server.client("organiser").get("/api/organiser/people?what=pay").text) == []
        assert json.loads(server.client("anna").get("/api/work").text)["form"]


def test_who_came_from_a_platform_and_does_not_agree_is_forgotten(own_database: str | None, tmp_path: Path) -> None:
    """Nobody of this id is in any list, the session has ended, and the same person may come again."""
    crowd = '[assignment]\npolicy = "pool"\n[crowd]\ncompletion_code = "C1"\n'
    with Server(
        make_campaign(tmp_path, documents=1, annotators="[]", more=crowd + FORM), database=own_database
    ) as server:
        link, organiser = server.secret("crowd"), server.client("organiser")
        client = server.client()
        for _ in range(2):
            client.load_page()
            assert client.enter(link, person="worker-7").status == 200
            assert client.get("/api/work").json["form"]
            client.load_page()
            assert client.post("/api/decline").status == 204
            assert client.get("/api/work").status == 401
            assert organiser.get("/api/organiser/overview").json["annotators"] == []
        # Who has agreed is not forgotten by this: there may be judgments.
        client.load_page()
        assert client.enter(link, person="worker-7").status == 200
        client.load_page()
        assert client.post("/api/form", {"agreed": True, "answers": GIVEN}).status == 200
        assert client.post("/api/decline").status == 409
        assert [person["name"] for person in organiser.get("/api/organiser/overview").json["annotators"]] == [
            "worker-7"
        ]
