"""What was collected goes straight into the other commands, with its history, and as an Appraise file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from adjudge import read
from adjudge.readers.options import ReadOptions
from tests.conftest import Run, assert_explained
from tests.helpers.campaigns import make_campaign
from tests.helpers.compare_exports import PROTOCOLS_TRIED
from tests.helpers.databases import needed_postgres_url
from tests.helpers.serving import Server, new_save, outputs
from tests.helpers.warm_command import warm_command

# How good each made-up system is taken to be by those who judge.
GOODNESS = {"alpha": 90, "beta": 70, "gamma": 50}


def judge_truly(server: Server, name: str, goodness: dict[str, int]) -> None:
    """Judge all tasks of a person by what the texts are really worth."""
    client = server.client(name)
    work = client.work()
    while work["task"]:
        for i, screen in enumerate(work["task"]["screens"]):
            for item in screen["items"]:
                changes = [
                    {"output": output["id"], "score": goodness.get(output["text"], 20)} for output in item["outputs"]
                ]
                assert client.post("/api/saves", new_save(work, i, changes)).status == 200
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
        work = client.work()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that two people have judged; delta translates exactly as alpha does."""
    folder = tmp_path_factory.mktemp("export")
    campaign = make_campaign(folder, documents=4, task_size=12, annotators='["anna", "bert"]', systems=4)
    (folder / "delta.txt").write_text((folder / "alpha.txt").read_text())
    texts = {
        line: GOODNESS[name]
        for name in ("gamma", "beta", "alpha")
        for line in (folder / f"{name}.txt").read_text().splitlines()
    }
    with Server(campaign) as server:
        for i, name in enumerate(("anna", "bert")):
            judge_truly(server, name, {text: worth + i for text, worth in texts.items()})
        client = server.client("anna")
        work = client.get(f"/api/work?task={client.get('/api/work').json['tasks'][0]['id']}").json
        first = outputs(work, 0)[0]
        for score in (3, None):
            client.post("/api/saves", new_save(work, 0, [{"output": first, "score": score}]))
    return campaign


def test_the_table_is_exported_and_ranked(judged: Path, tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    output = tmp_path / "judgments.parquet"
    run = adjudge("export", judged, "-o", output, "--json")
    assert run.json["annotators"] == 2
    assert run.json["protocols"] == ["da"]
    assert run.json["signature"].startswith("adjudge export|format:judgments")
    ranked = adjudge("rank", output, "--method", "raw", "--json").json
    order = [system["system"] for system in ranked["systems"]]
    assert set(order[:2]) == {"alpha", "delta"}
    assert order[2:] == ["beta", "gamma"]


def test_history_and_shared_outputs(judged: Path, tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    output = tmp_path / "judgments.csv"
    assert adjudge("export", judged, "-o", output).code == 0
    judgments = read([output])
    table = judgments.table
    changed = table.filter(pl.col("revision") > 1)
    assert set(changed["score"].to_list()) == {3.0, None}
    assert len(table) - len(judgments.final()) == 2 * changed.select("system").n_unique()
    # An output of two systems was judged once, and both have it.
    shared = table.filter(pl.col("system").is_in(["alpha", "delta"]))
    per_output = shared.group_by("output", "annotator").agg(pl.col("system").n_unique())
    assert set(per_output["system"].to_list()) == {2}
    assert {"output", "text_hash", "saved", "excluded", "screen_visible_seconds"} <= set(table.columns)


def test_an_appraise_file_is_read_back(judged: Path, tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    output = tmp_path / "appraise.csv"
    run = adjudge("export", judged, "-o", output, "--format", "appraise", "--json")
    assert [aside["reason"] for aside in run.json["set_aside"]] == [
        "score that was taken back, which Appraise files cannot hold"
    ]
    judgments = read([output], format="appraise", options=ReadOptions())
    assert set(judgments.systems) == {"alpha", "beta", "gamma", "delta"}


def test_faults_are_explained(judged: Path, tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    unserved = make_campaign(tmp_path / "new")
    assert_explained(
        adjudge("export", unserved, "-o", tmp_path / "x.csv"),
        names=("has not been served yet", "begin with adjudge serve"),
    )
    misspelt = adjudge("export", judged, "-o", tmp_path / "x.csv", "--format", "aprpaise")
    assert_explained(misspelt, code=2, names=("appraise",))
    assert_explained(adjudge("export", tmp_path / "no.toml", "-o", tmp_path / "x.csv"), names=("no.toml",))
    assert_explained(adjudge("serve", tmp_path / "no.toml"), names=("no.toml",))
    assert_explained(adjudge("serve", unserved, "--workers", "2"), code=2, names=("PostgreSQL",))
    assert_explained(adjudge("serve", unserved, "--database", "mysql://x/y"), code=2, names=("mysql",))
    assert_explained(adjudge("serve", unserved, "--url", "judge.example.org"), code=2, names=("judge.example.org",))


def test_a_port_that_is_taken_and_tasks_that_have_changed_are_explained(
    judged: Path, adjudge: Callable[..., Run]
) -> None:
    tasks = judged.with_name("tasks.json")
    text = tasks.read_text()
    with Server(judged) as server:
        assert_explained(adjudge("serve", judged, "--port", str(server.port)), code=2, names=(str(server.port),))
    try:
        tasks.write_text(text.replace('"seed": 1', '"seed": 2', 1))
        assert_explained(adjudge("serve", judged), names=("tasks have changed",))
    finally:
        tasks.write_text(text)


def test_links_are_written_to_a_file_on_request(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    links = tmp_path / "links.tsv"
    with Server(campaign, options=("--links", str(links))) as server:
        rows = [line.split("\t") for line in links.read_text().splitlines()]
        assert rows[0] == ["role", "name", "link"]
        assert {row[1]: row[2] for row in rows if row[0] == "annotator"} == {"anna": server.links["anna"]}
        assert links.stat().st_mode & 0o777 == 0o600
        first = dict(server.links)
    with Server(campaign) as server:
        assert "anna" not in server.links, "links are shown once"
        assert server.links["organiser"] != first["organiser"]
        server.links["anna"] = first["anna"]
        assert server.client("anna").work()["task"]
    with Server(campaign, options=("--new-links",)) as server:
        assert server.links["anna"] != first["anna"]
        assert server.client().enter(first["anna"].partition("#")[2]).status == 403


@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_before_the_first_save_the_export_is_a_header(store: str, tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    database = needed_postgres_url() if store == "postgres" else None
    campaign = make_campaign(tmp_path)
    with Server(campaign, database) as server:
        answer = server.client("organiser").get("/api/organiser/export")
    assert answer.status == 200
    (header,) = answer.text.splitlines()
    assert {"annotator", "system", "score", "saved"} <= set(header.split(","))
    options = () if database is None else ("--database", database)
    run = adjudge("export", campaign, "-o", tmp_path / "judgments.csv", *options)
    assert_explained(run, names=("nothing has been judged yet",))


@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_the_export_by_columns_gives_the_bytes_of_the_one_by_rows(store: str, tmp_path: Path) -> None:
    databases = [needed_postgres_url() for _ in PROTOCOLS_TRIED] if store == "postgres" else []
    program = "from tests.helpers.compare_exports import main; main()"
    run = warm_command().run_code(program, tmp_path, "7", *databases)
    assert run.code == 0, run.err
    assert run.out.splitlines() == [f"{protocol} agrees" for protocol in PROTOCOLS_TRIED]


def test_probabilities_of_chosen_segments_reach_the_ranking(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    """From the campaign file through tasks, server and a CSV file to the weights of the ranking."""
    file = make_campaign(
        tmp_path, documents=5, task_size=30, annotators='["anna", "bert"]', design='segments = 6\nselect = "outputs"'
    )
    # Equal scores could not be compared.
    worth = {line: i for i, line in enumerate((tmp_path / "alpha.txt").read_text().splitlines())}
    with Server(file) as server:
        for name in ("anna", "bert"):
            judge_truly(server, name, worth)
    table = tmp_path / "judgments.csv"
    assert adjudge("export", file, "-o", table).code == 0
    tasks = adjudge("design", file, "--json").json
    inclusion = pl.read_csv(table)["inclusion"]
    assert inclusion.min() == tasks["selection"]["least"]
    assert inclusion.max() == tasks["selection"]["most"]
    ranked = adjudge("rank", table, "--method", "raw", "--json").json
    assert any("1 / probability" in note for note in ranked["notes"])
