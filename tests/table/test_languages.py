"""One code per language, whatever a file calls it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.table.languages import (
    UNKNOWN,
    is_language,
    is_unknown_pair,
    language_code,
    pair_in_name,
    pair_title,
    parse_pair,
    split_pair,
)
from tests.conftest import examples


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Czech", "cs"),
        ("cs", "cs"),
        ("CES", "cs"),
        ("cze", "cs"),
        ("cz", "cs"),
        (" English ", "en"),
        ("Haitian Creole", "ht"),
        ("haitian-creole", "ht"),
        ("Haitian Creole (Raw)", "ht_raw"),
        ("ht_raw", "ht_raw"),
        ("zh_CN", "zh_CN"),
        ("pt-BR", "pt_BR"),
        ("zh-Hans", "zh_Hans"),
        ("es-419", "es_419"),
        ("Multisource", "xx"),
        ("Klingon", "klingon"),
        ("Ger_(raw)", "de_raw"),
        ("", UNKNOWN),
        ("-1", UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_names_and_codes_are_one_language(name: str | None, code: str) -> None:
    assert language_code(name) == code


@settings(max_examples=examples(150))
@given(st.one_of(st.text(max_size=20), st.from_regex(r"[A-Za-z]{2,9}[-_ ][(]?[A-Za-z]{2,5}[)]?", fullmatch=True)))
def test_a_code_is_its_own_code(name: str) -> None:
    once = language_code(name)
    assert language_code(once) == once


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("cs-en", "cs-en"),
        ("ces-eng", "cs-en"),
        ("Czech-English", "cs-en"),
        ("cs,en", "cs-en"),
        ("cs -> en", "cs-en"),
        ("cs:en", "cs-en"),
        ("zh-Hans-en", "zh_Hans-en"),
        ("en-pt-BR", "en-pt_BR"),
        ("Haitian-Creole-English", "ht-en"),
        ("Haitian Creole (Raw)-English", "ht_raw-en"),
        ("klingon-en", "klingon-en"),
        ("cs", "cs-und"),
        ("cs_en", "cs-en"),
        ("ces_eng", "cs-en"),
        ("zh_CN-en", "zh_CN-en"),
        ("csen", "cs-en"),
        ("cs>en", "cs-en"),
        ("cs/en", "cs-en"),
        ("Czech to English", "cs-en"),
        ("en-to", "en-to"),
    ],
)
def test_pairs_however_they_are_typed(text: str, pair: str) -> None:
    assert parse_pair(text) == pair
    assert "-".join(split_pair(text)) == pair


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("wmt10.Czech,English", ("cs", "en")),
        ("wmt11.Urdu,English.tunablemetrics", ("ur", "en")),
        ("wmt16.cze-eng.csv", ("cs", "en")),
        ("test-cs-en.csv", ("cs", "en")),
        ("judgments_cs_en.csv", ("cs", "en")),
        ("newstest2016.system-x.4361.cs-en", ("cs", "en")),
        ("data_RNK.csv", None),
        ("en-en.csv", None),
        ("judgments", None),
    ],
)
def test_the_pair_in_a_file_name(name: str, pair: tuple[str, str] | None) -> None:
    assert pair_in_name(name) == pair


@pytest.mark.parametrize(
    ("name", "unknown", "title"),
    [
        ("und-und", True, ""),
        ("wmt24/und-und", True, "wmt24"),
        ("und-de", False, "und-de"),
        ("de-und", False, "de-und"),
        ("undergraduates/cs-en", False, "undergraduates/cs-en"),
        ("undergraduates/und-und", True, "undergraduates"),
        ("cs-en", False, "cs-en"),
    ],
)
def test_titles_leave_out_a_pair_of_which_neither_language_is_known(name: str, unknown: bool, title: str) -> None:
    assert is_unknown_pair(name) == unknown
    assert pair_title(name) == title


def test_what_is_a_language() -> None:
    assert is_language("Czech")
    assert is_language("Haitian Creole (Raw)")
    assert is_language("zh_CN")
    assert not is_language("News")
    assert not is_language("")


@settings(max_examples=examples(200))
@given(st.text(max_size=30))
def test_nothing_that_is_typed_breaks_a_pair(text: str) -> None:
    assert parse_pair(parse_pair(text)).count("-") >= 1
    pair_in_name(text)
