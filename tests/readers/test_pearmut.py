"""Pearmut's log: submitted documents, resets, resubmissions, tutorials, sliders, offsets as a browser counts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge import read
from adjudge.readers.options import ReadOptions
from adjudge.readers.pearmut import read_span
from adjudge.table.errors import InputError
from adjudge.table.judgments import SetAside


def line(scores: dict[str, Any], *, user: str | None = "ann", item: int | str = 0, **more: Any) -> str:
    answers = {system: {"score": score, "error_spans": [], "textfield": None} for system, score in scores.items()}
    shown = {"item_id": f"en-cs_#_news_#_doc{item}_#_3", "src": "A cat.", "tgt": dict.fromkeys(scores, "Kočka.")}
    actions = [{"time": 1700000000.5, "action": "load"}, {"time": 1700000030.5, "action": "submit"}]
    entry = {"user_id": user, "item_i": item, "annotation": [answers], "item": [shown], "actions": actions, **more}
    return json.dumps(entry, ensure_ascii=False)


def reset(user: str | None, item: int | str | None) -> str:
    return json.dumps({"user_id": user, "item_i": item, "annotation": "__RESET__"})


def write(tmp_path: Path, *lines: str, name: str = "campaign.jsonl") -> Path:
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / name


def test_one_row_per_system_and_item(tmp_path: Path) -> None:
    judgments = read([write(tmp_path, line({"x": 70, "refA": 95.5}))], format="pearmut")
    assert judgments.pairs == ("en-cs",)
    columns = ("annotator", "task", "screen", "document", "segment", "system", "kind", "human", "score", "protocol")
    keys = ("ann", "ann", "0", "en-cs_#_news_#_doc0", "en-cs_#_news_#_doc0_#_3")
    assert judgments.table.select(columns).rows() == [
        (*keys, "x", "system", False, 70.0, "da"), (*keys, "refA", "system", True, 95.5, "da"),
    ]  # fmt: skip
    assert judgments.table["active_seconds"].to_list() == [15.0, 15.0]


def test_the_last_submission_counts_and_the_others_stay(tmp_path: Path) -> None:
    judgments = read([write(tmp_path, line({"x": 70}), line({"x": 20}))], format="pearmut")
    assert judgments.table.select("revision", "score").rows() == [(1, 70.0), (2, 20.0)]
    assert judgments.final().table["score"].to_list() == [20.0]


@pytest.mark.parametrize(
    ("marker", "left"),
    [
        (reset("ann", 0), [2.0, 3.0, 4.0]), (reset("ann", None), [3.0, 4.0]), (reset(None, 0), [2.0, 4.0]),
        (reset(None, None), [4.0]), (reset("bob", 1), [1.0, 2.0, 3.0, 4.0]),
    ],
)  # fmt: skip
def test_a_reset_voids_what_came_before(tmp_path: Path, marker: str, left: list[float]) -> None:
    before = [line({"x": 1}), line({"x": 2}, item=1), line({"x": 3}, user="bob")]
    judgments = read([write(tmp_path, *before, marker, line({"x": 4}))], format="pearmut")
    assert judgments.table["score"].to_list() == left
    assert sum(aside.rows for aside in judgments.set_aside) == 4 - len(left)


def test_tutorials_checks_forms_and_skipped_items(tmp_path: Path) -> None:
    form = json.dumps(
        {"user_id": "ann", "item_i": "welcome_1", "annotation": [{"a": "b"}], "item": [{"text": "?", "form": "string"}]}
    )
    skipped = json.dumps({"user_id": "ann", "item_i": 2, "annotation": [None], "item": [{"src": "a"}]})
    lines = [
        line({"x": 1}, item="welcome_0"),
        line({"x": 2}, item="random_0"),
        line({"x": 3}),
        line({"x": None}, item=7),
    ]
    judgments = read([write(tmp_path, form, skipped, *lines)], format="pearmut")
    assert judgments.table["kind"].to_list() == ["tutorial", "attention", "system"]
    assert judgments.set_aside == (
        SetAside("form or skipped item, not a judgment", 2), SetAside("no score was given", 1),
    )  # fmt: skip


def test_each_slider_is_a_campaign(tmp_path: Path) -> None:
    answer: list[Any] = [{"x": {"score": None, "sliders": {"Fluency": 4, "Adequacy": 80}, "error_spans": []}}]
    judgments = read([write(tmp_path, line({"x": 1}, annotation=answer))], format="pearmut")
    assert judgments.table.select("campaign", "score").rows() == [
        ("campaign/Fluency", 4.0), ("campaign/Adequacy", 80.0),
    ]  # fmt: skip


def test_errors_with_categories_make_the_score_where_none_is_given(tmp_path: Path) -> None:
    spans = [{"start_i": 0, "end_i": 1, "severity": "Major", "category": "Style/Awkward"}]
    answer = [{"x": {"score": None, "error_spans": spans}}]
    table = read([write(tmp_path, line({"x": 1}, annotation=answer))], format="pearmut").table
    assert table.select("protocol", "score").row(0) == ("mqm", -5.0)


@pytest.mark.parametrize(
    ("text", "first", "last", "expected"),
    [
        ("a cat", 2, 4, (2, 5, "cat")),
        ("a\ncat", 1, 3, (2, 5, "cat")),  # line breaks are not counted
        ("🐈 is a cat", 3, 4, (2, 4, "is")),  # the cat is two units, but one code point
        ("🐈 is", 0, 1, (0, 1, "🐈")),
        ("a cat", 2, 99, (2, 5, "cat")),
        ("a cat", 5, 5, (None, None, None)),  # the word [missing]
    ],
)
def test_offsets_are_code_points(text: str, first: int, last: int, expected: tuple[Any, ...]) -> None:
    span = read_span({"start_i": first, "end_i": last, "severity": "minor"}, text)
    assert (span["start"], span["end"], span["text"]) == expected
    assert span["side"] == ("missing" if expected[0] is None else "target")


def test_segments_without_id_are_known_by_their_source(tmp_path: Path) -> None:
    lines = [line({"x": 1}, user=user, item=item, item_=None) for item, user in enumerate(("ann", "bob"))]
    bare = [json.dumps({**json.loads(line), "item": [{"src": "A cat.", "tgt": {"x": "Kočka."}}]}) for line in lines]
    table = read([write(tmp_path, *bare)], format="pearmut").table
    assert table["segment"].n_unique() == 1
    assert table["segment"][0].startswith("src-")


def test_the_pair_may_be_in_the_name_or_told(tmp_path: Path) -> None:
    bare = json.dumps({"user_id": "a", "item_i": 0, "annotation": {"x": {"score": 5}}})
    assert read([write(tmp_path, bare, name="wmt_#_de-fr_FR.jsonl")], format="pearmut").pairs == ("de-fr",)
    assert read([write(tmp_path, bare)], format="pearmut", options=ReadOptions(pair="cs-en")).pairs == ("cs-en",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"annotation": [', "line 2: is damaged JSON"),
        ("[1]", "line 2: .* it has no 'annotation'"),
        ('{"annotation": [{"x": 5}]}', "line 2: is not a submitted document"),
        ('{"annotation": [{"x": {"score": "high"}}]}', "line 2: is not a submitted document"),
    ],
)
def test_damaged_lines_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read([write(tmp_path, line({"x": 1}), text)], format="pearmut")


def test_an_empty_log(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        read([write(tmp_path)], format="pearmut")
    with pytest.raises(InputError, match="holds no score"):
        read([write(tmp_path, line({"x": 1}), reset("ann", None))], format="pearmut")


def test_a_comment_stands_with_the_first_item(tmp_path: Path) -> None:
    items = [{"item_id": f"d_#_{number}", "tgt": {"x": "a"}} for number in (0, 1)]
    answers = [{"x": {"score": 5}}, {"x": {"score": 6}}]
    entry = {"user_id": "a", "item_i": 0, "annotation": answers, "item": items, "comment": "odd"}
    table = read([write(tmp_path, json.dumps(entry))], format="pearmut").table
    assert table["text"].to_list() == ["odd", None]


def test_older_logs_call_the_id_a_document_s(tmp_path: Path) -> None:
    entry = {"user_id": "a", "item_i": 0, "annotation": [{"x": {"score": 5}}], "item": [{"doc_id": "de-fr_#_d_#_4"}]}
    judgments = read([write(tmp_path, json.dumps(entry))], format="pearmut")
    assert judgments.pairs == ("de-fr",)
    assert judgments.table.select("document", "segment").row(0) == ("de-fr_#_d", "de-fr_#_d_#_4")
