"""Checking a large table some annotators at a time gives what the whole table gives, and says what it leaves out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import adjudge
from adjudge import formats
from adjudge.check import CheckRule, check
from adjudge.check import large_files as in_parts_module
from adjudge.check.large_files import LEFT_OUT, check_large_file
from adjudge.core.errors import InputError
from adjudge.formats import ReadOptions
from adjudge.formats.native import large_files
from adjudge.results.check import Checked
from adjudge.shell.line import app

pytestmark = pytest.mark.slow

RULE = CheckRule(longest_run=6)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few annotators each."""
    monkeypatch.setattr(large_files, "ROWS_PER_PART", 60)


def work(seed: int, *, timed: bool = True) -> pl.DataFrame:
    """The work of eight annotators, with controls, repeats, times, identical texts, rejections, and a correction."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "annotator": f"a{person}", "task": f"t{person}-{item // 30}", "screen": str(item // 3),
            "document": f"d{item // 12}", "segment": str(item % 12), "system": f"s{rng.integers(4)}",
            "kind": "system", "protocol": "da", "score": float(rng.integers(20, 101)),
            "active_seconds": float(rng.uniform(0.2, 20)) if timed and person else 0.0,
            "target_text": f"text {rng.integers(3)}", "rejected": person == 3,
        }
        for person in range(8)
        for item in range(60)
    ]  # fmt: skip
    controls = [
        {**row, "kind": kind, "score": max(0.0, float(str(row["score"])) - fall), "screen": f"{row['screen']}b"}
        for row in rows
        for kind, share, fall in (("degraded", 0.2, 25.0), ("repeat", 0.1, 2.0))
        if row["annotator"] != "a5" and rng.uniform() < share
    ]
    corrected = [{**rows[5], "score": 3.0}, rows[100]]
    return pl.DataFrame([*rows, *controls, *corrected])


def in_parts(table: pl.DataFrame, file: Path, rule: CheckRule = RULE) -> Checked | None:
    if file.suffix == ".csv":
        table.write_csv(file)
    else:
        table.write_parquet(file)
    return check_large_file(file, rule, ReadOptions())


def without_distances(checked: Checked) -> Checked:
    drifts = tuple(replace(drift, distance_change=None, p_distance=None) for drift in checked.drifts)
    return replace(checked, drifts=drifts, twins=())


@pytest.mark.parametrize("timed", [True, False])
def test_the_result_is_that_of_the_whole_table(timed: bool, tmp_path: Path) -> None:
    table = work(1, timed=timed)
    checked = in_parts(table, tmp_path / "scores.parquet")
    assert checked is not None
    ordinary = without_distances(check(formats.read(tmp_path / "scores.parquet"), rule=RULE))
    assert LEFT_OUT in checked.notes
    assert checked.drifts
    assert checked.same_texts
    assert {drift.annotator: drift.judgments for drift in checked.drifts} == {
        drift.annotator: drift.judgments for drift in ordinary.drifts
    }
    for mine, theirs in zip(checked.drifts, ordinary.drifts, strict=True):
        assert mine.score_change == pytest.approx(theirs.score_change, abs=1e-9)
        assert (mine.time_ratio, mine.p_time) == (theirs.time_ratio, theirs.p_time)
    notes = tuple(note for note in checked.notes if note != LEFT_OUT)
    assert replace(checked, data="", notes=notes, drifts=()) == replace(ordinary, data="", drifts=())


def test_rows_without_a_score_are_told_as_of_the_whole_table(tmp_path: Path) -> None:
    table = work(8).with_columns(score=pl.when(pl.int_range(pl.len()) % 7 > 0).then("score"))
    checked = in_parts(table, tmp_path / "scores.parquet")
    assert checked is not None
    ordinary = check(formats.read(tmp_path / "scores.parquet"), rule=RULE)
    assert {"no score was given": table["score"].null_count()}.items() <= {
        record.reason: record.rows for record in checked.set_aside
    }.items()
    assert checked.annotators == ordinary.annotators
    assert checked.set_aside == ordinary.set_aside


@pytest.mark.parametrize("within_tasks", [True, False])
def test_repeats_are_looked_for_where_the_whole_table_has_them(within_tasks: bool, tmp_path: Path) -> None:
    # Everybody but a1 gets repeats in other tasks only; if a1 gets them within tasks, those of the others are none.
    elsewhere = pl.when((pl.col("kind") == "repeat") & ((pl.col("annotator") != "a1") | (not within_tasks)))
    table = work(6).with_columns(task=elsewhere.then(pl.lit("another")).otherwise("task"))
    checked = in_parts(table, tmp_path / "scores.parquet")
    assert checked is not None
    assert checked.annotators == check(formats.read(tmp_path / "scores.parquet"), rule=RULE).annotators
    with_repeats = {person.annotator for person in checked.annotators if person.repeat_pairs}
    assert with_repeats == ({"a1"} if within_tasks else {f"a{number}" for number in range(8)} - {"a5"})


def test_drifts_go_by_time_where_all_judgments_have_one(tmp_path: Path) -> None:
    table = work(7).drop("rejected")
    backwards = table.with_columns(ended=pl.datetime(2024, 5, 1) - pl.duration(minutes=pl.int_range(pl.len())))
    unknown = pl.when(pl.col("annotator") != "a2").then("ended").alias("ended")
    for number, timed in enumerate((backwards, backwards.with_columns(unknown))):
        file = tmp_path / f"scores{number}.parquet"
        checked = in_parts(timed.with_columns(pl.col("ended").dt.replace_time_zone("UTC")), file)
        assert checked is not None
        ordinary = check(formats.read(file), rule=RULE).drifts
        assert [drift.time_ratio for drift in checked.drifts] == [drift.time_ratio for drift in ordinary]
        scores = [drift.score_change for drift in ordinary]
        assert [drift.score_change for drift in checked.drifts] == pytest.approx(scores, abs=1e-9)


def test_csv_and_parquet_give_the_same(tmp_path: Path) -> None:
    table = work(2).drop("rejected")
    by_csv, by_parquet = (in_parts(table, tmp_path / name) for name in ("scores.csv", "scores.parquet"))
    assert by_csv is not None
    assert by_parquet is not None
    assert replace(by_csv, data="") == replace(by_parquet, data="")


def test_revisions_count_as_in_the_whole_table(tmp_path: Path) -> None:
    table = work(3).with_columns(revision=pl.lit(1, pl.Int32))
    saved_again = table.head(20).with_columns(revision=pl.lit(2, pl.Int32), score=pl.lit(7.0))
    checked = in_parts(pl.concat([table, saved_again]), tmp_path / "scores.parquet")
    assert checked is not None
    ordinary = check(formats.read(tmp_path / "scores.parquet"), rule=RULE)
    assert sorted(checked.set_aside, key=str) == sorted(ordinary.set_aside, key=str)
    assert checked.annotators == ordinary.annotators


@pytest.mark.parametrize(
    "odd",
    [
        pl.when(pl.int_range(pl.len()) == 50).then(pl.lit("none")).otherwise("kind").alias("kind"),
        pl.when(pl.int_range(pl.len()) == 50).then(700.0).otherwise("score").alias("score"),
        pl.when(pl.int_range(pl.len()) == 50).then(pl.lit("")).otherwise("system").alias("system"),
        (pl.int_range(pl.len()) % 2).cast(pl.String).alias("campaign"),
    ],
    ids=["kind", "off the scale", "nameless", "two campaigns"],
)
def test_what_needs_the_whole_table_is_left_to_the_reader(odd: pl.Expr, tmp_path: Path) -> None:
    assert in_parts(work(4).with_columns(odd), tmp_path / "scores.parquet") is None
    assert in_parts(work(4).drop("rejected").with_columns(odd), tmp_path / "scores.csv") is None


def test_the_command_and_the_function_take_large_files_this_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scores.parquet"
    work(5).write_parquet(file)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_TABLE", 1)
    done = CliRunner().invoke(app, ["check", str(file), "--json"])
    assert done.exit_code == 0, done.output
    assert LEFT_OUT in json.loads(done.stdout)["notes"]
    assert LEFT_OUT in adjudge.check(file).notes
    assert LEFT_OUT not in adjudge.check(file, human="s1|s2", format="judgments").notes


def test_a_table_that_does_not_fit_is_refused_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "scores.parquet"
    work(5).write_parquet(file)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_TABLE", 1)
    monkeypatch.setattr("adjudge.core.files.memory_at_hand", lambda: 10_000)
    monkeypatch.setattr(in_parts_module, "check_large_file", lambda *_: None)
    with pytest.raises(InputError, match=r"rows take about .* to be read whole, .* split it into parts"):
        adjudge.check(file)
    done = CliRunner().invoke(app, ["check", str(file), "--kept", str(tmp_path / "kept.parquet")])
    assert isinstance(done.exception, InputError)
