"""Controls: completion codes for those who pass and those who fail, and the page cannot know the result beforehand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.campaigns.tasks import Output, load_tasks
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server, new_save

CROWD = """
[controls]
degraded = 4
attention = 1
[crowd]
completion_code = "PASSED"
failure_code = "FAILED"
return_url = "https://crowd.example/pass"
failure_url = "https://crowd.example/fail"
pass_share = 0.8
least_controls = 2
least_seconds = 0
"""


def attentive(output: Output) -> int:
    if output.expected:
        return int(output.expected[0])
    return 10 if output.kind == "degraded" else 70


def careless(output: Output) -> int:
    return 50


@pytest.mark.parametrize(
    ("judge", "crowd", "goes_on"), [(attentive, True, True), (careless, True, False), (careless, False, True)]
)
def test_a_crowd_worker_who_fails_the_controls_gets_no_other_task(
    judge: Callable[[Output], int], crowd: bool, goes_on: bool, tmp_path: Path
) -> None:
    """People with personal links go on: their organisers know them, and exclude them where need be."""
    pool = '[assignment]\npolicy = "pool"\n'
    with Server(make_campaign(tmp_path, documents=8, task_size=16, more=pool + CROWD)) as server:
        tasks = load_tasks(tmp_path / "tasks.json").tasks
        assert len(tasks) > 1
        known = {output.id: output for task in tasks for _, _, output in task.outputs()}
        client = server.client()
        assert client.enter(server.secret("crowd" if crowd else "anna"), **({"person": "P-1"} if crowd else {}))
        work = client.work()
        for i, screen in enumerate(work["task"]["screens"]):
            ids = [output["id"] for item in screen["items"] for output in item["outputs"]]
            changes = [{"output": output, "score": judge(known[output])} for output in ids]
            assert client.post("/api/saves", new_save(work, i, changes)).status == 200
        client.post(f"/api/tasks/{work['task']['id']}/finish")
        completion = client.get("/api/work").json["completion"]
        assert completion["code"] == ("PASSED" if judge is attentive else "FAILED")
        assert completion["more"] == goes_on
        assert (client.post("/api/tasks/next").json["task"] is not None) == goes_on


@pytest.mark.parametrize(("judge", "code"), [(attentive, "PASSED"), (careless, "FAILED")])
def test_the_completion_code_says_whether_the_controls_were_passed(
    judge: Callable[[Output], int], code: str, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, documents=4, task_size=16, more=CROWD)
    with Server(campaign) as server:
        known = {
            output.id: output for task in load_tasks(tmp_path / "tasks.json").tasks for _, _, output in task.outputs()
        }
        client = server.client("anna")
        work = client.work()
        while work["task"]:
            for i, screen in enumerate(work["task"]["screens"]):
                given = [output for item in screen["items"] for output in item["outputs"]]
                assert all(value["expected"] is None for value in given), "only tutorials say what is expected"
                changes = [{"output": value["id"], "score": judge(known[value["id"]])} for value in given]
                assert client.post("/api/saves", new_save(work, i, changes)).status == 200
            assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
            work = client.work()
        assert work["completion"]["code"] == code
        assert work["completion"]["url"].endswith("pass" if code == "PASSED" else "fail")
        row: Any = server.client("organiser").get("/api/organiser/overview").json["annotators"][0]
        assert row["controls"] >= 5
        assert (row["controls_right"] == row["controls"]) == (code == "PASSED")
