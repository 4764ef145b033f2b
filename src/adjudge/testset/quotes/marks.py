"""The quotation marks of a segment and which way they face, told by their neighbours first and by their form second.

Straight marks have no direction of their own, and languages use the same curly mark for opening and for closing; what
stands beside a mark settles nearly all cases. Apostrophes look like single marks: one between letters is never a mark.
Some scripts use marks otherwise: no blanks beside them, particles behind them, or marks inside words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

OPENS = "“„«‘‚‹‟`「『"
CLOSES = "”»›」』"
# East Asian scripts with their punctuation, and those of South-East Asia that leave no blanks between words.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
)
# Articles and pronouns that lose their vowel before a word, and so before a mark: l'« affaire ».
_ELISION = re.compile(r"\b(?:[cdjlmnst]|\w*qu|dell|nell|all|sull|un)['’]$", re.IGNORECASE)
_LONGEST_ELISION = 40
_HEBREW = re.compile("[\u0590-\u05ff]+")
# Conjunctions and prepositions of one letter that Hebrew writes together with the next word, even before a mark.
_HEBREW_PREFIX = re.compile("(?<![\u0590-\u05ff])[והבכלמש]{1,2}$")


def side_by_script(text: str, position: int, before: str, after: str) -> Literal["open", "close", "either"] | None:
    """Decide which way a mark faces beside a script without blanks; None beside other scripts."""
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
    prefixed = len(behind.group()) > 1 and _HEBREW_PREFIX.search(text, max(0, position - 2), position)
    return "open" if prefixed else "inside"


def opens_after_elision(text: str, position: int) -> bool:
    """Whether a mark stands behind an article that lost its vowel."""
    return text[position] in '"“«' and _ELISION.search(text, max(0, position - _LONGEST_ELISION), position) is not None


DOUBLE = '"“”„«»‟＂「」'
SINGLE = "'‘’‚‹›`『』"
ALL = DOUBLE + SINGLE
INCHES = '"”″'
_BEFORE_OPENING = "([{<—–-/…:=*•"
_AFTER_CLOSING = ")]}>.,;:!?—–-/…%*"
DASHES = "—–-/"
# Words that start with an apostrophe.
_ELIDED = re.compile(
    r"['’‘](?:em|til|till|cause|tis|twas|n|bout|round|cos|nuff|neath|d|s|t|\d0s|\d\d)\b", re.IGNORECASE
)
# The plural of a letter or a word in marks: two "o"s.
_PLURAL = re.compile(r"(?<!\w)[\"“]\w+(?=[\"”]s\b)")
# Typewriters and TeX make one double mark of two single ones.
_TWO_IN_ONE = ("``", "''")
# What may stand before the first quotation of a text.
_LEADING = ALL + "-–—•… "
# Feet and inches are short: 6'2 11/16.
_LONGEST_FEET = 24
_FEET = re.compile(r"\d\s?['’′]\s?\d{0,2}(?:[./]\d+)?\s?$")

Side = Literal["open", "close", "either", "inside", "digit"]


@dataclass(frozen=True)
class Mark:
    """A mark at `position` of segment `place`."""

    index: int
    position: int
    character: str
    side: Side
    leading: bool
    """Whether nothing but marks and dashes stands before it."""

    @property
    def double(self) -> bool:
        """Whether it is a double mark."""
        return self.character in DOUBLE


def find_marks(text: str, index: int) -> list[Mark]:
    """All double marks, and all single ones that are no apostrophes for certain."""
    marks: list[Mark] = []
    plurals = {match.end() for match in _PLURAL.finditer(text)}
    previous, following = _neighbours(text), _neighbours(text[::-1])[::-1]
    begin = len(text) - len(text.lstrip(_LEADING))
    for position, printed in enumerate(text):
        if printed not in ALL or text[position - 1 : position + 1] in _TWO_IN_ONE:
            continue
        character = '"' if text[position : position + 2] in _TWO_IN_ONE else printed
        before, after = previous[position], following[position]
        side: Side = "close" if position in plurals else _side(text, position, before, after)
        if (hebrew := in_hebrew_word(text, position)) is not None:
            side = hebrew
        if hebrew == "inside" or (character in INCHES and _measures(text, position, before, after)):
            continue
        if character in SINGLE and (side in ("inside", "digit", "either") or _ELIDED.match(text, position)):
            continue
        marks.append(Mark(index, position, character, side, leading=position <= begin))
    return marks


def _measures(text: str, position: int, before: str, after: str) -> bool:
    """Whether a mark stands for inches after feet, or for seconds between numbers: 6'2", 20''53."""
    return _FEET.search(text, max(0, position - _LONGEST_FEET), position) is not None or (
        before.isdigit() and after.isdigit()
    )


def _neighbours(text: str) -> list[str]:
    """For every place the nearest character before it that is no quotation mark; empty at the beginning."""
    nearest = ""
    neighbours: list[str] = []
    for character in text:
        neighbours.append(nearest)
        if character not in ALL:
            nearest = character
    return neighbours


def _side(text: str, position: int, before: str, after: str) -> Side:
    character = text[position]
    if (by_script := side_by_script(text, position, before, after)) is not None:
        return by_script
    if opens_after_elision(text, position):
        return "open"
    if character in "\"”'’" and before.isdigit() and position and text[position - 1].isdigit():
        return _after_digit(text, position, after)
    left_free = before == "" or before.isspace() or before in _BEFORE_OPENING
    right_free = after == "" or after.isspace() or after in _AFTER_CLOSING
    if left_free != right_free:
        return "open" if left_free else "close"
    if left_free:
        return _between_blanks(text, position, before, after)
    return _between_letters(before, after)


def _after_digit(text: str, position: int, after: str) -> Side:
    """Inches and feet, or the end of a quotation; `pairing` knows whether one is open."""
    if after.isalnum():
        return "inside"
    return "digit" if text[position] in INCHES else "close"


def _between_blanks(text: str, position: int, before: str, after: str) -> Side:
    character = text[position]
    if character in OPENS:
        return "open"
    if character in CLOSES:
        return "close"
    if before == "" or text.startswith(("...", "…"), position + 1):
        return "open"
    if after == "" or (before in DASHES and not before.isspace()):
        return "close"
    return "either" if after.isspace() else "open" if before.isspace() and after in DASHES else "either"


def _between_letters(before: str, after: str) -> Side:
    """No blank on either side: after the end of a sentence it closes, else it stands inside a word."""
    if before.isalnum() and after.isalnum():
        return "inside"
    if before.isalnum():
        # word"(note): the mark belongs to the word before it.
        return "close"
    return "open" if before in "=$£€#@&+" else "close"
