"""Degraded copies: a phrase of a translation replaced by one from elsewhere, as in direct assessment.

How many words are replaced depends on the length (Graham et al. 2017, Can machine translation systems be evaluated by
the crowd alone): 1 of 1 word, 2 of 2-5, 3 of 6-8, 4 of 9-15, 5 of 16-20, a quarter of longer ones. The first and last
word stay where there is room. Scripts without spaces are treated by characters in the same way.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import numpy as np

# Scripts that write no spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, kana, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
ATTEMPTS = 200


def count_replaced(length: int) -> int:
    """How many of `length` words are replaced."""
    for longest, replaced in ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5)):
        if length <= longest:
            return min(replaced, length)
    return length // 4


def is_spaced(text: str) -> bool:
    """Whether the script of the text writes spaces between words."""
    letters = sum(character.isalpha() for character in text)
    return 2 * len(_UNSPACED.findall(text)) <= letters


def degrade(text: str, donors: Sequence[str], rng: np.random.Generator, *, unlike: Collection[str] = ()) -> str | None:
    """Replace a phrase of the text by one from a donor; None if no donor makes a difference.

    Args:
        text: the translation.
        donors: other translations, of other segments.
        rng: the random generator.
        unlike: texts that the result must not equal besides `text` itself.
    """
    spaced = is_spaced(text)
    words = _split(text, spaced)
    if not words:
        return None
    forbidden = {_plain(known) for known in (text, *unlike)}
    for length in range(count_replaced(len(words)), 0, -1):
        for phrase in _draw_phrases(donors, length, spaced, rng):
            start = _choose_start(len(words), length, rng)
            if _same_words(phrase, words[start : start + length]):
                continue
            damaged = _join([*words[:start], *phrase, *words[start + length :]], spaced)
            if _plain(damaged) not in forbidden:
                return damaged
    return None


def _split(text: str, spaced: bool) -> list[str]:
    return text.split() if spaced else _characters("".join(text.split()))


def _characters(text: str) -> list[str]:
    """Characters with the marks that combine with them (vowel signs, tones, joiners), which must not be torn off."""
    characters: list[str] = []
    for character in text:
        joins = unicodedata.category(character).startswith("M") or character in "\u200c\u200d"
        if characters and (joins or characters[-1].endswith("\u200d")):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def _join(words: Sequence[str], spaced: bool) -> str:
    return (" " if spaced else "").join(words)


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


def _same_words(first: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two phrases hold the same words but for order and case: such a replacement degrades nothing."""
    return sorted(word.casefold() for word in first) == sorted(word.casefold() for word in other)


def _choose_start(count: int, length: int, rng: np.random.Generator) -> int:
    """Where the replaced phrase starts: not at the first or last word where there is room."""
    inner = count - length - 1
    return 1 + int(rng.integers(inner)) if inner >= 1 else int(rng.integers(count - length + 1))


def _draw_phrases(donors: Sequence[str], length: int, spaced: bool, rng: np.random.Generator) -> Iterator[list[str]]:
    """Phrases of this length from random places of the donors, a limited number."""
    for i in rng.permutation(len(donors))[:ATTEMPTS]:
        words = _split(donors[i], spaced)
        if len(words) >= length:
            start = int(rng.integers(len(words) - length + 1))
            yield words[start : start + length]
