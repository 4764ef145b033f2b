"""Marks in scripts that use them otherwise: no blanks beside them, particles behind them, or marks inside words."""

from __future__ import annotations

import re
from typing import Literal

OPENS = "“„«‘‚‹‟`「『"
CLOSES = "”»›」』"
# East Asian scripts with their punctuation, and those of South-East Asia that leave no blanks between words.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
)
# Articles and pronouns that lose their vowel before a word, and so before a mark: l'« affaire ».
_ELISION = re.compile(r"\b(?:[cdjlmnst]|\w*qu|dell|nell|all|sull|un)['’]$", re.IGNORECASE)
_HEBREW = re.compile("[\u0590-\u05ff]+")
# Conjunctions and prepositions of one letter that Hebrew writes together with the next word, even before a mark.
_HEBREW_PREFIX = re.compile("(?<![\u0590-\u05ff])[והבכלמש]{1,2}$")


def side_by_script(text: str, position: int, before: str, after: str) -> Literal["open", "close", "either"] | None:
    """Which way a mark faces, where its neighbours are of a script without blanks; None where they are not."""
    if not (_WITHOUT_BLANKS.match(before) or _WITHOUT_BLANKS.match(after)):
        return None
    if text[position] in OPENS:
        return "open"
    if text[position] in CLOSES:
        return "close"
    if before == "" or before.isspace():
        return "open"
    return "close" if after == "" or after.isspace() else "either"


def in_hebrew_word(text: str, position: int) -> Literal["open", "inside"] | None:
    """A mark between Hebrew letters: `inside` an abbreviation, or `open` behind a prefix; None for all others."""
    behind = _HEBREW.match(text, position + 1)
    if behind is None or not _HEBREW.match(text[max(0, position - 1) : position]):
        return None
    prefixed = len(behind.group()) > 1 and _HEBREW_PREFIX.search(text, 0, position)
    return "open" if prefixed else "inside"


def opens_after_elision(text: str, position: int) -> bool:
    """Whether a mark stands behind an article that lost its vowel."""
    return text[position] in '"“«' and _ELISION.search(text, 0, position) is not None
