"""Correct texts in many languages and genres: nothing is found in them, and a removed quotation mark is found.

`texts/` holds news in the languages' own quotation marks, and English from the web, a chat and a dialogue.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adjudge.table.errors import AdjudgeError
from adjudge.testsets.check import TestSetOptions, read_and_check, testset
from adjudge.testsets.findings import CATEGORIES, NOTED
from adjudge.testsets.fixes import write_fixed
from tests.conftest import examples
from tests.helpers.testset_make import findings_in

FOLDER = Path(__file__).with_name("texts")
TEXTS = {path.stem: path for path in sorted(FOLDER.glob("*.txt"))}
ENGLISH = ("web", "chat", "dialogue")
CLOSING = {
    "de": "“", "fr": "»", "es": "»", "zh": "”", "ja": "」", "ar": "»", "hi": '"', "ko": '"', "ru": "»", "cs": "“",
    "sv": "”", "pl": "”", "he": '"', "dialogue": '"',
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_right_text_is_left_alone_and_a_lost_mark_is_found(name: str, tmp_path: Path) -> None:
    """All in one test, so that the words of a language are loaded once."""
    result = testset([TEXTS[name]])
    assert result.language == ("en" if name in ENGLISH else name)
    assert [
        (finding.line, finding.category, finding.what) for finding in result.findings if finding.category in CATEGORIES
    ] == []
    # A note names what is not checked.
    notes = next(note for note in result.notes if note.startswith("not checked: "))
    assert ("single quotation marks" in notes) == (name not in ENGLISH)
    assert ("misspelt words" in notes) == (name not in (*ENGLISH, "ru", "sv"))
    if name in CLOSING:
        index, lines = without_last(CLOSING[name], TEXTS[name].read_text(encoding="utf-8").splitlines())
        file = tmp_path / "a.txt"
        file.write_text("\n".join(lines), encoding="utf-8")
        findings = testset([file], TestSetOptions(language=result.language)).findings
        assert [finding.line for finding in findings if finding.category == "quotation-marks"] == [index + 1]


def without_last(mark: str, lines: list[str]) -> tuple[int, list[str]]:
    """The lines without the mark that ends the last quotation of a segment of its own, and the index of its line."""
    index = max(i for i, line in enumerate(lines) if line.count(mark) in (1, 2) and not re.search(r'\w"\w+"', line))
    cut = lines[index].rindex(mark)
    return index, [*lines[:index], lines[index][:cut] + lines[index][cut + 1 :], *lines[index + 1 :]]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("he", 'הוא כתב ב"הארץ" על מנכ"לית החברה ועל דו"חות.'),
        ("ko", "그는 ‘화려한’이라는 말을 “좋아한다”며 웃었다."),
        ("zh", "他说“ABC”公司的“新产品”很好。"),
        ("de", 'Die »Neue Zeitung« schrieb von „Fake News“; 5" sind 12,7 cm.'),
        ("fr", "L'« affaire » est close : c'est fini !"),
        ("en", "Call boats.float(depth=2) or see RFC(s) and item(s)."),
    ],
)
def test_what_scripts_do_with_marks(language: str, text: str) -> None:
    findings = findings_in("Kopf", text, "Ende.", language=language)
    assert [finding.what for finding in findings if finding.category in CATEGORIES] == []


PIECES = [
    '"', "“", "「", "」", "'", "\t", "\n", "\n\n", "\r\n", "<seg>", "</seg>", "a b", 'ה"א', "\ufeff", "&amp;", "\x85",
    "\u2028", "source\tdocument\n", "the the",
]  # fmt: skip
contents = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(str.encode),
    st.lists(st.sampled_from(PIECES), max_size=25).map(lambda parts: "".join(parts).encode()),
)


@settings(max_examples=examples(80))
@example("\ufeff\ufeff\n".encode(), "a.txt", "en")  # a segment of nothing that can be seen
@example("a b\n\u200b\n".encode(), "a.txt", "en")
@given(contents, st.sampled_from(["a.txt", "a.tsv", "a.sgm", "a.xml"]), st.sampled_from(["en", "de", "zh", "he", None]))
def test_no_file_breaks_the_check_or_the_correction(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str, language: str | None
) -> None:
    folder = tmp_path_factory.mktemp("fuzz", numbered=True)
    file = folder / name
    file.write_bytes(content)
    try:
        sources, result = read_and_check([file], TestSetOptions(language=language))
        write_fixed(sources, result.findings, folder / "fixed")
    except AdjudgeError:
        return
    assert {finding.category for finding in result.findings} <= {*CATEGORIES, *NOTED}
    assert (folder / "fixed" / name).exists()
    again, _ = read_and_check([folder / "fixed" / name], TestSetOptions(language=language))
    assert [len(source.texts) for source in again] == [len(source.texts) for source in sources]
