"""Acknowledged saves survive: the server is killed repeatedly in the middle of a stream of saves."""

from __future__ import annotations

import random
import resource
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server, Writer, exported, limit_files, new_save, outputs, wait_for

KILLS = 20
WRITERS = 4


def test_every_acknowledged_save_survives_twenty_kills(tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path,
        documents=3,
        task_size=30,
        annotators=str(WRITERS),
        design=f'judgments = {WRITERS}\nstructure = "pages"',
        more='[assignment]\npolicy = "pool"\n',
    )
    server = Server(campaign).start()
    chance = random.Random(1)
    sent: dict[str, list[tuple[int, float]]] = {}
    acknowledged: dict[str, list[tuple[int, float]]] = {}
    works: dict[str, Any] = {}
    for kill in range(KILLS):
        writers = {}
        for name in (f"annotator-{i:02d}" for i in range(1, WRITERS + 1)):
            client = server.client(name)
            works[name] = client.work()
            writers[name] = Writer(client, works[name], start=len(sent.get(name, [])))
        for writer in writers.values():
            writer.start()
        # In the middle of the stream, also on a machine so busy that it takes long to begin.
        wait_for(lambda writers=writers: all(writer.acknowledged for writer in writers.values()))
        time.sleep(chance.uniform(0.05, 0.3))
        # Every fifth time the whole server, otherwise the process that serves, which its parent starts anew.
        if kill % 5 == 4:
            server.kill()
        else:
            server.kill_worker()
        for name, writer in writers.items():
            writer.finish()
            sent.setdefault(name, []).extend(writer.sent)
            acknowledged.setdefault(name, []).extend(writer.acknowledged)
        if kill % 5 == 4:
            server.start()
    with server:
        table = exported(server, tmp_path).table
    assert sum(map(len, acknowledged.values())) > KILLS
    for name, tried in sent.items():
        _check(table.filter(pl.col("annotator") == name), works[name], tried, acknowledged[name])
    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def _check(table: pl.DataFrame, work: Any, sent: list[Any], acknowledged: list[Any]) -> None:
    """All acknowledged saves are stored in order, nothing else is stored, and no screen is stored in part."""
    for screen in range(len(work["task"]["screens"])):
        histories = [
            table.filter(pl.col("output") == output).sort("revision")["score"].to_list()
            for output in outputs(work, screen)
        ]
        assert all(history == histories[0] for history in histories), "a screen is half-saved"
        assert _is_subsequence([score for at, score in acknowledged if at == screen], histories[0])
        assert _is_subsequence(histories[0], [score for at, score in sent if at == screen])


def _is_subsequence(part: list[Any], whole: list[Any]) -> bool:
    rest = iter(whole)
    return all(item in rest for item in part)


def test_a_server_that_is_stopped_answers_what_it_has_begun_and_goes(tmp_path: Path) -> None:
    server = Server(make_campaign(tmp_path)).start()
    client = server.client("anna")
    work = client.work()
    assert client.post("/api/saves", new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 1}])).status == 200
    client.connection.close()
    server.stop()
    assert server.process is not None
    assert server.process.returncode == 0
    assert "Traceback" not in server.log()


@pytest.mark.parametrize("pragma", ["journal_mode", "synchronous"])
def test_the_embedded_database_writes_its_log_to_the_disk_before_it_says_so(pragma: str, tmp_path: Path) -> None:
    from adjudge.server.database import database_settings

    statements = database_settings(None, tmp_path / "x.sqlite3")["OPTIONS"]["init_command"]
    with closing(sqlite3.connect(tmp_path / "x.sqlite3")) as connection:
        for statement in filter(None, (part.strip() for part in statements.split(";"))):
            connection.execute(statement)
        value = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
    assert value == {"journal_mode": "wal", "synchronous": 2}[pragma], "2 is FULL"


def test_a_disk_that_is_full_for_a_while_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """The limit on the size of files stands in for the disk: it can be set and lifted while the server runs."""
    campaign = make_campaign(tmp_path)
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        output = outputs(work, 0)[0]

        def save(score: int) -> Any:
            return new_save(work, 0, [{"output": output, "score": score}], events=[[0, "x" * 900]])

        assert client.post("/api/saves", save(0)).status == 200
        largest = max(file.stat().st_size for file in tmp_path.glob("campaign.sqlite3*"))
        limit_files(server, largest + 20_000)
        statuses = [client.post("/api/saves", save(score)).status for score in range(1, 40)]
        assert set(statuses) == {200, 500}, "some fit, then none"
        assert client.get("/api/work").status == 200, "reading goes on"
        limit_files(server, resource.RLIM_INFINITY)
        assert client.post("/api/saves", save(77)).status == 200
        saved = [0, *(score for score, status in enumerate(statuses, start=1) if status == 200), 77]
        assert exported(server, tmp_path).table.sort("revision")["score"].to_list() == saved
