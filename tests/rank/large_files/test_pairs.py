"""Pairs counted from columns give the ranking of the same pairs judged one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge.core.errors import DataError, InputError
from adjudge.formats import ReadOptions, read
from adjudge.formats.rankings.pairwise_table import TIES
from adjudge.rank import RankSettings, rank
from adjudge.rank.large_files import pairs as counted_pairs
from adjudge.rank.large_files.pairs import rank_pairs_file
from adjudge.rank.methods import find_method
from tests.rank.make import blocks


def random_pairs(seed: int, rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(5, size=rows), rng.integers(5, size=rows)
    kept = left != right
    words = np.array(["left", "right", "tie"])[rng.integers(3, size=rows)]
    names = np.array(list("edcba"))
    return pl.DataFrame({"left": names[left], "right": names[right], "winner": words}).filter(pl.Series(kept))


@pytest.mark.parametrize("method", ["bradley-terry", "wins", "block-wins", "rank-points", "expected-wins"])
def test_counted_pairs_are_blocks_of_two(method: str) -> None:
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
        rank(pairs, method=method, settings=settings),
    )
    assert counted.order == one_by_one.order
    for mine, theirs in zip(counted.systems, one_by_one.systems, strict=True):
        assert mine.score == pytest.approx(theirs.score)
        assert (mine.rank_set, mine.n) == (theirs.rank_set, theirs.n)
        assert dict(mine.numbers) == pytest.approx(dict(theirs.numbers))


def test_some_annotators_at_a_time_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = random_pairs(4)
    people = np.random.default_rng(4).choice(["ann", "bob", "cat", "dan", "eve"], pairs.height).tolist()
    pairs = pairs.with_columns(annotator=pl.Series([None, "", *people[2:]]))
    at_once = rank(pairs)
    monkeypatch.setattr(counted_pairs, "ROWS_AT_ONCE", 100)
    assert rank(pairs) == at_once


def test_annotators_are_told_apart_as_in_the_reader_of_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    pairs = random_pairs(2)
    pairs = pairs.with_columns(annotator=pl.Series(rng.choice(["ann", "bob", "cat", "dan", "eve"], pairs.height)))
    file = tmp_path / "pairs.csv"
    pairs.write_csv(file)
    settings = RankSettings(resamples=50)
    ordinary = rank(read([file], format="pairwise-table"), settings=settings)
    for counted in (rank(pairs, settings=settings), rank(file, settings=settings)):
        assert counted.settings == ordinary.settings
        assert [(system.system, system.rank_set) for system in counted.systems] == [
            (system.system, system.rank_set) for system in ordinary.systems
        ]
        assert [pair.p for pair in counted.comparisons] == pytest.approx([pair.p for pair in ordinary.comparisons])
    without = find_method("wins-no-reference")
    assert rank_pairs_file(file, without, settings) is None


def test_winners_may_be_named() -> None:
    pairs = pl.DataFrame({"left": ["x", "x", "y"], "right": ["y", "y", "x"], "winner": ["x", "tie", "x"]})
    ranking = rank(pairs, method="wins")
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
        rank(file)


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


def test_words_mean_the_same_as_in_files() -> None:
    """A system may be called `left`; every word for a tie that the reader of files knows is known here."""
    words = ["left", "right", *TIES]
    pairs = pl.DataFrame({"left": ["x"] * len(words), "right": ["left"] * len(words), "winner": words})
    numbers = {system.system: system.numbers for system in rank(pairs, method="wins").systems}
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
