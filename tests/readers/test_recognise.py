"""A file whose format nobody named is read by the right reader, and tables stay tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import adjudge as package
from adjudge.readers.registry import FORMATS, read, recognise
from adjudge.table.errors import InputError
from tests.helpers.samples import SAMPLES

# Tables of a shape that others have as well: their readers are chosen by name, or by the columns.
TOLD_BY_NAME = {"judgments", "pairwise-table", "rank-table", "rank-lines", "metric-scores"}
RELEASED = {
    "wmt10/data_RNK.csv": "wmt-ranking",
    "wmt10/data_EDT.tsv": "wmt-edits",
    "wmt10/data_ACC.csv": "wmt-acceptability",
    "wmt11/wmt11-maneval-tunablemetrics.RNK_results.csv": "wmt-ranking",
    "pairwise/wmt10.Czech,English": "pairwise-counts",
    "wmt21/newstest2021-toen": "wmt-da",
    "eacl2017/runA/ad-latest.csv": "wmt-da",
    "eacl2017/batched-hits/runA/Batch_2607652_batch_results.csv": "mturk-da",
    "wmt22sqm/WMT22.Appraise.calibrationHITs.20221103.csv": "appraise",
    "esa-study/240520rc6ESA.scores.csv": "appraise",
    "wmt24esa/esa_generalMT2024_wave3.csv": "appraise",
    "mqm/mqm_ted_ende.tsv": "mqm",
    "wmt23": "metric-scores",
    "eacl2017/doc-key-enes.csv": None,
    "metrics/scores.tsv": None,
    "suboptimal/score/id.txt": None,
}


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - TOLD_BY_NAME))
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_samples_of_every_format(name: str, packed: bool, tmp_path: Path) -> None:
    for number, text in enumerate(SAMPLES[name]):
        file = tmp_path / f"{number}.dat"
        file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        assert recognise([file]) == name, text[:200]


@pytest.mark.parametrize("name", sorted(TOLD_BY_NAME & set(SAMPLES)))
def test_tables_are_left_to_the_reader_of_tables(name: str, tmp_path: Path) -> None:
    for number, text in enumerate(SAMPLES[name]):
        file = tmp_path / f"{number}.dat"
        file.write_text(text, encoding="utf-8")
        assert recognise([file]) is None, text[:200]


@pytest.mark.parametrize(("path", "name"), RELEASED.items())
def test_released_files(data: Path, path: str, name: str | None) -> None:
    assert (data / path).exists()
    assert recognise([data / path]) == name


def test_what_was_recognised_is_said_and_can_be_overruled(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text("a b 3 1 2\nb c 4 0 1\n", encoding="utf-8")
    counted = package.read(file)
    assert counted.notes[0] == "the format was recognised as pairwise-counts; --format chooses another"
    assert counted.table.equals(read([file], format="pairwise-counts").table)
    assert not any("recognised" in note for note in read([file], format="pairwise-counts").notes)


def test_files_of_different_formats_and_odd_files_are_not_recognised(tmp_path: Path) -> None:
    counts, scores, empty, binary = (tmp_path / name for name in ("counts", "scores.csv", "empty", "binary"))
    counts.write_text("a b 3 1 2\n", encoding="utf-8")
    scores.write_text("system,score\na,1\n", encoding="utf-8")
    empty.write_text("", encoding="utf-8")
    binary.write_bytes(bytes(range(256)))
    assert recognise([counts]) == "pairwise-counts"
    assert recognise([counts, scores]) is None
    assert [recognise([path]) for path in (scores, empty, binary)] == [None] * 3
    with pytest.raises(InputError, match=r"several kinds: counts \(pairwise-counts\), scores.csv \(a table\)"):
        recognise([tmp_path])
    scores.unlink()
    assert recognise([tmp_path]) == "pairwise-counts"


@pytest.mark.parametrize("name", ["wmt-ranking", "wmt-edits", "wmt-acceptability", "mqm", "pairwise-counts"])
def test_a_folder_of_one_format_is_read_like_its_files(name: str, tmp_path: Path) -> None:
    files = [tmp_path / "a.en-de.csv", tmp_path / "b.en-de.csv"]
    for file in files:
        file.write_text(SAMPLES[name][0], encoding="utf-8")
    assert recognise([tmp_path]) == name
    assert read([tmp_path]).table.equals(read(files).table)


def test_an_error_column_beside_scores_makes_no_mqm_file(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    columns = {"system": ["a", "b"], "rater": ["x", "x"], "category": ["style", ""], "severity": ["minor", ""]}
    pl.DataFrame({**columns, "score": [70, 90]}).write_csv(file)
    assert recognise([file]) is None
    assert read([file]).table["score"].to_list() == [70, 90]


def test_every_format_is_either_recognised_or_told_by_name() -> None:
    assert set(FORMATS) == TOLD_BY_NAME | (set(SAMPLES) - TOLD_BY_NAME)
