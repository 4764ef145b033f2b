"""Errors with categories (MQM): by keys alone to the export, scores that follow from the errors, and other files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from playwright.sync_api import expect

from adjudge import read
from adjudge.campaigns.design import read_tutorial
from adjudge.readers.options import ReadOptions
from adjudge.table.errors import InputError
from tests.conftest import Run
from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import (
    begin,
    campaign_of_texts,
    errors,
    mark_words,
    saved,
    texts_of,
    type_number,
    type_together,
)
from tests.helpers.serving import Client, Server, exported, new_save, outputs
from tests.helpers.texts import make_campaign as made_up_campaign
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Page

LINES = ["one two three four.", "five six."]


@pytest.mark.browser
@pytest.mark.parametrize("target", ["en", "ar"])
def test_errors_get_their_categories_by_keys_alone(target: str, page: Page, tmp_path: Path) -> None:
    source = "de" if target == "en" else "en"
    campaign = make_campaign(tmp_path, "mqm", source=source, target=target, documents=1, task_size=30)
    chosen = page.locator("select.category:focus")
    with Server(campaign) as server:
        begin(page, server)
        shoot(page, f"mqm-{target}-unset")
        count = int(page.locator(".place-button").inner_text().split()[-1])
        for screen in range(count):
            expect(page.locator(".place-button")).to_have_text(f"{screen + 1} of {count}")
            for i in range(texts_of(page).count()):
                expect(texts_of(page).nth(i)).to_be_focused()
                if i == 0:
                    mark_words(page, 1, 2, severity=1)
                    page.keyboard.press("t")
                    type_together(page, "Gram", lambda: chosen.input_value() == "Fluency/Grammar")
                    page.keyboard.press("Enter")
                    page.keyboard.press("g")
                else:
                    page.keyboard.press("f")
                if (screen, i) == (0, 1):
                    shoot(page, f"mqm-{target}")
                page.keyboard.press("Enter")
        expect(page.locator("dialog[open]")).to_contain_text("hand them in")
        page.keyboard.press("h")
        page.get_by_text("Thank you!").wait_for()
        table = exported(server, tmp_path).final().table
    assert table["protocol"].unique().to_list() == ["mqm"]
    first = table.filter(pl.col("segment") == "1")
    assert first["score"].to_list() == [-6.0] * 3  # a major error (5) and a minor omission (1)
    kinds = [[(span["side"], span["category"], span["severity"]) for span in spans] for spans in first["spans"]]
    expected = [("target", "Fluency/Grammar", "major"), ("missing", "Accuracy/Omission", "minor")]
    assert kinds == [expected] * 3
    rest = table.filter(pl.col("segment") != "1")
    assert rest["score"].to_list() == [0.0] * 6
    assert rest["spans"].list.len().to_list() == [0] * 6


@pytest.mark.browser
def test_no_error_must_be_said_and_a_category_chosen(page: Page, tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES, protocol="mqm")) as server:
        begin(page, server)
        expect(page.locator(".left")).to_have_text("2 left")
        page.get_by_role("button", name="No error").first.click()
        expect(page.get_by_role("button", name="No error").first).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".left")).to_have_text("1 left")
        page.keyboard.press("f")
        expect(page.locator(".left")).to_have_text("2 left")
        mark_words(page, 0)
        expect(page.locator(".left")).to_have_text("2 left")
        page.get_by_label("Kind of the error “one”").select_option("Style/Awkward")
        expect(page.locator(".left")).to_have_text("1 left")
        assert errors(page) == ["“one”, Minor, Style/Awkward"]
        # Another kind of error in the same words, and one that lies across.
        texts_of(page).first.focus()
        mark_words(page, 0, 2)
        expect(page.locator("li.error")).to_have_count(2)
        expect(page.locator("mark.several")).to_have_count(1)
        page.get_by_label("Kind of the error “one two”").select_option("Non-translation")
        saved(page)
        page.reload()
        expect(texts_of(page).first).to_be_visible()
        expect(page.locator("li.error")).to_have_count(2)
        assert errors(page) == ["“one”, Minor, Style/Awkward", "“one two”, Minor, Non-translation"]
        table = exported(server, tmp_path).final().table
        assert table["score"].to_list() == [-26.0]  # 1 for a minor error, 25 for a non-translation
        for _ in range(2):
            page.get_by_role("button", name="Delete the mark").first.click()
        expect(page.locator(".left")).to_have_text("2 left")
        shoot(page, "mqm-open-again")


@pytest.mark.browser
def test_the_tutorial_asks_for_the_errors_as_well_as_the_score(page: Page, tmp_path: Path) -> None:
    campaign = campaign_of_texts(tmp_path, LINES, protocol="esa")
    campaign.write_text(campaign.read_text().replace("[files]\n", '[files]\ntutorial = "tutorial.tsv"\n'))
    (tmp_path / "tutorial.tsv").write_text(
        "source\ttarget\tlow\thigh\terrors\texplanation\n"
        "Der Tee ist heiß und süß.\tThe coffee is 🔥 cold.\t0\t40\tcoffee | cold | [missing]\tNot sweet, either.\n"
    )
    feedback = page.locator(".lesson.said")
    with Server(campaign) as server:
        begin(page, server)
        type_number(page, "20")
        expect(feedback).to_have_text("One error is not marked yet: “coffee”.")
        mark_words(page, 1)
        expect(feedback).to_have_text("One error is not marked yet: “cold”.")
        mark_words(page, 4)
        expect(feedback).to_have_text("One error is not marked yet: “something is missing”.")
        page.keyboard.press("g")
        # The explanation is of the campaign's language, in whatever direction that runs.
        expect(feedback).to_have_text("Good: that is how most people see it. \u2068Not sweet, either.\u2069")


@pytest.mark.parametrize(
    ("protocol", "phrase", "message"),
    [
        ("esa", "tea", "'tea' does not stand in the target"),
        ("da", "coffee", "'errors' is for marking errors"),
        ("esa", "[missing]", "nobody can mark that"),
    ],
)
def test_phrases_of_a_tutorial_are_checked(protocol: str, phrase: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "tutorial.tsv"
    file.write_text(f"source\ttarget\tlow\thigh\terrors\nTee\tcoffee\t0\t40\t{phrase}\n")
    with pytest.raises(InputError, match=message):
        read_tutorial(made_up_campaign(protocol, **({"spans": {"missing": False}} if protocol == "esa" else {})), file)


@pytest.mark.browser
@pytest.mark.parametrize("protocol", ["esa", "mqm", "postedit"])
def test_the_tutorial_answers_in_the_terms_of_the_protocol(protocol: str, page: Page, tmp_path: Path) -> None:
    campaign = campaign_of_texts(tmp_path, LINES, protocol=protocol)
    campaign.write_text(campaign.read_text().replace("[files]\n", '[files]\ntutorial = "tutorial.tsv"\n'))
    low, high = {"esa": (0, 40), "mqm": (5, 5), "postedit": (20, 40)}[protocol]
    (tmp_path / "tutorial.tsv").write_text(
        f"source\ttarget\tlow\thigh\tnote\nDer Tee ist heiß.\tThe coffee is hot.\t{low}\t{high}\tNot coffee, but tea.\n"
    )
    feedback = page.locator(".lesson.said")
    with Server(campaign) as server:
        begin(page, server)
        expect(page.locator(".lesson").first).to_have_text("Not coffee, but tea.")
        expect(feedback).to_be_hidden()
        if protocol == "esa":
            type_number(page, "90")
            expect(feedback).to_have_text("Most people would say something between 0 and 40 here.")
            type_number(page, "20")
        elif protocol == "mqm":
            page.keyboard.press("f")
            expect(feedback).to_have_text("Most people find errors worth 5 points here.")
            mark_words(page, 1, severity=1)
            expect(feedback).to_be_hidden()
            page.get_by_label("Kind of the error “coffee”").select_option("Accuracy/Mistranslation")
        else:
            page.keyboard.press("f")
            expect(feedback).to_have_text("Most people change 20–40 percent here.")
            page.locator("textarea.edition").fill("The tea is hot.")
        expect(feedback).to_have_text("Good: that is how most people see it.")
        shoot(page, f"{protocol}-tutorial")


def span(start: int | None, end: int | None, text: str | None, category: str, **more: Any) -> dict[str, Any]:
    return {
        "start": start,
        "end": end,
        "severity": "minor",
        "side": "target",
        "text": text,
        "category": category,
        **more,
    }


def send(client: Client, work: Any, output: int, **fields: Any) -> Any:
    change = {"output": outputs(work, 0)[output], **fields}
    return client.post("/api/saves", new_save(work, 0, [change]))


OWN = """[spans]
severities = ["minor", "critical"]
[spans.categories]
Meaning = ["Wrong", "Left out"]
Form = ["Punctuation"]
Garbage = []
[spans.weights]
critical = 10
punctuation = 0.5
"""


def test_the_own_taxonomy_and_weights_count(tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES, protocol="mqm", more=OWN)) as server:
        client = server.client("anna")
        work = client.work()
        names = [category["name"] for category in work["campaign"]["spans"]["categories"]]
        assert names == ["Meaning/Wrong", "Meaning/Left out", "Form/Punctuation", "Garbage"]
        assert send(client, work, 0, spans=[span(0, 3, "one", "Style/Awkward")]).status == 409
        assert send(client, work, 0, spans=[span(0, 3, "one", "Garbage", severity="major")]).status == 409
        assert send(client, work, 0, score=50).status == 409
        twice = [span(0, 3, "one", "Garbage"), span(0, 3, "one", "Garbage", severity="critical")]
        assert "marked twice" in send(client, work, 0, spans=twice).json["detail"]
        errors = [span(0, 3, "one", "Meaning/Wrong", severity="critical"), span(18, 19, ".", "Form/Punctuation")]
        assert send(client, work, 0, spans=errors).status == 200
        answer = send(client, work, 1, spans=[span(0, 4, "five", "Garbage") | {"category": None}])
        assert (answer.status, answer.json["state"]["complete"]) == (200, False)
        assert exported(server, tmp_path).final().table.sort("segment")["score"].to_list() == [-10.5, None]
        assert send(client, work, 1, spans=[]).json["state"]["complete"]
        assert exported(server, tmp_path).final().table.sort("segment")["score"].to_list() == [-10.5, 0.0]


def test_ratings_are_written_and_read_back(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    campaign = campaign_of_texts(
        tmp_path, LINES, protocol="mqm", more="[spans]\nsource = true\n[controls]\nrepeats = 1\n"
    )
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        for i, screen in enumerate(work["task"]["screens"]):
            marks = [
                span(0, 3, "one", "Accuracy/Mistranslation", severity="major"),
                span(18, 19, ".", "Fluency/Punctuation"),
                span(0, 6, "Quelle", "Source error", side="source", severity="critical"),
                span(None, None, None, "Accuracy/Omission", side="missing", severity="major"),
            ]
            changes: list[dict[str, Any]] = [{"output": outputs(work, i)[0], "spans": marks}]
            changes += [{"output": output, "spans": []} for output in outputs(work, i)[1 : len(screen["items"])]]
            assert client.post("/api/saves", new_save(work, i, changes)).status == 200
    native, ratings, appraise = tmp_path / "judgments.csv", tmp_path / "mqm_deen.tsv", tmp_path / "appraise.csv"
    assert adjudge("export", campaign, "-o", native).code == 0
    run = adjudge("export", campaign, "-o", ratings, "--format", "mqm", "--json")
    assert [aside["reason"] for aside in run.json["set_aside"]] == [
        "control, which MQM ratings cannot tell from others"
    ]
    assert adjudge("export", campaign, "-o", appraise, "--format", "appraise").code == 0
    ours = read([native]).final().table.filter(pl.col("kind") == "system").sort("segment")
    assert ours["score"].to_list() == [-10.1, 0.0]  # major 5, punctuation 0.1, source error 0, omission 5
    theirs = read([ratings], format="mqm", options=ReadOptions()).table.sort("segment")
    assert theirs["score"].to_list() == ours["score"].to_list()
    assert theirs["spans"].to_list() == ours["spans"].to_list()
    back = read([appraise], format="appraise", options=ReadOptions()).final().table
    back = back.filter(pl.col("kind") == "system").sort("segment")
    assert back["protocol"].unique().to_list() == ["mqm"]
    assert back["score"].to_list() == ours["score"].to_list()
    ranked = adjudge("rank", native, "--method", "raw", "--json")
    assert ranked.code in (0, 1)
    assert "Traceback" not in ranked.err


def test_only_errors_with_categories_are_ratings(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    campaign = campaign_of_texts(tmp_path, LINES)
    with Server(campaign) as server:
        client = server.client("anna")
        assert send(client, client.work(), 0, score=5).status == 200
    run = adjudge("export", campaign, "-o", tmp_path / "x.tsv", "--format", "mqm")
    assert (run.code, "protocol mqm" in run.err) == (1, True)
