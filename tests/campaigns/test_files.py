"""What `adjudge design` writes: tasks that are read back the same, Appraise batches, and the examples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.campaigns.appraise import to_batches
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import measure_balance
from adjudge.campaigns.tasks import load_tasks, save_tasks, to_json
from adjudge.table.errors import DataError, InputError
from tests.conftest import ROOT, Run, assert_explained
from tests.helpers.texts import make_campaign, make_texts

EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/campaign.toml"))


def test_there_is_an_example_per_protocol() -> None:
    assert EXAMPLES == ["da", "da-documents", "esa", "mqm", "pairwise", "postedit", "ranking", "sqm"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_designed_and_read_back(name: str, tmp_path: Path) -> None:
    campaign = load_campaign(ROOT / "examples" / name / "campaign.toml")
    tasks = design(campaign)
    save_tasks(tasks, tmp_path / "tasks.json")
    assert load_tasks(tmp_path / "tasks.json") == tasks
    assert (tmp_path / "tasks.json").read_text(encoding="utf-8") == to_json(design(campaign))
    report = measure_balance(tasks, campaign)
    assert report.connected_systems == 1
    assert all(system.judgments > 0 for system in report.systems)
    assert tasks.target_direction == ("rtl" if tasks.target_lang == "ar" else "ltr")
    for table in report.tables():
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_command_prints_the_balance_and_writes_tasks(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.json"
    run = adjudge("design", ROOT / "examples" / "da" / "campaign.toml", "-o", tasks, "--json")
    report = run.json
    assert report["signature"].startswith("adjudge design|protocol:da|structure:mixed|")
    assert report["tasks"] == len(load_tasks(tasks).tasks)
    assert {"systems", "controls", "meetings", "bias", "workload", "warnings"} <= report.keys()
    readable = adjudge("design", ROOT / "examples" / "da" / "campaign.toml")
    assert "Who meets whom" in readable.out
    assert "What the design alone adds" in readable.out


def test_faults_of_the_command_are_explained(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    assert_explained(adjudge("design", tmp_path / "none.toml"), names=("none.toml", "no such file"))
    (tmp_path / "bad.toml").write_text('name = "x"\n', encoding="utf-8")
    assert_explained(adjudge("design", tmp_path / "bad.toml"), names=("protocol", "languages", "files"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"schema": 1', '"schema": 99'), "schema 99"),
        (lambda text: text[: len(text) // 2], "not valid JSON"),
        (lambda text: text.replace("zebra", "zebu", 1), "does not match its hash"),
        (lambda text: text.replace('"protocol"', '"protokoll"'), "key"),
    ],
)
def test_tasks_that_were_changed_are_refused(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    campaign = make_campaign()
    testset = make_texts(documents=[3], systems=2)
    marked = {name: tuple(f"zebra {text}" for text in texts) for name, texts in testset.systems.items()}
    text = to_json(design(campaign, type(testset)(testset.source, {}, marked)))
    path = tmp_path / "tasks.json"
    path.write_text(change(text), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_tasks(path)


def appraise(protocol: str = "da", **parts: Any) -> list[dict[str, Any]]:
    testset = make_texts(documents=[9] * 20, systems=5, same=0.05)
    return to_batches(design(make_campaign(protocol, **parts), testset))


def test_appraise_takes_tasks_of_exactly_100_items() -> None:
    batches = appraise(controls={"degraded": 12, "references": 5, "repeats": 5}, design={"judgments": 1})
    assert {len(batch["items"]) for batch in batches} == {100}
    types = [item["itemType"] for item in batches[0]["items"] if "_filled" not in item]
    assert types.count("BAD") == 12
    assert types.count("REF") == 5
    assert types.count("CHK") == 5
    assert batches[0]["task"]["sourceLanguage"] == "eng"
    assert batches[0]["task"]["targetLanguage"] == "deu"
    shared = [item["targetID"] for batch in batches for item in batch["items"] if "+" in item["targetID"]]
    assert shared, "a text of several systems is credited to all, joined by '+'"
    with pytest.raises(DataError, match="exactly 100"):
        appraise(design={"task_size": 120})
    with pytest.raises(DataError, match="no task type for rankings"):
        appraise("ranking")
    with pytest.raises(DataError, match="no item type for 'attention'"):
        appraise(controls={"attention": 1})


def test_appraise_documents_and_pairs() -> None:
    [first, *_] = appraise(design={"structure": "pages"}, controls={"degraded": 10})
    item = first["items"][1]
    assert item["documentID"]
    assert item["isCompleteDocument"] is False
    assert item["sourceContextLeft"] == first["items"][0]["sourceText"]
    [pairs, *_] = appraise("pairwise", controls={"degraded": 3})
    assert all(item["targetsSize"] == len(item["targets"]) == 2 for item in pairs["items"])
    assert sum(item["itemType"] == "BAD" for item in pairs["items"] if "_filled" not in item) == 3


TUTORIAL = "source\ttarget\tlow\thigh\tnote\nTea.\tTee.\t80\t100\tfine\n"


def tutorial(folder: Path, text: str, protocol: str = "da") -> Any:
    (folder / "tutorial.tsv").write_text(text, encoding="utf-8")
    files = {"source": "s", "systems": {"A": "a"}, "tutorial": str(folder / "tutorial.tsv")}
    return design(make_campaign(protocol, files=files), make_texts(documents=[3], systems=2)).tasks[0]


def test_the_tutorial_comes_first_with_its_answers(tmp_path: Path) -> None:
    task = tutorial(tmp_path, TUTORIAL)
    assert task.kind == "tutorial"
    [(_, item, output)] = task.outputs()
    assert (item.source, item.note, output.text, output.expected) == ("Tea.", "fine", "Tee.", (80, 100))
    pairs = tutorial(tmp_path, "source\ttarget1\ttarget2\tbest\nTea.\tTee.\tBier.\t1\n", "pairwise")
    assert [output.expected for _, _, output in pairs.outputs()] == [(1, 1), (2, 2)]
    tie = tutorial(tmp_path, "source\ttarget1\ttarget2\tbest\nTea.\tTee.\tEin Tee.\t0\n", "ranking")
    assert [output.expected for _, _, output in tie.outputs()] == [(1, 1), (1, 1)]


@pytest.mark.parametrize(
    ("text", "protocol", "message"),
    [
        (TUTORIAL.replace("100", "140"), "da", r"line 2: expects scores from 80 to 140, the scale runs from 0 to 100"),
        (TUTORIAL.replace("low", "least"), "da", "has no column 'low'"),
        ("source\ttarget\tlow\thigh\n", "da", "no tutorial item"),
        ("source\ttarget1\ttarget2\tbest\nTea.\tTee.\t\t1\n", "pairwise", "1 target where exactly 2"),
        ("source\ttarget1\ttarget2\tbest\nTea.\tTee.\tBier.\t3\n", "ranking", "best is 3"),
    ],
)
def test_a_tutorial_that_does_not_fit_is_refused(tmp_path: Path, text: str, protocol: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tutorial(tmp_path, text, protocol)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"seed": 1', f'"seed": {"9" * 5000}'),
        ('"seed": 1', '"seed": "1"'),
        ('"seed": 1', '"seed": NaN'),
        ('"protocol": "da"', '"protocol": "guess"'),
        ('"judgments": 1', '"judgments": true'),
        ('"tasks": [', '"tasks": [[], '),
        ('"tasks": [', '"tasks": [' + "[" * 100_000),
        ('"source": "', '"source": 7, "note": "'),
    ],
)
def test_tasks_that_no_design_writes_are_refused(old: str, new: str, tmp_path: Path) -> None:
    text = to_json(design(load_campaign(ROOT / "examples" / "da" / "campaign.toml")))
    assert old in text
    file = tmp_path / "tasks.json"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match="make the tasks again") as fault:
        load_tasks(file)
    assert len(str(fault.value)) < 500
