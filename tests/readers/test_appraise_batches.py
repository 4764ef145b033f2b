"""Batches: corrupted copies of documents, cut and zipped files, texts to quote from. All data are made up."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adjudge import read
from adjudge.readers.appraise_batches import read_batches
from adjudge.readers.options import ReadOptions
from adjudge.table.errors import InputError
from adjudge.table.judgments import SetAside
from tests.readers.test_appraise import row, write


def item(
    number: int, kind: str = "TGT", *, complete: bool = False, document: str = "doc", text: str = "t"
) -> dict[str, Any]:
    return {"itemID": number, "itemType": kind, "documentID": document, "isCompleteDocument": complete,
            "sourceID": "s", "sourceText": "s", "targetID": "sysA", "targetText": text}  # fmt: skip


def task(*items: dict[str, Any]) -> dict[str, Any]:
    return {"items": list(items), "task": {"batchNo": 1}}


# The document is shown whole, and again with its second segment corrupted.
TASK = task(
    item(1), item(2), item(3), item(4, complete=True),
    item(1), item(2, "BAD"), item(3), item(4, complete=True),
)  # fmt: skip


def shown(start: float, *kinds: str, score: int = 50) -> list[str]:
    """The saves of one showing of the document, ten seconds apart."""
    return [
        row("doc", "False", item=number, kind=kind, score=score, at=start + 10 * number)
        for number, kind in enumerate(kinds, start=1)
    ]


def batch_file(tmp_path: Path, *tasks: dict[str, Any]) -> Path:
    (tmp_path / "batches.json").write_text(json.dumps(tasks), encoding="utf-8-sig")
    return tmp_path / "batches.json"


@pytest.mark.parametrize(("genuine", "corrupted"), [(0, 5000), (5000, 0)])
def test_intact_segments_of_a_corrupted_copy_are_set_aside(tmp_path: Path, genuine: float, corrupted: float) -> None:
    rows = [*shown(genuine, "TGT", "TGT", "TGT", score=90), *shown(corrupted, "TGT", "BAD", "TGT", score=10)]
    options = ReadOptions(batches=(batch_file(tmp_path, TASK),))
    judgments = read([write(tmp_path, *rows)], format="appraise", options=options)
    assert sorted(judgments.table.select("kind", "segment", "score").rows()) == [
        ("degraded", "2", 10.0), ("system", "1", 90.0), ("system", "2", 90.0), ("system", "3", 90.0),
    ]  # fmt: skip
    assert judgments.set_aside == (SetAside("intact segment of a corrupted copy of a document", 2),)
    assert judgments.table["revision"].to_list() == [1] * 4


def test_saves_of_the_genuine_document_stay_revisions(tmp_path: Path) -> None:
    again = row("doc", "False", item=1, score=70, at=60)
    rows = [*shown(0, "TGT", "TGT", "TGT", score=90), again, *shown(5000, "TGT", "BAD", "TGT", score=10)]
    options = ReadOptions(batches=(batch_file(tmp_path, TASK),))
    final = read([write(tmp_path, *rows)], format="appraise", options=options).final().table
    assert sorted(final.filter(final["kind"] == "system").select("segment", "score").rows()) == [
        ("1", 70.0), ("2", 90.0), ("3", 90.0),
    ]  # fmt: skip


def test_a_copy_without_its_genuine_document_goes_whole(tmp_path: Path) -> None:
    options = ReadOptions(batches=(batch_file(tmp_path, TASK),))
    rows = [*shown(0, "TGT", "BAD", "TGT"), row("else", "False", item=1)]
    judgments = read([write(tmp_path, *rows)], format="appraise", options=options)
    assert judgments.table.select("document", "kind").rows() == [("doc", "degraded"), ("else", "system")]


def test_without_batches_the_doubt_is_reported(tmp_path: Path) -> None:
    judgments = read([write(tmp_path, *shown(0, "TGT", "BAD", "TGT"))], format="appraise")
    assert "give the batches (--batches) to tell" in judgments.notes[0]
    assert len(judgments) == 3


def test_texts_are_quoted_and_spans_cut_at_their_end(tmp_path: Path) -> None:
    spans = [
        {"start_i": 2, "end_i": 4, "severity": "minor", "error_type": None},
        {"start_i": 2, "end_i": 400, "severity": "minor"},
        {"start_i": 90, "end_i": 95, "severity": "minor"},
    ]
    options = ReadOptions(batches=(batch_file(tmp_path, task(item(1, text="A cat."))),))
    file = write(tmp_path, row("doc", "False", json.dumps(spans)))
    marks = read([file], format="appraise", options=options).table["spans"][0].to_list()
    assert [(item["start"], item["end"], item["text"]) for item in marks] == [(2, 5, "cat"), (2, 6, "cat."), (6, 6, "")]


def test_zipped_batches_may_lie_in_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("workspace/", "")
        archive.writestr("workspace/b.json", "\ufeff" + json.dumps([TASK]))
    batches = read_batches([tmp_path / "b.zip"])
    assert batches.tasks == 1
    assert [sorted(copy.intact) for copy in batches.copies["doc", "sysA"]] == [["1", "3"]]


def test_a_cut_file_gives_its_complete_tasks_and_the_place(tmp_path: Path) -> None:
    text = json.dumps([TASK, TASK, TASK], indent=1)
    (tmp_path / "cut.json").write_text(text[: len(text) * 5 // 6])
    batches = read_batches([tmp_path / "cut.json"])
    assert batches.tasks == 2
    (note,) = batches.notes
    assert note.startswith("cut.json is cut at line ")
    assert note.endswith("its 2 complete tasks are used, the rest is missing")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[{", "is damaged JSON at column"),
        (b'{"a": 1}', "is JSON but not a list of tasks"),
        (b"[1]", "is not as Appraise writes tasks"),
        (b'[{"items": [{"a": 1}]}]', "is not as Appraise writes tasks"),
        (b"PK\x03\x04broken", "is a damaged zip file"),
        (b"[" * 100_000, "nested too deeply|damaged JSON"),
    ],
)
def test_damaged_batches_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "b.json").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_batches([tmp_path / "b.json"])
