"""Markup and scripts in every text that a person or a file can put in stay texts, on every page and in the report."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from adjudge.campaigns.campaign_file import load_campaign
from adjudge.table.errors import InputError
from adjudge.table.protocols import COLLECTED, ON_SCALE, RELATIVE
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import PATIENCE_WITH_STATISTICS, Client, Server, new_save

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script><svg onload=window.hacked=1>"
# Besides markup: what could end an attribute, a script, a style, or a template.
EVIL_NAME = "x'\\\"></script></style>{{7*7}}${7*7}" + EVIL


@pytest.fixture
def watched(page: Page) -> Iterator[Page]:
    """A page on which no script from a text may run: no dialog opens, and the content policy blocks nothing."""
    messages: list[str] = []

    def opened(dialog: Dialog) -> None:
        messages.append(dialog.message)
        dialog.dismiss()

    def logged(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "TrustedHTML" in message.text:
            messages.append(message.text)

    page.context.on("dialog", opened)
    page.context.on("console", logged)
    yield page
    for shown in page.context.pages:
        assert shown.evaluate("window.hacked") is None
        assert shown.locator("img:not(.logo), svg[onload]").count() == 0
    assert messages == []


LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20" onload="window.hacked=1;parent.hacked=1">'
    '<script>window.hacked=1;parent.hacked=1;top.hacked=1</script><rect width="80" height="20" fill="#2456c4"/></svg>'
)


def evil_campaign(folder: Path, protocol: str) -> Path:
    """A campaign with such a text in every key that takes one."""
    name = json.dumps(EVIL_NAME)
    more = f"[instructions]\nen = {name}\n[crowd]\nleast_seconds = 0\ncompletion_code = {name}\n"
    more += '[assignment]\npolicy = "pool"\n[page]\ncomments = true\nlogo = "logo.svg"\n'
    if protocol == "mqm":
        kind = json.dumps(EVIL.replace("/", "|")[:80])
        more += f"[spans.categories]\n{kind} = [{kind}]\n"
    elif protocol in ON_SCALE:
        anchors = ", ".join(f"{{ at = {at}, text = {name} }}" for at in (0, 6 if protocol == "sqm" else 100))
        more += f"[scale]\nanchors = [{anchors}]\n"
    campaign = make_campaign(folder, protocol, documents=2, annotators=json.dumps([f"anna {EVIL_NAME}"[:190], "bert"]),
                             more=more, design="judgments = 2", task_size=30)  # fmt: skip
    text = campaign.read_text()
    text = re.sub(r'^name = ".*"$', lambda _: f"name = {json.dumps(EVIL[:95])}", text, flags=re.MULTILINE)
    text = text.replace('alpha = "alpha.txt"', f'{name} = "alpha.txt"')
    if protocol not in RELATIVE:
        text = text.replace('source = "source.txt"', 'source = "source.txt"\ntutorial = "tutorial.tsv"', 1)
    campaign.write_text(text)
    (folder / "logo.svg").write_text(LOGO)
    best = 1 if protocol == "acceptability" else 100
    (folder / "tutorial.tsv").write_text(f"source\ttarget\tnote\tlow\thigh\n{EVIL}\t{EVIL}\t{EVIL}\t0\t{best}\n")
    for file in folder.glob("*.txt"):
        lines = file.read_text().splitlines()
        file.write_text("\n".join(f"{line} {EVIL}" if line else "" for line in lines) + "\n")
    return campaign


ANSWERS = count()


def answer(protocol: str, at: int, chance: int, text: str, kind: str) -> dict[str, Any]:
    """An answer with such texts wherever the protocol takes one; `chance` differs between people and screens."""
    if protocol in RELATIVE:
        return {"rank": 1 + (at + chance) % 2, "comment": EVIL}
    if protocol == "postedit":
        return {"edit": f"{EVIL} {text}" if chance % 2 else text, "comment": EVIL}
    if protocol == "mqm":
        end = len(text)
        mark = {"start": 0, "end": end, "severity": "minor", "category": kind, "side": "target", "text": text}
        return {"spans": [mark] if chance % 2 else [], "comment": EVIL}
    spans: dict[str, Any] = {"spans": []} if protocol == "esa" else {}
    steps = {"sqm": 7, "acceptability": 2}.get(protocol, 101)
    return {"score": chance % steps, "comment": EVIL, **spans}


def judge_screen(client: Client, work: Any, protocol: str, number: int) -> None:
    """Judge a screen."""
    kinds = (work["campaign"]["spans"] or {}).get("categories") or [{"name": None}]
    shown = [output for item in work["task"]["screens"][number]["items"] for output in item["outputs"]]
    changes = []
    for at, output in enumerate(shown):
        chance = sum(hashlib.sha256(f"{next(ANSWERS)}".encode()).digest())
        changes.append({"output": output["id"], **answer(protocol, at, chance, output["text"], kinds[-1]["name"])})
    saved = client.post("/api/saves", new_save(work, number, changes))
    assert saved.status == 200, saved.text


def judge(client: Client, protocol: str, tasks: int = 9) -> None:
    """Judge what is given to a person, with such texts as comments, edits and kinds of errors."""
    for _ in range(tasks):
        work = client.work()
        if work["task"] is None:
            return
        for number in range(len(work["task"]["screens"])):
            judge_screen(client, work, protocol, number)
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]


@pytest.mark.parametrize(
    "protocol",
    ["da", "mqm", *(pytest.param(name, marks=pytest.mark.slow) for name in COLLECTED if name not in ("da", "mqm"))],
)
def test_nothing_runs_on_any_page_or_in_the_report(
    protocol: str, watched: Page, tmp_path: Path, adjudge: Callable[..., Any]
) -> None:
    with Server(evil_campaign(tmp_path, protocol)) as server:
        [anna] = [name for name in server.links if name.startswith("anna")]
        watched.goto(server.links[anna])
        expect(watched.locator("dialog[open]")).to_contain_text("onerror")
        watched.keyboard.press("Enter")
        client = server.client(anna)
        if protocol not in RELATIVE:
            expect(watched.locator(".lesson").first).to_contain_text("onerror")
            judge(client, protocol, tasks=1)
        judge_screen(client, client.work(), protocol, 0)
        watched.reload()
        expect(watched.locator("h1")).to_contain_text("onerror")
        expect(watched.locator("img.logo")).to_be_visible()
        expect(watched.locator("article").first).to_contain_text("onerror")
        for key in ("?", "Escape", "o", "Escape", "i", "Escape", "c", "Escape"):
            watched.keyboard.press(key)
        for name in (anna, "bert"):
            judge(server.client(name), protocol)
        watched.reload()
        expect(watched.locator(".code")).to_contain_text("onerror")
        watched.goto(f"{server.url}/enter?PROLIFIC_PID={EVIL}#{EVIL}")
        expect(watched.locator("main")).to_be_visible()
        _look_at_organisers_page(watched, server)
        csv = server.client("organiser").get("/api/organiser/export").text
    (tmp_path / "judgments.csv").write_text(csv)
    report = tmp_path / "report.html"
    run = adjudge("report", tmp_path / "judgments.csv", "-o", report)
    assert run.code == 0, run.err
    watched.goto(report.as_uri())
    expect(watched.locator("body")).to_contain_text("onerror")


def _look_at_organisers_page(watched: Page, server: Server) -> None:
    organiser = watched.context.new_page()
    organiser.goto(server.links["organiser"])
    panel = organiser.locator(".panels .panel").filter(has_text="onerror").first
    expect(panel).to_be_visible(timeout=1000 * PATIENCE_WITH_STATISTICS)
    organiser.get_by_role("button", name="Exclude…").first.click()
    organiser.get_by_label("Reason").fill(EVIL)
    organiser.get_by_role("button", name="Record the decision").click()
    expect(organiser.locator("td").filter(has_text="onerror", visible=True).first).to_be_visible()


def test_a_logo_runs_nothing_even_when_opened_by_itself(browser: Browser, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, more='[page]\nlogo = "logo.svg"\n')
    (tmp_path / "logo.svg").write_text(LOGO)
    with Server(campaign) as server:
        answer = server.client().get("/logo")
        assert answer.headers["Content-Type"] == "image/svg+xml"
        assert "sandbox" in answer.headers["Content-Security-Policy"]
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(f"{server.url}/logo")
            assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html><script>alert(1)</script></html>", "neither PNG nor JPEG nor SVG"),
        (b"GIF89a", "neither PNG nor JPEG nor SVG"),
        (b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>", "neither PNG nor JPEG nor SVG"),
        (b"\x89PNG\r\n\x1a\n" + b"0" * 1_000_001, "more than 1,000,000 bytes"),
        (None, "no such file"),
    ],
)
def test_other_files_are_refused_as_logo(content: bytes | None, message: str, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, more='[page]\nlogo = "logo.png"\n')
    if content is not None:
        (tmp_path / "logo.png").write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_campaign(campaign)
