"""Many annotators at once, briefly: no error, nothing lost, nothing doubled. `bench/bench_collect.py` measures."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from bench.collect_load import Plan, simulate_annotators

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server, exported

ANNOTATORS = 60


def test_many_annotators_at_once(database: str | None, tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path,
        documents=4,
        task_size=12,
        annotators=str(ANNOTATORS),
        design=f"judgments = {ANNOTATORS}",
        more='[assignment]\npolicy = "pool"\n',
    )
    with Server(campaign, database=database) as server:
        secrets = [server.secret(name) for name in server.links if name.startswith("annotator-")]
        load = simulate_annotators("127.0.0.1", server.port, secrets, Plan(seconds=2, pause=0.5, least=1))
        table = exported(server, tmp_path).table
        overview = server.client("organiser").get("/api/organiser/overview").json
        assert "Traceback" not in server.log()
    assert load.faults == []
    assert len(load.acknowledged) >= ANNOTATORS
    numbers = {annotator["name"]: annotator["id"] for annotator in overview["annotators"]}
    stored = [
        (numbers[name], output, score) for name, output, score in table.select("annotator", "output", "score").rows()
    ]
    assert sorted(stored) == sorted(load.acknowledged)
    assert table.select(pl.struct("annotator", "output", "revision").n_unique()).item() == len(table)
    hours = sum(hour["saves"] for hour in overview["throughput"])
    assert hours == len(table)
