"""Markup and scripts in every text that a person or a file can put in stay texts, on every page and in the report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.collect.campaigns import make_campaign
from tests.collect.serving import Client, Server, new_save, outputs

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Dialog, Page

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script><svg onload=window.hacked=1>"
# Besides markup: what could end an attribute, a script, a style, or a template.
EVIL_NAME = "x'\\\"></script></style>{{7*7}}${7*7}" + EVIL


@pytest.fixture
def watched(page: Page) -> Iterator[Page]:
    """A page on which nothing may run that a text brought along: no dialog, and nothing that the policy had to stop."""
    said: list[str] = []

    def opened(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    def logged(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "TrustedHTML" in message.text:
            said.append(message.text)

    page.context.on("dialog", opened)
    page.context.on("console", logged)
    yield page
    for shown in page.context.pages:
        assert shown.evaluate("window.hacked") is None
        assert shown.locator("img, svg[onload]").count() == 0
    assert said == []


def evil_campaign(folder: Path, protocol: str) -> Path:
    """A campaign with such a text in every key that takes one."""
    name = json.dumps(EVIL_NAME)
    more = f"[instructions]\nen = {name}\n[crowd]\nleast_seconds = 0\ncompletion_code = {name}\n"
    more += '[assignment]\npolicy = "pool"\n'
    if protocol == "mqm":
        kind = json.dumps(EVIL.replace("/", "|")[:80])
        more += f"[spans.categories]\n{kind} = [{kind}]\n"
    else:
        anchors = ", ".join(f"{{ at = {at}, text = {name} }}" for at in (0, 100))
        more += f"[scale]\nanchors = [{anchors}]\n[page]\ncomments = true\n"
    campaign = make_campaign(folder, protocol, documents=1, annotators=json.dumps([f"anna {EVIL_NAME}"[:190], "bert"]),
                             more=more, design="judgments = 2")  # fmt: skip
    text = campaign.read_text()
    text = re.sub(r'^name = ".*"$', lambda _: f"name = {json.dumps(EVIL[:95])}", text, flags=re.MULTILINE)
    text = text.replace('alpha = "alpha.txt"', f'{name} = "alpha.txt"')
    text = text.replace('source = "source.txt"', 'source = "source.txt"\ntutorial = "tutorial.tsv"', 1)
    campaign.write_text(text)
    (folder / "tutorial.tsv").write_text(f"source\ttarget\tnote\tlow\thigh\n{EVIL}\t{EVIL}\t{EVIL}\t0\t100\n")
    for file in folder.glob("*.txt"):
        lines = file.read_text().splitlines()
        file.write_text("\n".join(f"{line} {EVIL}" if line else "" for line in lines) + "\n")
    return campaign


def judge(client: Client, protocol: str) -> None:
    """Judge all that is given to a person, with such texts as comments."""
    for _ in range(4):
        work = client.work()
        if work["task"] is None:
            return
        for number in range(len(work["task"]["screens"])):
            for at, output in enumerate(outputs(work, number)):
                given = {"spans": []} if protocol == "mqm" else {"score": 10 * at + number, "comment": EVIL}
                assert client.post("/api/saves", new_save(work, number, [{"output": output, **given}])).status == 200
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]


@pytest.mark.parametrize("protocol", ["da", "mqm"])
def test_nothing_runs_on_any_page_or_in_the_report(
    protocol: str, watched: Page, tmp_path: Path, adjudge: Callable[..., Any]
) -> None:
    with Server(evil_campaign(tmp_path, protocol)) as server:
        [anna] = [name for name in server.links if name.startswith("anna")]
        watched.goto(server.links[anna])
        expect(watched.locator("dialog[open]")).to_contain_text("onerror")
        watched.keyboard.press("Enter")
        expect(watched.locator(".lesson").first).to_contain_text("onerror")
        expect(watched.locator("h1")).to_contain_text("onerror")
        for key in ("?", "Escape", "o", "Escape", "i", "Escape"):
            watched.keyboard.press(key)
        for name in (anna, "bert"):
            judge(server.client(name), protocol)
        watched.reload()
        expect(watched.locator(".code")).to_contain_text("onerror")
        watched.goto(f"{server.url}/enter?PROLIFIC_PID={EVIL}#{EVIL}")
        expect(watched.locator("main")).to_be_visible()
        organiser = watched.context.new_page()
        organiser.goto(server.links["organiser"])
        organiser.get_by_role("button", name="Exclude…").first.click()
        organiser.get_by_label("Reason").fill(EVIL)
        organiser.get_by_role("button", name="Record the decision").click()
        expect(organiser.locator("td").filter(has_text="onerror").first).to_be_visible()
        expect(organiser.locator(".panels .panel").first).to_be_visible()
        csv = server.client("organiser").get("/api/organiser/export").text
    (tmp_path / "judgments.csv").write_text(csv)
    report = tmp_path / "report.html"
    if protocol == "da":
        run = adjudge("report", tmp_path / "judgments.csv", "-o", report)
        assert run.code == 0, run.err
        watched.goto(report.as_uri())
        expect(watched.locator("body")).to_contain_text("onerror")
