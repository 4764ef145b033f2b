"""White-space separated tables: what scripts of statistics write, and what damage does to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.readers.options import ReadOptions
from adjudge.readers.parsing import Spaced, read_spaced
from adjudge.table.errors import InputError


def table(tmp_path: Path, text: str, header: str = "score") -> Spaced:
    file = tmp_path / "table.csv"
    file.write_bytes(text.encode())
    spaced = read_spaced(file, header=header)
    assert spaced is not None
    return spaced


def test_tabs_blanks_and_quotes_may_be_mixed(tmp_path: Path) -> None:
    rows = table(tmp_path, 'name \tscore \n"a b"\t 1\r\n\n  c   NA \n')
    assert rows.header == ("name", "score")
    assert rows.texts(0).to_list() == ["a b", "c"]
    assert rows.numbers(1, "score").to_list() == [1.0, None]
    assert rows.frame["line"].to_list() == [2, 4]


def test_a_file_may_have_no_header(tmp_path: Path) -> None:
    rows = table(tmp_path, "a 1\nb 2\n")
    assert rows.header == ()
    assert rows.texts(0).to_list() == ["a", "b"]


@pytest.mark.parametrize("text", ["", "\n\n", " \t \n"])
def test_an_empty_file_is_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "empty.csv").write_text(text)
    assert read_spaced(tmp_path / "empty.csv", header="score") is None


@pytest.mark.parametrize(("text", "line"), [("a 1\nb 2 3\n", 2), ("a 1\n\nb\n", 3)])
def test_a_row_of_another_length_is_named_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(InputError, match=rf"line {line}: .* fields? where the first line has 2"):
        table(tmp_path, text).refuse_ragged()


def test_rows_of_another_length_stay_in_their_place_and_are_known(tmp_path: Path) -> None:
    read = table(tmp_path, "name score\na 1\nb\nc 3 4\nd 5\n")
    assert read.texts(1).to_list() == ["1", None, "3", "5"]
    bad = read.bad_rows(ReadOptions(bad_rows=0.5))
    assert bad.usable().to_list() == [True, False, False, True]
    [record], [note] = bad.settle()
    assert record.rows == 2
    assert "lines 3, 4: 1 field where the first line has 2" in note


@pytest.mark.parametrize("value", ["x", "inf", "nan", "1_0"])
def test_what_is_no_number_is_named_with_its_line(tmp_path: Path, value: str) -> None:
    rows = table(tmp_path, f"name score\na 1\nb {value}\n")
    with pytest.raises(InputError, match=rf"line 3: score is '{value}'"):
        rows.numbers(1, "score")
