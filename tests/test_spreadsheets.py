"""Texts that look like formulas are shown as texts by spreadsheets, and can be had back."""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.readers import native
from adjudge.readers.large_files import rows_of_file
from adjudge.readers.options import ReadOptions
from adjudge.readers.parsing import as_plain_text, undo_plain_text
from adjudge.readers.spreadsheets import read_workbook
from adjudge.table.judgments import SCHEMA, Judgments
from tests.conftest import examples

TEXT = st.one_of(st.text(alphabet="=+-@\t\r' a", max_size=4), st.none())


@settings(max_examples=examples(100))
@given(st.lists(TEXT, min_size=1, max_size=6))
def test_what_was_changed_for_spreadsheets_can_be_undone(texts: list[str | None]) -> None:
    frame = pl.DataFrame(
        {"=system": texts, "score": [-1.5] * len(texts)}, schema={"=system": pl.String, "score": pl.Float64}
    )
    changed = as_plain_text(frame)
    assert not any(text and text[0] in "=+-@\t\r" for text in [*changed.columns, *changed.to_series(0)])
    assert changed["score"].to_list() == [-1.5] * len(texts)
    written = [*changed.columns, *SCHEMA]
    assert undo_plain_text(changed, written).equals(frame)


def test_numbers_are_no_formulas() -> None:
    frame = pl.DataFrame({"x": ["-5", "+0.5", "-1e-3", "-5+1", "-"]})
    assert as_plain_text(frame)["x"].to_list() == ["-5", "+0.5", "-1e-3", "'-5+1", "'-"]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_judgment_table_reaches_spreadsheets_without_formulas_and_comes_back(tmp_path: Path, ending: str) -> None:
    texts = ["=HYPERLINK(1)", "@SUM(1)", "+a", "-b", "\tc", "'=d", "plain"]
    rows = {"system": texts, "annotator": texts, "text": texts, "=extra": texts, "score": [-1.5] * len(texts)}
    frame = pl.DataFrame({"protocol": ["mqm"] * len(texts), "segment": texts, **rows})
    judgments = Judgments.from_columns(frame)
    path = tmp_path / f"table{ending}"
    native.write(judgments, path)
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file, delimiter="\t" if ending == ".tsv" else ",") for cell in row]
    assert "'=HYPERLINK(1)" in cells
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r") and cell != "-1.5"]
    read = native.read([path], ReadOptions()).table
    assert read["=extra"].to_list() == texts
    assert read.select(list(SCHEMA)).equals(judgments.table.select(list(SCHEMA)))
    rows_of_large_file = rows_of_file(path, ReadOptions()).scan().collect() if ending == ".csv" else read
    assert rows_of_large_file["text"].to_list() == texts


def test_apostrophes_of_other_tables_are_left(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("system,score,annotator\n'=a,1,x\nb,2,x\n")
    assert native.read([path], ReadOptions()).table["system"].to_list() == ["'=a", "b"]


def test_cells_become_texts_and_charts_are_no_tables(tmp_path: Path) -> None:
    """Whole numbers have no point, numbers have the 15 digits of a spreadsheet; sheets that are charts are left out."""
    import xlsxwriter

    path = tmp_path / "judgments.xlsx"
    with xlsxwriter.Workbook(path) as workbook:
        workbook.add_chartsheet("picture")
        sheet = workbook.add_worksheet("table")
        date = workbook.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row("A1", ["system", "system", None, "score"])
        sheet.write_row("A2", ["A", 12, True, 1 / 3])
        sheet.write_row("A3", ["B", 1e21, 0.1 + 0.2])
        sheet.write_datetime("D3", dt.date(2024, 5, 17), date)
        sheet.write_row("A5", ["C", None, 2**53, 82.0])
    read = read_workbook(path.read_bytes(), path)
    assert read.frame.to_dict(as_series=False) == {
        "system": ["A", "B", "C"],
        "system_1": ["12", "1000000000000000000000", None],
        "column 3": ["true", "0.3", "9007199254740992"],
        "score": ["0.333333333333333", "2024-05-17", "82"],
    }
    assert [read.source.number(row) for row in range(3)] == [2, 3, 5]
    assert read.notes == ()
