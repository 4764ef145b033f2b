"""Post-editing: by keyboard to the export, explicit answers instead of assumed ones, and what `qe` and `audit` show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect

from adjudge.server.answers import changed_percent
from tests.conftest import Run, assert_explained
from tests.helpers.campaigns import make_campaign
from tests.helpers.judging import begin, campaign_of_texts, saved
from tests.helpers.serving import Client, Server, exported, new_save, outputs
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

LINES = ["one two three four.", "five six."]


def boxes(page: Page) -> Locator:
    return page.locator(".edit-box")


def areas(page: Page) -> Locator:
    return page.locator("textarea.edition")


@pytest.mark.browser
@pytest.mark.parametrize("target", ["en", "ar"])
def test_translations_are_corrected_by_keys_alone(target: str, page: Page, tmp_path: Path) -> None:
    source = "de" if target == "en" else "en"
    campaign = make_campaign(tmp_path, "postedit", source=source, target=target, documents=1, task_size=30)
    more = " again" if target == "en" else " مرة أخرى"
    with Server(campaign) as server:
        begin(page, server)
        shoot(page, f"postedit-{target}-unset")
        count = int(page.locator(".place-button").inner_text().split()[-1])
        for screen in range(count):
            expect(page.locator(".place-button")).to_have_text(f"{screen + 1} of {count}")
            for i in range(boxes(page).count()):
                expect(boxes(page).nth(i)).to_be_focused()
                if i == 0:
                    page.keyboard.press("e")
                    page.keyboard.press("Control+End")
                    page.keyboard.type(more)
                    shoot(page, f"postedit-{target}")
                else:
                    page.keyboard.press("f")
                page.keyboard.press("Enter")
        expect(page.locator("dialog[open]")).to_contain_text("hand them in")
        page.keyboard.press("h")
        page.get_by_text("Thank you!").wait_for()
        table = exported(server, tmp_path).final().table
    assert table["protocol"].unique().to_list() == ["postedit"]
    lines = {name: (tmp_path / f"{name}.txt").read_text().splitlines() for name in table["system"].unique()}
    for row in table.iter_rows(named=True):
        text = lines[row["system"]][int(row["segment"]) - 1]
        first = row["segment"] == "1"
        assert (row["text"], row["action"]) == ((text + more, "EDIT") if first else (text, "OK"))


@pytest.mark.browser
def test_that_nothing_is_to_be_changed_is_said(page: Page, tmp_path: Path) -> None:
    campaign = campaign_of_texts(tmp_path, LINES, protocol="postedit", more="[page]\ncomments = true\n")
    with Server(campaign) as server:
        begin(page, server)
        area, original = areas(page).first, page.locator(".original").first
        area.fill("one two 3 four.")
        expect(original.locator("del")).to_have_text("three")
        expect(original.locator("ins")).to_have_text("3")
        expect(page.locator(".left")).to_have_text("1 left")
        shoot(page, "postedit-changed")
        area.fill(LINES[0])
        expect(page.locator(".left")).to_have_text("2 left")
        area.fill("")
        expect(page.locator(".left")).to_have_text("2 left")
        area.fill("one two three")
        page.get_by_role("button", name="Start again").click()
        expect(area).to_have_value(LINES[0])
        expect(page.locator(".left")).to_have_text("2 left")
        fine = page.get_by_role("button", name="Nothing to change").first
        fine.click()
        expect(fine).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".left")).to_have_text("1 left")
        page.keyboard.press("f")
        expect(page.locator(".left")).to_have_text("2 left")
        page.keyboard.press("e")
        page.keyboard.press("Control+End")
        page.keyboard.type(" Five")
        page.keyboard.press("Enter")
        expect(boxes(page).nth(1)).to_be_focused()
        # No key discards text that was written.
        page.keyboard.press("Shift+Enter")
        expect(boxes(page).first).to_be_focused()
        page.keyboard.press("f")
        page.keyboard.press("Delete")
        expect(page.locator(".left")).to_have_text("1 left")
        saved(page)
        page.reload()
        expect(areas(page).first).to_have_value("one two three four. Five")
        page.keyboard.press("d")
        shoot(page, "postedit-dark")


@pytest.mark.browser
def test_an_edit_without_a_connection_is_saved_later_and_fits_a_phone(page: Page, tmp_path: Path) -> None:
    with Server(
        campaign_of_texts(tmp_path, ["工事のため、出発は約20分遅れます。"], protocol="postedit", target="ja")
    ) as server:
        page.set_viewport_size({"width": 390, "height": 844})
        begin(page, server)
        page.context.set_offline(True)
        areas(page).first.fill("工事のため、到着は約20分遅れます。")
        expect(page.locator(".original del")).to_have_text("出発")
        expect(page.locator(".saved")).to_contain_text("kept here")
        shoot(page, "postedit-phone")
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        page.context.set_offline(False)
        saved(page)
        assert exported(server, tmp_path).final().table["text"].to_list() == ["工事のため、到着は約20分遅れます。"]


def send(client: Client, work: Any, screen: int, output: int, **fields: Any) -> Any:
    change = {"output": outputs(work, screen)[output], **fields}
    return client.post("/api/saves", new_save(work, screen, [change]))


def test_edits_go_to_qe_and_audit_and_controls_are_counted(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    campaign = campaign_of_texts(
        tmp_path, LINES, protocol="postedit", more="[controls]\ndegraded = 2\n", annotators='["anna", "bert"]',
        design="judgments = 2",
    )  # fmt: skip
    with Server(campaign) as server:
        for name in ("anna", "bert"):
            client = server.client(name)
            work = client.work()
            assert send(client, work, 0, 0, edit="  ").status == 409
            assert send(client, work, 0, 0, edit="").status == 422
            assert send(client, work, 0, 0, score=3).status == 409
            for i, screen in enumerate(work["task"]["screens"]):
                for j, item in enumerate(screen["items"]):
                    text = item["outputs"][0]["text"]
                    better = text if text in LINES else f"{name} wrote all of it anew"
                    better = better.replace("six", "seven") if name == "bert" else better
                    assert send(client, work, i, j, edit=better).status == 200
        annotators = server.client("organiser").get("/api/organiser/overview").json["annotators"]
        assert [(annotator["controls_right"], annotator["controls"]) for annotator in annotators] == [(2, 2), (2, 2)]
    native, edits = tmp_path / "judgments.parquet", tmp_path / "edits.tsv"
    assert adjudge("export", campaign, "-o", native).code == 0
    run = adjudge("export", campaign, "-o", edits, "--format", "post-edits", "--json")
    # What two people have made of a translation independently is no first and second stage.
    assert [aside["reason"] for aside in run.json["set_aside"]] == [
        "control, which is no translation of a system",
        "edit of a translation by another person, which is no second stage",
    ]
    assert edits.read_text().splitlines() == [
        "document\tsource\tmt\tpe1",
        f"1\tQuelle 0\t{LINES[0]}\t{LINES[0]}",
        f"1\tQuelle 1\t{LINES[1]}\t{LINES[1]}",
    ]
    assert adjudge("qe", edits, "--json").code == 0
    audited = adjudge("audit", native, "--json")
    assert audited.code == 0, audited.err
    [system] = audited.json["edits"]["systems"]
    assert system["actions"] == {"EDIT": 1, "OK": 3}
    wrong = adjudge("export", campaign, "-o", tmp_path / "x.csv", "--format", "appraise")
    assert_explained(wrong, names=("post-edits",))
    assert_explained(adjudge("export", campaign, "-o", tmp_path / "x.tsv", "--format", "mqm"), names=("postedit",))


@pytest.mark.parametrize(
    ("before", "after", "percent"),
    [("a b c d", "a b c d", 0), ("a b c d", "a x c d", 25), ("a b", "c d", 100), ("", "", 0), ("a b", "b a", 50)],
)
def test_how_much_was_changed(before: str, after: str, percent: float) -> None:
    assert changed_percent(before, after) == pytest.approx(percent)


@given(st.text("ab ", max_size=20), st.text("ab ", max_size=20))
def test_change_is_symmetric_and_within_bounds(text: str, other: str) -> None:
    assert 0 <= changed_percent(text, other) <= 100
    assert changed_percent(text, other) == pytest.approx(changed_percent(other, text))
    assert changed_percent(text, text, spaced=False) == 0


def test_the_page_stays_where_it_is_while_somebody_writes_below_a_long_text(page: Page, tmp_path: Path) -> None:
    lines = [
        "The bus is late today.",
        "The train leaves soon. " * 80,
        *(f"The tram is full on day {i}." for i in range(4)),
    ]
    with Server(campaign_of_texts(tmp_path, lines, protocol="postedit")) as server:
        begin(page, server)
        for number in (1, 2):
            area = page.locator("textarea.edition").nth(number)
            area.click()
            places = []
            for key in "abcd":
                # What the server answers is shown in all texts of the page.
                with page.expect_response("**/api/saves"):
                    page.keyboard.press(key)
                page.wait_for_timeout(100)
                places.append(area.bounding_box()["y"])  # type: ignore[index]
            assert len(set(places)) == 1
