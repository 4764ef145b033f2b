"""Mechanical Turk batches: records read from both ends, lost quotes, rejected work, times. All data are made up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adjudge import read
from adjudge.table.errors import InputError
from adjudge.table.judgments import SetAside

HEADER = (
    '"HITId","WorkerId","AssignmentStatus","AcceptTime","SubmitTime","RequesterFeedback","WorkTimeInSeconds",'
    '"Input.src","Input.trg","Answer.Q1","Answer.comments","Approve","Reject"'
)
ANSWER = "new_sys_7_SYSTEM_0__71|new_sys_7_BAD_REF_1__3|b-1_8_REF_2__100|new_sys_7_REPEAT_3__69"


def record(hit: str, worker: str, *, status: str = "Submitted", feedback: str = "", answer: str = ANSWER,
           comment: str = '{}"') -> str:  # fmt: skip
    times = '"Mon Nov 21 08:26:47 PST 2016","Mon Nov 21 16:37:58 UTC 2016"'
    return f'"{hit}","{worker}","{status}",{times},"{feedback}","80","\'en\'","\'es\'","{answer}","{comment}'


def write(tmp_path: Path, *records: str, name: str = "Batch_1_batch_results.csv") -> Path:
    (tmp_path / name).write_bytes("\r\n".join([HEADER, *records, ""]).encode())
    return tmp_path / name


def test_records_are_read_from_both_ends_in_the_order_shown(tmp_path: Path) -> None:
    table = read([write(tmp_path, record("H1", "W1"))], format="mturk-da").table
    assert table.select("system", "segment", "kind", "score", "screen").rows() == [
        ("new_sys", "7", "system", 71.0, "1"),
        ("new_sys", "7", "degraded", 3.0, "2"),
        ("b-1", "8", "reference", 100.0, "3"),
        ("new_sys", "7", "repeat", 69.0, "4"),
    ]
    first = table.row(0, named=True)
    assert (first["source_lang"], first["target_lang"], first["annotator"], first["task"]) == ("en", "es", "W1", "H1")
    assert first["started"] == datetime(2016, 11, 21, 16, 26, 47, tzinfo=UTC)
    assert first["ended"] == datetime(2016, 11, 21, 16, 37, 58, tzinfo=UTC)
    assert table["active_seconds"].to_list() == [20.0] * 4
    assert table["text"].null_count() == 4


def test_a_comment_that_lost_its_closing_quote_swallows_nothing(tmp_path: Path) -> None:
    broken = record("H2", "W2", comment="I liked it, and\nthen, some\n")
    records = [record("H1", "W1"), broken, record("H3", "W3"), record("H4", "W4", comment='two\nlines"')]
    judgments = read([write(tmp_path, *records)], format="mturk-da")
    assert judgments.table["task"].unique(maintain_order=True).to_list() == ["H1", "H2", "H3", "H4"]
    assert len(judgments) == 16
    assert judgments.notes == (
        "Batch_1_batch_results.csv: a comment lost its closing quote; the assignments that follow are kept (1 such)",
    )
    assert judgments.table.filter(judgments.table["text"].is_not_null())["text"].to_list() == [
        "I liked it, and\nthen, some", "two\nlines",
    ]  # fmt: skip


def test_an_open_quote_at_the_end_of_the_file(tmp_path: Path) -> None:
    judgments = read([write(tmp_path, record("H1", "W1"), record("H2", "W2", comment="no end"))], format="mturk-da")
    assert len(judgments) == 8


def test_line_breaks_in_earlier_columns(tmp_path: Path) -> None:
    records = [record("H1", "W1", feedback="sorry,\nbut no", comment="x"), record("H2", "W2")]
    assert len(read([write(tmp_path, *records)], format="mturk-da")) == 8


def test_rejected_assignments_are_kept_and_marked(tmp_path: Path) -> None:
    table = read([write(tmp_path, record("H1", "W1", status="Rejected"), record("H1", "W2"))], format="mturk-da").table
    assert table["rejected"].to_list() == [True] * 4 + [False] * 4


def test_a_folder_is_one_campaign_and_names_what_it_leaves_alone(tmp_path: Path) -> None:
    folder = tmp_path / "runA"
    folder.mkdir()
    write(folder, record("H1", "W1"))
    write(folder, record("H2", "W1"), name="Batch_2_batch_results.csv")
    (folder / "t").write_text("\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    judgments = read([folder], format="mturk-da")
    assert len(judgments) == 8
    assert judgments.table["campaign"].unique().to_list() == ["runA"]
    assert judgments.notes == ("ignored, not batch results: picture.png, t",)


def test_items_without_score_are_set_aside(tmp_path: Path) -> None:
    judgments = read(
        [write(tmp_path, record("H1", "W1", answer="a_1_SYSTEM_0__undefined|a_2_REF_1__5"))], format="mturk-da"
    )
    assert len(judgments) == 1
    assert judgments.set_aside == (SetAside("no score was given", 1),)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("a_1_SYSTEM_0__50|a_2_SYS", "line 2: the answer holds 'a_2_SYS'"),
        ("a_1_SYSTEM_0__1000", "line 2: score is 1000, it must lie between 0 and 100"),
        ("", "line 2: holds no answers"),
    ],
)
def test_damaged_answers_are_named(tmp_path: Path, answer: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read([write(tmp_path, record("H1", "W1", answer=answer))], format="mturk-da")


def test_a_cut_record_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3: a record of 2 fields where 10 are needed"):
        read([write(tmp_path, record("H1", "W1"), '"H2","W2"')], format="mturk-da")


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a,b\n")
    with pytest.raises(InputError, match=r"has no column 'Answer\.Q1'"):
        read([tmp_path / "t"], format="mturk-da")
    with pytest.raises(InputError, match=r"holds no file with a column 'Answer\.Q1'"):
        read([tmp_path], format="mturk-da")


def test_turkle_exports_have_names_instead_of_worker_ids(tmp_path: Path) -> None:
    (tmp_path / "turkle.csv").write_text("HITId,Turkle.Username,Input.src,Answer.Q1\n5,ann,cs,a_1_SYSTEM_0__50\n")
    table = read([tmp_path / "turkle.csv"], format="mturk-da").table
    assert table.select("annotator", "task", "source_lang", "target_lang", "rejected").row(0) == (
        "ann", "5", "cs", "und", None,
    )  # fmt: skip
