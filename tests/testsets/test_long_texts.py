"""Long texts of one repeated character are checked in linear time; marks agree with a slow version."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge
from adjudge.testsets.quotes import ALL, _find_neighbours


def slow_neighbour(text: str, position: int) -> str:
    before = [character for character in text[:position] if character not in ALL]
    return before[-1] if before else ""


@given(st.text(alphabet=[*ALL, "a", " ", "1", "."], max_size=30))
def test_neighbours_are_those_of_a_slow_version(text: str) -> None:
    assert _find_neighbours(text) == [slow_neighbour(text, position) for position in range(len(text))]


@pytest.mark.slow
@pytest.mark.parametrize("sign", ['"', "“", "(", "a", "@"])
def test_thirty_thousand_signs_are_read(sign: str, tmp_path: Path) -> None:
    """With a look through the text for every sign, a single one of these took more than a minute."""
    file = tmp_path / "source.txt"
    file.write_text("A cat sat on the mat.\n" + sign * 30_000 + "\nA dog barked.\n", encoding="utf-8")
    assert adjudge.testset(file).statistics.segments == 3
