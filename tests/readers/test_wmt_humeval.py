"""The general task's JSON lines: lists of answers, rounds, one answer per line; spans, languages, faults.

The shapes are those of the releases of 2023 (lists, protocol DA+SQM), 2024 (lists with errors; one answer per line) and
2025 (lists; before that numbered rounds).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge import read
from adjudge.readers.options import ReadOptions
from adjudge.table.errors import InputError
from adjudge.table.judgments import SetAside

NAME = "en-cs_CZ_#_news_#_doc1_#_0"
TARGET = "Kočka sedí."


def line(scores: dict[str, Any], name: str = NAME) -> str:
    entry = {"doc_id": name, "src_text": "A cat sits.", "tgt_text": dict.fromkeys(scores, TARGET), "scores": scores}
    return json.dumps(entry, ensure_ascii=False)


def answer(score: Any, annotator: str = "a1", **more: Any) -> dict[str, Any]:
    return {"score": score, "annotator": annotator, "errors": [], "times": [1700000000.5, 1700000030.5], **more}


def write(tmp_path: Path, *lines: str, name: str = "humeval.jsonl") -> Path:
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / name


def test_every_answer_is_a_judgment(tmp_path: Path) -> None:
    file = write(tmp_path, line({"x": [answer(70), answer(80, "a2")], "refA": [answer("95.5")]}))
    judgments = read([file], format="wmt-humeval")
    assert judgments.pairs == ("en-cs",)
    columns = ("annotator", "document", "segment", "system", "human", "score", "protocol", "revision")
    keys = ("en-cs_CZ_#_news_#_doc1", NAME)
    assert judgments.table.select(columns).rows() == [
        ("a1", *keys, "x", False, 70.0, "esa", 1),
        ("a2", *keys, "x", False, 80.0, "esa", 1),
        ("a1", *keys, "refA", True, 95.5, "esa", 1),
    ]
    assert judgments.table["active_seconds"].to_list() == [30.0] * 3


def test_a_page_is_a_document_by_a_system_for_one_person(tmp_path: Path) -> None:
    second = NAME[:-1] + "1"
    file = write(
        tmp_path, line({"x": [answer(1)], "y": [answer(2)]}), line({"x": [answer(3), answer(4, "a2")]}, second)
    )
    screens = read([file], format="wmt-humeval").table["screen"].to_list()
    assert screens[0] == screens[2]
    assert len(set(screens)) == 3


@pytest.mark.parametrize(
    "given",
    [
        {"human1": 70.0, "annotator1": "a1", "human2": 20.0, "annotator2": "a2"},
        [{"human": 70.0, "annotator": "a1"}, {"human": 20.0, "annotator": "a2"}],
    ],
)
def test_rounds_are_answers(given: Any, tmp_path: Path) -> None:
    table = read([write(tmp_path, line({"x": given}))], format="wmt-humeval").table
    assert table.select("annotator", "score").rows() == [("a1", 70.0), ("a2", 20.0)]


def test_one_answer_per_line(tmp_path: Path) -> None:
    entry = {
        "langs": "en-ja", "line_id": 7, "src": "A cat.", "tgt": TARGET, "doc_id": "news_7", "domain": "news",
        "esa_spans": [{"start_i": 0, "end_i": 4, "severity": "major", "error_type": None}], "esa_score": "83",
        "times": ["1.5", "9.5"], "system": "x", "annotator": "a1", "speech_info": None,
    }  # fmt: skip
    judgments = read([write(tmp_path, json.dumps(entry))], format="wmt-humeval")
    assert judgments.pairs == ("en-ja",)
    row = judgments.table.row(0, named=True)
    assert (row["document"], row["segment"], row["score"], row["active_seconds"]) == ("news_7", "news_7_#_7", 83.0, 8.0)
    assert [(span["start"], span["end"], span["text"]) for span in row["spans"]] == [(0, 5, "Kočka")]


@pytest.mark.parametrize(
    ("span", "end"),
    [
        ({"start_i": 0, "end_i": 4}, 5),  # the release took error_type from all spans: annotators', ends included
        ({"start_i": 0, "end_i": 4, "error_type": None}, 5),
        ({"start_i": 0, "end_i": 99, "error_type": None}, len(TARGET)),
    ],
)
def test_ends_of_spans_are_included(span: dict[str, Any], end: int, tmp_path: Path) -> None:
    file = write(tmp_path, line({"x": [answer(50, errors=[{**span, "severity": "minor"}])]}))
    (mark,) = read([file], format="wmt-humeval").table["spans"].to_list()[0]
    assert (mark["start"], mark["end"]) == (0, end)


def test_spans_filled_in_beforehand_keep_their_ends(tmp_path: Path) -> None:
    """Where some spans of the file have error_type, those without it were there before the annotator."""
    made = {"start_i": 0, "end_i": 4, "severity": "minor", "error_type": None}
    filled = {"start_i": 0, "end_i": 5, "severity": "minor"}
    missing = {"start_i": "missing", "end_i": "missing", "severity": "major", "error_type": None}
    file = write(tmp_path, line({"x": [answer(50, errors=[made, filled, missing])]}))
    spans = read([file], format="wmt-humeval").table["spans"].to_list()[0]
    assert [(span["end"], span["side"]) for span in spans] == [(5, "target"), (5, "target"), (None, "missing")]


def test_the_later_answer_of_one_person_counts(tmp_path: Path) -> None:
    earlier, later = answer(10, times=[5.0, 6.0]), answer(90, times=[7.0, 8.0])
    judgments = read([write(tmp_path, line({"x": [later, earlier]}))], format="wmt-humeval")
    assert judgments.final().table["score"].to_list() == [90.0]


def test_languages_that_nobody_listed_are_not_thrown_together(tmp_path: Path) -> None:
    lines = [line({"x": [answer(1)]}, f"en-{code}_XX_#_news_#_d_#_0") for code in ("bho", "mas", "qqq")]
    assert read([write(tmp_path, *lines)], format="wmt-humeval").pairs == ("en-bho", "en-mas", "en-qqq")


def test_languages_may_be_given(tmp_path: Path) -> None:
    file = write(tmp_path, line({"x": [answer(1)]}, "doc_#_0"))
    assert read([file], format="wmt-humeval", options=ReadOptions(pair="en-uk")).pairs == ("en-uk",)


@pytest.mark.parametrize(
    ("answers", "protocol"),
    [
        ([answer(-5.0)], "mqm"),
        ([{"score": 60, "annotator": "a"}], "da"),
        ([{"score": 60, "annotator": "a", "protocol": "DA+SQM"}], "sqm"),
    ],
)
def test_the_protocol(answers: list[Any], protocol: str, tmp_path: Path) -> None:
    judgments = read([write(tmp_path, line({"x": answers}))], format="wmt-humeval")
    assert judgments.table["protocol"].to_list() == [protocol]


def test_answers_without_a_score_are_set_aside(tmp_path: Path) -> None:
    file = write(tmp_path, line({"x": [answer(None), answer(float("nan")), answer(5)]}), line({}, NAME + "0"))
    judgments = read([file], format="wmt-humeval")
    assert judgments.table.height == 1
    assert SetAside("no score was given", 2) in judgments.set_aside


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("{", "damaged JSON"),
        ('{"doc_id": "a"}', "needs 'doc_id' and 'scores'"),
        ("[1, 2]", "needs 'doc_id' and 'scores'"),
        (line({"x": [answer(1000)]}), "score 1000"),
        (line({"x": [answer("good")]}), "no judged segment"),
        (line({"x": 5, "y": ["a"]}), "no judged segment"),
        (line({"x": [answer(5, errors=[{"end_i": 3}])]}), "error span without"),
        (line({}), "holds no score"),
        ('{"doc_id": "a", "scores": 5}', "no judged segment"),
    ],
)
def test_faults_are_explained(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text + "\n" if text else "", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read([file], format="wmt-humeval")
