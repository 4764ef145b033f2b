"""Degraded copies: as long as the rule says, never equal to the original, in any script."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.campaigns.controls import count_replaced, degrade, is_spaced

DONORS = ["the old harbour wall fell into the sea at night", "nobody knows where all those blue lanterns came from"]
CHINESE = ["多年以后一家出版社把它们全部印了出来", "稻田像镜子一样铺满整个山谷和河边"]


@pytest.mark.parametrize(
    ("length", "replaced"),
    # The rule of Graham et al. (2017) for degraded references: words replaced by length of the translation.
    [(1, 1), (2, 2), (5, 2), (6, 3), (8, 3), (9, 4), (15, 4), (16, 5), (20, 5), (21, 5), (40, 10), (43, 10)],
)
def test_the_number_of_words_depends_on_the_length(length: int, replaced: int) -> None:
    assert count_replaced(length) == replaced


@given(words=st.lists(st.text("abcdé", min_size=1, max_size=5), min_size=1, max_size=40), seed=st.integers(0, 99))
@settings(deadline=None)
def test_one_phrase_is_replaced_and_nothing_else(words: list[str], seed: int) -> None:
    made = degrade(" ".join(words), DONORS, np.random.default_rng(seed))
    assert made is not None
    new = made.split()
    assert len(new) == len(words)
    changed = [i for i in range(len(words)) if new[i] != words[i]]
    assert changed
    count = count_replaced(len(words))
    assert changed[-1] - changed[0] < count
    if len(words) >= count + 2:
        assert new[0] == words[0]
        assert new[-1] == words[-1]


@given(text=st.text("灯塔看守人每天晚上写一封信他从不知道", min_size=1, max_size=60), seed=st.integers(0, 99))
@settings(deadline=None)
def test_scripts_without_spaces_are_treated_by_characters(text: str, seed: int) -> None:
    made = degrade(text, CHINESE, np.random.default_rng(seed))
    assert made is not None
    assert len(made) == len(text)
    assert made != text
    assert sum(a != b for a, b in zip(made, text, strict=True)) <= count_replaced(len(text))


def test_marks_are_not_torn_from_their_letters() -> None:
    text = "ภาษาไทยเขียนติดกันไม่เว้นวรรคระหว่างคำ"
    donors = ["น้ำขึ้นให้รีบตักก่อนที่น้ำจะลง"]
    for seed in range(20):
        made = degrade(text, donors, np.random.default_rng(seed))
        assert made is not None
        # A mark that combines never stands first, nor after a character that takes none.
        assert "ัั" not in made


def test_never_equal_to_the_original_or_to_another_output() -> None:
    rng = np.random.default_rng(1)
    assert degrade("same same", ["same same", "Same  same"], rng) is None
    assert degrade("one", ["two"], rng, unlike=["two"]) is None
    assert degrade("one", ["two", "three"], rng, unlike=["two"]) == "three"
    assert degrade("", DONORS, rng) is None


def test_the_same_words_in_another_order_are_no_degradation() -> None:
    # The only donor holds the same two words, so a shorter phrase must be found that differs.
    for seed in range(10):
        made = degrade("red house", ["house red"], np.random.default_rng(seed))
        assert made is None or made.split()[0] == made.split()[1]


@pytest.mark.parametrize(
    ("text", "spaced"),
    [("a plain sentence", True), ("一句话。", False), ("هذه جملة", True), ("これは文です", False), ("12", True)],
)
def test_scripts_are_recognised(text: str, spaced: bool) -> None:
    assert is_spaced(text) == spaced
