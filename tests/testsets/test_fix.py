"""Corrected copies: in the format of the file, and nothing but the corrected segments touched."""

from __future__ import annotations

import gzip
import html
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.table.errors import UsageError
from adjudge.testsets.check import TestSetOptions, read_and_check
from adjudge.testsets.fixes import escaped, replace_segments, write_fixed
from tests.conftest import Run, examples

ENGLISH = TestSetOptions(language="en")


def fixed(path: Path, content: str | bytes) -> tuple[bytes, list[list[str]]]:
    """The corrected copy of a file, and the rows of the log."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    sources, result = read_and_check([path], ENGLISH)
    folder = path.parent / "fixed"
    write_fixed(sources, result.findings, folder)
    log = (folder / "changes.tsv").read_text(encoding="utf-8").splitlines()
    return (folder / path.name).read_bytes(), [line.split("\t") for line in log[1:]]


SGM = """<srcset setid="x" srclang="any">
<DOC docid="d1"><p>
<seg id="1"> A &amp; B &quot;say&quot; </seg>
<seg id='2'>
 They met {} mayor. </seg></p>
</DOC></srcset>
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<!-- <seg id="1">no</seg> --><dataset id="x">
<doc origlang="en" id="d>1"><src lang="en"><p>
<seg id="1">A &lt;head&gt;</seg>
<seg id="2">They met {} mayor.</seg></p></src>
<ref lang="de" translator="A"><p><seg id="1">Ein the the</seg><seg id="2">the the</seg></p></ref></doc></dataset>"""
TSV = "id\tsource\tdocument\tnote\n1\tA head\td1\tx\n2\t They met {} mayor. \td1\t\n\n3\tB head\td2\ty\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "A head\r\nThey met {} mayor.\r\n\r\nB head\r\nThey left.\r\n"),
        ("b.txt", "\ufeffThey met {} mayor.\n\n\nB head\nNo line end"),
        ("a.tsv", TSV),
        ("a.sgm", SGM),
        ("a.xml", XML),
    ],
)
def test_only_the_wrong_words_change(name: str, content: str, tmp_path: Path) -> None:
    written, log = fixed(tmp_path / name, content.replace("{}", "the the"))
    assert written.decode() == content.replace("{}", "the")
    assert [(row[3], row[5].strip(), row[6].strip()) for row in log] == [
        ("typo", "They met the the mayor.", "They met the mayor.")
    ]


def test_entities_stay_as_they_were_written(tmp_path: Path) -> None:
    sgm = '<doc docid="d"><seg id="1">&quot;R&amp;D&quot; is the the &lt;aim&gt; of AT&amp;T&apos;s "lab".</seg></doc>'
    assert fixed(tmp_path / "a.sgm", sgm)[0].decode() == (
        sgm.replace("the the", "the").replace('"lab"', "&quot;lab&quot;")  # one way of writing a mark in a segment
    )
    assert escaped(" a & b ", "a & c") == " a & c "
    assert escaped("a &amp; b", "a & c > d") == "a &amp; c &gt; d"


@given(st.text(st.sampled_from("ab <>&\"'éא字"), max_size=12), st.text(st.sampled_from("ab<>&\"'é字"), min_size=1))
def test_what_is_escaped_reads_back(before: str, after: str) -> None:
    """Whatever entities a segment had, the new text reads as it was meant."""
    new = escaped(html.escape(before), after)
    assert html.unescape(new).strip() == after.strip()
    assert "<" not in new


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("a.xml", '<dataset><doc id="d"><src lang="en">', "</src></doc></dataset>"),
        ("a.sgm", '<doc docid="d">', "</doc>"),
    ],
)
def test_a_segment_with_markup_inside_stays_as_it_is(name: str, start: str, end: str, tmp_path: Path) -> None:
    marked = '<seg id="1">They <b>met</b> the the mayor.</seg>'
    content = f'{start}{marked}<seg id="2">They left the the town.</seg>{end}'
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    sources, result = read_and_check([path], ENGLISH)
    written = write_fixed(sources, result.findings, tmp_path / "fixed")
    # In SGM tags are part of the text, and nothing else is corrected beside them.
    assert (written.changes, written.left) == (1, int(name == "a.xml"))
    assert (tmp_path / "fixed" / name).read_text(encoding="utf-8") == content.replace("left the the", "left the")


def test_compressed_files_stay_compressed(tmp_path: Path) -> None:
    written, _ = fixed(tmp_path / "a.txt.gz", gzip.compress(b"A head\nThey met the the mayor.\n"))
    assert gzip.decompress(written) == b"A head\nThey met the mayor.\n"


def test_lines_in_another_encoding_become_utf_8(tmp_path: Path) -> None:
    written, log = fixed(tmp_path / "a.txt", b"A head\nThe caf\xe9 is open.\nThey left.\n")
    assert written.decode() == "A head\nThe café is open.\nThey left.\n"
    assert [row[3] for row in log] == ["encoding"]


def test_no_period_is_put_behind_what_may_be_a_headline(tmp_path: Path) -> None:
    """Without borders between documents, nobody knows which lines are headlines."""
    line = "The mayor had said that nothing of the kind would ever happen here"
    body = "".join(f"They met the mayor for the {i}th time.\n" for i in range(70))
    assert fixed(tmp_path / "a.txt", f"{body}{line}\n{body}")[1] == []
    (tmp_path / "b").mkdir()
    assert [row[3] for row in fixed(tmp_path / "b" / "a.txt", f"A head\n\n{body}{line}\n{body}")[1]] == ["final-period"]


def test_names_that_would_collide(tmp_path: Path) -> None:
    files = [tmp_path / name / "a.txt" for name in ("one", "two")]
    for file in files:
        file.parent.mkdir()
        file.write_text("They met the the mayor.\n", encoding="utf-8")
    sources, result = read_and_check(files, ENGLISH)
    with pytest.raises(UsageError, match=r"two files 'a\.txt'"):
        write_fixed(sources, result.findings, tmp_path / "fixed")
    assert not (tmp_path / "fixed").exists()


line = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=examples(60))
@given(st.lists(line, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_nothing_changes_where_nothing_is_replaced(lines: list[str], end: str) -> None:
    """Every segment replaced by itself gives the file again, byte for byte."""
    raw = end.join(lines).encode()
    held = [text for text in lines if text.strip()]
    assert replace_segments(raw, "text", dict(enumerate(held))) == raw


def test_the_copy_is_what_the_command_reads_again(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("document\tsource\nd1\tA head\nd1\tThey met the the mayor.\n", encoding="utf-8")
    assert adjudge("testset", file, "--json", "--fix", tmp_path / "fixed").json["counts"] == {"typo": 1}
    again = adjudge("testset", tmp_path / "fixed" / "a.tsv", "--json").json
    assert (again["counts"], again["segments"]) == ({}, 2)
