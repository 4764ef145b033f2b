"""Marks of errors on the server: what it takes, what it keeps, what is exported, and what Appraise files make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adjudge import read
from adjudge.readers.options import ReadOptions
from tests.conftest import Run
from tests.helpers.judging import campaign_of_texts
from tests.helpers.serving import Client, Server, exported, new_save, outputs

LINES = ["one two three four.", "Die 👩‍🚀 sieht alles."]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """Two segments on a page; the second begins with an emoji of three code points."""
    folder = tmp_path_factory.mktemp("marking")
    with Server(campaign_of_texts(folder, LINES, annotators='["anna", "bert"]', design="judgments = 2")) as server:
        yield server, folder


def span(start: int | None, end: int | None, text: str | None, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "severity": "minor", "side": "target", "text": text, **more}


def send(client: Client, work: Any, output: int, **fields: Any) -> Any:
    change = {"output": outputs(work, 0)[output], **fields}
    return client.post("/api/saves", new_save(work, 0, [change]))


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ([span(0, 3, "two")], "quotes 'two' where the text has 'one'"),
        ([span(0, 99, "one")], "does not lie within"),
        ([span(3, 3, "")], "does not lie within"),
        ([span(None, None, None)], "does not lie within"),
        ([span(0, 3, "one", severity="awful")], "severity 'awful'"),
        ([span(0, 3, "one", category="Style")], "category 'Style'"),
        ([span(0, 3, "Que", side="source")], "side 'source' is none of target, missing"),
        ([span(0, 7, "one two"), span(4, 7, "two")], "two marks overlap"),
        ([span(0, 3, "one", of=0)], "claims to come from a prefilled mark"),
    ],
)
def test_marks_that_do_not_fit_the_text_are_refused(spans: list[Any], why: str, served: tuple[Server, Path]) -> None:
    client = served[0].client("anna")
    answer = send(client, client.work(), 0, spans=spans)
    assert answer.status == 409
    assert why in answer.json["detail"]


@pytest.mark.parametrize(
    "spans", [[{"start": -1}], [{"severity": "minor", "end": "3"}], "one", [span(0, 3, "one")] * 201]
)
def test_what_is_no_list_of_marks_is_refused(spans: Any, served: tuple[Server, Path]) -> None:
    client = served[0].client("anna")
    assert send(client, client.work(), 0, spans=spans).status == 422


def test_marks_are_kept_with_every_revision(served: tuple[Server, Path], tmp_path: Path) -> None:
    server, _ = served
    client = server.client("anna")
    work = client.work()
    first = [span(0, 3, "one"), span(None, None, None, side="missing", severity="major")]
    save = new_save(work, 0, [{"output": outputs(work, 0)[0], "spans": first}])
    assert [client.post("/api/saves", save).json["repeated"] for _ in range(2)] == [False, True]
    assert send(client, work, 0, spans=[]).status == 200
    assert send(client, work, 0, score=15, kept="low-without-error").status == 200
    assert send(client, work, 1, spans=[span(4, 7, "👩‍🚀", severity="major")], score=50).status == 200
    assert send(client, work, 1, kept="because").status == 409
    state = client.get("/api/work").json["task"]["states"][work["task"]["screens"][0]["id"]]
    assert state["complete"]
    assert state["answers"][outputs(work, 0)[1]]["spans"][0]["text"] == "👩‍🚀"
    table = exported(server, tmp_path).table.filter(pl.col("annotator") == "anna")
    revisions = table.filter(pl.col("segment") == "1").sort("revision")
    assert [len(spans) for spans in revisions["spans"]] == [2, 0, 0]
    assert revisions["score"].to_list() == [None, None, 15.0]
    assert revisions["warning"].to_list() == [None, None, "low-without-error"]
    assert revisions["warning_kept"].to_list() == [None, None, "true"]
    [mark] = table.filter(pl.col("segment") == "2")["spans"].to_list()[-1]
    assert (mark["start"], mark["end"], LINES[1][mark["start"] : mark["end"]]) == (4, 7, "👩‍🚀")


def test_other_protocols_have_no_marks(tmp_path: Path) -> None:
    with Server(campaign_of_texts(tmp_path, LINES, protocol="da")) as server:
        client = server.client("anna")
        answer = send(client, client.work(), 0, spans=[])
    assert (answer.status, "has no spans" in answer.text) == (409, True)


def test_a_campaign_goes_through_the_other_commands_and_to_appraise_and_back(
    tmp_path: Path, adjudge: Callable[..., Run]
) -> None:
    campaign = campaign_of_texts(tmp_path, LINES, more="[controls]\ndegraded = 1\n[spans]\nsource = true\n")
    (tmp_path / "beta.txt").write_text("one three four.\nDie 👩‍🚀 ist da.\n")
    campaign.write_text(campaign.read_text().replace('alpha = "alpha.txt"', 'alpha = "alpha.txt"\nbeta = "beta.txt"'))
    with Server(campaign) as server:
        client = server.client("anna")
        work = client.work()
        for i, screen in enumerate(work["task"]["screens"]):
            for j, item in enumerate(screen["items"]):
                text = item["outputs"][0]["text"]
                marks = [span(0, 3, text[0:3]), span(0, 3, "Que", side="source", severity="major")]
                marks.append(span(None, None, None, side="missing"))
                fields = {"output": outputs(work, i)[j], "spans": marks[: 3 - j], "score": 60 - j - len(text)}
                assert client.post("/api/saves", new_save(work, i, [fields])).status == 200
    native, appraise = tmp_path / "judgments.parquet", tmp_path / "appraise.csv"
    assert adjudge("export", campaign, "-o", native).code == 0
    assert adjudge("export", campaign, "-o", appraise, "--format", "appraise").code == 0
    assert all(line.count("start_i") for line in appraise.read_text().splitlines())
    key = ["system", "segment", "kind"]
    ours = read([native]).final().table.sort(key)
    theirs = read([appraise], format="appraise", options=ReadOptions()).final().table.sort(key)
    assert theirs["protocol"].unique().to_list() == ["esa"]
    assert theirs["score"].to_list() == ours["score"].to_list()
    assert "degraded" in theirs["kind"].to_list()

    def places(table: pl.DataFrame) -> list[list[tuple[Any, ...]]]:
        names = ("start", "end", "severity", "category", "side")
        return [[tuple(span[name] for name in names) for span in spans] for spans in table["spans"].to_list()]

    assert places(theirs) == places(ours)
    for command in (("check",), ("rank", "--method", "raw"), ("agree",)):
        run = adjudge(command[0], native, *command[1:], "--json")
        assert run.code in (0, 1), run.err
        assert "Traceback" not in run.err
    assert adjudge("rank", native, "--method", "raw", "--json").code == 0
