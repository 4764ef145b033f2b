"""Pairs counted from columns give the ranking of the same pairs judged one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import adjudge
from adjudge.ranking import large_files as counted_pairs
from adjudge.ranking.large_files import rank_pairs_file
from adjudge.ranking.methods import RankSettings, find_method, rank, rank_large_file
from adjudge.ranking.ranking import Ranking
from adjudge.readers import native
from adjudge.readers.options import ReadOptions
from adjudge.readers.pairs import TIES
from adjudge.readers.registry import read
from adjudge.shell.line import app
from adjudge.table.errors import DataError, InputError, UsageError
from tests.helpers.rank_make import blocks
from tests.ranking.test_score_means import random_scores


@pytest.fixture
def count(tmp_path: Path) -> Callable[..., Ranking]:
    """Ranks a table of pairs from the columns of a Parquet file."""

    def ranked(pairs: pl.DataFrame, method: str | None = None, settings: RankSettings | None = None) -> Ranking:
        pairs.write_parquet(tmp_path / "counted.parquet")
        ranking = rank_large_file(tmp_path / "counted.parquet", method, settings or RankSettings())
        assert ranking is not None
        return ranking

    return ranked


def random_pairs(seed: int, rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(5, size=rows), rng.integers(5, size=rows)
    kept = left != right
    words = np.array(["left", "right", "tie"])[rng.integers(3, size=rows)]
    names = np.array(list("edcba"))
    return pl.DataFrame({"left": names[left], "right": names[right], "winner": words}).filter(pl.Series(kept))


@pytest.mark.parametrize("method", ["bradley-terry", "wins", "block-wins", "rank-points", "expected-wins"])
def test_counted_pairs_are_blocks_of_two(method: str, count: Callable[..., Ranking]) -> None:
    pairs = random_pairs(1)
    ranks = {"left": (1, 2), "right": (2, 1), "tie": (1, 1)}
    judgments = blocks(
        [
            dict(zip((row["left"], row["right"]), ranks[row["winner"]], strict=True))
            for row in pairs.iter_rows(named=True)
        ],
        annotators=["only"] * pairs.height,
    )
    settings = RankSettings(resamples=50)
    one_by_one, counted = (
        rank(judgments, method=method, settings=settings),
        count(pairs, method, settings),
    )
    assert counted.order == one_by_one.order
    for mine, theirs in zip(counted.systems, one_by_one.systems, strict=True):
        assert mine.score == pytest.approx(theirs.score)
        assert (mine.rank_set, mine.n) == (theirs.rank_set, theirs.n)
        assert dict(mine.numbers) == pytest.approx(dict(theirs.numbers))


def test_some_annotators_at_a_time_give_the_same_bytes(
    count: Callable[..., Ranking], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = random_pairs(4)
    people = np.random.default_rng(4).choice(["ann", "bob", "cat", "dan", "eve"], pairs.height).tolist()
    pairs = pairs.with_columns(annotator=pl.Series([None, "", *people[2:]]))
    at_once = count(pairs)
    monkeypatch.setattr(counted_pairs, "ROWS_AT_ONCE", 100)
    assert count(pairs) == at_once


def test_annotators_are_told_apart_as_in_the_reader_of_files(tmp_path: Path, count: Callable[..., Ranking]) -> None:
    rng = np.random.default_rng(2)
    pairs = random_pairs(2)
    pairs = pairs.with_columns(annotator=pl.Series(rng.choice(["ann", "bob", "cat", "dan", "eve"], pairs.height)))
    file = tmp_path / "pairs.csv"
    pairs.write_csv(file)
    settings = RankSettings(resamples=50)
    ordinary = rank(read([file], format="pairwise-table"), settings=settings)
    for counted in (count(pairs, settings=settings), rank_large_file(file, None, settings)):
        assert counted is not None
        assert counted.settings == ordinary.settings
        assert [(system.system, system.rank_set) for system in counted.systems] == [
            (system.system, system.rank_set) for system in ordinary.systems
        ]
        assert [pair.p for pair in counted.comparisons] == pytest.approx([pair.p for pair in ordinary.comparisons])
    without = find_method("wins-no-reference")
    assert rank_pairs_file(file, without, settings) is None


def test_winners_may_be_named(count: Callable[..., Ranking]) -> None:
    pairs = pl.DataFrame({"left": ["x", "x", "y"], "right": ["y", "y", "x"], "winner": ["x", "tie", "x"]})
    ranking = count(pairs, "wins")
    assert ranking.systems[0].numbers["wins"] == 2
    assert ranking.systems[0].numbers["ties"] == 1


def test_few_rows_that_fit_nothing_are_set_aside_and_named(tmp_path: Path) -> None:
    lines = ["left,right,winner", *("x,y,x" if i % 3 else "x,y,y" for i in range(300))]
    lines[7], lines[9], lines[11] = "x,y,z", "x,x,x", '"x",y,"model_b"'
    file = tmp_path / "pairs.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ranking = rank_pairs_file(file, find_method("wins"), RankSettings())
    assert ranking is not None
    assert sum(part.rows for part in ranking.set_aside) == 2
    assert any("lines 8, 10: has winner 'z'" in note for note in ranking.notes)
    ordinary = rank(read(file), method="wins")
    assert [system.numbers["wins"] for system in ranking.systems] == [
        system.numbers["wins"] for system in ordinary.systems
    ]
    with pytest.raises(InputError, match="line 8: has winner 'z'"):
        rank_pairs_file(file, find_method("wins"), RankSettings(), ReadOptions(strict=True))
    file.write_text("left,right,winner\nx,y,\nx,y,\n", encoding="utf-8")
    with pytest.raises(DataError, match="check the columns"):
        rank_large_file(file, None, RankSettings())


def test_pairs_of_several_languages_need_an_ordinary_look(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("model_a,model_b,winner,lp\nx,y,x,en-cs\nx,y,y,en-de\n", encoding="utf-8")
    assert rank_pairs_file(file, find_method("wins"), RankSettings()) is None


def test_humans_are_known_by_name_and_by_option(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("model_a,model_b,winner\nrefA,y,refA\ny,refA,tie\n", encoding="utf-8")
    for options, expected in ((ReadOptions(), {"refA"}), (ReadOptions(human="y"), {"y"})):
        ranking = rank_pairs_file(file, find_method("wins"), RankSettings(), options)
        assert ranking is not None
        assert {system.system for system in ranking.systems if system.human} == expected


def test_words_mean_the_same_as_in_files(count: Callable[..., Ranking]) -> None:
    """A system may be called `left`; every word for a tie that the reader of files knows is known here."""
    words = ["left", "right", *TIES]
    pairs = pl.DataFrame({"left": ["x"] * len(words), "right": ["left"] * len(words), "winner": words})
    numbers = {system.system: system.numbers for system in count(pairs, "wins").systems}
    assert (numbers["left"]["wins"], numbers["left"]["ties"]) == (2, len(TIES))


def test_blocks_of_two_keep_their_ranks() -> None:
    """By hand, on a scale of 5: x has 5 + 1 - (1, 2, 4), y 5 + 1 - (5, 2, 3)."""
    judgments = blocks([{"x": 1, "y": 5}, {"x": 2, "y": 2}, {"x": 4, "y": 3}], annotators=["only"] * 3)
    ranking = rank(judgments, method="rank-points", settings=RankSettings(resamples=20))
    assert [(system.system, system.score) for system in ranking.systems] == [("x", 11 / 3), ("y", 8 / 3)]


def test_comparisons_without_an_annotator_are_told_as_in_files_that_are_read(tmp_path: Path) -> None:
    people = [*[None] * 3, *["ann", "bob", "cat", "dan"] * 50]
    pairs = random_pairs(5)[:203].with_columns(annotator=pl.Series(people))
    file = tmp_path / "pairs.csv"
    pairs.write_csv(file)
    told = "3 comparisons name no annotator: they count as those of one more person; name the annotators"
    counted = rank_pairs_file(file, find_method("bradley-terry"), RankSettings())
    assert counted is not None
    assert told in counted.notes
    assert told in rank(read(file)).notes


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


def test_settings_are_checked_before_anything_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("system,score\nx,5\n", encoding="utf-8")
    with pytest.raises(UsageError, match="zscore has a test of its own; 'significance' sign is for relative rankings"):
        rank_large_file(file, "zscore", RankSettings(significance="sign"))
    with pytest.raises(UsageError, match="'level' is 2, it must lie between 0 and 1"):
        rank_large_file(file, "raw", RankSettings(level=2))
    with pytest.raises(UsageError, match="wins makes no z-scores; 'zero_sd' zero is for zscore, zscore-task, raw"):
        rank_large_file(file, "wins", RankSettings(zero_sd="zero"))


@pytest.mark.parametrize("name", ["scores.parquet", "scores.csv"])
def test_scores_that_do_not_fit_into_memory_are_refused_beforehand(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / name
    native.write(random_scores(4), file)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_TABLE", 1)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_FILE", 1)
    fits = adjudge.rank(file, method="zscore")
    assert fits.settings["resamples"] == 1000, "large files are ranked as others are"
    monkeypatch.setattr("adjudge.table.files.memory_at_hand", lambda: 10_000)
    whole = r"rows take about .* GB to be read whole"
    for method in ("mixed", "zscore"):
        with pytest.raises(InputError, match=rf"{whole} and ranked, .* GB are free; split it into parts"):
            adjudge.rank(file, method=method)
    for verb in (adjudge.check, adjudge.agree):
        with pytest.raises(InputError, match=rf"{whole}, .* GB are free; split it into parts"):
            verb(file)
    kept = ["--kept", str(tmp_path / "kept.parquet")]
    for words in (["rank"], ["rank", "--pair", "xx-xx"], ["rank", "--by", "document"], ["agree"], ["check", *kept]):
        done = CliRunner().invoke(app, [*words, str(file)])
        assert isinstance(done.exception, InputError)
        assert "to be read whole" in str(done.exception)
