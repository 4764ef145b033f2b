"""The examples, end to end: served, judged by everybody to the last task, exported, and ranked."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import adjudge
from tests.conftest import ROOT, Run
from tests.helpers.serving import Client, Server, exported, new_save

EXAMPLES = sorted(folder.name for folder in (ROOT / "examples").iterdir() if (folder / "campaign.toml").exists())


def judge_everything(client: Client, work: Any) -> int:
    """Judge all tasks of a person: the longer the translation, the better; returns how many outputs were judged."""
    count = 0
    while work["task"]:
        for i, screen in enumerate(work["task"]["screens"]):
            changes = [answer for item in screen["items"] for answer in judged(item, work["campaign"])]
            assert client.post("/api/saves", new_save(work, i, changes)).status == 200
            count += len(changes)
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
        work = client.post("/api/tasks/next").json
    # Of a pool there may be nothing left for those who come last.
    assert work["completion"] is not None or not count
    return count


def judged(item: Any, campaign: Any) -> list[dict[str, Any]]:
    lengths = [len(output["text"]) for output in item["outputs"]]
    if campaign["protocol"] in ("ranking", "pairwise"):
        order = sorted(set(lengths), reverse=True)
        return [
            {"output": output["id"], "rank": order.index(length) + 1}
            for output, length in zip(item["outputs"], lengths, strict=True)
        ]
    if campaign["protocol"] == "postedit":
        return [{"output": output["id"], "edit": output["text"].replace("a", "e")} for output in item["outputs"]]
    if campaign["protocol"] == "mqm":
        error = {"severity": "minor", "side": "missing", "category": campaign["spans"]["categories"][0]["name"]}
        return [
            {"output": output["id"], "spans": [error] * (length % 5)}
            for output, length in zip(item["outputs"], lengths, strict=True)
        ]
    top = int(campaign["scale"]["high"])
    return [
        {"output": output["id"], "score": length % (top + 1)}
        for output, length in zip(item["outputs"], lengths, strict=True)
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_from_files_to_a_ranking(name: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    with Server(tmp_path / name / "campaign.toml") as server:
        count = 0
        for annotator in [link for link in server.links if link not in ("organiser", "crowd")]:
            client = server.client(annotator)
            count += judge_everything(client, client.work())
        judgments = exported(server, tmp_path)
        progress = server.client("organiser").get("/api/organiser/overview").json["progress"]
        assert "Traceback" not in server.log()
    assert progress["tasks_finished"] == progress["tasks_wanted"]
    assert progress["judgments"] == progress["judgments_wanted"]
    assert judgments.table.select(pl.struct("annotator", "task", "output").n_unique()).item() == count
    if judgments.protocols == ("postedit",):
        # Post-edits are no scores: they are counted by the audit, and rated by `qe`.
        assert judgments.table["text"].null_count() == 0
        return
    ranking = adjudge.rank(judgments.select(~pl.col("kind").is_in(["tutorial"])))
    assert len(ranking.systems) >= 2


def test_what_is_exported_runs_through_the_other_commands(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    shutil.copytree(ROOT / "examples" / "ranking", tmp_path / "ranking")
    campaign = tmp_path / "ranking" / "campaign.toml"
    with Server(campaign) as server:
        for annotator in [link for link in server.links if link != "organiser"]:
            client = server.client(annotator)
            judge_everything(client, client.work())
    table = tmp_path / "judgments.parquet"
    assert adjudge("export", campaign, "-o", table).code == 0
    run = adjudge("report", table, "-o", tmp_path / "report.html")
    assert run.code == 0, run.err
