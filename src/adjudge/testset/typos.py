"""Misspelt words and words run together: unknown to dictionary and frequency list, with a frequent word close by.

Never on capitalised words or words with letters beyond the alphabet's plain ones (names), nor on a form that the
document uses three times. A misspelling that is itself a word (though for through) cannot be found this way.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import regex

from adjudge.core.testset import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.core.testset import Finding
    from adjudge.testset.document import Document
    from adjudge.testset.lexicon import Lexicon

# Not part of a name, a link, a handle, a number or something written with dots and dashes.
_WORD = regex.compile(r"(?<![\p{L}\p{N}_@#./\\’'-])\p{Ll}+(?![\p{L}\p{N}_@/\\’'-]|[.\"”]\p{L})")
_DOUBLED = regex.compile(r"(?<![\p{L}\p{N}-])(\p{Ll}{2,}) (\1)(?![\p{L}\p{N}'’-])")
_MAY_DOUBLE = frozenset(
    {"had", "that", "who", "very", "really", "so", "no", "ha", "bye", "her", "many", "in", "on", "is"}
)
_LONE = regex.compile(r"(?<=\s)([b-hj-z]|i)(?=\s(?!\p{Lu}))")
SHORTEST = 4
RECURRING = 3
RARE = 2.2
"""Unknown to the dictionary and below this on the Zipf scale: hardly a word."""
GAIN = 1.4
"""How much more frequent the suggestion must be."""


def find(document: Document, lexicon: Lexicon) -> Iterator[Finding]:
    """All findings of one document."""
    words = Counter(word for text in document.texts for word in _WORD.findall(text))
    for place, text in enumerate(document.texts):
        for match in _WORD.finditer(text):
            word = match.group()
            if len(word) >= SHORTEST and words[word] < RECURRING and _unknown(word, lexicon):
                yield from _explained(document, place, match.span(), word, lexicon)
        yield from _doubled(document, place, text, lexicon.language)
        if lexicon.language == "en":
            yield from _lone_letters(document, place, text)


def _unknown(word: str, lexicon: Lexicon) -> bool:
    zipf = lexicon.zipf(word)
    if lexicon.language == "en" and not word.isascii():
        return False
    if not lexicon.has_dictionary:
        return zipf == 0.0 and word.isascii() and len(word) > 5
    if zipf >= 4.0 or lexicon.in_dictionary(word) or lexicon.is_derived(word):
        return False
    if zipf < RARE or _surely_glued(word, lexicon):
        return True
    # Frequency lists hold common misspellings: one of those is far rarer than the right form beside it.
    near = lexicon.nearest(word)
    return near is not None and near[1] - zipf >= 1.8 and lexicon.in_dictionary(near[0])


def _surely_glued(word: str, lexicon: Lexicon) -> bool:
    """Frequency lists of the web hold `ofthe` as well: two of the most frequent words, but no dictionary has it."""
    parts = lexicon.split(word)
    return parts is not None and min(map(lexicon.zipf, parts)) >= 5.8


def _explained(document: Document, place: int, span: tuple[int, int], word: str, lexicon: Lexicon) -> Iterator[Finding]:
    near, parts = lexicon.nearest(word), lexicon.split(word)
    likely = near is not None and near[1] >= 2.5 and near[1] - lexicon.zipf(word) >= GAIN
    # A compound that is rare looks the same as two words run together, unless one of them is a function word.
    glued = parts is not None and (min(map(len, parts)) <= 3 or max(map(lexicon.zipf, parts)) > 5.5)
    if parts is not None and (glued or lexicon.zipf(word) == 0.0) and (not likely or near is None or near[1] < 3.5):
        edit = Edit(*span, " ".join(parts))
        confidence = 0.92 if glued else 0.6
        yield document.finding(place, "spacing", f"'{word}': two words run together?", confidence, edit=edit)
    elif near is not None and likely:
        confidence = _confidence(word, near, lexicon)
        edit = Edit(*span, near[0])
        yield document.finding(place, "typo", f"'{word}' is unknown, '{near[0]}' is close", confidence, edit=edit)
    elif (
        lexicon.has_dictionary
        and len(word) > 8
        and lexicon.zipf(word) == 0.0
        and (far := lexicon.two_letters_away(word)) is not None
    ):
        edit = Edit(*span, far)
        yield document.finding(place, "typo", f"'{word}' is unknown, '{far}' is close", 0.7, edit=edit)


def _confidence(word: str, near: tuple[str, float], lexicon: Lexicon) -> float:
    if not lexicon.has_dictionary:
        return 0.5
    if near[1] >= FREQUENT_ENOUGH and lexicon.zipf(word) < 1.5 and len(word) > 4:
        return 0.9
    return 0.75


FREQUENT_ENOUGH = 3.5


def _doubled(document: Document, place: int, text: str, language: str) -> Iterator[Finding]:
    """In other languages than English, articles and pronouns may well stand twice: only longer words are doubted."""
    for match in _DOUBLED.finditer(text):
        if match[1] in _MAY_DOUBLE or (language != "en" and len(match[1]) < SHORTEST):
            continue
        edit = Edit(match.start(), match.end(), match[1])
        confidence = 0.9 if language == "en" else 0.6
        yield document.finding(place, "typo", f"'{match[1]}' stands twice", confidence, edit=edit)


def _lone_letters(document: Document, place: int, text: str) -> Iterator[Finding]:
    for match in _LONE.finditer(text):
        if match[1] == "i":
            yield document.finding(place, "typo", "a small i", 0.8, edit=Edit(match.start(), match.end(), "I"))
        elif match[1] not in "xvn" or (match[1] == "n" and "'" not in text):
            yield document.finding(place, "typo", "a single letter that is no word", 0.6, span=match.span())
