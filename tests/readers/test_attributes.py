"""Side tables: more columns for judgments, and what did not match."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import adjudge
from adjudge.readers.tables import add_attributes
from adjudge.table.errors import InputError
from adjudge.table.judgments import Judgments


def judgments() -> Judgments:
    rows = [
        {"system": system, "document": document, "segment": segment, "score": 50.0, "annotator": "p", "protocol": "da",
         "source_lang": "cs", "target_lang": "en"}
        for system in "ab" for document in ("d1", "d2") for segment in ("1", "2")
    ]  # fmt: skip
    return Judgments.from_columns(pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("side.csv", "document,domain,words\nd1,news,12\nd2,talks,7\n"),
        ("side.tsv", "doc id\tdomain\twords\nd1\tnews\t12\nd2\ttalks\t7\n"),
        ("side.json", '[{"document": "d1", "domain": "news", "words": 12}, {"doc": "d2"}]'),
        ("pair.csv", "lp,document,domain,words\ncs-en,d1,news,12\nde-en,d1,talks,7\n"),
    ],
)
def test_columns_are_added_by_document(tmp_path: Path, name: str, content: str) -> None:
    side = tmp_path / name
    side.write_text(content.replace('"doc": "d2"', '"document": "d2", "domain": "talks", "words": 7'))
    read = adjudge.read(judgments(), attributes=side)
    first = read.table.filter(pl.col("document") == "d1")
    assert set(first["domain"].to_list()) == {"news"}
    assert set(first["words"].to_list()) == {12}
    assert len(read) == len(judgments())
    if name == "pair.csv":
        assert read.table.filter(pl.col("document") == "d2")["domain"].null_count() == 4
        assert "1 of 2 values of source_lang and target_lang and document" in read.notes[0]
        assert "1 of 2 rows of pair.csv" in read.notes[1]
    else:
        assert set(read.table.filter(pl.col("document") == "d2")["words"].to_list()) == {7}
        assert read.notes == ()


def test_a_workbook_by_document_and_segment(tmp_path: Path) -> None:
    side = tmp_path / "side.xlsx"
    pl.DataFrame({"document": ["d1", "d1"], "segment": [1, 2], "difficulty": [0.5, 1.5]}).write_excel(side)
    read = adjudge.read(judgments(), attributes=side)
    hard = read.table.filter(pl.col("difficulty") == 1.5)
    assert hard.select("document", "segment").unique().rows() == [("d1", "2")]
    assert "2 of 4 values of document and segment in the judgments (4 rows) have no row" in read.notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("domain\nnews\n", "belong to no judgment"),
        ("document\nd1\n", "nothing but document"),
        ("document,domain\nd1,news\nd1,talks\n", "two different things of document 'd1'"),
        ("document,domain\nd7,news\n", "no row for any document of the judgments, such as 'd1'"),
        ("document,score\nd1,news\n", "column 'score', which the judgments have, too"),
        ("", "is empty"),
    ],
)
def test_faults_are_explained(tmp_path: Path, content: str, message: str) -> None:
    side = tmp_path / "side.csv"
    side.write_text(content)
    with pytest.raises(InputError, match=message):
        adjudge.read(judgments(), attributes=side)


def test_what_is_wrong_with_a_side_table_is_told(tmp_path: Path) -> None:
    side = tmp_path / "side.csv"
    for text, words in (
        ("document,domain,words\nd1,news\nd2,talks,7\n", "line 2: 2 fields where the header has 3"),
        ("document,document,domain\nd1,d1,news\nd2,d2,talks\n", "has the column 'document' twice"),
    ):
        side.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=words):
            adjudge.read(judgments(), attributes=side)
    side.write_text("document;length\nd1;1,5\nd2;2,5\n", encoding="utf-8")
    assert "commas in length are decimal points" in adjudge.read(judgments(), attributes=side).notes


def test_texts_of_outputs_are_added_by_system(tmp_path: Path) -> None:
    judged = Judgments.from_columns({"segment": ["1", "1"], "system": ["A", "B"], "score": [1.0, 2.0]})
    table = tmp_path / "texts.csv"
    table.write_text("segment,system,target_text\n1,A,one\n1,B,two\n")
    assert add_attributes(judged, table).table["target_text"].to_list() == ["one", "two"]
