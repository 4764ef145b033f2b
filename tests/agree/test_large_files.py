"""Agreement of a large table, some segments at a time, is that of the whole table; a note names what is left out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import adjudge
from adjudge import formats
from adjudge.agree import agree, large_file_sums
from adjudge.agree.large_files import LEFT_OUT, NO_PAIRS, agree_large_file
from adjudge.agree.options import AgreeOptions
from adjudge.core.errors import DataError, UsageError
from adjudge.formats import ReadOptions
from adjudge.formats.native import large_files
from adjudge.results.agree import Agreement, Coefficients
from adjudge.shell.line import app

pytestmark = pytest.mark.slow

OPTIONS = AgreeOptions(resamples=120, seed=3)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few segments each, two of which are added up at a time."""
    monkeypatch.setattr(large_files, "ROWS_PER_PART", 40)
    monkeypatch.setattr(large_file_sums, "TABLES_AT_ONCE", 2)


def scores(seed: int) -> pl.DataFrame:
    """Scores of seven people, with repeats, references, controls, missing scores, a correction and people unknown."""
    rng = np.random.default_rng(seed)
    n = 400
    person = rng.integers(7, size=n)
    given = [5.0 if who == 6 else float(rng.integers(101)) for who in person]
    table = pl.DataFrame(
        {
            "annotator": [None if i % 50 == 7 else f"a{who}" for i, who in enumerate(person)],
            "screen": [str(i) for i in range(n)],
            "document": rng.choice(["d1", "d2", "d3"], n),
            "segment": rng.integers(8, size=n).astype(str),
            "system": rng.choice(["s1", "s2", "refA"], n),
            "kind": rng.choice(["system", "repeat", "degraded", "reference"], n, p=[0.7, 0.1, 0.1, 0.1]),
            "score": [None if i % 40 == 3 else score for i, score in enumerate(given)],
        }
    )
    return pl.concat([table, table.head(3).with_columns(score=pl.lit(1.5))])


def in_parts(table: pl.DataFrame, file: Path, options: AgreeOptions = OPTIONS) -> Agreement | None:
    if file.suffix == ".csv":
        table.write_csv(file)
    else:
        table.write_parquet(file)
    return agree_large_file(file, options, ReadOptions())


def check_coefficients(mine: Coefficients, theirs: Coefficients, *, without: tuple[str, ...] = ("spearman",)) -> None:
    assert (mine.pairs, mine.items) == (theirs.pairs, theirs.items)
    assert mine.alpha == pytest.approx(theirs.alpha, abs=1e-9)
    if "interval" not in without:
        assert set(mine.interval) == set(theirs.interval)
        assert mine.interval["alpha"] == pytest.approx(theirs.interval["alpha"], abs=1e-9)
    assert set(mine.numbers) == set(theirs.numbers)
    for name, number in theirs.numbers.items():
        if name in without:
            assert mine.numbers[name] != mine.numbers[name], name
        else:
            assert mine.numbers[name] == pytest.approx(number, abs=1e-9, nan_ok=True)


def check_annotators(mine: Agreement, theirs: Agreement, *, without: tuple[str, ...] = ("spearman",)) -> None:
    assert [person.annotator for person in mine.annotators] == [person.annotator for person in theirs.annotators]
    for my_person, their_person in zip(mine.annotators, theirs.annotators, strict=True):
        assert my_person.judgments == their_person.judgments
        assert dict(my_person.intra) == pytest.approx(dict(their_person.intra), abs=1e-9, nan_ok=True)
        for name, number in their_person.inter.items():
            if name not in without:
                assert my_person.inter[name] == pytest.approx(number, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", ["scores.parquet", "scores.csv"])
def test_the_result_is_that_of_the_whole_table(seed: int, name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    measured = in_parts(scores(seed), file)
    assert measured is not None
    ordinary = agree(formats.read(file), resamples=OPTIONS.resamples, seed=OPTIONS.seed)
    assert measured.notes == (*ordinary.notes, LEFT_OUT)
    assert sorted(measured.set_aside, key=str) == sorted(ordinary.set_aside, key=str)
    assert measured.settings == ordinary.settings
    for part in ("all", "without_reference"):
        check_coefficients(measured.inter[part], ordinary.inter[part])
        check_coefficients(measured.intra[part], ordinary.intra[part], without=())
    check_annotators(measured, ordinary)


def test_without_references_there_is_one_result(tmp_path: Path) -> None:
    table = scores(8).filter((pl.col("kind") != "reference") & (pl.col("system") != "refA"))
    measured = in_parts(table, tmp_path / "scores.parquet")
    assert measured is not None
    ordinary = agree(formats.read(tmp_path / "scores.parquet"), resamples=OPTIONS.resamples, seed=OPTIONS.seed)
    assert measured.inter["all"] is measured.inter["without_reference"]
    check_coefficients(measured.inter["all"], ordinary.inter["without_reference"])
    check_coefficients(measured.intra["all"], ordinary.intra["without_reference"], without=())


@pytest.mark.parametrize("limit", ["MOST_PAIRS", "MOST_PATTERNS"])
def test_with_too_many_pairs_correlations_and_intervals_are_left_out(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_file_sums, limit, 1)
    measured = in_parts(scores(4), tmp_path / "scores.parquet")
    assert measured is not None
    assert measured.notes[-2:] == (LEFT_OUT, NO_PAIRS)
    ordinary = agree(formats.read(tmp_path / "scores.parquet"), resamples=OPTIONS.resamples, seed=OPTIONS.seed)
    left_out = ("pearson", "spearman", "annotator_pairs", "interval")
    assert measured.inter["all"].interval == {}
    check_coefficients(measured.inter["all"], ordinary.inter["all"], without=left_out)
    check_coefficients(measured.intra["all"], ordinary.intra["all"], without=())
    check_annotators(measured, ordinary, without=left_out)


def test_rankings_and_several_campaigns_are_read_whole(tmp_path: Path) -> None:
    table = scores(5)
    ranked = table.with_columns(rank=pl.lit(1, pl.Int32), score=pl.lit(None, pl.Float64))
    assert in_parts(ranked, tmp_path / "ranks.parquet") is None
    two = table.with_columns(campaign=pl.col("system"))
    assert in_parts(two, tmp_path / "two.parquet") is None


def test_faults_are_explained(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="-1 resamples were asked for"):
        AgreeOptions(resamples=-1)
    with pytest.raises(DataError, match="nothing was judged twice"):
        in_parts(scores(6).head(1), tmp_path / "scores.parquet")
    with pytest.raises(DataError, match="no judgment has a score"):
        in_parts(scores(6).with_columns(kind=pl.lit("degraded")), tmp_path / "scores.parquet")


def test_the_command_and_the_function_take_large_files_this_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scores.parquet"
    scores(7).write_parquet(file)
    monkeypatch.setattr("adjudge.shell.large_files.LARGE_TABLE", 1)
    done = CliRunner().invoke(app, ["agree", str(file), "--json", "--resamples", "20"])
    assert done.exit_code == 0, done.output
    assert LEFT_OUT in json.loads(done.stdout)["notes"]
    assert LEFT_OUT in adjudge.agree(file, resamples=20).notes
