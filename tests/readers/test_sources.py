"""What readers share: files in folders, names of campaigns, delimited rows, numbers and rank labels."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.readers.columns import parse_ranks
from adjudge.readers.options import ReadOptions
from adjudge.readers.parsing import (
    BadRows,
    campaign_names,
    detect_delimiter,
    files_in,
    numbered_lines,
    pair_of,
    read_delimited,
    stem,
    to_float,
    to_int,
)
from adjudge.table.errors import InputError, Source
from tests.conftest import examples

HERE = Path("file.csv")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("data_RNK.csv", "data_RNK"),
        ("a.csv.gz", "a"),
        ("2011.Czech,English.combo", "2011.Czech,English.combo"),
        ("x.RNK_results.csv", "x.RNK_results"),
        ("judgements", "judgements"),
        (".csv", ".csv"),
    ],
)
def test_the_name_without_what_says_how_it_is_written(name: str, expected: str) -> None:
    assert stem(Path(name)) == expected


def test_campaigns_are_told_apart() -> None:
    assert campaign_names([Path("/x/a.csv"), Path("/x/b.csv")]) == ["a", "b"]
    assert campaign_names([Path("/x/a.csv"), Path("/x/a.tsv")]) == ["a.csv", "a.tsv"]
    assert campaign_names([Path("/x/1/a.csv"), Path("/x/2/a.csv")]) == ["1/a", "2/a"]
    assert campaign_names([Path("/x/1/y/a.csv"), Path("/x/2/y/a.csv"), Path("/b.csv")]) == ["1/y/a", "2/y/a", "b"]


def test_files_of_folders_in_order(tmp_path: Path) -> None:
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).write_text("x")
    (tmp_path / "folder").mkdir()
    assert files_in([HERE, tmp_path]) == [HERE, tmp_path / "a", tmp_path / "b"]
    with pytest.raises(InputError, match="given twice"):
        files_in([tmp_path / "b", tmp_path])


def test_the_name_of_a_file_counts_before_the_option() -> None:
    assert pair_of(Path("x.cs-en.txt"), ReadOptions(pair="de-en")) == ("cs", "en")
    assert pair_of(Path("x.txt"), ReadOptions(pair="German-English")) == ("de", "en")
    assert pair_of(Path("x.txt"), ReadOptions()) == ("und", "und")


def test_rows_have_the_number_of_their_first_line(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text('\ufeff a , b\n1,"two\nlines"\n\n , \n3,4,\n', encoding="utf-8")
    table = read_delimited(file)
    assert table.header == ("a", "b")
    assert table.rows == ((2, ["1", "two\nlines"]), (6, ["3", "4"]))
    assert table.need("B") == 1
    assert table.find("c") is None
    assert table.texts(1).to_list() == ["two\nlines", "4"]
    assert table.texts(None).to_list() == [None, None]
    assert [line for line, _ in table.rows] == [2, 6]


def test_delimiters() -> None:
    assert detect_delimiter("a\tb,c\td\n1;2;3;4;5;6") == "\t"
    assert detect_delimiter("a;b;c,d") == ";"
    assert detect_delimiter("a,b") == ","


def test_only_line_feeds_end_a_line() -> None:
    assert list(numbered_lines("a\r\n\n b\u2028c\x85d \n")) == [(1, "a"), (3, " b\u2028c\x85d ")]


@pytest.mark.parametrize("value", ["", "1_0", "1.0", "١", "--1", "1 2", "0x1", "9" * 30])
def test_what_is_no_whole_number(value: str) -> None:
    with pytest.raises(InputError, match=r"file.csv, line 3: count is '"):
        to_int(value, "count", HERE, 3)


@pytest.mark.parametrize("value", ["", "1_0", "nan", "inf", "1e999", "one", "1,5"])
def test_what_is_no_number(value: str) -> None:
    with pytest.raises(InputError, match=r"file.csv, line 3: score is '"):
        to_float(value, "score", HERE, 3)


def test_numbers() -> None:
    assert [to_int(value, "count", HERE, 1) for value in (" 7 ", "-1", "+3")] == [7, -1, 3]
    assert [to_float(value, "score", HERE, 1) for value in (" 7.5 ", "-1", "1e3")] == [7.5, -1.0, 1000.0]


@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from(["1", " 2", "3.0", "+4", "5.", "-1", "0", "", "-", "NA", "nan", None]), max_size=8))
def test_rank_labels(written: list[str | None]) -> None:
    meant = {"1": 1, " 2": 2, "3.0": 3, "+4": 4, "5.": 5}
    bad = BadRows(Source(str(HERE)), ReadOptions(), len(written))
    parsed = parse_ranks(pl.Series(written, dtype=pl.String), scale=5, bad=bad)
    assert not bad.problems
    assert parsed.to_list() == [meant.get(value or "") for value in written]
    assert parsed.dtype == pl.Int32


@pytest.mark.parametrize("value", ["6", "1.5", "-2", "best", "1e0", "99999999999999"])
def test_rank_labels_that_are_none(value: str) -> None:
    bad = BadRows(Source(str(HERE), lambda row: [7, 9, 8][row]), ReadOptions(), 3)
    assert parse_ranks(pl.Series(["1", "", value]), scale=5, bad=bad).to_list() == [1, None, None]
    with pytest.raises(InputError, match=r"file.csv, line 8: rank is '.*', it must lie between 1 and 5"):
        bad.settle()
