"""`extend` on a campaign that is being served: nothing that was judged changes, and what is new is taken up."""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import adjudge
from adjudge.campaigns.tasks import load_tasks
from tests.conftest import assert_explained
from tests.helpers.campaigns import SYSTEMS, _write, make_campaign
from tests.helpers.databases import needed_postgres_url
from tests.helpers.serving import Client, Server, export_file, new_save, outputs, run, start_and_kill, wait_for
from tests.helpers.tables import command
from tests.helpers.warm_command import warm_command

POOL = '[assignment]\npolicy = "pool"\n'


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def own_database(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else needed_postgres_url()


def do_task(client: Client) -> str:
    """Judge all of the task in hand and hand it in; returns its id."""
    work = client.work()
    for screen in range(len(work["task"]["screens"])):
        changes = [{"output": output, "score": 40 + 7 * screen % 50} for output in outputs(work, screen)]
        assert client.post("/api/saves", new_save(work, screen, changes)).status == 200
    task: str = work["task"]["id"]
    assert client.post(f"/api/tasks/{task}/finish").status == 200
    return task


def do_all(client: Client) -> list[str]:
    done = []
    while client.work()["task"]:
        done.append(do_task(client))
    return done


def change(campaign: Path, *pairs: tuple[str, str]) -> None:
    text = campaign.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    campaign.write_text(text, encoding="utf-8")


def add_system(campaign: Path, documents: int = 2) -> None:
    _write(campaign.with_name("zeta.txt"), "en", documents, 3)
    change(campaign, ("[files.systems]\n", '[files.systems]\nzeta = "zeta.txt"\n'))


def add_documents(campaign: Path, documents: int) -> None:
    """Longer texts, that begin as before."""
    for name, how in SYSTEMS.items():
        if campaign.with_name(f"{name}.txt").exists():
            _write(campaign.with_name(f"{name}.txt"), "en", documents, how)
    _write(campaign.with_name("source.txt"), "de", documents, 0)


def test_a_running_server_takes_up_what_is_new(own_database: str | None, tmp_path: Path) -> None:
    """A new person, a new system and new documents, while people judge; no restart, no link lost, nothing changed."""
    campaign = make_campaign(tmp_path, annotators='["anna", "bo"]')
    given = ["--database", own_database] if own_database else []
    with Server(campaign, database=own_database) as server:
        anna = server.client("anna")
        first = do_all(anna)
        name = anna.get("/api/work").json["campaign"]
        before = pl.read_parquet(_exported_from(campaign, given))
        add_system(campaign)
        _write(campaign.with_name("zeta.txt"), "en", 3, 3)
        add_documents(campaign, 3)
        change(campaign, ('"bo"]', '"bo", "cy"]'))
        done = run("extend", campaign, *given, "--json").json
        assert (done["new_systems"], done["new_segments"], done["annotators"]) == (["zeta"], 3, ["cy"])
        assert [link["name"] for link in done["links"]] == ["cy"], "nobody else gets a new link"
        server.links["cy"] = done["links"][0]["link"]
        assert server.links["cy"].startswith(f"{server.url}/enter#"), "the address of the server that runs"
        cy = server.client("cy")
        wait_for(lambda: cy.work()["task"])
        new = do_all(cy)
        wait_for(lambda: anna.work()["task"] or anna.get("/api/work").json["completion"])
        new += do_all(anna)
        new += [task for task in do_all(server.client("bo")) if task in done["tasks_added"]]
        assert anna.get("/api/work").json["campaign"]["id"] == name["id"], (
            "browsers keep what waits under the same name"
        )
        overview = server.client("organiser").get("/api/organiser/overview").json
        assert {person["name"] for person in overview["annotators"]} == {"anna", "bo", "cy"}
        assert "Traceback" not in server.log()
    assert sorted(new) == sorted(done["tasks_added"])
    assert not set(new) & set(first)
    after = pl.read_parquet(_exported_from(campaign, given))
    former = after.filter(pl.col("task").is_in(first))
    assert former.equals(before), "what was judged is exported as before"
    assert set(after["system"]) == {"alpha", "beta", "gamma", "zeta"}
    with Server(campaign, database=own_database, own_database=True) as again:
        assert set(again.links) == {"organiser"}
    assert "without effect" not in again.log()
    ranking = command("rank", _exported_from(campaign, given), "--method", "raw", "--json").json
    assert {system["system"] for system in ranking["systems"]} == {"alpha", "beta", "gamma", "zeta"}


def _exported_from(campaign: Path, given: list[str]) -> Path:
    output = campaign.with_name("exported.parquet")
    run("export", campaign, "-o", output, *given)
    return output


def stored(campaign: Path) -> list[Any]:
    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection:
        tables = ("campaign", "annotator", "link", "assignment", "save")
        return [connection.execute(f"SELECT * FROM collect_{table} ORDER BY 1").fetchall() for table in tables]


def test_a_dry_run_changes_nothing_and_says_what_would_come(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, annotators='["anna", "bo"]')
    with Server(campaign) as server:
        do_task(server.client("anna"))
    add_system(campaign)
    before, tasks = stored(campaign), campaign.with_name("tasks.json").read_bytes()
    dry = run("extend", campaign, "--judgments", "3", "--dry-run", "--json").json
    assert (stored(campaign), campaign.with_name("tasks.json").read_bytes()) == (before, tasks)
    assert dry["links"] == []
    real = run("extend", campaign, "--judgments", "3", "--json").json
    same = ("tasks_added", "judgments_added", "systems", "meetings", "data")
    assert [dry[key] for key in same] == [real[key] for key in same]
    counts = {row["system"]: (row["judgments_before"], row["judgments"]) for row in real["systems"]}
    assert counts["zeta"] == (0, 6)
    assert sum(now - was for was, now in counts.values()) == 6 + 6 + 3, "the new system, as many beside it, 3 more"
    loaded = load_tasks(campaign.with_name("tasks.json"))
    assert [task.id for task in loaded.tasks][-len(real["tasks_added"]) :] == real["tasks_added"]


def test_a_server_that_starts_with_former_tasks_takes_those_of_the_database(tmp_path: Path) -> None:
    """As on another host with a copy of the folder, or after a power cut between the database and the file."""
    campaign = make_campaign(tmp_path, annotators='["anna", "bo"]')
    with Server(campaign) as server:
        do_task(server.client("anna"))
    file = campaign.with_name("tasks.json")
    former = file.read_bytes()
    run("extend", campaign, "--judgments", "6")
    extended = file.read_bytes()
    file.write_bytes(former)
    with Server(campaign):
        pass
    assert file.read_bytes() == extended
    other = make_campaign(tmp_path / "other", annotators='["anna", "bo"]', documents=3)
    run("design", other, "-o", file)
    assert_explained(warm_command()("serve", campaign, "--port", "18766"), names=("the tasks have changed",))


def test_in_a_pool_new_people_join_and_meet_no_text_twice(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, annotators='["anna", "bo"]', more=POOL)
    with Server(campaign) as server:
        anna, bo = server.client("anna"), server.client("bo")
        done = {"anna": [do_task(anna), do_task(anna)], "bo": do_all(bo)}
        change(campaign, ('"bo"]', '"bo", "cy"]'))
        extended = run("extend", campaign, "--judgments", "18", "--links", tmp_path / "new.tsv", "--json").json
        assert extended["links"] == []
        rows = [line.split("\t") for line in (tmp_path / "new.tsv").read_text(encoding="utf-8").splitlines()]
        assert [row[:2] for row in rows] == [["role", "name"], ["annotator", "cy"]]
        wait_for(lambda: bo.work()["task"])
        done["bo"].append(do_task(bo))
    tasks = {task.id: task for task in load_tasks(campaign.with_name("tasks.json")).tasks}

    def met(names: list[str]) -> set[tuple[str, str]]:
        return {(item.segment, output.text) for name in names for _, item, output in tasks[name].outputs()}

    again = {name: len(met([name]) & met(done["bo"][:-1])) for name in extended["tasks_added"]}
    assert again[done["bo"][-1]] == min(again.values()), "the task with the fewest texts that bo has met"


def test_a_tasks_file_that_cannot_be_written_loses_no_link(tmp_path: Path) -> None:
    """The extension is in the database by then, and links are shown only once."""
    campaign = make_campaign(tmp_path, annotators='["anna", "bo"]', more=POOL)
    with Server(campaign) as server:
        do_task(server.client("anna"))
    change(campaign, ('["anna", "bo"]', '["anna", "bo", "cleo"]'))
    tasks = campaign.with_name("tasks.json")
    tasks.unlink()
    tasks.mkdir()
    extended = run("extend", campaign, "--json").json
    assert [link["name"] for link in extended["links"]] == ["cleo"]
    assert any("the campaign is extended, but" in note and "tasks.json" in note for note in extended["notes"])
    tasks.rmdir()
    with Server(campaign, own_database=True) as server:
        server.links["cleo"] = extended["links"][0]["link"]
        assert server.client("cleo").work()["task"] is not None
    assert tasks.is_file()


def test_an_extension_too_small_for_controls_says_what_to_do(tmp_path: Path) -> None:
    adjudge.init(tmp_path / "c")
    campaign = tmp_path / "c" / "campaign.toml"
    with Server(campaign):
        pass
    refused = warm_command()("extend", campaign, "--judgments", "2")
    assert_explained(refused, names=("'t002' would have 1 screen", "add more at once"))


def test_nothing_to_add_and_other_refusals(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "c", annotators='["anna", "bo"]')

    def refused(words: str, *more: str, code: int = 1) -> None:
        assert_explained(warm_command()("extend", campaign, *more), code=code, names=(words,))

    refused("has not been served yet")
    with Server(campaign) as server:
        do_task(server.client("anna"))
    before = stored(campaign)
    refused("there is nothing to add")
    refused("more than one round", "--judgments", "1000")
    refused("--judgments", "--judgments", "-1", code=2)
    refused("--beside is -1", "--beside", "-1", code=2)
    change(campaign, ('["anna", "bo"]', '["anna", "bo", "cy"]'))
    refused("new annotators have nothing to judge without new tasks")
    change(campaign, ('["anna", "bo", "cy"]', '["anna"]'))
    refused("no longer names the annotator bo")
    change(campaign, ('["anna"]', '["anna", "bo"]'))
    campaign.with_name("alpha.txt").write_text("other\n" * 6, encoding="utf-8")
    refused("is not the text that is in task")
    assert stored(campaign) == before


def test_looks_that_were_taken_stay_valid_or_the_extension_is_refused(tmp_path: Path) -> None:
    """A look is taken at two systems; its history is written as `adjudge look` writes it."""
    looks = '[looks]\nlooks = 2\nplanned = {planned}\ngoal = "pairs"\n'
    campaign = make_campaign(tmp_path, annotators='["anna", "bo"]', documents=6, more=looks.format(planned=60))
    with Server(campaign) as server:
        for name in ("anna", "bo"):
            do_all(server.client(name))
    run("extend", campaign, "--judgments", "6", "--dry-run")
    judgments = export_file(campaign)
    history = campaign.with_name("looks.json")
    looked = command(
        "look", judgments, "--planned", "60", "--looks", "2", "--history", history, "--spending", "kim-demets"
    )
    assert looked.code == 0, looked.err
    done = run("extend", campaign, "--judgments", "12", "--dry-run", "--json").json
    assert "60 judgments are all of the information" in done["notes"][0]
    assert "90% of the planned information was in" in done["notes"][0], "54 of 60"
    assert "6 judgments beyond the plan" in done["notes"][1]
    run("extend", campaign, "--judgments", "12")
    beyond = warm_command()("extend", campaign, "--judgments", "6")
    assert_explained(beyond, names=("count at no look", "begin a new campaign"))
    change(campaign, ("planned = 60", "planned = 90"))
    changed = warm_command()("extend", campaign, "--judgments", "6")
    assert_explained(changed, names=("looks.planned was changed after look 1 was taken",))
    change(campaign, ("planned = 90", "planned = 60"))
    add_system(campaign, 6)
    assert_explained(warm_command()("extend", campaign), names=("new systems cannot join after look 1",))


def test_draws_of_a_policy_can_still_be_replayed_or_the_extension_is_refused(tmp_path: Path) -> None:
    adaptive = f'{POOL}[adaptive]\npolicy = "best"\nwarm_up = 1\n'
    campaign = make_campaign(
        tmp_path, annotators='["anna", "bo"]', documents=4, task_size=3, design='structure = "pages"', more=adaptive
    )
    with Server(campaign) as server:
        anna = server.client("anna")
        for _ in range(4):
            do_task(anna)
        run("extend", campaign, "--judgments", "12")
        bo = server.client("bo")
        wait_for(lambda: len(load_tasks(campaign.with_name("tasks.json")).tasks) > 12)
        time.sleep(6)
        for _ in range(6):
            do_task(bo)
        do_all(anna)
    replayed = warm_command()("export", campaign, "-o", tmp_path / "j.csv", "--draws", tmp_path / "draws.jsonl")
    assert "all reproduced from the log" in replayed.err, replayed.err
    add_system(campaign, 4)
    assert_explained(warm_command()("extend", campaign), names=("tasks were drawn by the policy",))


def test_an_extension_that_is_killed_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    chance = random.Random(8)
    campaign = make_campaign(tmp_path, annotators='["anna", "bo"]', documents=4)
    with Server(campaign) as server:
        do_task(server.client("anna"))
    began = time.monotonic()
    run("extend", campaign, "--judgments", "3", "--dry-run")
    usual = time.monotonic() - began
    counts = {len(stored_tasks(campaign))}
    for _ in range(8):
        before = len(stored_tasks(campaign))
        start_and_kill(["extend", campaign, "--judgments", "3"], chance.uniform(0, 1.3 * usual), tmp_path)
        assert len(stored_tasks(campaign)) in (before, before + 1)
        counts.add(len(stored_tasks(campaign)))
    with Server(campaign):
        pass
    assert stored_tasks(campaign) == [task.id for task in load_tasks(campaign.with_name("tasks.json")).tasks]


def stored_tasks(campaign: Path) -> list[str]:
    from adjudge.campaigns.tasks import parse_tasks

    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection:
        [(text,)] = connection.execute("SELECT tasks FROM collect_campaign").fetchall()
    return [task.id for task in parse_tasks(text, "the database").tasks]


def test_a_host_that_does_not_know_a_new_task_yet_asks_the_database(own_database: str | None, tmp_path: Path) -> None:
    """Two servers on one database; signs of life are seconds apart, and saves do not wait for them."""
    campaign = make_campaign(tmp_path, annotators='["anna", "bo"]', more=POOL)
    given = ["--database", own_database] if own_database else []
    with Server(campaign, database=own_database) as first, Server(campaign, database=own_database) as second:
        both = [first.client("anna"), second.client()]
        assert both[1].enter(first.secret("anna")).status == 200
        do_all(both[0])
        run("extend", campaign, "--judgments", "6", *given)
        work = wait_for(lambda: (now := both[0].work())["task"] and now)
        new = work["task"]["id"]
        # Whichever host knows it by now, the other one is asked at once.
        assert both[1].get(f"/api/work?task={new}").json["task"]["id"] == new
        for screen in range(len(work["task"]["screens"])):
            changes = [{"output": output, "score": 50} for output in outputs(work, screen)]
            assert both[1].post("/api/saves", new_save(work, screen, changes)).status == 200
        assert both[1].post(f"/api/tasks/{new}/finish").json["finished"]
        for server in (first, second):
            answer = server.client().get("/health")
            assert answer.status == 200
        assert "Traceback" not in first.log()
