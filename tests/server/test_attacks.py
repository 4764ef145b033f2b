"""Attacks on a server that must fail: forged ids, invented people, copied cookies, false reports."""

from __future__ import annotations

import hashlib
import hmac
import json
import resource
import shutil
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adjudge import read
from adjudge.server.database import hide_password
from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import needed_postgres_url
from tests.helpers.serving import (
    PATIENCE,
    Answer,
    Client,
    Server,
    exported,
    free_port,
    limit_files,
    new_save,
    outputs,
    wait_for,
)
from tests.helpers.warm_command import warm_command

POOL = '[assignment]\npolicy = "pool"\n'
CROWD = POOL + '[crowd]\ncompletion_code = "DONE"\nfailure_code = "SORRY"\n'


def sql(campaign: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection, connection:
        return connection.execute(statement).fetchall()


def judge_all(client: Client, seconds: float) -> Any:
    """Judge a whole task, each output in so many seconds, and hand it in; returns what the page is told then."""
    work = client.work()
    for number in range(len(work["task"]["screens"])):
        ids = outputs(work, number)
        spent = {"shown": seconds, "visible": seconds, "active": seconds, "outputs": dict.fromkeys(ids, seconds)}
        changes = [{"output": output, "score": 50} for output in ids]
        assert client.post("/api/saves", new_save(work, number, changes, spent=spent)).status == 200
    assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
    return client.get("/api/work").json


def test_an_id_belongs_to_the_browser_in_which_it_came_first(tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, more=CROWD)) as server:
        first, thief = server.client(), server.client()
        assert first.enter(server.secret("crowd"), person="P-1").status == 200
        mine = first.work()["annotator"]["id"]
        refused = thief.enter(server.secret("crowd"), person="P-1")
        assert (refused.status, refused.json["code"]) == (403, "person-taken")
        assert thief.get("/api/work").status == 401
        # The same browser, whose session has ended, is known again by a cookie of its own.
        del first.cookies[first.session]
        assert first.enter(server.secret("crowd"), person="P-1").status == 200
        assert first.work()["annotator"]["id"] == mine
        missing = server.client().enter(server.secret("crowd"))
        assert (missing.status, missing.json["code"]) == (403, "person-missing")


def enter_at_once(server: Server, people: list[str]) -> list[Answer]:
    """Each person in a browser of their own, all in the same moment."""
    clients = [server.client() for _ in people]
    for client in clients:
        client.load_page()
    start = threading.Barrier(len(people))

    def come_in(client: Client, person: str) -> Answer:
        start.wait(PATIENCE)
        return client.post("/api/enter", {"secret": server.secret("crowd"), "person": person})

    with ThreadPoolExecutor(len(people)) as threads:
        return list(threads.map(come_in, clients, people))


def test_an_id_that_comes_from_many_browsers_at_once_belongs_to_one(tmp_path: Path, database: str | None) -> None:
    with Server(make_campaign(tmp_path, more=f"{CROWD}registrations_per_minute = 1000\n"), database=database) as server:
        for attempt in range(5):
            answers = enter_at_once(server, [f"P-{attempt}"] * 8)
            assert sorted(answer.status for answer in answers) == [200] + [403] * 7
            assert {answer.json["code"] for answer in answers if answer.status == 403} == {"person-taken"}


@pytest.mark.postgres
def test_people_who_register_at_once_are_counted_one_by_one(tmp_path: Path) -> None:
    """On PostgreSQL, whose transactions run side by side, far more than were allowed came in."""
    campaign = make_campaign(tmp_path, more=f"{CROWD}registrations_per_minute = 4\n")
    with Server(campaign, database=needed_postgres_url()) as server:
        answers = enter_at_once(server, [f"bot-{number}" for number in range(16)])
        assert sorted(answer.status for answer in answers) == [200] * 4 + [429] * 12


def test_nobody_can_judge_under_the_name_of_a_machine(tmp_path: Path) -> None:
    """Such judgments would be taken for a machine's, and be left out of every ranking."""
    with Server(make_campaign(tmp_path, more=CROWD)) as server:
        refused = server.client().enter(server.secret("crowd"), person=" judge:me")
        assert (refused.status, refused.json["code"]) == (403, "person-missing")
        added = server.client("organiser").post("/api/organiser/annotators", {"name": " judge:me"})
        assert added.status == 422
        assert "machine judges" in added.json["detail"]
        assert sql(server.campaign, "SELECT * FROM collect_annotator WHERE name LIKE '%judge:%'") == []


def test_names_that_look_alike_are_one_name(tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, more=CROWD)) as server:
        assert server.client().enter(server.secret("crowd"), person="P-1").status == 200
        for same in ("P-1 ", "P-1\u200b", "\u2060P-1", "P\u00ad-1", "\u200bjudge:me"):
            refused = server.client().enter(server.secret("crowd"), person=same)
            assert (refused.status, refused.json["code"]) == (403, "person-missing"), same
        organiser = server.client("organiser")
        assert organiser.post("/api/organiser/annotators", {"name": "Zoë"}).status == 200
        for same in ("Zoë\u200b", "Zoe\u0308", " P-1"):
            assert organiser.post("/api/organiser/annotators", {"name": same}).status == 409, same


def test_where_the_platform_signs_ids_only_signed_ones_come_in(tmp_path: Path) -> None:
    key = "a key that the platform shares"
    with Server(make_campaign(tmp_path, more=f'{CROWD}signing_key = "{key}"\n')) as server:
        signature = hmac.new(key.encode(), b"P-1", hashlib.sha256).hexdigest()
        secret = server.secret("crowd")
        for wrong in ({}, {"signature": "00"}, {"signature": signature[::-1]}):
            assert server.client().enter(secret, person="P-1", **wrong).json["code"] == "person-unsigned"
        assert server.client().enter(secret, person="P-2", signature=signature).status == 403
        assert server.client().enter(secret, person="P-1", signature=signature).status == 200
        assert server.client().enter(secret, person="P-1", signature=signature).status == 200, "in any browser"
        of_anna = hmac.new(key.encode(), b"anna", hashlib.sha256).hexdigest()
        taken = server.client().enter(secret, person="anna", signature=of_anna)
        assert taken.json["code"] == "person-taken", "who has a personal link is nobody else"


def test_invented_people_are_slowed_down_and_hold_tasks_only_shortly(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, more=f"{CROWD}registrations_per_minute = 5\n")
    with Server(campaign) as server:
        clients = [server.client() for _ in range(8)]
        answers = []
        for number, bot in enumerate(clients):
            answers.append(bot.enter(server.secret("crowd"), person=f"bot-{number}"))
            # All in the same minute, however long this takes.
            sql(campaign, "UPDATE collect_annotator SET created = '2100-01-01 00:00:00'")
        assert [answer.status for answer in answers] == [200] * 5 + [429] * 3
        assert answers[-1].json["code"] == "too-many"
        client = clients[0]
        work = client.work()

        def minutes() -> float:
            [(taken, until)] = sql(campaign, "SELECT taken, lease_until FROM collect_assignment")
            return (datetime.fromisoformat(until) - datetime.fromisoformat(taken)).total_seconds() / 60

        assert 14 < minutes() < 16, "15 minutes at first"
        for number in range(len(work["task"]["screens"])):
            changes = [{"output": output, "score": 1} for output in outputs(work, number)]
            assert client.post("/api/saves", new_save(work, number, changes)).status == 200
        assert minutes() > 25, "longer with every screen that is complete"


def test_time_is_not_believed_beyond_what_has_passed(tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, annotators='["anna"]')) as server:
        client = server.client("anna")
        began = time.time()
        work = client.work()
        for number in range(3):
            [output, *_] = outputs(work, number)
            spent = {"shown": 2e6, "visible": 2e6, "active": 2e6, "outputs": {output: 2e6}}
            save = new_save(work, number, [{"output": output, "score": 5}], spent=spent)
            assert client.post("/api/saves", save).status == 200
        passed = time.time() - began
        assert client.get("/api/work").json["active_seconds"] <= passed
        table = exported(server, tmp_path).table
        assert 0 < table["active_seconds"].sum() <= passed, "all screens together"
        too_many = new_save(work, 0, [], events=[[0, "act"]] * 1001)
        assert client.post("/api/saves", too_many).status == 422


def test_an_impossible_pace_is_seen_and_gets_no_completion_code(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, more=CROWD, documents=4, task_size=6)
    with Server(campaign) as server:
        client = server.client()
        client.enter(server.secret("crowd"), person="script")
        assert judge_all(client, 0.1)["completion"]["code"] == "SORRY"
        rows = server.client("organiser").get("/api/organiser/overview").json["annotators"]
        assert {row["name"]: row["faults"] for row in rows}["script"] == ["pace"]
        table = exported(server, tmp_path)
        from adjudge.people.check import check

        checked = {person.annotator: person for person in check(table).annotators}
        assert any("seconds per judgment on average" in reason for reason in checked["script"].reasons)


def test_leaving_ends_the_session_for_copies_of_its_cookie_too(tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path, annotators='["anna", "bert"]')) as server:
        client = server.client("anna")
        copied = Client(server.url, client.cookies)
        server.clients.append(copied)
        assert copied.get("/api/work").status == 200
        other = server.client("anna")
        client.load_page()
        assert client.post("/api/leave").status == 204
        assert copied.get("/api/work").status == 401
        assert other.get("/api/work").status == 200, "the same person elsewhere stays"
        # Another person in the same browser ends the former session.
        copied = Client(server.url, other.cookies)
        server.clients.append(copied)
        assert other.enter(server.secret("bert")).status == 200
        assert copied.get("/api/work").status == 401
        assert other.get("/api/work").json["annotator"]["name"] == "bert"


@pytest.mark.parametrize("own_database", [True, False], ids=["made by the server", "others could read it"])
def test_the_database_is_readable_by_its_owner_alone(own_database: bool, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with Server(campaign, own_database=own_database) as server:
        server.client("anna").work()
        files = list(tmp_path.glob("campaign.sqlite3*"))
        assert len(files) >= 2
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


@pytest.mark.parametrize(
    "address",
    [
        "postgres://ann:TOPSECRET@host/name",
        "postgres://ann:TOP%40TOPSECRET@host:5432/name",
        "postgres://ann:x@TOPSECRET@host/name",
        "postgres://ann:x/TOPSECRET@host/name",
        "postgres://ann:x#TOPSECRET@host/name",
        "postgres://ann@host/name?password=TOPSECRET",
        "postgres://ann@host/name?sslpassword=TOPSECRET",
        "mysql://ann:TOPSECRET@host/name",
        "host=localhost user=ann password=TOPSECRET",
        "ann:TOPSECRET@host",
        "postgres://[TOPSECRET",
        "postgres://ann:x@host:TOPSECRET/name",
    ],
)
def test_a_password_is_never_shown(address: str, tmp_path: Path) -> None:
    assert "TOPSECRET" not in hide_password(address)
    campaign = make_campaign(tmp_path)
    run = warm_command()("export", campaign, "-o", tmp_path / "x.csv", "--database", address)
    assert run.code in (1, 2)
    assert "TOPSECRET" not in run.out + run.err


def test_answers_to_wrong_requests_are_short(tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path)) as server:
        client = server.client("anna")
        work = client.work()
        wrong = new_save(work, 0, [{"output": "x" * 150, "score": "no", f"key{i}": 1} for i in range(400)])
        for body in (wrong, {"x" * 1000: 1}, {**wrong, "tab": "y" * 100_000}):
            answer = client.post("/api/saves", body)
            assert answer.status == 422
            assert len(answer.text) < 3000


def test_health_tells_of_a_disk_that_is_full(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with Server(campaign) as server:
        client = server.client("anna")
        assert client.get("/health").text == "ok\n"
        limit_files(server, 1000)
        wait_for(lambda: client.get("/health").status == 503)
        assert "disk" in client.get("/health").text
        limit_files(server, resource.RLIM_INFINITY)
        wait_for(lambda: client.get("/health").status == 200)


EXPORT_READ_ONLY = """
import sys
from pathlib import Path
from adjudge.server import serve
from adjudge.readers import native
allowed = serve.os.access
serve.os.access = lambda path, mode: False if mode == serve.os.W_OK else allowed(path, mode)
judgments = serve.export_judgments(Path(sys.argv[1]), database=None)
native.write(judgments, Path(sys.argv[2]))
"""


def test_a_copy_that_cannot_be_written_to_is_exported_with_its_log(tmp_path: Path) -> None:
    """As a backup on a medium that is read-only. The tests may run as root, so the rights are made up."""
    campaign = make_campaign(tmp_path / "campaign")
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        save = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 7}])
        assert client.post("/api/saves", save).status == 200
        shutil.copytree(campaign.parent, tmp_path / "backup")
    backup = tmp_path / "backup"
    (backup / "campaign.secret").unlink()
    before = {file.name: file.read_bytes() for file in backup.iterdir() if file.is_file()}
    run = warm_command().run_code(EXPORT_READ_ONLY, backup / "campaign.toml", tmp_path / "out.csv")
    assert run.code == 0, run.err
    assert read([tmp_path / "out.csv"]).table["score"].cast(pl.Float64).to_list() == [7.0]
    assert {file.name: file.read_bytes() for file in backup.iterdir() if file.is_file()} == before


def test_protocols_and_languages_cannot_be_mixed(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        changes = [{"output": outputs(work, 0)[0], "score": 7}]
        assert client.post("/api/saves", new_save(work, 0, changes)).status == 200
    text = campaign.read_text()
    (tmp_path / "tasks.json").unlink()
    for before, after in (('protocol = "da"', 'protocol = "sqm"'), ('target = "en"', 'target = "fr"')):
        assert before in text
        campaign.write_text(text.replace(before, after))
        serve = ("serve", campaign, "--port", str(free_port()))
        for command in (serve, ("export", campaign, "-o", tmp_path / "out.csv")):
            run = warm_command()(*command)
            assert run.code == 1, run.out
            assert "was made for campaign" in run.err
        (tmp_path / "tasks.json").unlink(missing_ok=True)


def test_a_changed_key_takes_effect_or_is_named(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, annotators='["anna"]')
    with Server(campaign) as server:
        assert "without effect" not in server.log()
    campaign.write_text(campaign.read_text().replace("task_size = 6", "task_size = 7\nconsecutive = 2"))
    with Server(campaign) as server:
        assert "without effect until the tasks are made anew: design.consecutive, design.task_size" in server.log()


def test_names_may_hold_any_letters(tmp_path: Path) -> None:
    names = ["O'Neill & Söhne", "نگار می‌خواهد", "王小明", "<b>Bo</b>"]
    campaign = make_campaign(tmp_path, annotators=json.dumps(names, ensure_ascii=False))
    text = campaign.read_text()
    [line] = [line for line in text.splitlines() if line.startswith("name = ")]
    campaign.write_text(text.replace(line, 'name = "Été: 50 % “best” & more / 試験"'))
    with Server(campaign) as server:
        assert {name for name in server.links if name != "organiser"} == set(names)
        assert server.client(names[1]).get("/api/work").json["campaign"]["name"] == "Été: 50 % “best” & more / 試験"


def test_counts_agree_and_are_named_apart(tmp_path: Path) -> None:
    """Judgments, controls and superseded answers of one campaign, on the page and in the export."""
    campaign = make_campaign(tmp_path, documents=4, task_size=16, more="[controls]\nattention = 2\n")
    with Server(campaign) as server:
        client = server.client("anna")
        judge_all(client, 1.0)
        first = client.get("/api/work?task=t001").json
        change = new_save(first, 0, [{"output": outputs(first, 0)[0], "score": 3}])
        assert client.post("/api/saves", change).status == 200
        withdrawal = new_save(first, 1, [{"output": outputs(first, 1)[0], "score": None}])
        assert client.post("/api/saves", withdrawal).status == 200
        [row] = server.client("organiser").get("/api/organiser/overview").json["annotators"]
    counted = warm_command()("export", campaign, "-o", tmp_path / "x.csv", "--json").json
    counts = {key: _find(counted, key) for key in ("judgments", "controls", "withdrawn", "superseded")}
    expected = {"judgments": row["judgments"], "controls": row["control_judgments"], "withdrawn": 1, "superseded": 2}
    assert counts == expected
    assert counts["controls"] == 2


def _find(value: Any, key: str) -> Any:
    """The first value of a key, however deep."""
    if isinstance(value, dict):
        return value[key] if key in value else next((_find(inner, key) for inner in value.values()), None)
    return None
