"""Human translations are recognised by name, and the user can say otherwise."""

from __future__ import annotations

import pytest

from adjudge.table.errors import UsageError
from adjudge.table.participants import compile_human_pattern, is_human


@pytest.mark.parametrize(
    "name",
    [
        *("HUMAN", "HUMAN-A", "human.B", "Human-refA", "ref", "_ref", "Ref", "refA", "ref-B", "ref.A", "REF1"),
        *("reference", "references", "reference1", "reference-A", "translator-A", "translator_1"),
        *("Human ref", "human translation", "human_translator 2", "Human Reference B", "reference translation"),
        *("professional translator", "Expert-translation", "human expert translation", "Translator 3"),
    ],
)
def test_names_of_human_translations(name: str) -> None:
    assert is_human(name)


@pytest.mark.parametrize(
    "name",
    [
        "referee",
        "refined-mt",
        "humanoid",
        "online-A",
        "uedin",
        "preref",
        "ref-combo",
        "translator",
        "",
        "MT_Y",
        "BAD_REF",
        "human parity MT",
        "expert",
        "professional MT",
        "reference-free",
        "humantrans-mt",
    ],
)
def test_names_of_systems(name: str) -> None:
    assert not is_human(name)


def test_the_user_can_say_otherwise() -> None:
    pattern = compile_human_pattern("HT|expert.*")
    assert is_human("ht", pattern)
    assert is_human("Expert-3", pattern)
    assert not is_human("_ref", pattern)
    assert not is_human("HT2", pattern)


def test_a_pattern_that_is_none_is_explained() -> None:
    with pytest.raises(UsageError, match="not a regular expression"):
        compile_human_pattern("(")
