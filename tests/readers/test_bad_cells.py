"""One bad cell spoils one cell, duplicates never count twice, and no option is ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adjudge import read
from adjudge.table.errors import InputError, UsageError
from adjudge.table.judgments import Judgments

ROWS = 400


def scores(tmp_path: Path, changes: dict[tuple[int, str], str] | None = None, *, name: str = "scores.csv") -> Path:
    """Two systems on 200 segments by one annotator, with some cells changed; the row 0 is on line 2."""
    columns = ("annotator", "segment", "system", "score", "started")
    rows = [
        {
            "annotator": "ann",
            "segment": str(i // 2),
            "system": "ab"[i % 2],
            "score": str(50 + i % 7),
            "started": "2024-05-01T12:00:00Z",
        }
        for i in range(ROWS)
    ]
    for (row, column), value in (changes or {}).items():
        rows[row][column] = value
    lines = [",".join(columns), *(",".join(row[column] for column in columns) for row in rows)]
    file = tmp_path / name
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def set_aside(judgments: Judgments) -> int:
    return sum(part.rows for part in judgments.set_aside)


@pytest.mark.parametrize(
    ("column", "value"),
    [("score", "much"), ("score", "1000"), ("score", "inf"), ("system", ""), ("score", "5,7")],
)
def test_a_row_that_cannot_be_used_is_set_aside_and_named(tmp_path: Path, column: str, value: str) -> None:
    judgments = read(scores(tmp_path, {(9, column): value}))
    assert len(judgments) == ROWS - 1
    assert set_aside(judgments) == 1
    assert any("line 11" in note for note in judgments.notes)


def test_a_broken_time_becomes_null_and_is_counted(tmp_path: Path) -> None:
    file = scores(tmp_path, {(row, "started"): "noon" for row in range(40)})
    judgments = read(file)
    assert len(judgments) == ROWS
    assert judgments.table["started"].null_count() == 40
    assert any("40 values of column 'started'" in note and "lines 2, 3, 4" in note for note in judgments.notes)
    with pytest.raises(InputError, match="line 2: column 'started' holds 'noon', a time like"):
        read(file, strict=True)


def test_more_than_the_limit_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    file = scores(tmp_path, {(row, "score"): "x" for row in range(5)})
    with pytest.raises(InputError, match=r"line 2: column 'score' holds 'x'.*'bad_rows' 0.013 sets"):
        read(file)
    assert len(read(file, bad_rows=0.013)) == ROWS - 5
    with pytest.raises(InputError, match="line 2"):
        read(scores(tmp_path, {(0, "score"): "x"}), strict=True)


def test_each_row_twice_counts_once(tmp_path: Path) -> None:
    once = read(scores(tmp_path))
    frame = pl.read_csv(tmp_path / "scores.csv", infer_schema=False)
    twice = read(pl.concat([frame, frame]))
    assert twice.table.equals(once.table)
    assert set_aside(twice) == ROWS
    assert any("400 of them are exact copies" in note for note in twice.notes)


def test_of_corrections_the_last_counts(tmp_path: Path) -> None:
    judgments = read(
        pl.DataFrame({"annotator": ["x", "x", "y"], "segment": ["1"] * 3, "system": ["a"] * 3, "score": [1, 2, 3]})
    )
    assert judgments.table["score"].to_list() == [2.0, 3.0]
    assert set_aside(judgments) == 1


def test_equal_rows_of_nobody_known_are_judgments_of_their_own() -> None:
    frame = pl.DataFrame({"segment": ["1", "1"], "system": ["a", "a"], "score": [7, 7]})
    assert len(read(frame)) == 2


def test_a_table_of_nobody_known_that_stands_twice_in_the_file_counts_once() -> None:
    frame = pl.DataFrame({"segment": [str(i) for i in range(40)], "system": ["a"] * 40, "score": list(range(40))})
    judgments = read(pl.concat([frame, frame, frame]))
    assert len(judgments) == 40
    assert set_aside(judgments) == 80


RANKING = "srclang,trglang,srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank"


def test_rankings_twice_in_a_file_count_once_but_repeated_ones_stay(tmp_path: Path) -> None:
    rows = [f"cs,en,{i},ann,a,b,{1 + i % 2},{2 - i % 2}" for i in range(40)]
    file = tmp_path / "rankings.csv"
    file.write_text("\n".join([RANKING, *rows, rows[3]]) + "\n", encoding="utf-8")
    repeated = read(file, format="wmt-ranking")
    assert repeated.table["screen"].n_unique() == 41
    file.write_text("\n".join([RANKING, *rows, *rows]) + "\n", encoding="utf-8")
    copied = read(file, format="wmt-ranking")
    assert copied.table["screen"].n_unique() == 40
    assert set_aside(copied) == 80


def test_the_same_pair_before_the_same_person_is_one_judgment(tmp_path: Path) -> None:
    lines = ["annotator,segment,left,right,winner", "x,1,a,b,a", "x,1,a,b,b", "x,1,b,a,b", "y,1,a,b,tie"]
    file = tmp_path / "pairs.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    judgments = read(file)
    assert judgments.table.select("annotator", "system", "rank").rows() == [
        ("x", "a", 2), ("x", "b", 1), ("x", "b", 1), ("x", "a", 2), ("y", "a", 1), ("y", "b", 1)
    ]  # fmt: skip


def test_human_translations_are_told_in_the_native_table(tmp_path: Path) -> None:
    frame = pl.DataFrame({"system": ["refA", "a", "HT (x)"], "score": [1.0, 2.0, 3.0]})
    assert read(frame).table["human"].to_list() == [True, False, False]
    assert read(frame, human="HT (x)").table["human"].to_list() == [False, False, True]
    marked = frame.with_columns(pl.Series("human", [False, True, False]))
    assert read(marked).table["human"].to_list() == [False, True, False]
    assert read(marked, human="a|refA").table["human"].to_list() == [True, True, False]


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("pairwise-table", "segment_column", "x"),
        ("wmt-ranking", "columns", ("system=model",)),
        ("judgments", "stacked", 2),
        ("mqm", "labels", 7),
    ],
)
def test_options_that_a_format_does_not_use_are_refused(tmp_path: Path, name: str, option: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"'{option}' is no option of format '{name}'"):
        read(scores(tmp_path), format=name, **{option: value})


ASSESSMENTS = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"


def assessments(tmp_path: Path, changes: dict[int, str]) -> Path:
    """Direct assessments of two systems as the workshops release them, with some lines replaced; row 0 is on line 2."""
    lines = [f"H{i} w1 cs en ad {i} {'ab'[i % 2]} {i} SYSTEM {i // 2} {50 + i % 7} 9" for i in range(ROWS)]
    for row, line in changes.items():
        lines[row] = line
    file = tmp_path / "assessments.csv"
    file.write_text("\n".join([ASSESSMENTS, *lines]) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("H1 w1 cs en", "row of another length than the first line"),
        ("H1 w1 cs en ad 1 a 1 SYSTEM 1 70 9 more", "row of another length than the first line"),
        ("H1 w1 cs en ad 1 a 1 SYSTEM 1 much 9", "row with a broken score"),
        ("H1 w1 cs en ad 1 NA 1 SYSTEM 1 70 9", "row without a system"),
    ],
)
def test_a_bad_line_of_direct_assessments_costs_that_line(tmp_path: Path, line: str, reason: str) -> None:
    file = assessments(tmp_path, {20: line})
    judgments = read(file, format="wmt-da")
    assert len(judgments) == ROWS - 1
    assert [(part.reason, part.rows) for part in judgments.set_aside] == [(reason, 1)]
    assert any("line 22:" in note for note in judgments.notes)
    with pytest.raises(InputError, match="line 22:"):
        read(file, format="wmt-da", strict=True)
    with pytest.raises(InputError, match="line 22:"):
        read(assessments(tmp_path, dict.fromkeys(range(20, 30), line)), format="wmt-da")


def test_a_broken_time_of_direct_assessments_is_left_empty(tmp_path: Path) -> None:
    judgments = read(assessments(tmp_path, {20: "H1 w1 cs en ad 1 a 1 SYSTEM 1 70 long"}), format="wmt-da")
    assert len(judgments) == ROWS
    assert any("1 value of column 'time' cannot be read and is left empty" in note for note in judgments.notes)


BATCH = "HITId,WorkerId,Input.src,Input.trg,Answer.Q1"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("H1,W1,en,es", "assignment that is cut or too long"),
        ("H1,W1,en,es,a_1_SYSTEM_0__5,7", "assignment that is cut or too long"),
        ("H1,W1,en,es,", "assignment without answers"),
        ("H1,W1,en,es,a_1_SYSTEM_0__many", "item with a broken score"),
        ("H1,W1,en,es,a_1_SYSTEM_0__700", "score off the scale"),
        ("H1,W1,en,es,what", "item that cannot be read"),
        ("H1,W1,en,es,a_1_SYSTEM_0__", "no score was given"),
    ],
)
def test_a_bad_answer_of_a_batch_is_counted_as_what_it_is(tmp_path: Path, line: str, reason: str) -> None:
    lines = [f"H{i},W1,en,es,a_{i}_SYSTEM_0__{50 + i % 7}|b_{i}_SYSTEM_1__{60 - i % 7}" for i in range(200)]
    file = tmp_path / "batch.csv"
    file.write_text("\n".join([BATCH, *lines[:7], line, *lines[7:]]) + "\n", encoding="utf-8")
    judgments = read(file, format="mturk-da")
    assert len(judgments) == 400
    assert [(part.reason, part.rows) for part in judgments.set_aside] == [(reason, 1)]
    if reason != "no score was given":
        assert any("line 9:" in note for note in judgments.notes)
        with pytest.raises(InputError, match="line 9:"):
            read(file, format="mturk-da", strict=True)
