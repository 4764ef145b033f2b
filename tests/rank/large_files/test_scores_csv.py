"""Rankings straight from CSV are the ordinary ones without resamples."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from adjudge import formats
from adjudge.core.errors import DataError, InputError, UsageError
from adjudge.core.judgments import Judgments
from adjudge.formats import ReadOptions, native
from adjudge.formats.tables.large_file_rows import FileRows
from adjudge.rank import RankSettings, rank, rank_large_file
from adjudge.rank.large_files import item_sums, scores_csv
from adjudge.rank.large_files.columns import NO_RESAMPLES, fits
from adjudge.rank.large_files.scores_csv import rank_scores_csv
from adjudge.rank.methods import Method, find_method
from adjudge.results.rank import Ranking
from adjudge.shell.line import app
from tests.rank.test_score_means import random_scores

RAW, ZSCORE = find_method("raw"), find_method("zscore")


def rank_file(file: Path, method: Method = ZSCORE) -> Ranking:
    ranking = rank_scores_csv(file, method, RankSettings())
    assert ranking is not None
    return ranking


@pytest.mark.parametrize("method", [RAW, ZSCORE])
def test_the_ranking_is_the_ordinary_one_without_resamples(method: Method, tmp_path: Path) -> None:
    judgments = random_scores(4)
    file = tmp_path / "scores.csv"
    native.write(judgments, file)
    expected = rank(judgments, method=method.name, settings=RankSettings(resamples=0))
    counted = rank(file, method=method.name)
    assert NO_RESAMPLES in counted.notes
    assert (counted.order, counted.clusters) == (expected.order, expected.clusters)
    for mine, theirs in zip(counted.systems, expected.systems, strict=True):
        assert (mine.rank_set, mine.n, mine.human) == (theirs.rank_set, theirs.n, theirs.human)
        assert mine.score == pytest.approx(theirs.score, abs=1e-12)
        assert dict(mine.numbers) == pytest.approx(dict(theirs.numbers), abs=1e-12)
    for mine_pair, their_pair in zip(counted.comparisons, expected.comparisons, strict=True):
        assert mine_pair.p == pytest.approx(their_pair.p, abs=1e-9)


@pytest.mark.parametrize("columns", [(), ("text",)], ids=["score last", "an empty column last"])
def test_plain_files_are_read_in_one_go_with_the_same_bytes(
    columns: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = random_scores(6).table.with_columns(pl.col("score") / 3)
    file = tmp_path / "scores.csv"
    table.select("system", "annotator", "document", "segment", "kind", "protocol", "score", *columns).write_csv(file)
    with monkeypatch.context() as patched:
        patched.setattr(scores_csv, "read_with_faults", None)
        in_one_go = rank_file(file)
    monkeypatch.setattr(scores_csv, "_read_plain", lambda rows: None)
    assert rank_file(file) == in_one_go


@pytest.mark.parametrize(
    "row",
    ["x,a,9", "x,a,9,5,5", "x,a,9,much", "x,a,9,nan", "x,a,9,101", ",a,9,5", '"",a,9,5', "x,,9,5", "x,a,1,7", ""],
)
def test_one_row_that_is_not_plain_is_noticed(row: str, tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(f"system,annotator,segment,score\nx,a,1,5\ny,a,1,6\n{row}\ny,a,2,7\n")
    assert scores_csv._read_plain(FileRows(file, ReadOptions())) is None


def test_the_order_of_codes_changes_no_digit() -> None:
    """Codes are given by several threads, in another order each time."""
    rng = np.random.default_rng(3)
    system, values = rng.integers(0, 2, 50).astype(np.uint32), rng.uniform(1, 2, (4, 50))
    other = rng.permutation(50)
    for first, second in zip(
        item_sums.ItemSums(system, values).means({"x": 0, "y": 1}),
        item_sums.ItemSums(system[other], values[:, other]).means({"x": 0, "y": 1}),
        strict=True,
    ):
        assert (first.mean.tobytes(), first.system.tobytes()) == (second.mean.tobytes(), second.system.tobytes())


def test_what_needs_a_closer_look_is_read_as_usual(tmp_path: Path) -> None:
    judgments = random_scores(4)
    file = tmp_path / "scores.csv"
    half = judgments.table.with_columns(revision=pl.int_range(pl.len(), dtype=pl.Int32) % 2)
    native.write(Judgments(half), file)
    assert rank_scores_csv(file, ZSCORE, RankSettings()) is None
    settings = RankSettings(resamples=0)
    assert (
        rank(file, method="zscore", settings=settings).systems
        == rank(native.read([file], ReadOptions()), method="zscore", settings=settings).systems
    )


@pytest.mark.parametrize("column", ["lp", "itemType", "isDocScore", "docId", "score", "language_pair"])
def test_columns_that_would_change_what_is_counted_are_left_to_the_reader(column: str) -> None:
    table = [f"system,annotator,segment,score,{column}", "s,a,1,50,x"]
    header = pl.read_csv("\n".join(table).encode(), infer_schema=False).columns
    assert fits(header[:4])
    assert fits([*header[:4], "comment", "timestamp"])
    assert not fits(header)


def test_the_command_takes_large_files_this_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "scores.csv"
    native.write(random_scores(4), file)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_FILE", 1)
    done = CliRunner().invoke(app, ["rank", str(file), "-m", "zscore", "--json"])
    assert done.exit_code == 0
    assert NO_RESAMPLES in json.loads(done.stdout)["notes"]


def slowly(table: pl.DataFrame) -> list[tuple[str, float, float, int, int]]:
    """The same by plain loops over dictionaries; of rows that judge the same, the last counts."""
    identity = ("annotator", "document", "segment", "system", "kind")
    last = {tuple(row[name] for name in identity): row for row in table.to_dicts()}
    scored = [row for row in last.values() if row["score"] is not None]
    scale: dict[str, tuple[float, float]] = {}
    for who in {row["annotator"] for row in scored}:
        own = [row["score"] for row in scored if row["annotator"] == who]
        sd = float(np.std(own, ddof=1)) if len(set(own)) > 1 else math.nan
        scale[who] = (float(f"{np.mean(own):.7g}"), float(f"{sd:.7g}"))
    items: dict[tuple[str, str | None, str], list[tuple[float, float]]] = {}
    for row in scored:
        if row["kind"] in ("system", "repeat"):
            mean, sd = scale[row["annotator"]]
            key = (row["system"], row["document"], row["segment"])
            items.setdefault(key, []).append((row["score"], (row["score"] - mean) / sd))
    means = []
    for system in {key[0] for key in items}:
        ours = [np.array(pairs) for key, pairs in items.items() if key[0] == system]
        z = [item[:, 1][~np.isnan(item[:, 1])].mean() for item in ours if not np.isnan(item[:, 1]).all()]
        raw = float(np.mean([item[:, 0].mean() for item in ours]))
        means.append((system, raw, float(np.mean(z)), len(ours), sum(map(len, ours))))
    return sorted(means, key=lambda row: -row[2])


@pytest.mark.parametrize(("rows_at_once", "marks"), [(1 << 16, 1 << 26), (7, 1 << 26), (7, 1)])
def test_gaps_controls_decimals_and_equal_scores_count_as_in_a_slow_version(
    rows_at_once: int, marks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents and scores may be missing, one annotator gives .1 throughout, another one score only."""
    monkeypatch.setattr(item_sums, "SLICE", rows_at_once)
    monkeypatch.setattr(item_sums, "MOST_MARKS", marks)
    rng = np.random.default_rng(1)
    n = 400
    who = rng.choice(["a", "b", "constant", "d"], n).tolist()
    scores = [0.1 if name == "constant" else round(float(rng.uniform(0, 100)), 1) for name in who]
    table = pl.DataFrame(
        {
            "system": rng.choice(["x", "y", "z"], n),
            "annotator": [*who[:-1], "once"],
            "document": [None if i % 9 == 0 else f"d{i % 5}" for i in range(n)],
            "segment": rng.choice(["1", "01", "2", "3"], n),
            "kind": rng.choice(["system", "repeat", "degraded"], n),
            "score": [None if i % 11 == 5 else score for i, score in enumerate(scores)],
        }
    )
    file = tmp_path / "scores.csv"
    table.write_csv(file)
    systems = rank_file(file).systems
    expected = slowly(table)
    assert [(system.system, system.n, system.numbers["n_all"]) for system in systems] == [
        (name, n, judged) for name, _, _, n, judged in expected
    ]
    assert [system.numbers["raw"] for system in systems] == pytest.approx([row[1] for row in expected], abs=1e-12)
    assert [system.score for system in systems] == pytest.approx([row[2] for row in expected], abs=1e-12)


def test_a_system_that_only_equal_scores_rate_has_no_z_and_comes_last(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    rows = ["system,annotator,segment,score", "x,w,1,5", "x,w,2,5", "y,v,1,1", "y,v,2,3"]
    file.write_text("\n".join(rows))
    ranking = rank_file(file)
    assert ranking.order == ("y", "x")
    assert ranking.systems[1].score is None
    assert any("1 annotator gave the same score throughout" in note for note in ranking.notes)


def test_what_cannot_be_read_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        rank_file(tmp_path / "none.csv")
    file = tmp_path / "x.csv"
    file.write_text("system,score\na,1\n")
    assert rank_scores_csv(file, RAW, RankSettings()) is None
    file.write_text("system,annotator,segment,score\n,b,1,5\n")
    with pytest.raises(InputError, match="line 2: has no system"):
        rank_file(file)
    file.write_text("system,annotator,segment,score\na,b,1,much\n")
    with pytest.raises(InputError, match="line 2: column 'score' holds 'much', a finite number is needed"):
        rank_file(file)
    file.write_text("system,annotator,segment,score\na,b,1,5\n")
    with pytest.raises(DataError, match="at least two systems"):
        rank_file(file)


def with_faults(table: pl.DataFrame) -> str:
    """The table as CSV with five faults of different kinds, a note of two lines, and an empty line."""
    lines = table.write_csv().splitlines()
    header = lines[0].split(",")
    changes = {
        10: ("score", "much"), 20: ("score", "120"), 30: ("system", ""), 40: ("kind", "odd"),
        50: ("document", '"two\nlines"'),
    }  # fmt: skip
    for number, (column, value) in changes.items():
        cells = lines[number].split(",")
        cells[header.index(column)] = value
        lines[number] = ",".join(cells)
    lines[60] += ",more"
    return "\n".join([*lines[:35], "", *lines[35:]]) + "\n"


def test_bad_rows_are_those_of_the_ordinary_reader(tmp_path: Path) -> None:
    table = random_scores(4).table
    table = table.select("system", "annotator", "document", "segment", "kind", "protocol", "score", "human")
    file = tmp_path / "scores.csv"
    file.write_text(with_faults(table), encoding="utf-8")
    options = ReadOptions(bad_rows=0.2)
    counted = rank_scores_csv(file, RAW, RankSettings(), options)
    assert counted is not None
    judgments = formats.read(file, options=options)
    ordinary = rank(judgments, method="raw", settings=RankSettings(resamples=0))
    assert sorted(counted.set_aside, key=str) == sorted(ordinary.set_aside, key=str)
    assert sum(part.rows for part in counted.set_aside) == 5
    assert [(system.system, system.n) for system in counted.systems] == [
        (system.system, system.n) for system in ordinary.systems
    ]
    lines = "lines 11, 21, 31, 42, 63"
    assert any(lines in note for note in counted.notes)
    assert any(lines in note for note in ordinary.notes)
    for strict in (ReadOptions(strict=True), ReadOptions(bad_rows=0.0)):
        with pytest.raises(InputError, match="line 11: column 'score' holds 'much'"):
            rank_scores_csv(file, RAW, RankSettings(), strict)


def test_humans_are_known_by_name_by_option_and_by_column(tmp_path: Path) -> None:
    table = random_scores(4).table.drop("human", "rank")
    named = table.with_columns(pl.col("system").replace(table["system"][0], "refA"))
    file = tmp_path / "scores.csv"
    native.write(Judgments.from_columns(named), file)
    pl.read_csv(file, infer_schema=False).drop("human").write_csv(file)
    other = next(name for name in named["system"].unique().sort() if name != "refA")

    def people(options: ReadOptions) -> set[str]:
        ranking = rank_scores_csv(file, RAW, RankSettings(), options)
        assert ranking is not None
        return {system.system for system in ranking.systems if system.human}

    assert people(ReadOptions()) == {"refA"}
    assert people(ReadOptions(human=other)) == {other}
    pl.read_csv(file, infer_schema=False).with_columns(
        human=pl.when(pl.col("system") == other).then(pl.lit("yes")).otherwise(pl.lit("0"))
    ).write_csv(file)
    assert people(ReadOptions()) == {other}


def test_settings_are_checked_before_anything_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    native.write(random_scores(3), file)
    with pytest.raises(UsageError, match="zscore has a test of its own; --significance sign is for relative rankings"):
        rank_large_file(file, "zscore", RankSettings(significance="sign"))
    with pytest.raises(UsageError, match="--level is 2, it must lie between 0 and 1"):
        rank_large_file(file, "raw", RankSettings(level=2))
    with pytest.raises(UsageError, match="wins makes no z-scores; --zero-sd zero is for zscore, raw"):
        rank_large_file(file, "wins", RankSettings(zero_sd="zero"))
