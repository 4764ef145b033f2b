"""What is asked beyond one score: several criteria, whole documents, skipping, ties of two kinds, labels."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from zlib import crc32

import polars as pl
import pytest
from playwright.sync_api import expect

from adjudge import read
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.table.errors import InputError
from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, saved, type_together
from tests.helpers.serving import Server, export_file, new_save, run
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

CRITERIA = """
[criteria.adequacy]
question = "How much of the meaning is kept?"
[criteria.fluency]
question = { de = "Wie flüssig liest es sich?", en = "How fluent is it?" }
[criteria.document]
of = "document"
scale = { high = 10 }
"""
REASON = "The source is not German"
SKIP = f'[page]\nskip = ["{REASON}", "The texts do not belong together"]\n'
PAGES = 'structure = "pages-same-documents"\n'
# What systems get, from the best to the worst on a scale of five; `alpha` leaves the sentences as they are.
POINTS = {"alpha": 5, "beta": 3, "gamma": 1}


def makers(folder: Path) -> dict[str, str]:
    """The system of each text."""
    return {
        line: name
        for name in POINTS
        if (folder / f"{name}.txt").exists()
        for line in (folder / f"{name}.txt").read_text().splitlines()
        if line
    }


def give(name: str, system: str, text: str) -> int:
    """What a person gives a text: sometimes a point less, or more at the end of the scale."""
    change = crc32(f"{name} {text}".encode()) // 7 % 2
    return POINTS[system] + (change if system == "gamma" else -change)


def judge_everything(server: Server, name: str, made_by: dict[str, str], tasks: int) -> None:
    """Judge all tasks of a person over the interface: adequacy as good as the system, fluency the other way round."""
    client = server.client(name)
    for _ in range(tasks):
        work = client.work()
        for number, screen in enumerate(work["task"]["screens"]):
            changes: list[dict[str, Any]] = []
            for item in screen["items"]:
                for output in item["outputs"]:
                    points = give(name, made_by[output["text"]], output["text"])
                    changes.append({"output": output["id"], "score": points})
                    changes += [{"output": more["id"], "score": 6 - points} for more in output["more"]]
            for column, output in zip(screen["whole"], screen["items"][0]["outputs"], strict=True):
                changes += [
                    {"output": q["id"], "score": 2 * give(name, made_by[output["text"]], output["text"])}
                    for q in column
                ]
            answer = client.post("/api/saves", new_save(work, number, changes))
            assert answer.status == 200, answer.text
            assert answer.json["state"]["complete"]
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]


def ranked(table: Path, *options: str) -> list[str]:
    """The systems as `rank` orders them."""
    done = json.loads(run("rank", table, "--json", *options).out)
    return [row["system"] for row in sorted(done["systems"], key=lambda row: -row["score"])]


@pytest.mark.parametrize("beside", [1, 3])
@pytest.mark.parametrize("protocol", ["da", "esa"])
def test_criteria_go_from_the_campaign_file_to_a_ranking_each(
    protocol: str, beside: int, own_database: str | None, tmp_path: Path
) -> None:
    people = ["anna", "bert", "cleo"]
    design = f"judgments = 3\noutputs = {beside}\n{PAGES if protocol == 'da' else ''}"
    campaign = make_campaign(
        tmp_path, protocol, documents=4, task_size=100, annotators=json.dumps(people), design=design, more=CRITERIA
    )
    place = ["--database", own_database] if own_database else []
    with Server(campaign, own_database) as server:
        for name in people:
            judge_everything(server, name, makers(tmp_path), 1)
        overview = server.client("organiser").get("/api/organiser/overview").json
        run("verify", campaign, *place)
    table = tmp_path / "judgments.parquet"
    run("export", campaign, "-o", table, *place)
    rows = pl.read_parquet(table)
    # 3 systems, 4 documents of 3 segments, 3 people; a document has one score by one person.
    assert dict(rows.group_by("criterion").len().iter_rows()) == {"adequacy": 108, "fluency": 108, "document": 36}
    assert rows.filter(pl.col("criterion") == "document")["segment"].null_count() == 36
    assert ranked(table, "--criterion", "adequacy") == ["alpha", "beta", "gamma"]
    assert ranked(table, "--criterion", "fluency") == ["gamma", "beta", "alpha"]
    assert ranked(table, "--criterion", "document") == ["alpha", "beta", "gamma"]
    # Several criteria make one judgment of an output, everywhere.
    record = json.loads(run("export", campaign, "-o", tmp_path / "again.parquet", "--json", *place).out)
    assert record["judgments"] == 108 == overview["progress"]["judgments"]


def test_a_score_of_the_document_alone(tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path,
        "esa",
        documents=4,
        task_size=100,
        annotators='["anna", "bert"]',
        design="judgments = 2\n",
        more='[criteria.document]\nof = "document"\nscale = { high = 10 }\n[controls]\ndegraded = 3\n',
    )
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        text = {o["text"]: o["id"] for s in work["task"]["screens"] for i in s["items"] for o in i["outputs"]}
        assert (
            client.post(
                "/api/saves",
                new_save(work, 0, [{"output": work["task"]["screens"][0]["items"][0]["outputs"][0]["id"], "score": 3}]),
            ).status
            == 409
        ), "segments have no score here"
        made_by = makers(tmp_path)
        for name in ("anna", "bert"):
            judge_pages(server, name, made_by)
        counted = server.client("organiser").get("/api/organiser/overview").json
        run("verify", campaign)
    assert text
    rows = read([export_file(campaign)]).final().table
    assert rows.filter(pl.col("kind") == "system").height == 3 * 4 * 2
    assert counted["progress"]["judgments"] == 3 * 4 * 2
    # The degraded page got less than the page from which it was made.
    assert [(row["controls_right"], row["controls"]) for row in counted["annotators"]] == [(1, 1), (1, 1)]
    assert ranked(export_file(campaign)) == ["alpha", "beta", "gamma"]


def judge_pages(server: Server, name: str, made_by: dict[str, str]) -> None:
    """Score whole pages; a page with a text that no system has made is a control."""
    client = server.client(name)
    work = client.work()
    for number, screen in enumerate(work["task"]["screens"]):
        texts = [item["outputs"][0]["text"] for item in screen["items"]]
        points = 0 if any(text not in made_by for text in texts) else 2 * give(name, made_by[texts[0]], texts[0])
        changes = [{"output": question["id"], "score": points} for column in screen["whole"] for question in column]
        assert client.post("/api/saves", new_save(work, number, changes)).json["state"]["complete"]


@pytest.mark.parametrize(
    ("protocol", "more", "why"),
    [
        ("ranking", CRITERIA, "'criteria' are scores"),
        ("da", CRITERIA, "criterion 'document' is of whole documents, so design.structure must be one of pages"),
        ("da", "[criteria.a]\n[criteria.A]\n", "names one twice"),
        (
            "da",
            '[criteria.a]\nscale = "stars"\n',
            "name one of the scales da, sqm, esa, adequacy, fluency, xsts, acceptability",
        ),
        ("da", '[page]\nties = "good-or-bad"\n', "is for pairs"),
        ("da", '[page]\nrank_labels = ["yes", "no"]\n', "is for rankings"),
        ("ranking", '[page]\nties = false\nrank_labels = ["yes", "no"]\n', "ties must be allowed"),
        ("da", "[page]\nskip = []\n", "page.skip"),
    ],
)
def test_what_does_not_fit_together_is_refused(protocol: str, more: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(why)):
        load_campaign(make_campaign(tmp_path, protocol, more=more))


def test_scales_by_name_and_warnings_that_follow_the_scale(tmp_path: Path) -> None:
    own = 'scale = { high = 9, anchors = [{ at = 9, text = "fine" }] }'
    named = load_campaign(make_campaign(tmp_path / "b", "esa", more=f"[criteria.XSTS]\n[criteria.natural]\n{own}\n"))
    # Licht et al. (2022), Consistent human evaluation of machine translation across language pairs: 1 to 5.
    assert [(a.scale.low, a.scale.high) for a in named.asked] == [(1, 5), (0, 9)]
    # The middle of the scale, and nine tenths of it: 50 and 90 of 100 as before.
    assert list(named.warn_limits) == pytest.approx([3, 4.6])
    assert load_campaign(make_campaign(tmp_path / "c", "esa")).warn_limits == (50, 90)


def wrong_changes(work: Any) -> list[tuple[dict[str, Any], str]]:
    [item, *_] = work["task"]["screens"][0]["items"]
    [output] = item["outputs"]
    first, fluency = output["id"], output["more"][0]["id"]
    whole = work["task"]["screens"][0]["whole"][0][0]["id"]
    return [
        ({"output": first, "score": 6}, "does not lie between 1 and 5"),
        ({"output": whole, "score": 11}, "does not lie between 0 and 10"),
        ({"output": fluency, "spans": []}, "has no spans"),
        ({"output": fluency, "comment": "x"}, "has no comment"),
        ({"output": fluency, "skipped": REASON}, "has no skipped"),
        ({"output": first, "skipped": "I am tired"}, "not one of the reasons"),
        ({"output": first, "both": "good"}, "has no both"),
        ({"output": f"{first}-c9", "score": 1}, "is not on screen"),
    ]


def test_only_what_is_asked_can_be_answered(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, "esa", documents=1, task_size=20, more=CRITERIA + SKIP)
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        for change, why in wrong_changes(work):
            answer = client.post("/api/saves", new_save(work, 0, [change]))
            assert answer.status == 409, change
            assert why in answer.text
        # What is skipped asks for nothing more, whatever was said before; then it does again.
        first = work["task"]["screens"][0]["items"][0]["outputs"][0]
        before = client.post("/api/saves", new_save(work, 0, [{"output": first["id"], "score": 4}])).json["state"]
        assert not before["complete"]
        questions = [q for i in work["task"]["screens"][0]["items"] for o in i["outputs"] for q in (o, *o["more"])]
        others = [
            q["id"]
            for q in (*questions, *work["task"]["screens"][0]["whole"][0])
            if q["id"] not in {first["id"], first["more"][0]["id"]}
        ]
        rest = [{"output": other, "score": 2} for other in others]
        skipped = client.post("/api/saves", new_save(work, 0, [*rest, {"output": first["id"], "skipped": REASON}]))
        assert skipped.json["state"]["complete"]
        again = client.post("/api/saves", new_save(work, 0, [{"output": first["id"], "skipped": None}]))
        assert not again.json["state"]["complete"]


# In the browser, by keys.


def score(page: Page, slider: Locator, number: str) -> None:
    type_together(page, number, lambda: slider.get_attribute("aria-valuenow") == number)


@pytest.mark.browser
def test_criteria_are_judged_by_keys_on_every_size_of_page(
    page: Page, own_database: str | None, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, "esa", documents=1, systems=1, task_size=20, more=CRITERIA + SKIP)
    with Server(campaign, own_database) as server:
        begin(page, server)
        sliders = page.get_by_role("slider")
        expect(sliders).to_have_count(7)
        expect(page.locator(".left")).to_have_text("7 left")
        names = ["adequacy How much of the meaning is kept?", "fluency How fluent is it?"]
        expect(page.locator("article").first.locator(".criterion-name")).to_have_text(names)
        score(page, sliders.nth(0), "4")
        page.keyboard.press("Enter")
        # The score typed in the text is passed over; fluency comes next.
        expect(page.get_by_role("slider", name="Score of segment 1: fluency")).to_be_focused()
        score(page, sliders.nth(1), "2")
        page.keyboard.press("Enter")
        page.keyboard.press("x")
        expect(page.locator("dialog[open]")).to_contain_text("Why do you skip this?")
        shoot(page, "skip-dialog")
        page.get_by_role("button", name=REASON).press("Enter")
        expect(page.locator(".skipped:visible")).to_contain_text(REASON)
        expect(page.locator(".left")).to_have_text("3 left")
        page.keyboard.press("Control+z")
        expect(page.locator(".skipped:visible")).to_have_count(0)
        page.keyboard.press("x")
        page.get_by_role("button", name=REASON).press("Enter")
        page.locator("article").nth(2).locator(".markable").focus()
        score(page, page.get_by_role("slider", name="segment 3: adequacy"), "5")
        page.keyboard.press("Enter")
        score(page, page.get_by_role("slider", name="segment 3: fluency"), "5")
        page.keyboard.press("Enter")
        expect(page.get_by_role("slider", name="Score of the whole document: document")).to_be_focused()
        score(page, page.get_by_role("slider", name="document"), "10")
        expect(page.locator(".left")).to_have_text("All judged ✓")
        shoot(page, "criteria-wide")
        saved(page)
        for size, name in (((390, 844), "phone"), ((1024, 700), "middle")):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.keyboard.press("d")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            shoot(page, f"criteria-{name}")
        page.reload()
        expect(page.locator(".skipped:visible")).to_contain_text(REASON)
        place = ["--database", own_database] if own_database else []
        counts = json.loads(run("export", campaign, "-o", tmp_path / "j.parquet", "--json", *place).out)
        run("verify", campaign, *place)
    rows = read([tmp_path / "j.parquet"]).final().table
    assert (counts["judgments"], counts["skipped"]) == (2, 1)
    given = {(row["segment"], row["criterion"]): row["score"] for row in rows.iter_rows(named=True)}
    assert given == {
        ("1", "adequacy"): 4, ("1", "fluency"): 2, ("2", "adequacy"): None, ("3", "adequacy"): 5, ("3", "fluency"): 5,
        (None, "document"): 10,
    }  # fmt: skip
    assert rows.filter(pl.col("segment") == "2")["skipped"].to_list() == [REASON]


@pytest.mark.browser
def test_pairs_can_be_both_fine_or_both_wrong_and_can_be_skipped(page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path, "pairwise", documents=2, task_size=20, more='[page]\nties = "good-or-bad"\nskip = true\n'
    )
    with Server(campaign) as server:
        begin(page, server)
        for key in ("ArrowUp", "ArrowDown", "ArrowLeft"):
            page.keyboard.press(key)
            shoot(page, f"pair-{key}")
            page.keyboard.press("Enter")
        page.keyboard.press("x")
        page.keyboard.type("Both are in Dutch")
        page.get_by_role("dialog").get_by_role("button", name="Skip").press("Enter")
        expect(page.locator(".skipped:visible")).to_contain_text("Both are in Dutch")
        shoot(page, "pair-skipped")
        # A skipped pair takes no answer by mistake.
        page.keyboard.press("ArrowLeft")
        saved(page)
    # Whole seconds are saved, so that times do not tell which pair came first.
    answers = read([export_file(campaign)]).final().table.group_by("screen").agg("rank", "both", "skipped")
    found = [(sorted(ranks, key=str), both, skipped) for _, ranks, both, skipped in answers.iter_rows()]
    expected = [
        ([1, 1], ["good"] * 2, [None] * 2),
        ([1, 1], ["bad"] * 2, [None] * 2),
        ([1, 2], [None] * 2, [None] * 2),
        ([None] * 2, [None] * 2, ["Both are in Dutch"] * 2),
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)
    verdict = json.loads(run("rank", export_file(campaign), "--json").out)
    assert {"reason": "skipped: Both are in Dutch", "rows": 2} in verdict["set_aside"]


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_two_labels_instead_of_ranks(size: tuple[int, int], page: Page, tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path, "ranking", documents=1, task_size=20, more='[page]\nrank_labels = ["Usable", "Not usable"]\n'
    )
    with Server(campaign) as server:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        begin(page, server)
        expect(page.get_by_role("radio", name="Not usable")).to_have_count(5)
        page.keyboard.press("3")
        expect(page.locator("[aria-checked=true]")).to_have_count(0)
        for key in "12122":
            page.keyboard.press(key)
        expect(page.locator(".left")).not_to_have_text(re.compile("here"))
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shoot(page, f"labels-{size[0]}")
        saved(page)
    rows = read([export_file(campaign)]).final().table
    assert sorted(rows["rank"].to_list()) == [1, 1, 2, 2, 2]
