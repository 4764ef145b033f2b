"""Who judges what: tutorial and calibration first, fixed tasks, and a pool with leases and k judgments per task."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import PATIENCE, Client, Server, new_save, outputs

POOL = '[assignment]\npolicy = "pool"\nlease_minutes = 30\n'


def sql(server: Server, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(server.campaign.with_suffix(".sqlite3"))) as connection, connection:
        connection.execute(statement, values)


def judge(client: Client, work: Any, screens: range | None = None) -> None:
    for i in screens or range(len(work["task"]["screens"])):
        changes = [{"output": output, "score": 50} for output in outputs(work, i)]
        assert client.post("/api/saves", new_save(work, i, changes)).status == 200


def finish(client: Client, work: Any) -> Any:
    answer = client.post(f"/api/tasks/{work['task']['id']}/finish").json
    assert answer["finished"], answer
    return client.work()


def test_everybody_calibrates_first_and_then_has_the_own_tasks(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, documents=4, annotators='["anna", "bert"]', more="[controls]\ncalibration = 4\n")
    with Server(campaign) as server:
        tasks_by_person: dict[str, list[str]] = {}
        for name in ("anna", "bert"):
            client = server.client(name)
            work = client.work()
            kinds = []
            while work["task"]:
                kinds.append(work["task"]["kind"])
                tasks_by_person.setdefault(name, []).append(work["task"]["id"])
                judge(client, work)
                work = finish(client, work)
            assert kinds[0] == "calibration"
            assert set(kinds[1:]) == {"work"}
            assert work["completion"] is not None
        assert tasks_by_person["anna"][0] == tasks_by_person["bert"][0]
        assert not set(tasks_by_person["anna"][1:]) & set(tasks_by_person["bert"][1:])


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Two tasks of the pool, each wanted from two of six people."""
    return make_campaign(tmp_path, systems=2, annotators="6", design="judgments = 2", more=POOL)


def test_a_task_of_the_pool_is_judged_by_as_many_as_wanted_and_by_nobody_twice(pool: Path) -> None:
    with Server(pool) as server:
        clients = [server.client(f"annotator-{i:02d}") for i in range(1, 7)]
        # All ask at once: the last open judgments of a task must not be handed out twice.
        works: dict[int, Any] = {}
        threads = [
            threading.Thread(target=lambda i=i, client=client: works.update({i: client.post("/api/tasks/next").json}))
            for i, client in enumerate(clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        taken = [work["task"]["id"] for work in works.values() if work["task"]]
        assert sorted(taken) == ["t001", "t001", "t002", "t002"]
        idle = next(i for i, work in works.items() if work["task"] is None)
        assert works[idle]["completion"] is None
        assert clients[idle].get("/api/work").json["task"] is None


def test_a_lease_that_runs_out_frees_the_place_and_keeps_the_judgments(pool: Path) -> None:
    with Server(pool) as server:
        clients = [server.client(f"annotator-{i:02d}") for i in range(1, 7)]
        works = [client.work() for client in clients[:4]]
        assert clients[4].work()["task"] is None
        judge(clients[0], works[0], range(2))
        sql(server, "UPDATE collect_assignment SET lease_until = '2020-01-01 00:00:00' WHERE annotator_id = 1")
        taken = clients[4].work()
        assert taken["task"]["id"] == works[0]["task"]["id"]
        # Somebody who returns late gets a message and loses nothing; saves still in the queue are accepted.
        late = new_save(works[0], 2, [{"output": outputs(works[0], 2)[0], "score": 7}])
        answer = clients[0].post("/api/saves", late)
        assert (answer.status, answer.json["released"]) == (200, True)
        assert clients[0].get(f"/api/work?task={works[0]['task']['id']}").json["task"]["released"]


def test_a_lease_that_runs_out_is_renewed_while_nobody_else_has_come(pool: Path) -> None:
    with Server(pool) as server:
        client = server.client("annotator-01")
        work = client.work()
        sql(server, "UPDATE collect_assignment SET lease_until = '2020-01-01 00:00:00'")
        answer = client.post("/api/saves", new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 7}]))
        assert (answer.status, answer.json["released"]) == (200, False)
        assert client.work()["task"]["id"] == work["task"]["id"]
        sql(server, "UPDATE collect_assignment SET lease_until = '2020-01-01 00:00:00'")
        assert client.work()["task"]["id"] == work["task"]["id"]
        # A complete task keeps its assignment even if it was never handed in.
        judge(client, work)
        sql(server, "UPDATE collect_assignment SET lease_until = '2020-01-01 00:00:00'")
        others = [server.client(f"annotator-{i:02d}").work()["task"] for i in range(2, 7)]
        assert sorted(other["id"] for other in others if other) == ["t001", "t002", "t002"]


def test_somebody_who_is_excluded_gets_no_further_task(pool: Path) -> None:
    with Server(pool) as server:
        client, organiser = server.client("annotator-01"), server.client("organiser")
        work = client.work()
        number = work["annotator"]["id"]
        decision = {"excluded": True, "reason": "clicks without reading"}
        assert organiser.post(f"/api/organiser/annotators/{number}/decision", decision).status == 200
        judge(client, work)
        assert finish(client, work)["task"] is None


@pytest.mark.parametrize("navigation", ["back-only", "strict"])
def test_the_order_of_screens_is_kept_where_the_campaign_wants_it(tmp_path: Path, navigation: str) -> None:
    campaign = make_campaign(tmp_path, more=f'[page]\nnavigation = "{navigation}"\n')
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()

        def status(screen: int, score: int) -> int:
            changes = [{"output": outputs(work, screen)[0], "score": score}]
            return client.post("/api/saves", new_save(work, screen, changes)).status

        assert status(1, 5) == 409, "the first screen is not judged yet"
        assert status(0, 5) == 200
        assert status(0, 6) == 200
        assert status(1, 5) == 200
        assert status(0, 7) == (200 if navigation == "back-only" else 409)
        judge(client, work, range(2, len(work["task"]["screens"])))
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
        assert status(len(work["task"]["screens"]) - 1, 9) == 409, "handed in"


def test_answers_can_be_changed_after_handing_in_where_navigation_is_free(tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path)) as server:
        client = server.client("anna")
        work = client.work()
        judge(client, work)
        finish(client, work)
        again = client.get(f"/api/work?task={work['task']['id']}").json
        assert again["task"]["finished"]
        change = new_save(again, 0, [{"output": outputs(again, 0)[0], "score": 9}])
        assert client.post("/api/saves", change).json["state"]["revision"] == 2
