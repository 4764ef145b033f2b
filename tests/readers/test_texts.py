"""Texts of every kind are read the same, and files that do not line up are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.readers.texts import Column, aligned, read_column, read_wmt_xml, text_format
from adjudge.table.errors import InputError

XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="made-up">
  <collection id="news">
  <doc id="a" origlang="en">
    <src lang="en"><p><seg id="1">One &amp; two.</seg></p><p><seg id="2">Three.</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">Eins &amp; zwei.</seg><seg id="2">Drei.</seg></p></ref>
    <ref lang="de" translator="B"><p><seg id="1">1 und 2.</seg><seg id="2">3.</seg></p></ref>
    <hyp lang="de" system="X"><p><seg id="1">Ein und zwei.</seg><seg id="2">Drei!</seg></p></hyp>
  </doc>
  <doc id="b" origlang="en">
    <src lang="en"><p><seg id="1">Four.</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">Vier.</seg></p></ref>
    <ref lang="de" translator="B"><p><seg id="1">4.</seg></p></ref>
    <hyp lang="de" system="X"><p><seg id="1">Vier!</seg></p></hyp>
  </doc>
  </collection>
</dataset>
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_blank_lines_separate_documents(tmp_path: Path) -> None:
    column = read_column(write(tmp_path, "s.txt", "\n\none\ntwo\n\n\nthree\n\n"))
    assert column.texts == ("one", "two", "three")
    assert column.documents == ("1", "1", "2")


def test_line_separators_of_unicode_stay_inside_a_segment(tmp_path: Path) -> None:
    assert read_column(write(tmp_path, "s.txt", "one\u2028more\r\ntwo\x0bmore\n")).texts == (
        "one\u2028more",
        "two\x0bmore",
    )


@pytest.mark.parametrize("text", ["eins\nzwei\n\ndrei\n", "eins\nzwei\ndrei", "eins\nzwei\ndrei\n"])
def test_a_translation_may_keep_or_drop_the_borders(tmp_path: Path, text: str) -> None:
    source = read_column(write(tmp_path, "s.txt", "one\ntwo\n\nthree\n"))
    assert aligned(source, read_column(write(tmp_path, "t.txt", text))) == ("eins", "zwei", "drei")


def test_an_empty_translation_is_kept(tmp_path: Path) -> None:
    source = read_column(write(tmp_path, "s.txt", "one\ntwo\n\nthree\n"))
    with_borders = read_column(write(tmp_path, "t.txt", "eins\n\n\ndrei\n"))
    without = read_column(write(tmp_path, "u.txt", "eins\n\ndrei\n"))
    assert aligned(source, with_borders) == ("eins", "", "drei")
    assert aligned(source, without) == ("eins", "", "drei")


@pytest.mark.parametrize("text", ["eins\nzwei\n", "eins\n\nzwei\ndrei\n", "a\nb\nc\nd\n", "a\nb\nc\nd\ne\n"])
def test_slipped_lines_do_not_align(tmp_path: Path, text: str) -> None:
    source = read_column(write(tmp_path, "s.txt", "one\ntwo\n\nthree\n"))
    alignment = aligned(source, read_column(write(tmp_path, "t.txt", text)))
    # The second has as many lines with text as the source, but a document border on another line.
    assert alignment is None


def test_tsv_columns_are_found_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, "t.tsv", 'document\tsource\tA\nd1\t"one\teins\nd2\ttwo\tzwei\n')
    assert read_column(path, names=["source"]) == Column(path, ('"one', "two"), ("d1", "d2"))
    assert read_column(path, names=["missing", "A"]).texts == ("eins", "zwei")
    with pytest.raises(InputError, match=r"t.tsv, line 1: has no column 'B'"):
        read_column(path, names=["B"])


def test_wmt_xml_holds_everything(tmp_path: Path) -> None:
    testset = read_wmt_xml(write(tmp_path, "t.xml", XML))
    assert [(s.document, s.segment, s.text) for s in testset.source] == [
        ("a", "1", "One & two."),
        ("a", "2", "Three."),
        ("b", "1", "Four."),
    ]
    assert testset.references == {"refA": ("Eins & zwei.", "Drei.", "Vier."), "refB": ("1 und 2.", "3.", "4.")}
    assert testset.systems == {"X": ("Ein und zwei.", "Drei!", "Vier!")}
    assert testset.documents() == (("a", range(2)), ("b", range(2, 3)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('<hyp lang="de" system="X"><p><seg id="1">Vier!</seg></p></hyp>', ""), "'X' has 0 segments .* document 'b'"),
        (("</dataset>", ""), "not well-formed XML"),
        (('id="b"', 'id="a"'), "document 'a' twice"),
        (("<dataset", "<!DOCTYPE d [<!ENTITY x 'y'>]><dataset"), "declares entities"),
    ],
)
def test_faulty_xml_is_explained(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_wmt_xml(write(tmp_path, "t.xml", XML.replace(*change)))


def test_sgm_is_read_leniently(tmp_path: Path) -> None:
    sgm = (
        '<tstset setid="s" srclang=any trglang="de">\n<DOC docid="a" sysid=X>\n'
        "<hl><seg id=1>Eins &amp; R&D</seg></hl>\n"
        '<p><seg id="2"> Zwei\n zeilig </seg></p></DOC>\n<doc docid=b><seg id="1">Drei</seg></doc></tstset>'
    )
    column = read_column(write(tmp_path, "t.sgm", sgm))
    assert column.texts == ("Eins & R&D", "Zwei zeilig", "Drei")
    assert column.documents == ("a", "a", "b")
    assert column.segments == ("1", "2", "1")
    with pytest.raises(InputError, match=r"line 4: a <seg> is not closed"):
        read_column(write(tmp_path, "cut.sgm", sgm.split("</seg></p>", maxsplit=1)[0]))


def test_named_segments_are_aligned_by_name(tmp_path: Path) -> None:
    source = Column(tmp_path, ("1", "2", "3"), ("a", "a", "b"), ("1", "2", "1"))
    other = Column(tmp_path, ("drei", "eins", "zwei"), ("b", "a", "a"), ("1", "1", "2"))
    assert aligned(source, other) == ("eins", "zwei", "drei")
    assert aligned(source, Column(tmp_path, ("x", "y", "z"), ("a", "a", "c"), ("1", "2", "1"))) is None


@pytest.mark.parametrize(
    ("name", "kind"), [("a.txt", "text"), ("a.en", "text"), ("a.tsv.gz", "tsv"), ("a.xml", "wmt-xml"), ("a.sgm", "sgm")]
)
def test_the_ending_says_the_format(name: str, kind: str) -> None:
    assert text_format(Path(name)) == kind


def test_a_tag_with_a_long_word_does_not_take_hours(tmp_path: Path) -> None:
    """Each of its letters was taken for the beginning of an attribute."""
    file = tmp_path / "long.sgm"
    file.write_text(f'<refset><doc {"A" * 500_000} docid="d"><seg id="1">x</seg></doc></refset>')
    assert read_column(file).texts == ("x",)
