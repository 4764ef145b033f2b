"""What happens to a campaign whose files, database, clock or people change while it runs."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adjudge.server.answers import Change, time_of_change
from adjudge.server.database import database_settings
from adjudge.table.errors import UsageError
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Client, Server, exported, new_save, outputs, refused_start
from tests.helpers.warm_command import warm_command

HOUR = 3_600_000_000
BACK_TO_THE_FIRST = """
import sys
from pathlib import Path
from adjudge.server.database import start_django
start_django(Path(sys.argv[1]), database=None, session_hours=24)
from django.core.management import call_command
call_command("migrate", "collect", "0001", verbosity=0)
"""


def sql(campaign: Path, statement: str, *values: object) -> list[Any]:
    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection, connection:
        return connection.execute(statement, values).fetchall()


def judge_first(client: Client) -> str:
    """Give the first output of the task in hand 40; returns its id."""
    work = client.work()
    output = outputs(work, 0)[0]
    assert client.post("/api/saves", new_save(work, 0, [{"output": output, "score": 40}])).status == 200
    return output


def test_tasks_made_anew_before_anything_was_judged_are_handed_out(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, documents=4)
    with Server(campaign) as server:
        assert server.client("anna").work()["task"]["id"] == "t001"
        link = server.links["anna"]
    make_campaign(tmp_path, documents=1, task_size=9)
    (tmp_path / "tasks.json").unlink()
    assert warm_command()("design", campaign, "-o", tmp_path / "tasks.json").code == 0
    with Server(campaign) as server:
        server.links["anna"] = link
        work = server.client("anna").work()
        assert sum(len(outputs(work, i)) for i in range(len(work["task"]["screens"]))) == 9


def test_another_scale_after_judging_began_stops_the_start(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with Server(campaign) as server:
        judge_first(server.client("anna"))
    text = campaign.read_text()
    campaign.write_text(text + "\n[scale]\nlow = 0\nhigh = 6\n")
    message = refused_start(campaign)
    assert "it was 0 to 100 by 1, now it is 0 to 6 by 1" in message
    campaign.write_text(text + '\n[scale]\nanchors = [{ at = 0, text = "bad" }]\n')
    with Server(campaign):
        pass


def test_a_database_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with Server(campaign) as server:
        output = judge_first(server.client("anna"))
        link = server.links["anna"]
    back = warm_command().run_code(BACK_TO_THE_FIRST, campaign)
    assert back.code == 0, back.err
    assert "scale" not in {row[1] for row in sql(campaign, "PRAGMA table_info(collect_campaign)")}
    with Server(campaign) as server:
        server.links["anna"] = link
        states = server.client("anna").work()["task"]["states"]
        assert [state["answers"] for state in states.values()] == [{output: {"score": 40}}]
        assert sql(campaign, "SELECT scale FROM collect_campaign") == [("0 to 100 by 1",)]


def test_a_database_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with Server(campaign):
        pass
    sql(campaign, "INSERT INTO django_migrations (app, name, applied) VALUES ('collect', '9999_later', '2030-01-01')")
    message = refused_start(campaign)
    assert "was made by a newer adjudge (it has 9999_later); upgrade adjudge" in message


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    campaign.with_suffix(".sqlite3").write_text("this is a shopping list, not a database\n" * 50)
    message = refused_start(campaign)
    assert f"{campaign.with_suffix('.sqlite3')}: the database cannot be used (file is not a database)" in message


def test_what_is_changed_knowingly_counts_though_a_clock_was_set_back() -> None:
    before = {"o1": {"score": 10.0, "score_last": (5 * HOUR, 3, "tab")}}
    change = Change("o1", "score", 20)

    def time(answers: dict[str, Any], base: int) -> int:
        return time_of_change(answers, [change], estimated=HOUR, base=base, tab="other", number=1)

    assert time(before, base=3) == 5 * HOUR
    assert time(before, base=2) == HOUR, "a page that did not know of it is judged by the clock"
    assert time({}, base=0) == HOUR


def test_a_server_whose_clock_was_set_back_goes_on(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with Server(campaign) as server:
        client = server.client("anna")
        output = judge_first(client)
        # As if all this had happened an hour later than now.
        [(text,)] = sql(campaign, "SELECT answers FROM collect_screenstate")
        answers = json.loads(text)
        answers[output]["score_last"][0] += HOUR
        sql(campaign, "UPDATE collect_screenstate SET answers = ?, shown_seconds = 50", json.dumps(answers))
        sql(campaign, "UPDATE collect_save SET edited = datetime(edited, '+1 hour')")
        sql(campaign, "UPDATE collect_assignment SET taken = datetime(taken, '+1 hour')")
        spent = {"shown": 3, "visible": 2, "active": 1, "outputs": {output: 1}}
        work = client.get("/api/work").json
        answer = client.post("/api/saves", new_save(work, 0, [{"output": output, "score": 90}], spent=spent)).json
        assert answer["state"]["answers"] == {output: {"score": 90}}
        final = exported(server, tmp_path).final().table
        assert final["score"].to_list() == [90]
        assert sql(campaign, "SELECT shown_seconds FROM collect_screenstate") == [(50.0,)], "never less than before"


def exclude(organiser: Client, name: str) -> None:
    people = organiser.get("/api/organiser/overview").json["annotators"]
    number = next(score["id"] for score in people if score["name"] == name)
    decision = {"excluded": True, "reason": "clicked at random"}
    assert organiser.post(f"/api/organiser/annotators/{number}/decision", decision).status == 200


def judge_all(client: Client) -> str:
    """Judge and hand in the task in hand; returns its id."""
    work = client.work()
    for i in range(len(work["task"]["screens"])):
        save = new_save(work, i, [{"output": output, "score": 50} for output in outputs(work, i)])
        assert client.post("/api/saves", save).status == 200
    assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
    return str(work["task"]["id"])


def test_the_tasks_of_somebody_excluded_go_back_to_the_pool(tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path, documents=1, task_size=9, annotators='["anna", "bert"]', more='[assignment]\npolicy = "pool"\n'
    )
    with Server(campaign) as server:
        anna, bert, organiser = (server.client(name) for name in ("anna", "bert", "organiser"))
        done = judge_all(anna)
        assert bert.work()["task"] is None, "one judgment per task is wanted, and there is one"
        exclude(organiser, "anna")
        progress = organiser.get("/api/organiser/overview").json["progress"]
        assert (progress["judgments"], progress["tasks_finished"], progress["tasks_wanted"]) == (0, 0, 1)
        assert judge_all(bert) == done
        assert organiser.get("/api/organiser/overview").json["progress"]["tasks_finished"] == 1
        table = exported(server, tmp_path).table.filter(pl.col("excluded") == "false")
        assert table["annotator"].unique().to_list() == ["bert"]


def test_somebody_added_later_stands_in_for_somebody_excluded(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, documents=4, annotators='["anna", "bert"]')
    with Server(campaign) as server:
        organiser = server.client("organiser")
        done = judge_all(server.client("anna"))
        made = organiser.post("/api/organiser/annotators", {"name": "carl"}).json
        server.links["carl"] = made["path"]
        carl = server.client("carl")
        assert carl.work()["task"] is None, "every task has its people"
        exclude(organiser, "anna")
        assert judge_all(carl) == done, "the tasks of anna, one by one"
        planned = json.loads((tmp_path / "tasks.json").read_text())["tasks"]
        annas = [task["id"] for task in planned if "anna" in task["annotators"]]
        rest = [done]
        while carl.work()["task"]:
            rest.append(judge_all(carl))
        assert sorted(rest) == sorted(annas)
        assert server.client("bert").work()["task"]["id"] not in annas


def test_a_crowd_link_that_was_lost_or_has_expired_is_made_anew(tmp_path: Path) -> None:
    crowd = '[assignment]\npolicy = "pool"\n[crowd]\ncompletion_code = "X"\n'
    campaign = make_campaign(tmp_path, more=crowd)
    links = []
    for options in ((), ("--new-links",)):
        with Server(campaign, options=options) as server:
            links.append(server.links["crowd"])
            assert server.client().enter(server.secret("crowd"), person=f"w1{options}").status == 200
            former = server.client().enter(links[0].partition("#")[2], person=f"w2{options}")
            assert former.status == (403 if options else 200)
    with Server(campaign) as server:
        assert "crowd" not in server.links, "the last one still holds"
    sql(campaign, "UPDATE collect_link SET expires = '2020-01-01 00:00:00' WHERE role = 'crowd'")
    with Server(campaign) as server:
        assert server.client().enter(server.secret("crowd"), person="w2").status == 200


@pytest.mark.parametrize("url", ["https://x:99999", "https://x/?a=b", "ftp://x"])
def test_an_address_that_cannot_be_served_is_explained(url: str, tmp_path: Path) -> None:
    message = refused_start(make_campaign(tmp_path), "--url", url)
    assert url in message


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as fault:
        database_settings("postgres://ann:hunter2@host", tmp_path)
    assert "hunter2" not in str(fault.value)
    assert "postgres://ann:***@host" in str(fault.value)
    message = refused_start(make_campaign(tmp_path), "--database", "postgres://ann:hunter2@127.0.0.1:1/x")
    assert "the database cannot be used" in message
    assert "hunter2" not in message


def test_a_pool_that_hands_out_connections_by_transaction_is_catered_for(tmp_path: Path) -> None:
    settings = database_settings("postgres://ann@host/x?pooling=transaction", tmp_path)
    assert settings["DISABLE_SERVER_SIDE_CURSORS"]
    assert settings["OPTIONS"] == {"server_side_binding": True, "prepare_threshold": None}
    with pytest.raises(UsageError, match="pooling=statement"):
        database_settings("postgres://ann@host/x?pooling=statement", tmp_path)


def test_people_added_to_the_file_join_a_pool_and_other_changes_are_refused(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, annotators='["anna", "bert"]', more='[assignment]\npolicy = "pool"\n')
    text = campaign.read_text()
    with Server(campaign) as server:
        judge_first(server.client("anna"))
    campaign.write_text(text.replace('["anna", "bert"]', '["anna", "bert", "carla"]'))
    with Server(campaign) as server:
        assert set(server.links) == {"carla", "organiser"}
        assert server.client("carla").work()["task"]
        assert "without effect" not in server.log()
    campaign.write_text(text)
    message = refused_start(campaign)
    assert "no longer names carla" in message
    assert "exclude people on the organisers' page" in message


def test_people_added_where_everybody_has_tasks_of_their_own_are_refused(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, annotators='["anna", "bert"]')
    with Server(campaign) as server:
        judge_first(server.client("anna"))
    campaign.write_text(campaign.read_text().replace('["anna", "bert"]', '["anna", "bert", "carla"]'))
    assert "add people on the organisers' page" in refused_start(campaign)
