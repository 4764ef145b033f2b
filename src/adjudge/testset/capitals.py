"""Words run together at or behind a capital letter (English): theUnited, Thisis, Londonwhere."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import regex

from adjudge.results.testset import Edit
from adjudge.testset.lexicon import NEVER_PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document
    from adjudge.testset.lexicon import Lexicon

_INSIDE = regex.compile(r"(?<![\p{L}\p{N}@#/._-])(\p{Ll}{2,})(\p{Lu}\p{Ll}+)(?![\p{L}\p{N}_/])")
_NAME = regex.compile(
    r"(?<![\p{L}\p{N}@#/._-]|\p{L}['’])\p{Lu}\p{Ll}{2,}(?![\p{L}\p{N}_@/.-]\p{L}|[\p{L}\p{N}_@/-]|['’](?!s\b))"
)
SHORTEST = 6
# Many names end in two letters that are a word, so only these count.
_SHORT = ("to", "of", "by", "we", "he", "it")
FUNCTION, KNOWN, RARE = 6.0, 3.0, 2.2
"""On the Zipf scale: words that hold sentences together, words that are quite frequent, and hardly words."""


def find(document: Document, lexicon: Lexicon) -> Iterator[Finding]:
    """All findings of one document."""
    names = Counter(name for text in document.texts for name in _NAME.findall(text))
    for index, text in enumerate(document.texts):
        for match in _INSIDE.finditer(text):
            if lexicon.zipf(match[1]) >= 4.5 and len(match[2]) > 2 and lexicon.zipf(match[2].lower()) >= 2:
                yield _finding(document, index, match.start(2), 0.85)
        for match in _NAME.finditer(text):
            cut = _find_missing_blank(match.group(), names, lexicon)
            if cut is not None:
                yield _finding(document, index, match.start() + cut, 0.8)


def _find_missing_blank(word: str, names: Counter[str], lexicon: Lexicon) -> int | None:
    """Find the missing blank in a capitalised word that the lists hardly know and that occurs once."""
    if len(word) < SHORTEST or names[word] > 1 or lexicon.zipf(word.lower()) >= RARE or _is_word(word, lexicon):
        return None
    return next((cut for cut in range(len(word) - 2, 1, -1) if _are_two(word[:cut], word[cut:], names, lexicon)), None)


def _are_two(left: str, right: str, names: Counter[str], lexicon: Lexicon) -> bool:
    frequent, whole = lexicon.zipf(right), lexicon.zipf((left + right).lower())
    is_name = names[left] or (not lexicon.in_dictionary(left.lower()) and lexicon.in_dictionary(left))
    holds = (len(right) > 2 or right in _SHORT) and (frequent >= FUNCTION or right in NEVER_PARTS)
    if is_name and not whole and holds:
        # A name of the document or the dictionary, then a word that holds sentences together.
        return True
    # The start of a sentence: This is, Residents of.
    before = lexicon.zipf(left.lower())
    if len(left) < 3 or not lexicon.in_dictionary(left.lower()) or not lexicon.in_dictionary(right):
        return False
    likely = (before >= FUNCTION and frequent >= KNOWN) or (before >= KNOWN and frequent >= FUNCTION and not whole)
    return likely and (len(right) > 2 or right in (*_SHORT, "is"))


def _is_word(word: str, lexicon: Lexicon) -> bool:
    return lexicon.in_dictionary(word) or lexicon.in_dictionary(word.lower())


def _finding(document: Document, index: int, cut: int, confidence: float) -> Finding:
    return document.finding(index, "spacing", "two words run together", confidence, edit=Edit(cut, cut, " "))
