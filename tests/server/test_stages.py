"""Edits that go on: corrected by a second editor, or judged as acceptable; nobody gets their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from playwright.sync_api import expect

from adjudge import read
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import measure_balance
from adjudge.table.errors import DataError, InputError
from tests.helpers.campaigns import SYSTEMS, make_campaign
from tests.helpers.judging import begin, saved
from tests.helpers.serving import Server, export_file, new_save, run
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page


# Of the sentences as they are.
STARTS = ("The train to", "Because of construction", "Passengers are asked")


def edit_all(server: Server, name: str, suffix: str) -> None:
    """Do all tasks of a person: every text gets an ending, but those that end in `1]` stay as they are."""
    client = server.client(name)
    work = client.work()
    while work["task"]:
        for number, screen in enumerate(work["task"]["screens"]):
            outputs = [output for item in screen["items"] for output in item["outputs"]]
            changes = [
                {"output": o["id"], "edit": o["text"] if o["text"].endswith("1]") else o["text"] + suffix}
                for o in outputs
            ]
            assert client.post("/api/saves", new_save(work, number, changes)).status == 200
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
        work = client.work()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The judgments of a campaign in which two people have edited everything."""
    folder = tmp_path_factory.mktemp("first")
    campaign = make_campaign(
        folder, "postedit", documents=2, systems=2, task_size=6, annotators='["anna", "bert"]', design="judgments = 2"
    )
    with Server(campaign) as server:
        for name in ("anna", "bert"):
            edit_all(server, name, f" ({name})")
    return export_file(campaign)


def next_campaign(folder: Path, protocol: str, edits: Path, *, people: str = '["cleo"]', more: str = "") -> Path:
    campaign = make_campaign(folder, protocol, documents=2, systems=2, task_size=6, annotators=people, more=more)
    campaign.write_text(campaign.read_text().replace("[files]\n", f'[files]\nedits = "{edits}"\n'))
    return campaign


def test_a_second_editor_corrects_the_first(first: Path, own_database: str | None, tmp_path: Path) -> None:
    campaign = next_campaign(tmp_path, "postedit", first)
    place = ["--database", own_database] if own_database else []
    with Server(campaign, own_database) as server:
        work = server.client("cleo").work()
        assert "anna" not in json.dumps(
            [output["id"] for s in work["task"]["screens"] for i in s["items"] for output in i["outputs"]]
        )
        edit_all(server, "cleo", " (cleo)")
        run("verify", campaign, *place)
    table, texts = tmp_path / "judgments.parquet", tmp_path / "edits.tsv"
    run("export", campaign, "-o", table, *place)
    done = json.loads(run("export", campaign, "-o", texts, "--format", "post-edits", "--json", *place).out)
    assert not done["set_aside"]
    rows = read([table]).final().table
    assert set(rows["first_editor"]) == {"anna", "bert"}
    assert "cleo" not in set(rows["first_editor"])
    head, *lines = [line.split("\t") for line in texts.read_text().splitlines()]
    assert head == ["document", "source", "mt", "pe1", "pe2"]
    assert len(lines) == 2 * 2 * 3
    for _, _, mt, one, two in lines:
        if mt.endswith("1]"):
            assert one == two == mt
        else:
            assert one in (f"{mt} (anna)", f"{mt} (bert)")
            assert two == f"{one} (cleo)"
    # Two words more than the 9 to 13 of the machine, whatever the second editor did: not unchanged.
    ranked = json.loads(run("rank", table, "--method", "raw", "--json").out)
    assert all(row["score"] < 95 for row in ranked["systems"])
    assert json.loads(run("qe", texts, "--json").out)


def test_what_the_first_editor_skipped_comes_to_the_second_as_the_machine_made_it(tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path / "first", "postedit", documents=1, systems=2, task_size=9, more="[page]\nskip = true\n"
    )
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        screens = [[o for i in s["items"] for o in i["outputs"]] for s in work["task"]["screens"]]
        skipped = screens[0][1]
        for number, screen in enumerate(screens):
            changes = [
                {"output": o["id"], **({"skipped": "unknown"} if o == skipped else {"edit": f"{o['text']} (anna)"})}
                for o in screen
            ]
            assert client.post("/api/saves", new_save(work, number, changes)).status == 200
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
    second = make_campaign(tmp_path / "second", "postedit", documents=1, systems=2, task_size=9, annotators='["cleo"]')
    second.write_text(second.read_text().replace("[files]\n", f'[files]\nedits = "{export_file(campaign)}"\n'))
    made = design(load_campaign(second))
    shown = [output.text for task in made.tasks for _, _, output in task.outputs()]
    assert sum(text.endswith(" (anna)") for text in shown) == 5
    assert skipped["text"] in shown
    assert (
        "1 of 6 outputs were skipped in the first campaign, and are as the machine made them"
        in measure_balance(made, load_campaign(second)).notes
    )
    with Server(second) as server:
        edit_all(server, "cleo", " (cleo)")
    run("export", second, "-o", tmp_path / "pe.tsv", "--format", "post-edits")
    lines = [line.split("\t")[2:] for line in (tmp_path / "pe.tsv").read_text().splitlines()[1:]]
    assert [one for mt, one, _ in lines if mt == skipped["text"]] == [skipped["text"]]
    assert all(one == f"{mt} (anna)" for mt, one, _ in lines if mt != skipped["text"])


def test_the_acceptability_of_edits_is_judged_and_ranked(first: Path, tmp_path: Path) -> None:
    campaign = next_campaign(tmp_path, "acceptability", first, people='["cleo", "dora"]', more="")
    campaign.write_text(campaign.read_text().replace("task_size = 6", "task_size = 6\njudgments = 2"))
    with Server(campaign) as server:
        for name in ("cleo", "dora"):
            client = server.client(name)
            work = client.work()
            while work["task"]:
                for number, screen in enumerate(work["task"]["screens"]):
                    shown = [output for item in screen["items"] for output in item["outputs"]]
                    assert (
                        client.post(
                            "/api/saves", new_save(work, number, [{"output": shown[0]["id"], "score": 2}])
                        ).status
                        == 409
                    )
                    for output in shown:
                        # Of alpha, which leaves sentences as they are, people find more acceptable.
                        fine = " ".join(output["text"].split()[:3]) in STARTS
                        chance = crc32(f"{name} {output['text']}".encode()) // 7 % 4
                        change = {"output": output["id"], "score": int(chance > 0 if fine else chance > 2)}
                        assert client.post("/api/saves", new_save(work, number, [change])).status == 200
                client.post(f"/api/tasks/{work['task']['id']}/finish")
                work = client.work()
    rows = read([export_file(campaign)]).final().table
    assert set(rows["protocol"]) == {"acceptability"}
    assert set(rows["score"]) == {0.0, 1.0}
    ranked = json.loads(run("rank", export_file(campaign), "--json").out)
    share = {row["system"]: row["score"] for row in ranked["systems"]}
    assert share["alpha"] > share["beta"]
    audited = json.loads(run("audit", export_file(campaign), "--json").out)
    assert [system["yes"] + system["no"] for system in audited["acceptability"]["systems"]] == [12, 12]


def test_nobody_gets_their_own_edits(first: Path, tmp_path: Path) -> None:
    fixed = next_campaign(tmp_path / "fixed", "postedit", first, people='["anna", "cleo"]')
    with pytest.raises(DataError, match="names anna, whose own edits or marks"):
        design(load_campaign(fixed))
    pool = next_campaign(
        tmp_path / "pool", "postedit", first, people='["anna", "cleo"]', more='[assignment]\npolicy = "pool"\n'
    )
    pool.write_text(pool.read_text().replace("task_size = 6", "task_size = 1\nstructure = 'mixed'"))
    tasks = design(load_campaign(pool)).tasks
    by_anna = {task.id for task in tasks for *_, output in task.outputs() if output.editor == "anna"}
    assert 0 < len(by_anna) < len(tasks)
    with Server(pool) as server:
        edit_all(server, "anna", "!")
        edit_all(server, "cleo", "?")
    rows = read([export_file(pool)]).final().table
    given = {name: set(rows.filter(annotator=name)["task"]) for name in ("anna", "cleo")}
    assert given == {"anna": {task.id for task in tasks} - by_anna, "cleo": by_anna}
    # Editors are named by numbers, too, and are erased with their own judgments.
    numbered = tmp_path / "numbers.parquet"
    run("export", pool, "-o", numbered, "--numbers")
    table = read([numbered]).table
    numbers = dict(zip(rows["annotator"], read([numbered]).final().table["annotator"], strict=True))
    assert set(table["first_editor"].drop_nulls()) == {numbers["anna"], "editor 1"}
    run("archive", pool, "-o", tmp_path / "pages")
    assert "Made from" in next((tmp_path / "pages").glob("*/*.html")).read_text("utf-8")
    run("erase", pool, "--person", "anna")
    run("verify", pool)
    stored = json.loads((tmp_path / "pool" / "tasks.json").read_text("utf-8"))
    named = {output.get("editor") for task in stored["tasks"] for screen in task["screens"]
             for item in screen["items"] for output in item["outputs"]}  # fmt: skip
    assert "anna" not in named | set(stored["annotators"])
    with Server(pool) as server:
        assert server.client("organiser").get("/api/organiser/overview").status == 200


@pytest.mark.parametrize(
    ("protocol", "spoil", "why"),
    [
        ("da", "", "files.edits are corrected again"),
        ("postedit", "alpha.txt", "was made from another text"),
        ("postedit", "edits", "holds no post-edits"),
    ],
)
def test_edits_that_do_not_fit_are_explained(protocol: str, spoil: str, why: str, first: Path, tmp_path: Path) -> None:
    campaign = next_campaign(tmp_path, protocol, first)
    if spoil == "edits":
        (tmp_path / "scores.csv").write_text("annotator,segment,system,score\nanna,1,alpha,3\nanna,2,beta,4\n")
        campaign.write_text(campaign.read_text().replace(str(first), "scores.csv"))
    elif spoil:
        (tmp_path / spoil).write_text((tmp_path / spoil).read_text().replace("train", "bus"))
    with pytest.raises(InputError, match=why):
        design(load_campaign(campaign))


def test_the_same_edits_of_several_systems_stay_apart(first: Path, tmp_path: Path) -> None:
    tasks = design(load_campaign(next_campaign(tmp_path, "postedit", first)))
    shown = [output for task in tasks.tasks for *_, output in task.outputs()]
    assert len(shown) == 2 * 2 * 3
    assert {output.systems for output in shown} == {(name,) for name in list(SYSTEMS)[:2]}
    assert all(output.original is not None for output in shown)


def test_marks_of_one_person_are_corrected_by_another(tmp_path: Path) -> None:
    first = make_campaign(
        tmp_path / "one",
        "esa",
        documents=1,
        systems=2,
        task_size=20,
        annotators='["anna", "bert"]',
        design="judgments = 2",
    )
    with Server(first) as server:
        for name, severity in (("anna", "minor"), ("bert", "major")):
            client = server.client(name)
            work = client.work()
            for number, screen in enumerate(work["task"]["screens"]):
                shown = [output for item in screen["items"] for output in item["outputs"]]
                changes = []
                for o in shown:
                    span = {"start": 0, "end": 3, "severity": severity, "side": "target", "text": o["text"][:3]}
                    changes.append({"output": o["id"], "score": 40, "spans": [span]})
                assert client.post("/api/saves", new_save(work, number, changes)).status == 200
    judged = tmp_path / "judged.parquet"
    run("export", first, "-o", judged)
    second = make_campaign(tmp_path / "two", "esa", documents=1, systems=2, task_size=20, annotators='["cleo"]')
    second.write_text(second.read_text().replace("[files]\n", f'[files]\nprefilled = "{judged}"\n'))
    with Server(second) as server:
        client = server.client("cleo")
        work = client.work()
        for number, screen in enumerate(work["task"]["screens"]):
            shown = [output for item in screen["items"] for output in item["outputs"]]
            assert all(len(output["prefilled"]) == 1 for output in shown)
            # The first is deleted, the others are kept.
            changes = [{"output": o["id"], "score": 50, **({"spans": []} if o is shown[0] else {})} for o in shown]
            assert client.post("/api/saves", new_save(work, number, changes)).status == 200
        run("verify", second)
    rows = read([export_file(second)]).final().table
    assert set(rows["first_editor"]) <= {"anna", "bert"}
    severities = {"anna": "minor", "bert": "major"}
    for name, prefilled in rows.select("first_editor", "prefilled").iter_rows():
        assert {mark["severity"] for mark in json.loads(prefilled)} == {severities[name]}
    assert sorted(rows["spans"].list.len().to_list()) == [0, 0, 1, 1, 1, 1]
    own = second.read_text().replace('["cleo"]', '["anna"]')
    second.write_text(own)
    with pytest.raises(DataError, match="names anna, whose own edits or marks"):
        design(load_campaign(second))


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_acceptability_by_keys(size: tuple[int, int], first: Path, page: Page, tmp_path: Path) -> None:
    campaign = next_campaign(tmp_path, "acceptability", first)
    with Server(campaign) as server:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        begin(page, server, "cleo")
        expect(page.get_by_role("radio", name="not acceptable").first).to_be_visible()
        page.keyboard.press("1")
        expect(page.locator("[aria-checked=true]")).to_have_text("acceptable1")
        shoot(page, f"acceptability-{size[0]}")
        page.keyboard.press("Control+z")
        expect(page.locator("[aria-checked=true]")).to_have_count(0)
        page.keyboard.press("0")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.keyboard.press("Enter")
        page.keyboard.press("1")
        saved(page)
    rows = read([export_file(campaign)]).final().table.sort("screen")
    assert rows["score"].to_list() == [0, 1]
