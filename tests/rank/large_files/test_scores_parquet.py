"""Rankings streamed from Parquet are those of the same judgments read whole, and of CSV."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import adjudge
from adjudge.core.errors import InputError
from adjudge.core.judgments import Judgments
from adjudge.formats import native
from adjudge.rank import RankSettings, rank, rank_large_file
from adjudge.rank.large_files.columns import NO_RESAMPLES
from adjudge.results.rank import Ranking
from adjudge.shell.line import app
from tests.rank.test_score_means import random_scores

PLAIN = RankSettings(resamples=0)


def streamed(judgments: Judgments | pl.DataFrame, folder: Path, method: str = "zscore") -> Ranking | None:
    file = folder / "scores.parquet"
    if isinstance(judgments, Judgments):
        native.write(judgments, file)
    else:
        judgments.write_parquet(file)
    return rank_large_file(file, method, RankSettings())


def check_alike(counted: Ranking | None, expected: Ranking) -> None:
    assert counted is not None
    assert NO_RESAMPLES in counted.notes
    assert (counted.order, counted.clusters) == (expected.order, expected.clusters)
    for mine, theirs in zip(counted.systems, expected.systems, strict=True):
        assert (mine.rank_set, mine.n, mine.human) == (theirs.rank_set, theirs.n, theirs.human)
        assert dict(mine.numbers) == pytest.approx(dict(theirs.numbers), abs=1e-12)
    for mine_pair, their_pair in zip(counted.comparisons, expected.comparisons, strict=True):
        assert mine_pair.p == pytest.approx(their_pair.p, abs=1e-9)


@pytest.mark.parametrize("method", ["raw", "zscore"])
@pytest.mark.parametrize("seed", [1, 4])
def test_the_ranking_is_the_ordinary_one_without_resamples(method: str, seed: int, tmp_path: Path) -> None:
    judgments = random_scores(seed)
    check_alike(streamed(judgments, tmp_path, method), rank(judgments, method=method, settings=PLAIN))


def test_the_order_of_rows_changes_no_digit(tmp_path: Path) -> None:
    """Streams bring rows in another order each time; the same bytes must come out."""
    table = random_scores(5).table.with_columns(pl.col("score") / 3)
    rankings = [streamed(table.sample(fraction=1, shuffle=True, seed=seed), tmp_path) for seed in (1, 2)]
    assert rankings[0] is not None
    assert rankings[1] is not None
    assert rankings[0].systems == rankings[1].systems
    assert rankings[0].comparisons == rankings[1].comparisons


def test_annotators_whose_scores_are_equal_have_no_z(tmp_path: Path) -> None:
    table = random_scores(2).table
    who = table["annotator"].unique().sort()[0]
    equal = pl.when(pl.col("annotator") == who).then(50.0).otherwise(pl.col("score")).alias("score")
    judgments = Judgments(table.with_columns(equal))
    counted = streamed(judgments, tmp_path)
    check_alike(counted, rank(judgments, method="zscore", settings=PLAIN))
    assert counted is not None
    assert any("1 annotator gave the same score throughout" in note for note in counted.notes)


def test_of_judgments_that_stand_there_twice_the_last_counts(tmp_path: Path) -> None:
    table = random_scores(3).table
    again = table.head(5).with_columns(score=100 - pl.col("score"))
    counted = streamed(pl.concat([table, again]), tmp_path)
    corrected = pl.concat([table.tail(-5), again])
    check_alike(counted, rank(Judgments(corrected), method="zscore", settings=PLAIN))
    assert counted is not None
    assert [aside.rows for aside in counted.set_aside] == [5]


@pytest.mark.parametrize(
    "odd",
    [
        pl.lit(None, pl.String).alias("annotator"),
        # Rows without a segment may be alike and still be different judgments, so they are no copies of each other.
        pl.lit("").alias("segment"),
        (pl.int_range(pl.len(), dtype=pl.Int32) % 2).alias("revision"),
        pl.lit(101.0).alias("score"),
        pl.lit(1, pl.Int32).alias("rank"),
        pl.lit("no such protocol").alias("protocol"),
    ],
    ids=["nameless", "no segments", "revisions", "off the scale", "ranks", "protocol"],
)
def test_what_needs_a_closer_look_is_left_to_the_reader(odd: pl.Expr, tmp_path: Path) -> None:
    assert streamed(random_scores(4).table.with_columns(odd), tmp_path) is None


def test_a_file_that_is_no_parquet_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "scores.parquet"
    file.write_text("no table at all")
    with pytest.raises(InputError, match="cannot be read as scores"):
        rank_large_file(file, "zscore", RankSettings())


def test_comparisons_in_parquet_are_counted_as_in_csv(tmp_path: Path) -> None:
    systems = ["a", "b", "c"]
    pairs = pl.DataFrame(
        {
            "left": [systems[i % 3] for i in range(60)],
            "right": [systems[(i + 1 + i % 2) % 3] for i in range(60)],
            "winner": [("left", "right", "tie")[i % 7 % 3] for i in range(60)],
            "annotator": [f"w{i % 4}" for i in range(60)],
            "segment": [f"s{i}" for i in range(60)],
        }
    )
    pairs.write_csv(tmp_path / "pairs.csv")
    pairs.write_parquet(tmp_path / "pairs.parquet")
    by_csv, by_parquet = (
        rank_large_file(tmp_path / name, "bradley-terry", RankSettings()) for name in ("pairs.csv", "pairs.parquet")
    )
    assert by_csv is not None
    assert by_parquet == by_csv


@pytest.mark.parametrize("name", ["scores.parquet", "scores.csv"])
def test_what_does_not_fit_into_memory_is_refused_beforehand(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / name
    native.write(random_scores(4), file)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_TABLE", 1)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_FILE", 1)
    monkeypatch.setattr("adjudge.core.files.memory_at_hand", lambda: 10_000)
    with pytest.raises(
        InputError, match=r"rows take about .* GB to be read whole and ranked, .* use 'method' zscore or raw"
    ):
        adjudge.rank(file, method="mixed")
    for more in ([], ["--pair", "xx-xx"], ["--by", "document"]):
        done = CliRunner().invoke(app, ["rank", str(file), "--method", "mixed", *more])
        assert isinstance(done.exception, InputError)
        assert "to be read whole" in str(done.exception)
    assert adjudge.rank(file, method="zscore").method == "zscore"
