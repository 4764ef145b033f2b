"""Quotation marks that a reader of tables took away, put back by a translation that still has them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from bench.testset_edits import edits

from adjudge.testsets.check import TestSetOptions, read_and_check
from adjudge.testsets.fixes import write_fixed
from adjudge.testsets.quotes import find_lost_marks, restore_marks
from tests.helpers.inject import clean_lines


@pytest.mark.parametrize(
    ("lost", "translation", "whole"),
    [
        ("We won, she said.", '"Wir haben gewonnen", sagte sie.', '"We won," she said.'),
        # Languages that name the speaker before the quotation.
        ("We won, she said.", "그녀는 “우리가 이겼다”고 말했다.", '"We won," she said.'),
        ('We won."', "„Wir haben gewonnen.“", '"We won."'),
        ("We won.", "„Wir haben gewonnen.“", '"We won."'),
        # The quotation goes on in the next segment, or comes from the one before.
        ("We won.", "„Wir haben gewonnen.", '"We won.'),
        ("We won, he said.", "Wir haben gewonnen“, sagte er.", 'We won," he said.'),
        # Nothing was lost, or it cannot be decided.
        ("We won.", "Wir haben gewonnen.", "We won."),
        ('"We won."', "„Wir haben gewonnen.“", '"We won."'),
        ('He said "no" to me.', "Er hat „nein“ gesagt.", 'He said "no" to me.'),
        ("He told me no.", "Er hat „nein“ zu mir gesagt.", "He told me no."),
        ("", "„“", ""),
    ],
)
def test_marks_come_back(lost: str, translation: str, whole: str) -> None:
    fixed = restore_marks(lost, translation)
    assert fixed.replace(',"', '",') == whole.replace(',"', '",')


def test_a_file_that_lost_its_marks(tmp_path: Path) -> None:
    """A clean text through a reader of tables, line by line, and back by a "translation" with the same marks."""
    lines = [line.replace("“", '"').replace("”", '"') for line in clean_lines()]
    eaten = ["".join(next(csv.reader([line], delimiter="\t"), [""])) for line in lines]
    translation = [line.replace("the", "der") for line in lines]
    source, other = tmp_path / "s.txt", tmp_path / "t.txt"
    source.write_text("\n".join(eaten), encoding="utf-8")
    other.write_text("\n".join(translation), encoding="utf-8")
    sources, result = read_and_check([source], TestSetOptions(language="en", translations=(other,)))
    write_fixed(sources, result.findings, tmp_path / "fixed")
    back = (tmp_path / "fixed" / "s.txt").read_text(encoding="utf-8").split("\n")
    lost = [number for number, (old, new) in enumerate(zip(lines, eaten, strict=True)) if old != new]
    right = [number for number in lost if back[number].replace(',"', '",') == lines[number].replace(',"', '",')]
    assert len(lost) > 20
    assert len(right) >= 0.8 * len(lost)
    assert [old for number, old in enumerate(eaten) if number not in lost and old != back[number]] == []


def test_a_mark_that_the_segment_asks_for_is_surer() -> None:
    assert find_lost_marks('We won."', '"Gewonnen."') == [(0, 0.95)]
    assert find_lost_marks("We won.", '"Gewonnen."') == [(0, 0.9), (7, 0.9)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("He said: “Yes.", 'He said: "Yes.”', {"quotation-marks"}),
        ('The clients" files.', "The clients’ files.", {"apostrophe"}),
        ("'Yes,' he said.", "“Yes,” he said.", {"quote-style"}),
        ("They left", "They left. ", {"final-period"}),
        ("It was a plan - an old one", "It was a plan — an old one", set()),
        ("They met inAugust.", "They met in August.", {"spacing"}),
        ("They went though it.", "They went through it.", {"typo"}),
    ],
)
def test_the_gold_standard_of_edits(before: str, after: str, expected: set[str]) -> None:
    """What `python -m bench testset` counts as an edit of each category."""
    assert edits(before, after) == expected
