"""Files: formats, encodings, marks that a reader took away, translations out of step, corrected copies, versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.table.errors import InputError, UsageError
from adjudge.testsets.alignment import find_shifted_stretches
from adjudge.testsets.check import TestSetOptions, parse_output, read_and_check, testset
from adjudge.testsets.fixes import write_fixed
from tests.conftest import Run, assert_explained
from tests.helpers.inject import CLEAN, clean_lines

SGM = (
    '<doc docid="d1"><seg id="1">A head</seg><seg id="2">They met the the mayor.</seg></doc>'
    '<doc docid="d2"><seg id="1">B head</seg><seg id="2">They left.</seg></doc>'
)
XML = (
    '<dataset><doc id="d1"><src lang="en"><p><seg id="1">A head</seg><seg id="2">They met the the mayor.</seg></p>'
    '</src></doc><doc id="d2"><src lang="en"><p><seg id="1">B head</seg><seg id="2">They left.</seg></p></src></doc>'
    "</dataset>"
)
ENGLISH = TestSetOptions(language="en")


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.txt", "A head\nThey met the the mayor.\n\nB head\nThey left.\n", 2),
        ("a.tsv", "document\tsource\nd1\tA head\nd1\tThey met the the mayor.\nd2\tB head\nd2\tThey left.\n", 3),
        ("a.sgm", SGM, 2),
        ("a.xml", XML, 2),
    ],
)
def test_formats(name: str, text: str, line: int, tmp_path: Path) -> None:
    result = testset([write(tmp_path / name, text)], ENGLISH)
    assert (result.segments, result.documents, result.counts) == (4, 2, {"typo": 1})
    assert result.findings[0].line == line
    assert result.findings[0].document in ("1", "d1")


def test_bytes_that_are_not_utf_8_are_a_finding(tmp_path: Path) -> None:
    result = testset([write(tmp_path / "a.txt", b"A head\nThe caf\xe9 is open.\n")], ENGLISH)
    assert [(finding.line, finding.category) for finding in result.findings] == [(2, "encoding")]


def test_marks_taken_away_by_a_reader_of_tables(tmp_path: Path) -> None:
    lines = [line.lstrip('"“') for line in clean_lines()]
    result = testset([write(tmp_path / "a.txt", "\n".join(lines))], ENGLISH)
    assert result.counts["eaten-quotes"] == 1
    assert all(finding.confidence <= 0.5 for finding in result.findings if finding.category == "quotation-marks")
    assert "eaten-quotes" not in testset([CLEAN], ENGLISH).counts


def test_a_corrected_copy_with_a_log(tmp_path: Path) -> None:
    file = write(tmp_path / "a.txt", "A head\nThey met the the mayor , again.\n\nB head\nHe said it was ofthe town.\n")
    sources, result = read_and_check([file], ENGLISH)
    written = write_fixed(sources, result.findings, tmp_path / "fixed")
    text = (tmp_path / "fixed" / "a.txt").read_text(encoding="utf-8")
    assert text == "A head\nThey met the mayor, again.\n\nB head\nHe said it was of the town.\n"
    log = (tmp_path / "fixed" / "changes.tsv").read_text(encoding="utf-8").splitlines()
    assert written.changes == 3
    assert log[1].split("\t")[1:4] == ["2", "1", "typo"]
    assert file.read_text(encoding="utf-8").startswith("A head\nThey met the the mayor ,")
    with pytest.raises(UsageError, match="never overwritten"):
        write_fixed(sources, result.findings, tmp_path)


SOURCE = [f"Sentence {i} about {'very ' * (i * 7 % 11)}different things in the year {1900 + i}" for i in range(90)]
TARGET = [f"Satz {i} über {'sehr ' * (i * 7 % 11)}verschiedene Dinge im Jahr {1900 + i}" for i in range(90)]


def test_a_translation_out_of_step() -> None:
    assert find_shifted_stretches(SOURCE, TARGET) == []
    assert find_shifted_stretches(SOURCE, TARGET[-2:] + TARGET[:-2]) == [(1, 90, 2)]
    # One line too many in the middle, and the translation of line 60 lost: from there on all is in step again.
    broken = [*TARGET[:30], "Noch ein Satz", *TARGET[30:59], *TARGET[60:]]
    assert find_shifted_stretches(SOURCE, broken) == [(31, 59, 1)]


def test_translations_that_are_none(tmp_path: Path) -> None:
    source = write(tmp_path / "s.txt", "\n".join(SOURCE))
    lines = [*TARGET[:5], "", *SOURCE[6:8], *TARGET[8:]]
    translation = write(tmp_path / "t.txt", "\n".join(lines))
    findings = testset([source], TestSetOptions(language="en", translations=(translation,))).findings
    own = [(finding.line, finding.category) for finding in findings if finding.file == str(translation)]
    assert own == [(6, "blank"), (7, "untranslated"), (8, "untranslated")]
    short = write(tmp_path / "u.txt", "one\ntwo\n")
    with pytest.raises(InputError, match="has 2 lines where"):
        testset([source], TestSetOptions(language="en", translations=(short,)))


def test_two_versions_and_outputs(tmp_path: Path) -> None:
    before = write(tmp_path / "b.txt", 'A head\nHe said: "Yes.\nThe goverment left.\nThey stayed .\nAll good.\n')
    after = write(tmp_path / "a.txt", 'A head\nHe said: "Yes."\nThe government left.\nThey stayed.\nAll good.\n')
    old = write(tmp_path / "ob.txt", "Kopf\nEr sagte ja\nDie Regierung ging\nSie blieben\nAlles gut\n")
    new = write(tmp_path / "oa.txt", "Kopf\nEr sagte: Ja\nDie Regierung ging\nSie blieben\nAlles sehr gut\n")
    output = parse_output(f"mt={old},{new}")
    versions = testset([before], TestSetOptions(language="en", after=after, outputs=(output,))).versions
    assert versions is not None
    assert [(change.line_before, change.kind) for change in versions.changes] == [
        (2, "quotation marks"),
        (3, "words"),
        (4, "spacing"),
    ]
    (mt,) = versions.outputs
    assert (mt.changed, mt.share_where_source_changed, mt.share_where_not) == (2, 1 / 3, 1 / 2)
    # sacrebleu 2.6.0, TER().sentence_score("Alles gut", ["Alles sehr gut"]): one insertion of three words.
    assert mt.ter[4] == pytest.approx(1 / 3)
    assert mt.ter[0] == 0.0


def test_metrics_of_two_versions_have_intervals(tmp_path: Path) -> None:
    lines = [f"The number {i} is here , and so is {i % 7} ." for i in range(40)]
    before, after = (write(tmp_path / name, "\n".join(lines) + "\n") for name in ("b.txt", "a.txt"))
    changed = [line.replace("here", "there") if i % 3 == 0 else line for i, line in enumerate(lines)]
    mt = write(tmp_path / "mt.txt", "\n".join(changed) + "\n")
    options = TestSetOptions(
        language="en", after=after, outputs=(parse_output(f"mt={mt},{before}"),), reference_translation=(before,)
    )
    versions = testset([before], options).versions
    assert versions is not None
    (output,) = versions.outputs
    # An output that equals the reference has a BLEU of 100 in every resample.
    assert output.metrics["BLEU"][1] == pytest.approx(100)
    assert output.margins["BLEU"][1] == pytest.approx(0, abs=1e-6)
    # The standard error of the mean of 40 segments, 14 of which have one error of 10 words, is .75 percent in TER.
    share = 14 / 40
    assert output.margins["TER"][0] == pytest.approx(196 * (share * (1 - share) / 40) ** 0.5 / 10, rel=0.15)


def test_versions_of_other_lengths(tmp_path: Path) -> None:
    before = write(tmp_path / "b.txt", "One is here.\nTwo is here.\nThree is here.\n")
    after = write(tmp_path / "a.txt", "A headline\nOne is here.\nTwo is here!\nThree is here.\n")
    versions = testset([before], TestSetOptions(language="en", after=after)).versions
    assert versions is not None
    assert [(change.line_before, change.line_after, change.kind) for change in versions.changes] == [
        (None, 1, "put in"),
        (2, 3, "punctuation"),
    ]


def test_command(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    file = write(tmp_path / "a.txt", "A head\nThey met the the mayor.\n")
    answer = adjudge("testset", file, "--json", "--fix", tmp_path / "fixed").json
    assert {"segments", "findings", "counts", "signature", "settings", "version", "set_aside"} <= answer.keys()
    assert {"file", "line", "document", "category", "text", "suggestion", "confidence"} <= answer["findings"][0].keys()
    assert (tmp_path / "fixed" / "changes.tsv").exists()
    assert_explained(adjudge("testset", tmp_path / "none.txt"), names=("none.txt",))


def test_original_languages_are_found_in_every_format_that_has_them(tmp_path: Path) -> None:
    xml = """<dataset><doc id="a" origlang="en"><src lang="en"><p><seg id="1">One here.</seg>
<seg id="2">Two.</seg></p></src></doc>
<doc id="b" origlang="de"><src lang="en"><p><seg id="1">Three here.</seg></p></src></doc></dataset>"""
    sgm = """<srcset setid="t" srclang="any"><doc docid="a" origlang="en"><seg id="1">One here.</seg>
<seg id="2">Two.</seg></doc>
<doc docid="b" origlang="de"><seg id="1">Three here.</seg></doc></srcset>"""
    tsv = "document\tsource\toriglang\na\tOne here.\teng\na\tTwo.\teng\nb\tThree here.\tGerman\n"
    for name, content in (("t.xml", xml), ("t.sgm", sgm), ("t.tsv", tsv)):
        result = testset([write(tmp_path / name, content)], TestSetOptions(language="en"))
        told = [(one.document, one.origlang, one.original) for one in result.origins]
        assert told == [("a", "en", True), ("b", "de", False)]
        assert any("1 of 2 documents was not written in 'en' but in de" in note for note in result.notes)
    plain = testset([write(tmp_path / "t.txt", "One here.\n")], TestSetOptions(language="en"))
    assert plain.origins == ()
