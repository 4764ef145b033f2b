"""Words: the fast readers of word lists and dictionaries against the packages that the files come from."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.testsets import words as dictionaries
from adjudge.testsets.words import lexicon


@cache
def sample() -> list[str]:
    """Words of the list of English."""
    return Random(5).sample(sorted(word for word in dictionaries.read_list("en") if word.isalpha()), 1500)


def base(name: str) -> Path:
    spec = find_spec("spylls")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "hunspell" / "data" / name


@pytest.fixture(scope="module")
def both() -> tuple[dictionaries.Dictionary, dictionaries.Dictionary]:
    path = base("en/en_US")
    return dictionaries.read_dictionary(path), dictionaries._read_with_spylls(path)


def test_frequencies_are_those_of_the_package() -> None:
    """wordfreq 3.1, `zipf_frequency`, which rounds to two decimals."""
    import wordfreq

    words = dictionaries.read_list("en")
    expected = [wordfreq.zipf_frequency(word, "en") for word in sample()]
    assert [words[word] for word in sample()] == pytest.approx(expected)
    assert next(iter(words)) == "the"
    assert set(wordfreq.available_languages("best")) == {
        code for code in wordfreq.available_languages("best") if dictionaries.has_list(code)
    }
    assert dictionaries.read_list("xx") == {}
    assert not dictionaries.has_list("../large_en")


@pytest.mark.slow
def test_words_of_the_list(both: tuple[dictionaries.Dictionary, dictionaries.Dictionary]) -> None:
    """spylls 0.1.7 looks up the same words."""
    fast, slow = both
    assert isinstance(fast, dictionaries.Stems)
    assert [word for word in sample() if fast.lookup(word) != slow.lookup(word)] == []


@given(
    st.deferred(lambda: st.sampled_from(sample())),
    st.sampled_from(["", "un", "re", "dis"]),
    st.sampled_from(["s", "ed", "ing", "ly", "e"]),
)
def test_words_made_up(
    both: tuple[dictionaries.Dictionary, dictionaries.Dictionary], stem: str, start: str, end: str
) -> None:
    fast, slow = both
    assert fast.lookup(start + stem + end) == slow.lookup(start + stem + end)


def test_a_dictionary_that_needs_more_is_left_to_the_package(tmp_path: Path) -> None:
    (tmp_path / "x.aff").write_text("SET UTF-8\nCOMPOUNDFLAG C\n", encoding="utf-8")
    (tmp_path / "x.dic").write_text("2\nhus/C\nbil/C\n", encoding="utf-8")
    assert dictionaries.read_dictionary(tmp_path / "x").lookup("bilhus")


@pytest.mark.parametrize(
    ("word", "near"),
    [("istance", "instance"), ("recieve", "receive"), ("goverment", "government"), ("sart", "start")],
)
def test_first_letters_are_seldom_wrong(word: str, near: str) -> None:
    english = lexicon("en")
    assert english is not None
    nearest = english.nearest(word)
    assert nearest is not None
    assert nearest.word == near
