"""Saves over real sockets, on both databases: durable, once, nothing overwritten, every revision kept."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import PATIENCE, Client, Server, exported, new_save, outputs

PEOPLE = 12


@pytest.fixture(scope="module")
def server(database: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("saves")
    campaign = make_campaign(
        folder,
        annotators=str(PEOPLE),
        design=f"judgments = {PEOPLE}",
        more='[assignment]\npolicy = "pool"\n[page]\ncomments = true\n',
    )
    with Server(campaign, database=database) as running:
        yield running


@pytest.fixture(scope="module")
def numbers(server: Server) -> Iterator[int]:
    return count(1)


@pytest.fixture
def name(numbers: Iterator[int]) -> str:
    """An annotator whom no other test uses."""
    return f"annotator-{next(numbers):02d}"


@pytest.fixture
def client(server: Server, name: str) -> Client:
    return server.client(name)


def rows(server: Server, folder: Path, name: str) -> pl.DataFrame:
    return exported(server, folder).table.filter(pl.col("annotator") == name).sort("output", "revision")


def test_a_save_is_acknowledged_with_what_is_stored(client: Client) -> None:
    work = client.work()
    output = outputs(work, 0)[0]
    answer = client.post("/api/saves", new_save(work, 0, [{"output": output, "score": 72}]))
    assert answer.status == 200
    assert answer.json["state"]["answers"] == {output: {"score": 72.0}}
    assert answer.json["state"]["revision"] == 1
    assert client.get("/api/work").json["task"]["states"][work["task"]["screens"][0]["id"]] == answer.json["state"]


def test_the_same_save_twice_counts_once(client: Client, server: Server, name: str, tmp_path: Path) -> None:
    work = client.work()
    save = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 5}], spent={"shown": 0.001, "active": 0.001})
    first, second = client.post("/api/saves", save), client.post("/api/saves", save)
    assert (first.json["repeated"], second.json["repeated"]) == (False, True)
    assert first.json["saved"] == second.json["saved"]
    assert first.json["state"] == second.json["state"]
    assert len(rows(server, tmp_path, name)) == 1


def test_the_same_save_sent_by_eight_at_once_counts_once(
    client: Client, server: Server, name: str, tmp_path: Path
) -> None:
    work = client.work()
    save = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 5}])
    clients = [server.client(name) for _ in range(8)]
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda client=client: answers.append(client.post("/api/saves", save)))
        for client in clients
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert [answer.status for answer in answers] == [200] * 8
    assert sorted(answer.json["repeated"] for answer in answers) == [False] + [True] * 7
    assert len(rows(server, tmp_path, name)) == 1


def test_an_id_that_was_used_for_something_else_is_refused(client: Client) -> None:
    work = client.work()
    save = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 5}])
    assert client.post("/api/saves", save).status == 200
    other = {**save, "changes": [{"output": outputs(work, 0)[0], "score": 6}]}
    answer = client.post("/api/saves", other)
    assert (answer.status, answer.json["code"]) == (409, "id-used")


def test_every_revision_is_kept_and_the_last_one_counts(
    client: Client, server: Server, name: str, tmp_path: Path
) -> None:
    work = client.work()
    output = outputs(work, 0)[0]
    for score in (10, 0, None, 55):
        assert client.post("/api/saves", new_save(work, 0, [{"output": output, "score": score}])).status == 200
    table = rows(server, tmp_path, name)
    assert table["score"].to_list() == [10, 0, None, 55]
    assert table["revision"].to_list() == [1, 2, 3, 4]


def test_a_late_save_of_an_older_change_does_not_overwrite_a_newer_one(
    client: Client, server: Server, name: str, tmp_path: Path
) -> None:
    work = client.work()
    output = outputs(work, 0)[0]
    tabs = [str(uuid.uuid4()), str(uuid.uuid4())]
    newer = client.post("/api/saves", new_save(work, 0, [{"output": output, "score": 60}], tab=tabs[0]))
    older = client.post("/api/saves", new_save(work, 0, [{"output": output, "score": 50}], tab=tabs[1], age=600))
    assert newer.json["met"] == []
    assert older.json["met"] == [output]
    assert older.json["state"]["answers"][output]["score"] == 60
    table = rows(server, tmp_path, name)
    assert table["score"].to_list() == [50, 60], "the newer change is the last revision, though it came first"


def test_a_refused_save_stores_nothing(client: Client, server: Server, name: str, tmp_path: Path) -> None:
    work = client.work()
    first, second = outputs(work, 0)[0], outputs(work, 1)[0]
    both = [{"output": first, "score": 5}, {"output": second, "score": 5}]
    answer = client.post("/api/saves", new_save(work, 0, both))
    assert answer.status == 409
    assert second in answer.json["detail"]
    seconds = {"shown": 1, "visible": 1, "active": 1, "outputs": {second: 1}}
    answer = client.post("/api/saves", new_save(work, 0, both[:1], spent=seconds))
    assert answer.status == 409, "seconds of an output that is not on the screen"
    assert len(rows(server, tmp_path, name)) == 0
    assert client.post("/api/saves", new_save(work, 1, [{"output": second, "score": 7}])).status == 200
    assert rows(server, tmp_path, name).select("output", "score").rows() == [(second, 7)]


@pytest.mark.parametrize(
    "change",
    [
        {"score": 1000},
        {"score": "70"},
        {"rank": 1},
        {"score": 5.5},
        {"sore": 5},
        {"comment": "a\0b"},
        {"comment": "\ud800"},
    ],
)
def test_nonsense_is_refused_and_never_a_fault(server: Server, change: dict[str, Any]) -> None:
    client = server.client("annotator-12")
    work = client.work()
    answer = client.post("/api/saves", new_save(work, 0, [{"output": outputs(work, 0)[0], **change}]))
    assert answer.status in (409, 422)


def test_saves_for_somebody_else_ask_to_enter_again(client: Client) -> None:
    work = client.work()
    save = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 5}])
    answer = client.post("/api/saves", {**save, "annotator": work["annotator"]["id"] + 1})
    assert answer.status == 401


def test_time_is_added_up_once_and_never_more_than_has_passed(client: Client) -> None:
    work = client.work()
    output = outputs(work, 0)[0]
    spent = {"shown": 0.01, "visible": 0.008, "active": 0.004, "outputs": {output: 0.004}}
    save = new_save(work, 0, [{"output": output, "score": 5}], spent=spent)
    # More time than that must have passed since the work was shown, however fast the machine is.
    time.sleep(0.05)
    client.post("/api/saves", save)
    again = client.post("/api/saves", save).json
    assert again["state"]["active_seconds"] == pytest.approx(0.004)
    more = client.post(
        "/api/saves", new_save(work, 0, [], spent={**spent, "shown": 1e6, "visible": 1e6, "active": 1e6})
    )
    assert more.status == 200
    assert more.json["state"]["revision"] == 1, "time alone makes no revision"
    assert more.json["state"]["active_seconds"] < 600
    assert client.get("/api/work").json["active_seconds"] == pytest.approx(more.json["state"]["active_seconds"])


def test_comments_come_out_as_they_went_in(client: Client, server: Server, name: str, tmp_path: Path) -> None:
    work = client.work()
    text = 'ещё раз, "quoted",\nnew line, <b>שלום</b> 🙂'
    output = outputs(work, 0)[0]
    assert client.post("/api/saves", new_save(work, 0, [{"output": output, "score": 5, "comment": text}])).status == 200
    assert rows(server, tmp_path, name)["text"].to_list() == [text]
