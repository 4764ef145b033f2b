"""Campaigns of other tools become campaigns of adjudge: all texts come over, and what is left out is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.other_tools import read_other_tool
from adjudge.campaigns.texts import read_texts
from adjudge.table.errors import InputError

# As the documentation of Pearmut 1.1 shows a campaign: tasks of documents of items, several models beside each other.
PEARMUT: dict[str, Any] = {
    "info": {"assignment": "task-based", "protocol": "cESA", "users": 3},
    "campaign_id": "spring",
    "data_welcome": [[{"item_id": "w", "src": "Hi", "tgt": {"a": "Ho"}}]],
    "data": [
        [
            [
                {"item_id": "doc1_###_1", "src": "One.", "ref": "Jedna.", "tgt": {"sysA": "A1", "sysB": "B1\nmore"}},
                {"item_id": "doc1_###_2", "src": "Two.", "ref": "Dvě.", "tgt": {"sysA": "A2", "sysB": "B2"}},
            ],
            [
                {"item_id": "doc2_###_1", "src": "One.", "ref": "Jedna.", "tgt": {"sysA": "A3", "sysB": "B3"}},
                {"item_id": "attention_check_1", "src": "x", "tgt": {"sysA": "bad", "sysB": "bad"}},
            ],
        ],
        [[{"item_id": "doc3_###_1", "src": "Three.", "ref": "Tři.", "tgt": {"sysA": "A4"}}]],
    ],
}


def appraise_item(document: str, system: str, source: str, text: str, kind: str = "TGT", **more: Any) -> dict[str, Any]:
    """An item as Appraise's tasks with documents have it."""
    return {
        "itemID": 1, "itemType": kind, "sourceID": "s", "sourceText": source, "targetID": system, "targetText": text,
        "documentID": document, "isCompleteDocument": False, **more,
    }  # fmt: skip


APPRAISE = [
    {
        "items": [
            appraise_item("news#1", "A+B", "Eins.", "One."),
            appraise_item("news#1", "A+B", "Zwei.", "Two."),
            appraise_item("news#1", "A+B", "", "", isCompleteDocument=True),
            appraise_item("news#1", "C+D", "Eins.", "1."),
            appraise_item("news#1", "C+D", "Zwei.", "2."),
            appraise_item("news#1", "A", "Drei.", "Three."),
            appraise_item("news#1#bad1", "A", "Eins.", "Broken."),
            appraise_item("de-en-tutorial", "t", "Vier.", "Four."),
            appraise_item("news#1", "A", "Eins.", "Broken too.", "BAD"),
        ],
        "task": {"batchNo": 1, "sourceLanguage": "deu", "targetLanguage": "eng"},
    }
]


def write(folder: Path, content: Any) -> Path:
    file = folder / "other.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_a_pearmut_campaign(tmp_path: Path) -> None:
    made = adjudge.init(tmp_path / "new", from_tool=write(tmp_path, PEARMUT), pair="en-cs")
    assert set(made.notes) >= {
        "left out: 1 page of 'data_welcome'",
        "left out: 1 tutorial item or attention check",
        "left out: 1 segment that some system lacks",
        "left out: 1 line break within a text",
    }
    campaign = load_campaign(tmp_path / "new" / "campaign.toml")
    assert (campaign.protocol, campaign.side_by_side, len(campaign.design.annotator_names)) == ("esa", 2, 3)
    texts = read_texts(campaign)
    assert [segment.text for segment in texts.source] == ["One.", "Two.", "One."]
    assert len({segment.document for segment in texts.source}) == 2
    assert {name: list(lines) for name, lines in texts.systems.items()} == {
        "sysA": ["A1", "A2", "A3"],
        "sysB": ["B1 more", "B2", "B3"],
    }
    assert [list(lines) for lines in texts.references.values()] == [["Jedna.", "Dvě.", "Jedna."]]


def test_documents_need_not_be_divided_into_tasks(tmp_path: Path) -> None:
    flat = {**PEARMUT, "data": [document for task in PEARMUT["data"] for document in task]}
    assert read_other_tool(write(tmp_path, flat)).segments == read_other_tool(write(tmp_path, PEARMUT)).segments


def test_appraise_batches(tmp_path: Path) -> None:
    found = read_other_tool(write(tmp_path, APPRAISE))
    # A and B made the same text; C+D is the name of one system, because neither part is anywhere alone.
    assert found.systems == ("A", "B", "C+D")
    assert [outputs for _, outputs, _ in found.segments.values()] == [
        {"A": "One.", "B": "One.", "C+D": "1."},
        {"A": "Two.", "B": "Two.", "C+D": "2."},
    ]
    assert found.left_out.total() == 4
    made = adjudge.init(tmp_path / "new", from_tool=write(tmp_path, APPRAISE), protocol="sqm", annotators=["Ann"])
    assert (made.pair, made.segments) == ("de-en", 2)
    assert "Broken" not in "".join(file.read_text("utf-8") for file in (tmp_path / "new").glob("*.txt"))


def test_batches_without_documents_are_joined_by_their_sources(tmp_path: Path) -> None:
    items = [
        {"itemType": "TGT", "sourceText": source, "targetID": system, "targetText": f"{system} {source}"}
        for system in ("x", "y")
        for source in ("Eins.", "Zwei.")
    ]
    found = read_other_tool(write(tmp_path, [{"items": items, "task": {}}]))
    assert [source for source, outputs, _ in found.segments.values() if set(outputs) == {"x", "y"}] == [
        "Eins.",
        "Zwei.",
    ]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"a": 1}, "neither a list of Appraise tasks nor"),
        ([], "neither"),
        ({"data": [[{"src": "x"}]]}, "KeyError"),
        ({"data": [[{"item_id": "a", "src": "x", "tgt": {}}]]}, "no segment|0 systems"),
        ([{"items": [{"itemType": "TGT", "targetID": "A"}], "task": {}}], "KeyError"),
        (
            {"data": [[{"src": "x", "tgt": {"A": "1"}}], [{"src": "y", "tgt": {"B": "1"}}]]},
            "no segment with outputs of all 2",
        ),
    ],
)
def test_files_that_cannot_be_used_are_refused_in_a_sentence(content: Any, fault: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=fault):
        read_other_tool(write(tmp_path, content))


def test_released_batches_become_a_campaign(data: Path, tmp_path: Path) -> None:
    file = data / "wmt22sqm" / "batches.wmt22.eng-liv.srcDA.json.zip"
    found = read_other_tool(file)
    assert (found.pair, len(found.systems) > 1) == (("en", "liv"), True)
    assert all(set(outputs) == set(found.systems) for _, outputs, _ in found.segments.values())
    made = adjudge.init(tmp_path / "livonian", from_tool=file)
    assert made.segments == len(found.segments) > 100
