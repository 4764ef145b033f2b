"""Erasing people and publishing a campaign: names are gone, the log still holds, pages are safe. On both databases."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from playwright.sync_api import expect

from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin
from tests.helpers.serving import Client, Server, new_save, outputs
from tests.server.conftest import shoot
from tests.server.test_adaptive import campaign as adaptive_campaign
from tests.server.test_verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

    from tests.conftest import Run

EVIL = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"
NAME = "Anna Ångström"
MORE = """
[page]
comments = true

[form.consent]
en = "I take part."
ar = "أشارك."

[[form.questions]]
key = "email"
ask = "E-mail?"
personal = true
"""


@pytest.fixture
def server(tmp_path: Path, own_database: str | None) -> Iterator[Server]:
    people = json.dumps([NAME, "bert"], ensure_ascii=False)
    campaign = make_campaign(tmp_path, "esa", documents=2, annotators=people, design="judgments = 2\n", more=MORE)
    with Server(campaign, database=own_database) as running:
        yield running


def judge(client: Client, name: str) -> int:
    """Fill in the form, judge one task with marks and comments, and hand it in; returns how many saves that were."""
    assert client.post("/api/form", {"agreed": True, "answers": {"email": f"{name}@example.org"}}).status == 200
    work = client.work()
    for screen in range(len(work["task"]["screens"])):
        shown = [output for item in work["task"]["screens"][screen]["items"] for output in item["outputs"]]
        span = {"start": 0, "end": 3, "severity": "major", "category": None, "side": "target", "of": None}
        changes = [
            {"output": output["id"], "score": 40, "spans": [{**span, "text": output["text"][:3]}], "comment": EVIL}
            for output in shown
        ]
        assert client.post("/api/saves", new_save(work, screen, changes)).status == 200
    assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
    return len(work["task"]["screens"])


def number_of(server: Server, name: str) -> int:
    people = server.client("organiser").get("/api/organiser/overview").json["annotators"]
    return next(int(person["id"]) for person in people if person["name"] == name)


def everything_in(server: Server, adjudge: Callable[..., Run], folder: Path) -> str:
    """All that is stored: a backup has every row of the database and every file of the campaign."""
    archive = folder / "all.zip"
    stored = () if server.database is None else ("--database", server.database)
    run = adjudge("backup", server.campaign, "-o", archive, *stored)
    assert run.code == 0, run.err
    with zipfile.ZipFile(archive) as whole:
        text = "".join(whole.read(name).decode("utf-8", "replace") for name in whole.namelist())
    archive.unlink()
    return text.replace("\\u00c5", "Å").replace("\\u00f6", "ö").replace("\\\\u00c5", "Å").replace("\\\\u00f6", "ö")


@pytest.mark.parametrize("judgments", [False, True], ids=["kept", "gone"])
def test_a_person_is_erased_and_the_log_still_holds(
    judgments: bool, server: Server, adjudge: Callable[..., Run], tmp_path: Path
) -> None:
    anna, bert, organiser = server.client(NAME), server.client("bert"), server.client("organiser")
    judge(anna, "anna")
    judge(bert, "bert")
    number = number_of(server, NAME)
    path = f"/api/organiser/annotators/{number}"
    assert organiser.post(f"{path}/decision", {"excluded": True, "reason": f"{NAME} was tired"}).status == 200
    assert organiser.post(f"{path}/decision", {"excluded": False, "reason": "slept well"}).status == 200
    assert organiser.post("/api/organiser/messages", {"text": f"Dear {NAME}", "annotator": number}).status == 200
    before = everything_in(server, adjudge, tmp_path)
    assert NAME in before
    assert "anna@example.org" in before
    answer = organiser.post(f"{path}/erase", {"name": "bert", "judgments": judgments})
    assert (answer.status, answer.json["detail"]) == (409, "this is not the person's name; nothing was erased")
    done = organiser.post(f"{path}/erase", {"name": NAME, "judgments": judgments}).json
    after = everything_in(server, adjudge, tmp_path)
    assert NAME not in after
    assert "anna@example.org" not in after
    assert "bert@example.org" in after
    assert anna.get("/api/work").status == 401
    code, found = verify(adjudge, server.campaign, server.database)
    assert (code, found["faults"]) == (0, [])
    assert any("1 person erased" in note for note in found["notes"])
    people = {person["name"]: person for person in organiser.get("/api/organiser/overview").json["annotators"]}
    erased = people[f"erased-{done['number']}"]
    assert erased["erased"]
    assert (erased["judgments"] == 0) == judgments
    assert people["bert"]["judgments"] > 0
    actions = organiser.get("/api/organiser/overview").json["actions"]
    assert "erase" in [action["action"] for action in actions]
    texts = [action["text"] for action in actions if action["action"] in ("exclude", "include")]
    assert texts == ["slept well", f"erased-{done['number']} was tired"]
    # The campaign can be served again, and is the same: nobody of that name comes back.
    server.stop()
    server.links.clear()
    server.start()
    again = server.client("organiser").get("/api/organiser/overview").json["annotators"]
    assert {person["name"] for person in again} == set(people)
    assert server.client("bert" if "bert" in server.links else "organiser") is not None


def test_changes_after_an_erasure_are_found(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    people = json.dumps([NAME, "bert"], ensure_ascii=False)
    with Server(make_campaign(tmp_path, "esa", documents=1, annotators=people, more=MORE)) as server:
        judge(server.client(NAME), "anna")
        assert adjudge("erase", server.campaign, "--person", "nobody").code == 1
        run = adjudge("erase", server.campaign, "--person", NAME, "--json")
        assert (run.code, json.loads(run.out)["saves_removed"]) == (0, 0)
    file = server.campaign.with_suffix(".sqlite3")
    # All of it in one file, so that a copy is whole.
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    connection.close()
    assert verify(adjudge, server.campaign)[0] == 0

    def change(statement: str) -> list[str]:
        copy = file.read_bytes()
        with sqlite3.connect(file) as connection:
            assert connection.execute(statement).rowcount > 0
        connection.close()
        code, found = verify(adjudge, server.campaign)
        file.write_bytes(copy)
        assert code == 1
        return list(found["faults"])

    # An entry that the erasure had rewritten, the erasure itself, a save of the person, and the person's new name.
    assert (
        "was changed" in change("UPDATE collect_entry SET content = replace(content, 't', 'u') WHERE kind = 'task'")[0]
    )
    assert (
        "was changed"
        in change("UPDATE collect_entry SET content = replace(content, '0', '1') WHERE kind = 'erasure'")[0]
    )
    assert "save 1 of screen" in change("UPDATE collect_save SET changes = replace(changes, '40', '90')")[0]
    assert change("UPDATE collect_annotator SET name = 'erased-1' WHERE name LIKE 'erased-%'")


def test_of_an_adaptive_campaign_judgments_are_kept(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    campaign = adaptive_campaign(tmp_path)
    with Server(campaign) as server:
        name = next(name for name in server.links if name not in ("organiser", "crowd"))
        work = server.client(name).work()
        changes = [{"output": output, "score": 50} for output in outputs(work, 0)]
        assert server.client(name).post("/api/saves", new_save(work, 0, changes)).status == 200
        refused = adjudge("erase", campaign, "--person", name, "--judgments")
        assert "keep them under a number" in refused.err
        assert adjudge("erase", campaign, "--person", name).code == 0
        assert verify(adjudge, campaign)[0] == 0


class Links(HTMLParser):
    """All tags of a page, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.to: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.to += [value or "" for name, value in attrs if name in ("href", "src")]


def test_the_archive_shows_what_was_done_and_nobody_by_name(
    server: Server, adjudge: Callable[..., Run], tmp_path: Path
) -> None:
    saves = judge(server.client(NAME), "anna")
    judge(server.client("bert"), "bert")
    folder = tmp_path / "pages"
    stored = () if server.database is None else ("--database", server.database)
    made = json.loads(adjudge("archive", server.campaign, "-o", folder, "--json", *stored).out)
    pages = sorted(folder.rglob("*.html"))
    assert (made["people"], made["pages"], len(pages)) == (2, 2, 3)
    everything = "".join(file.read_text("utf-8") for file in folder.rglob("*") if file.is_file())
    for secret in (NAME, "bert", "example.org", "organiser, made"):
        assert secret not in everything
    for page in pages:
        text = page.read_text("utf-8")
        links = Links(text)
        assert not links.tags & {"script", "img", "iframe", "form"}
        assert all((page.parent / link).exists() for link in links.to)
    first = pages[0].read_text("utf-8")
    assert '<mark class="major" title="major">' in first
    assert "score 40" in first
    assert "&lt;script&gt;" in first
    assert first.count("<details>") == saves
    with (folder / "judgments.csv").open(encoding="utf-8") as table:
        annotators = {row["annotator"] for row in csv.DictReader(table)}
    assert {int(number) for number in annotators} == {int(page.parent.name) for page in pages[:2]}
    again = adjudge("archive", server.campaign, "-o", folder, *stored)
    assert (again.code, "not an empty folder" in again.err) == (1, True)
    exported = tmp_path / "numbers.parquet"
    assert adjudge("export", server.campaign, "-o", exported, "--numbers", *stored).code == 0
    assert NAME.encode() not in exported.read_bytes()


ANSWERS: dict[str, list[dict[str, Any]]] = {
    "da": [{"score": 50}],
    "sqm": [{"score": 4}],
    "ranking": [{"rank": 1}],
    "pairwise": [{"rank": 1}, {"rank": 2}],
    "mqm": [{"spans": []}],
    "postedit": [{"edit": "Something <else>."}],
}


@pytest.mark.parametrize("protocol", ANSWERS)
def test_the_archive_of_every_protocol(protocol: str, adjudge: Callable[..., Run], tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, protocol, documents=1)
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        for screen in range(len(work["task"]["screens"])):
            changes = [
                {"output": output, **ANSWERS[protocol][i % len(ANSWERS[protocol])]}
                for i, output in enumerate(outputs(work, screen))
            ]
            assert client.post("/api/saves", new_save(work, screen, changes)).status == 200
    made = adjudge("archive", campaign, "-o", tmp_path / "pages")
    assert made.code == 0, made.err
    [page] = (tmp_path / "pages").glob("*/*.html")
    said = {"mqm": "0 errors", "postedit": "Something &lt;else&gt;.", "da": "score 50", "sqm": "score 4"}
    assert said.get(protocol, "rank 1") in page.read_text("utf-8")
    assert "Not judged" not in page.read_text("utf-8")


@pytest.mark.browser
@pytest.mark.parametrize("target", ["en", "ar"])
def test_the_archive_in_a_browser(target: str, browser: Browser, adjudge: Callable[..., Run], tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, "esa", target=target, documents=1, annotators='["anna"]', more=MORE)
    with Server(campaign) as server:
        judge(server.client("anna"), "anna")
        assert adjudge("archive", campaign, "-o", tmp_path / "pages").code == 0
    scheme: Literal["dark", "light"] = "dark" if target == "ar" else "light"
    context = browser.new_context(
        java_script_enabled=False, color_scheme=scheme, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    page.goto((tmp_path / "pages" / "index.html").as_uri())
    expect(page.get_by_role("heading", name="Instructions")).to_be_visible()
    # What people agreed to, as each read it.
    assert page.locator(".told").evaluate_all("all => all.map((one) => [one.lang, one.dir])")[-2:] == [
        ["en", "ltr"],
        ["ar", "rtl"],
    ]
    shoot(page, f"archive-{target}")
    page.locator("tbody a").first.click()
    expect(page.locator("mark.major").first).to_be_visible()
    assert page.locator(".output .text").first.get_attribute("dir") == ("rtl" if target == "ar" else "ltr")
    shoot(page, f"archive-task-{target}")
    context.close()


@pytest.mark.browser
def test_an_organiser_erases_a_person_on_the_page(page: Page, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, documents=1, annotators='["anna", "bert"]', more=MORE)) as server:
        page.goto(server.links["organiser"])
        page.get_by_role("button", name="Erase… anna").click()
        box = page.locator("dialog[open]")
        box.get_by_label("Name").fill("bert")
        box.get_by_role("button", name="Erase", exact=True).click()
        expect(box).to_contain_text("this is not the person's name")
        box.get_by_label("Name").fill("anna")
        shoot(page, "erase")
        box.get_by_role("button", name="Erase", exact=True).click()
        expect(page.locator(".failed")).to_contain_text("backups, exports and files of links")
        expect(page.locator("tbody").first).to_contain_text("erased-")
        expect(page.get_by_role("row", name=re.compile("Erased"))).to_be_visible()
        expect(page.get_by_role("columnheader", name="When")).to_be_visible()
        assert "anna" not in server.campaign.read_text()


TUTORIAL = (
    "source\ttarget\tnote\tlow\thigh\terrors\nEins zwei drei.\tOne three.\tA wrong number.\t20\t60\tthree|[missing]\n"
)


@pytest.mark.browser
def test_a_tutorial_that_must_be_passed(page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, "esa", documents=1, more='[page]\ntutorial = "pass"\n')
    (tmp_path / "tutorial.tsv").write_text(TUTORIAL)
    campaign.write_text(campaign.read_text().replace("[files]", '[files]\ntutorial = "tutorial.tsv"'))
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        [output] = outputs(work, 0)
        span = {
            "start": 4,
            "end": 9,
            "severity": "major",
            "category": None,
            "side": "target",
            "of": None,
            "text": "three",
        }
        left_out = {**span, "start": None, "end": None, "side": "missing", "text": None}
        finish = f"/api/tasks/{work['task']['id']}/finish"
        for change, wrong in (
            ({"score": 90}, [output]),
            ({"score": 40}, [output]),
            ({"spans": [{**span, "start": 0, "end": 3, "text": "One"}, left_out]}, [output]),
            ({"spans": [span]}, [output]),
        ):
            saved = client.post("/api/saves", new_save(client.work(), 0, [{"output": output, **change}]))
            assert saved.json["state"]["wrong"] == wrong
            assert not client.post(finish).json["finished"]
        begin(page, server)
        expect(page.locator(".left")).to_have_text("1 left")
        page.locator(".left").click()
        expect(page.locator(".notices")).to_contain_text("Please correct this example first")
        expect(page.locator(".lesson.said")).to_contain_text("One error is not marked yet")
        saved = client.post("/api/saves", new_save(client.work(), 0, [{"output": output, "spans": [span, left_out]}]))
        assert saved.json["state"]["wrong"] == []
        assert client.post(finish).json["finished"]


def test_a_name_is_replaced_where_it_stands_as_a_word(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    with Server(make_campaign(tmp_path, documents=1, annotators='["Al", "bert"]')) as server:
        organiser = server.client("organiser")
        path = f"/api/organiser/annotators/{number_of(server, 'Al')}"
        reason = "Al is no Albert, says Al"
        assert organiser.post(f"{path}/decision", {"excluded": True, "reason": reason}).status == 200
        number = organiser.post(f"{path}/erase", {"name": "Al"}).json["number"]
        actions = organiser.get("/api/organiser/overview").json["actions"]
        said = next(action["text"] for action in actions if action["action"] == "exclude")
        assert said == f"erased-{number} is no Albert, says erased-{number}"
        assert verify(adjudge, server.campaign)[0] == 0
