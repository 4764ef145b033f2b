"""Quotation marks in tables: around fields, in names of columns, and in texts that were written as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge import read
from adjudge.table.errors import InputError

HEADER = ("annotator", "segment", "system", "score", "target")
TEXTS = {
    "one begins a text": ('"He came', "and went", "soon"),
    "a quotation goes over two texts": ('"He came', "and went", 'soon."'),
    "one word is quoted": ('"Yes", he said', "and went", "soon"),
    "inches": ('a 5" screen', "and went", "soon"),
}


def written(tmp_path: Path, texts: tuple[str, ...], separator: str, name: str) -> Path:
    rows = [("ann", str(number), "AB"[number % 2], str(60 + number), text) for number, text in enumerate(texts)]
    file = tmp_path / name
    file.write_text("".join(separator.join(row) + "\n" for row in (HEADER, *rows)), encoding="utf-8")
    return file


@pytest.mark.parametrize("case", list(TEXTS))
def test_texts_between_tabs_may_hold_quotation_marks(tmp_path: Path, case: str) -> None:
    judgments = read(written(tmp_path, TEXTS[case], "\t", "table.tsv"))
    assert judgments.table["score"].to_list() == [60.0, 61.0, 62.0]
    assert judgments.table["target"].to_list() == list(TEXTS[case])
    assert any("quotation marks are ordinary characters in table.tsv" in note for note in judgments.notes)
    assert not judgments.set_aside


def test_lines_are_numbered_where_marks_are_ordinary(tmp_path: Path) -> None:
    file = written(tmp_path, ('"He came', "and went", 'soon."'), "\t", "table.tsv")
    file.write_text(file.read_text(encoding="utf-8").replace("\t62\t", "\tmuch\t"), encoding="utf-8")
    with pytest.raises(InputError, match=r"line 4: column 'score' holds 'much'"):
        read(file)


def test_marks_around_fields_still_enclose_them(tmp_path: Path) -> None:
    texts = ('"with a\ttab and\na line, and ""marks"""', "plain", "soon")
    judgments = read(written(tmp_path, texts, "\t", "table.tsv"))
    assert judgments.table["target"].to_list() == ['with a\ttab and\na line, and "marks"', "plain", "soon"]
    assert not any("quotation marks" in note for note in judgments.notes)


def test_a_stray_mark_between_commas_is_named_with_its_line(tmp_path: Path) -> None:
    texts = ('"well, he came"', '"well, he came" and went', "soon")
    with pytest.raises(InputError, match=r"line 3: cannot be read as a table: a quotation mark neither begins nor"):
        read(written(tmp_path, texts, ",", "table.csv"))


def test_names_of_systems_with_marks_are_read_from_the_header(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text('item,A,"B, ""big"""\n1,70,60\n2,80,65\n', encoding="utf-8")
    assert read(file, systems=["A", 'B, "big"']).systems == ("A", 'B, "big"')


def test_lines_may_end_in_returns_alone(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(b"system,score\rA,70\rB,60\r")
    assert read(file).table["score"].to_list() == [70.0, 60.0]
