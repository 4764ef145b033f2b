"""Adaptive campaigns on a real server: tasks are drawn by a policy, logged with their probabilities, and replayed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adjudge import read
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.tasks import load_tasks
from adjudge.table.errors import InputError
from tests.conftest import Run
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Client, Server, new_save, panels_of, refused_start

SCORES = {"alpha": 90, "beta": 84, "gamma": 20}
MORE = """
[assignment]
policy = "pool"

[adaptive]
policy = "best"
floor = 0.15
warm_up = 2

[looks]
looks = 2
planned = {planned}
goal = "best"
"""


def campaign(folder: Path, *, planned: int = 90, documents: int = 12) -> Path:
    return make_campaign(
        folder,
        documents=documents,
        task_size=3,
        annotators='["anna", "ben", "cleo"]',
        design='structure = "pages"\njudgments = 3',
        more=MORE.format(planned=planned),
    )


def systems_by_output(file: Path) -> dict[tuple[str, str], str]:
    tasks = load_tasks(file.with_name("tasks.json"))
    return {(task.id, output.id): output.systems[0] for task in tasks.tasks for _, _, output in task.outputs()}


def judge_task(client: Client, systems: dict[tuple[str, str], str], chance: int) -> str | None:
    """Judge the next task as somebody who knows the systems would, and hand it in; its id, None where there is none."""
    work = client.work()
    task = work["task"]
    if not task:
        return None
    for number, screen in enumerate(task["screens"]):
        outputs = [output["id"] for item in screen["items"] for output in item["outputs"]]
        changes = [
            {"output": output, "score": min(100, SCORES[systems[task["id"], output]] + (chance * 7 + index * 5) % 9)}
            for index, output in enumerate(outputs)
        ]
        assert client.post("/api/saves", new_save(work, number, changes)).status == 200
    assert client.post(f"/api/tasks/{task['id']}/finish").json["finished"]
    return str(task["id"])


def judge_all(server: Server, systems: dict[tuple[str, str], str], most: int) -> list[str]:
    clients = [server.client(name) for name in ("anna", "ben", "cleo")]
    done: list[str] = []
    for chance in range(most):
        task = judge_task(clients[chance % 3], systems, chance)
        if task is not None:
            done.append(task)
    return done


def test_the_policy_spends_judgments_on_the_best_and_logs_every_decision(
    database: str | None, tmp_path: Path, adjudge: Callable[..., Run]
) -> None:
    file = campaign(tmp_path)
    with Server(file, database=database) as server:
        systems = systems_by_output(file)
        done = judge_all(server, systems, 30)
        # Whoever asks once more after the server was killed gets a decision that continues the log.
        server.kill()
        server.start()
        done += judge_all(server, systems, 30)
        assert "Traceback" not in server.log()
        panels = panels_of(server, "state")
        organiser = server.client("organiser")
        cookies = "; ".join(f"{name}={value}" for name, value in organiser.cookies.items())
        path = "/api/organiser/export?format=parquet"
        organiser.connection.request("GET", path, headers={"Cookie": cookies})
        (tmp_path / "downloaded.parquet").write_bytes(organiser.connection.getresponse().read())
    # The download has the looks that the page took.
    record = read(tmp_path / "downloaded.parquet").record
    assert record is not None
    assert record.looks is not None
    # As many judgments as planned are handed out, and the last task may go a little beyond.
    table = file.with_name("judgments.parquet")
    log = file.with_name("draws.jsonl")
    options = ["--database", database] if database else []
    run = adjudge("export", file, "-o", table, "--draws", log, *options)
    assert run.code == 0, run.err
    assert "all reproduced from the log" in run.err
    judgments = pl.read_parquet(table)
    assert 90 <= judgments.height < 90 + 3 * 3
    decisions = [json.loads(line) for line in log.read_text().splitlines()]
    assert [decision["task"] for decision in decisions] == done
    assert [decision["number"] for decision in decisions] == list(range(len(done)))
    for decision in decisions:
        assert sum(decision["probabilities"]) == pytest.approx(1, abs=1e-6)
        assert decision["drawn"] == decision["task"]
    shown = Counter(system for decision in decisions[12:] for system in decision["systems"])
    assert shown["gamma"] < min(shown["alpha"], shown["beta"])
    assert shown["gamma"] > 0
    joined = judgments.select("task", "annotator", "draw", "draw_probability").unique()
    logged = {(decision["task"], decision["annotator"]): decision for decision in decisions}
    for task, annotator, number, probability in joined.rows():
        assert logged[task, annotator]["number"] == number
        assert logged[task, annotator]["probability"] == probability
        assert 0 < probability <= 1
    verdict = panels[0]
    assert "adjudge look" in verdict["title"]
    assert "of 90 judgments" in verdict["note"]
    assert verdict["headline"]
    assert {interval["label"] for interval in verdict["intervals"]} <= {row[0] for row in verdict["rows"]}


def test_between_planned_looks_there_are_possible_ranks_and_no_new_verdict(tmp_path: Path) -> None:
    file = campaign(tmp_path, planned=90)
    with Server(file) as server:
        systems = systems_by_output(file)
        judge_all(server, systems, 6)
        first, live = _state(server)
        assert first["rows"] == []
        assert "the first planned look comes at 45" in first["headline"]
        assert live["title"] == "Possible ranks after 18 of 90 judgments"
        assert "72 more judgments would" in live["headline"]
        judge_all(server, systems, 12)
        second, live = _state(server)
        assert second["rows"]
        history = json.loads(file.with_name("looks.json").read_text())
        start = file.with_name("looks.start.json").read_text()
        judge_all(server, systems, 3)
        third, live = _state(server)
        assert third["rows"] == second["rows"]
        assert third["headline"] == second["headline"]
        # Ranks that hold at any time are still computed: gamma, the worst system, may still be third.
        ranks = {line["label"]: (line["best"], line["worst"]) for line in live["ranks"]}
        assert set(ranks) == {"alpha", "beta", "gamma"}
        assert all(1 <= best <= worst <= 3 for best, worst in ranks.values())
        assert ranks["gamma"][1] == 3
        assert json.loads(file.with_name("looks.json").read_text()) == history
        assert file.with_name("looks.start.json").read_text() == start


def _state(server: Server) -> Any:
    # The panels rest for a while after each computation; a new server computes them at once.
    server.kill()
    server.start()
    return panels_of(server, "state")


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ('[adaptive]\npolicy = "best"\n', "pool"),
        ('[assignment]\npolicy = "pool"\n[adaptive]\npolicy = "luck"\n', "adaptive.policy"),
        ('[assignment]\npolicy = "pool"\n[adaptive]\nfloor = 0.0\n', "adaptive.floor"),
        ("[looks]\nlooks = 5\n", "looks.planned"),
    ],
)
def test_plans_that_cannot_be_are_refused(more: str, names: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=names):
        load_campaign(make_campaign(tmp_path, more=more))


def test_a_policy_cannot_change_after_tasks_were_drawn(tmp_path: Path) -> None:
    file = campaign(tmp_path)
    with Server(file) as server:
        judge_all(server, systems_by_output(file), 3)
    text = file.read_text()
    for change in (text.replace("floor = 0.15", "floor = 0.5"), "seed = 9\n" + text):
        file.write_text(change)
        message = refused_start(file)
        assert "after tasks were drawn" in message
        assert ("adaptive.floor" in message) != ("adaptive.seed" in message)
    file.write_text(text)
    with Server(file) as server:
        assert server.process is not None
