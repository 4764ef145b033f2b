"""Double quotation marks: quotations never closed or never opened, and marks that should be apostrophes."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from adjudge.table.wording import counted
from adjudge.testsets.alignment import realign
from adjudge.testsets.documents import Document, SourceText, is_ended
from adjudge.testsets.findings import Edit, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# What sounds like speech and what like narration (English), to find where an unclosed quotation must have ended.

_VERBS = (
    "said|says|say|added|adds|told|tells|asked|asks|explained|explains|warned|insisted|wrote|writes|tweeted|posted|"
    "claimed|claims|argued|argues|continued|continues|replied|noted|notes|admitted|recalled|stated|commented|concluded|"
    "announced|joked|shouted|responded|suggested|declared|stressed|acknowledged|remarked|predicted|confirmed"
)
# Verbs that attribute speech only after the quotation, because people also use them when they speak.
_MORE_VERBS = (
    f"{_VERBS}|assured|assures|observed|observes|stresses|complained|promised|conceded|emphasised|emphasized|affirmed|"
    "lamented|quipped|insists|recalls|warns|reckons|believes"
)
_WHO = r"(?:(?:he|she|they|it|who|I|we|the\s+\w+|one\s+\w+|an?\s+\w+)|[A-Z][\w.'’-]*(?:\s+[A-Z][\w.'’-]*){0,3})"
ATTRIBUTION = re.compile(rf"\b(?:{_VERBS})\b")
# A comma (or the end of a sentence), then who said it: the quotation ends before. Whatever somebody does at the very
# end, he does it speaking: , he enthuses.
TRAILING = re.compile(
    rf"(?<=[,.!?])\s(?:{_WHO}\s+(?:also\s+)?(?:{_MORE_VERBS})\b|(?:{_MORE_VERBS})\s+{_WHO}\b|"
    r"(?:he|she|they)\s\w+(?:s|ed)\.$|"
    rf"(?:his|her|its|their)\s[^,.!?\"”]{{2,50}}?\s(?:{_MORE_VERBS})\.$)"
)
_AFTER_SPEECH = re.compile(r"(?<=[,.!?])\s")
# The same with the speaker's office between commas: , the club's owner, Ann Lee, told reporters.
_LAST_CLAUSE = re.compile(
    rf",\s(?P<who>(?:the|a|an|one|its|his|her|their|[A-Z])[^.!?\"”]*?)\s(?:{_VERBS})\b(?P<more>[^.!?\"”]*)\.?$"
)
FIRST_PERSON = re.compile(r"\b(?:I|I['’]m|I['’]ve|[Ww]e|[Yy]ou|[Mm]y|[Oo]ur|[Yy]our|me|us|[Ll]et['’]s|mine|ours)\b")


def sounds_like_speech(text: str) -> bool:
    """Whether someone speaks of himself or to somebody."""
    return FIRST_PERSON.search(text) is not None


@lru_cache(maxsize=256)
def trailing_starts(text: str) -> tuple[int, ...]:
    """All places where it is told who said what stands before, in order."""
    blanks = (match.start() for match in _AFTER_SPEECH.finditer(text))
    return tuple(start for start in blanks if TRAILING.match(text, start))


def ends_with_attribution(text: str) -> bool:
    """Whether the text says at its end, or in its middle, who said it: the quotation ended before."""
    if TRAILING.search(text):
        return True
    last = _LAST_CLAUSE.search(text)
    return last is not None and not sounds_like_speech(last["who"] + " " + last["more"])


def sounds_like_narration(text: str) -> bool:
    """Whether the text says who said something, and nobody speaks."""
    return ATTRIBUTION.search(text) is not None and not sounds_like_speech(text)


def last_of_speech(texts: Sequence[str], first: int, until: int, *, resumed: bool = False) -> int:
    """The segment in which the quotation that opens in `first` most likely ends; it must end before `until`.

    A quotation that is `resumed` after the words who spoke ("So," she said. "Yes.) seldom goes beyond its segment.
    """
    last = first
    for index in range(first + 1, until):
        if sounds_like_narration(texts[index]):
            return last
        if sounds_like_speech(texts[index]):
            last = index
    # A single sentence between speech and the next quotation mostly belongs to the speech.
    one_more = (
        not (resumed and last == first) and until - 1 - last == 1 and until < len(texts) and is_ended(texts[until - 1])
    )
    return until - 1 if one_more else last


# The quotation marks of a segment and which way they face, told by their neighbours first and by their form second.
# Straight marks have no direction of their own, and languages use the same curly mark for opening and for closing;
# what stands beside a mark settles nearly all cases. Apostrophes look like single marks: one between letters is never
# a mark. Some scripts use marks otherwise: no blanks beside them, particles behind them, or marks inside words.

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
    previous, following = _find_neighbours(text), _find_neighbours(text[::-1])[::-1]
    begin = len(text) - len(text.lstrip(_LEADING))
    for position, printed in enumerate(text):
        if printed not in ALL or text[position - 1 : position + 1] in _TWO_IN_ONE:
            continue
        character = '"' if text[position : position + 2] in _TWO_IN_ONE else printed
        before, after = previous[position], following[position]
        side: Side = "close" if position in plurals else _find_side(text, position, before, after)
        if (hebrew := in_hebrew_word(text, position)) is not None:
            side = hebrew
        if hebrew == "inside" or (character in INCHES and _is_measure(text, position, before, after)):
            continue
        if character in SINGLE and (side in ("inside", "digit", "either") or _ELIDED.match(text, position)):
            continue
        marks.append(Mark(index, position, character, side, leading=position <= begin))
    return marks


def _is_measure(text: str, position: int, before: str, after: str) -> bool:
    """Whether a mark stands for inches after feet, or for seconds between numbers: 6'2", 20''53."""
    return _FEET.search(text, max(0, position - _LONGEST_FEET), position) is not None or (
        before.isdigit() and after.isdigit()
    )


def _find_neighbours(text: str) -> list[str]:
    """For every place the nearest character before it that is no quotation mark; empty at the beginning."""
    nearest = ""
    neighbours: list[str] = []
    for character in text:
        neighbours.append(nearest)
        if character not in ALL:
            nearest = character
    return neighbours


def _find_side(text: str, position: int, before: str, after: str) -> Side:
    character = text[position]
    if (by_script := side_by_script(text, position, before, after)) is not None:
        return by_script
    if character in '"“«' and _ELISION.search(text, max(0, position - _LONGEST_ELISION), position):
        return "open"
    if character in "\"”'’" and before.isdigit() and position and text[position - 1].isdigit():
        # Inches and feet, or the end of a quotation; `Pairing` knows whether one is open.
        return "inside" if after.isalnum() else "digit" if character in INCHES else "close"
    left_free = before == "" or before.isspace() or before in _BEFORE_OPENING
    right_free = after == "" or after.isspace() or after in _AFTER_CLOSING
    if left_free != right_free:
        return "open" if left_free else "close"
    if left_free:
        return _find_side_between_blanks(text, position, before, after)
    return _find_side_between_letters(before, after)


def _find_side_between_blanks(text: str, position: int, before: str, after: str) -> Side:
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


def _find_side_between_letters(before: str, after: str) -> Side:
    """No blank on either side: after the end of a sentence it closes, else it stands inside a word."""
    if before.isalnum() and after.isalnum():
        return "inside"
    if before.isalnum():
        # word"(note): the mark belongs to the word before it.
        return "close"
    return "open" if before in "=$£€#@&+" else "close"


# Follows quotation marks, double or single, through a document: which quotations are never closed or never opened.
# A quotation may run over several segments. A mark that opens while a quotation is open means one of three things: a
# quotation inside a quotation (then two marks close), the newspapers' convention that each paragraph of a long
# quotation opens anew and only the last closes, or that the earlier one was never closed.


# What follows a genitive is a noun or what describes it, never one of these.
_NO_NOUN = re.compile(
    r" (?:that|which|who|was|is|are|were|be|to|in|on|of|for|by|at|from|with|as|he|she|they|it|when|while|because|but|"
    r"or|had|has|have|will|would|could|after|before|during|if)\b"
)
Problem = Literal["never closed", "never opened", "opens anew", "apostrophe"]


@dataclass(frozen=True)
class Broken:
    """A mark without its partner. `until` is the segment in which, at the latest, a missing end must have come."""

    problem: Problem
    mark: Mark
    until: int = 0


class Pairing:
    """Goes through the marks of a document in order, pairs those that open and close, and keeps the others apart."""

    def __init__(self, texts: tuple[str, ...], marks: list[Mark]) -> None:
        self.texts = texts
        self.marks = marks
        self.broken: list[Broken] = []
        self.opened: Mark | None = None
        self.closed: list[Mark] = []
        self.inner = 0
        """Quotations inside the open one that have still to close."""

    def run(self) -> list[Broken]:
        """Go through all marks."""
        for number, mark in enumerate(self.marks):
            side = self._decide_side(mark)
            if side == "open":
                self._open(mark, number)
            elif side == "close":
                self._close(mark)
        if self.opened is not None:
            self.broken.append(Broken("never closed", self.opened, len(self.texts)))
        return self.broken

    def _decide_side(self, mark: Mark) -> str:
        if mark.side == "either":
            return "close" if self.opened is not None else "open"
        if mark.side == "digit":
            return "inches" if self._means_inches(mark) else "close"
        return mark.side

    def _means_inches(self, mark: Mark) -> bool:
        """After a digit a mark means inches where no quotation is open, or where its segment goes on and closes it."""
        if self.opened is None:
            return True
        later = [each for each in self.marks if each.index == mark.index and each.position > mark.position]
        if later and later[0].side == "close":
            return True
        after = self.texts[mark.index][mark.position + 1 :]
        return self.opened.index != mark.index and after[:1] == " " and after[1:2].islower()

    def _open(self, mark: Mark, number: int) -> None:
        if self.opened is None:
            self.opened = mark
        elif not mark.leading and self._closes_twice(number):
            self.inner += 1
        else:
            # Each paragraph opens anew, the last one closes.
            anew = mark.leading and mark.index != self.opened.index and self._continues(mark)
            self.broken.append(Broken("opens anew" if anew else "never closed", self.opened, mark.index))
            self.opened = mark

    def _closes_twice(self, number: int) -> bool:
        """Whether a quotation inside the open one starts here: its own end comes in this segment, then the outer's."""
        following = self.marks[number + 1 : number + 3]
        ends = len(following) == 2 and all(each.side in ("close", "either", "digit") for each in following)
        return ends and following[0].index == self.marks[number].index

    def _continues(self, mark: Mark) -> bool:
        """Whether everything since the open mark can be one long quotation."""
        assert self.opened is not None
        after_opening = self.texts[self.opened.index][self.opened.position + 1 :]
        if ends_with_attribution(after_opening):
            return False
        between = [after_opening, *self.texts[self.opened.index + 1 : mark.index]]
        if any(sounds_like_narration(text) for text in between):
            return False
        return len(between) == 1 or all(sounds_like_speech(text) for text in between[1:])

    def _close(self, mark: Mark) -> None:
        if self.inner:
            self.inner -= 1
        elif self.opened is not None:
            self.opened = None
            self.closed.append(mark)
        elif (earlier := self._possessive_before(mark)) is not None:
            # clients" files": the first one was an apostrophe, and this one closes.
            self.broken.append(Broken("apostrophe", earlier))
        elif looks_possessive(self.texts[mark.index], mark.position):
            self.broken.append(Broken("apostrophe", mark))
        else:
            self.broken.append(Broken("never opened", mark))

    def _possessive_before(self, mark: Mark) -> Mark | None:
        """A mark of the segment that was taken for the end, though it looks like the end of a plural's genitive."""
        same = (each for each in self.closed if each.index == mark.index)
        return next((each for each in same if looks_possessive(self.texts[each.index], each.position)), None)


def looks_possessive(text: str, position: int) -> bool:
    """`clients" files`: a plural's s, the mark, a blank and another word that is not who said it."""
    before, after = text[:position], text[position + 1 :]
    if not before.endswith(("s", "S", "z", "x")) or not after.startswith(" ") or not after[1:2].isalpha():
        return False
    return TRAILING.match(f",{after}", 1) is None and _NO_NOUN.match(after) is None


QUOTES, APOSTROPHE = "quotation-marks", "apostrophe"
_CONTRACTED = re.compile(r"(?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
LOOK_BACK = 5000
_OPENED_HERE = re.compile(r": (?=[A-Z])")
# ""Yes,"" he said: tables write a mark inside a field twice.
_DOUBLED = re.compile(r'(?<!")""(?=[^\s"])([^"]*[^\s"])""(?!")')
_CLOSING = {"“": "”", "„": "“", "«": "»", "»": "«", "「": "」"}
_PARTNER = {"”": "“", "“": "”", "»": "«", "«": "»", "„": "“", "」": "「"}


def find_double_quotes(document: Document, *, english: bool = True) -> Iterator[Finding]:
    """All findings of one document; who speaks is known in English only."""
    marks = [mark for i, text in enumerate(document.texts) for mark in find_marks(text, i) if mark.double]
    yield from (_report_inside(document, mark) for mark in marks if mark.side == "inside")
    escaped = [_DOUBLED.search(text) is not None for text in document.texts]
    for index, text in enumerate(document.texts):
        for match in _DOUBLED.finditer(text):
            what = "quotation marks doubled, as in a field of a table"
            edit = Edit(match.start(), match.end(), f'"{match[1]}"')
            yield document.finding(index, QUOTES, what, 0.9, edit=edit)
    # Marks that a table doubled are reported as such, not as unclosed quotations.
    outside = [
        replace(mark, side="either") if mark.side == "inside" else mark
        for mark in marks
        if not escaped[mark.index] and not (mark.side == "inside" and _is_contracted(document, mark))
    ]
    for broken in Pairing(document.texts, outside).run():
        if broken.problem == "apostrophe":
            yield _report_apostrophe(document, broken.mark, 0.92)
        elif broken.problem == "never opened":
            yield _report_never_opened(document, broken.mark)
        elif broken.problem == "opens anew":
            # Right in a newspaper, but a segment that is translated by itself has an end that nobody sees.
            end = len(document.texts[broken.until - 1].rstrip())
            what = "a quotation that opens again in the next segment without being closed (newspaper convention)"
            edit = Edit(end, end, _CLOSING.get(broken.mark.character, broken.mark.character))
            yield document.finding(broken.until - 1, QUOTES, what, 0.5, edit=edit)
        else:
            yield _report_never_closed(document, broken, english=english)


def _is_contracted(document: Document, mark: Mark) -> bool:
    return _CONTRACTED.match(document.texts[mark.index], mark.position + 1) is not None


def _report_inside(document: Document, mark: Mark) -> Finding:
    if _is_contracted(document, mark):
        return _report_apostrophe(document, mark, 0.97)
    what = "a quotation mark inside a word, or without a space next to it"
    return document.finding(mark.index, QUOTES, what, 0.7, span=(mark.position, mark.position + 1))


def _report_apostrophe(document: Document, mark: Mark, confidence: float) -> Finding:
    apostrophe = "'" if mark.character == '"' else "’"
    edit = Edit(mark.position, mark.position + 1, apostrophe)
    return document.finding(
        mark.index, APOSTROPHE, "a quotation mark where an apostrophe belongs", confidence, edit=edit
    )


def _report_never_opened(document: Document, mark: Mark) -> Finding:
    text = document.texts[mark.index]
    opening = _PARTNER.get(mark.character, mark.character)
    # Segments are much shorter; the limit keeps texts made of marks alone from taking quadratic time.
    begin = max(0, mark.position - LOOK_BACK)
    before = text[begin : mark.position]
    ends_well = before.endswith((",", ".", "!", "?", "…"))
    start = [begin + match.end() for match in _OPENED_HERE.finditer(before)]
    # If the speaker follows, or the segment ends, the quotation must have started at the beginning of the segment.
    at_start = ends_well and not start and (mark.index == 0 or not sounds_like_narration(before))
    what = "the end of a quotation that was never opened"
    if at_start and TRAILING.match("," + text[mark.position + 1 : mark.position + LOOK_BACK], 1):
        return document.finding(mark.index, QUOTES, what, 0.92, edit=Edit(0, 0, opening))
    if start:
        return document.finding(mark.index, QUOTES, what, 0.85, edit=Edit(start[-1], start[-1], opening))
    return document.finding(mark.index, QUOTES, what, 0.8, span=(mark.position, mark.position + 1))


def _report_never_closed(document: Document, broken: Broken, *, english: bool) -> Finding:
    mark = broken.mark
    closing = _CLOSING.get(mark.character, mark.character)
    text = document.texts[mark.index]
    what = "a quotation that is never closed"
    trailing = trailing_starts(text)
    following = bisect_right(trailing, mark.position)
    if following < len(trailing):
        end = trailing[following]
        return document.finding(mark.index, QUOTES, what, 0.95, edit=Edit(end, end, closing))
    if broken.until == mark.index:
        return document.finding(mark.index, QUOTES, what, 0.85, span=(mark.position, mark.position + 1))
    resumed = any(character in DOUBLE for character in text[: mark.position])
    last = last_of_speech(document.texts, mark.index, broken.until, resumed=resumed) if english else mark.index
    end = len(document.texts[last].rstrip())
    only_here = broken.until == mark.index + 1 or last == mark.index
    confidence = 0.9 if only_here else 0.8
    return document.finding(last, QUOTES, what, confidence, edit=Edit(end, end, closing))


# Single quotation marks: never closed, never opened; and the note that a document uses them for speech.

FARTHEST = 6
"""A quotation in single marks that is not closed within so many segments was an apostrophe, or is never closed."""
_PUNCTUATION = (".", ",", "!", "?", "…")


def find_single_quotes(document: Document) -> Iterator[Finding]:
    """Single quotations without an end or a start, and pairs where double ones are the American custom."""
    marks = [find_marks(text, index) for index, text in enumerate(document.texts)]
    single = [mark for in_segment in marks for mark in in_segment if not mark.double]
    single = [
        mark
        for number, mark in enumerate(single)
        if mark.side == "open" or not _is_apostrophe(document.texts, mark, single[number + 1 : number + 2])
    ]
    for broken in Pairing(document.texts, single).run():
        if broken.problem == "never opened":
            # No apostrophe stands after a comma or the end of a sentence.
            if document.texts[broken.mark.index][: broken.mark.position].endswith(_PUNCTUATION):
                what = "the end of a quotation in single marks that was never opened"
                yield _make_finding(document, broken.mark, what)
        elif broken.problem != "apostrophe":
            yield _report_unclosed(document, broken)
    yield from _find_style(document, marks, single)


def _is_apostrophe(texts: tuple[str, ...], mark: Mark, following: list[Mark]) -> bool:
    """Whether a mark is a plural's genitive, where the following mark can still close soon after."""
    soon = any(other.side == "close" and other.index - mark.index < FARTHEST for other in following)
    return soon and looks_possessive(texts[mark.index], mark.position)


def _report_unclosed(document: Document, broken: Broken) -> Finding:
    mark = broken.mark
    until = min(broken.until, mark.index + FARTHEST)
    what = "a single quotation mark that opens and is never closed, or another mark closes it"
    if broken.problem == "opens anew":
        what = "a quotation in single marks that opens again in the next segment without being closed"
    last = last_of_speech(document.texts, mark.index, until) if until > mark.index else mark.index
    if broken.problem == "opens anew":
        last = broken.until - 1
    if last == mark.index:
        return _make_finding(document, mark, what)
    end = len(document.texts[last].rstrip())
    return document.finding(last, "quotation-marks", what, 0.6, span=(max(0, end - 1), end))


def _make_finding(document: Document, mark: Mark, what: str) -> Finding:
    return document.finding(mark.index, "quotation-marks", what, 0.6, span=(mark.position, mark.position + 1))


def _find_style(document: Document, marks: list[list[Mark]], single: list[Mark]) -> Iterator[Finding]:
    """Pairs of single marks, in a document that uses them more than double ones; headlines have them by custom."""
    kept = set(single)
    pairs = [
        pair
        for in_segment in marks
        for pair in _pair_marks([mark for mark in in_segment if mark.double or mark in kept])
    ]
    double = sum(mark.double for in_segment in marks[1:] for mark in in_segment) // 2
    if sum(opened.index > 0 for opened, _ in pairs) <= double:
        return
    what = "single quotation marks, where double ones are the American custom"
    for opened, closed in pairs:
        span = (opened.position, closed.position + 1)
        yield document.finding(opened.index, "quote-style", what, 0.5, span=span)


def _pair_marks(marks: list[Mark]) -> Iterator[tuple[Mark, Mark]]:
    """Single marks of a segment that open and close outside of double ones."""
    opened: Mark | None = None
    inside = False
    for mark in marks:
        if mark.double:
            inside = not inside
        elif mark.side == "open" and not inside:
            opened = mark
        elif mark.side == "close" and opened is not None:
            yield opened, mark
            opened = None


# Quotation marks that a CSV reader removed, and their restoration by a translation that still has them.
# Such a reader takes a mark at the start of a field for the field's own, and drops it with its partner. What is left
# are texts in which no segment starts with a quotation mark, though many end with one, or many translations start
# with one.
#
# So a mark can be missing only at the start of a segment, and its partner at an end or before the words that say who
# spoke. A translation made before, whatever its language, tells which segments had them: it starts with a mark, or has
# marks where the source has none.

FEWEST = 8
"""So many segments must end a quotation before it is strange that none starts with one."""
RATIO = 0.25


def find_eaten_quotes(source: SourceText) -> tuple[Finding, ...]:
    """One finding for the file, if at all."""
    stripped = [text.strip() for text in source.texts]
    starting = _count_starting(stripped)
    ending = 0
    for text in stripped:
        sides = [mark.side for mark in _double_marks(text)] if text[-1:] in set(DOUBLE) else []
        ending += sides.count("close") + sides.count("digit") > sides.count("open")
    if ending < FEWEST or starting > RATIO * ending:
        return ()
    return (_finding(source, starting, f"{ending} end with one that none opened"),)


def find_with_translation(source: SourceText, translation: Sequence[str]) -> tuple[Finding, ...]:
    """Find removed marks by a translation: hardly any segment starts with a mark, but many translations do."""
    starting, translations_starting = _count_starting(source.texts, ALL + DASHES), _count_starting(translation)
    if translations_starting < FEWEST or starting > RATIO * translations_starting:
        return ()
    return (_finding(source, starting, f"{translations_starting} of their translations do"),)


def _count_starting(texts: Sequence[str], marks: str = DOUBLE) -> int:
    return sum(text.strip()[:1] in set(marks) for text in texts)


def _finding(source: SourceText, starting: int, trace: str) -> Finding:
    what = (
        f"{counted(starting, 'segment starts', 'segments start')} with a quotation mark, {trace}: a CSV reader "
        "seems to have removed marks; export the file again, or let --fix restore them by a --translation that has "
        "them, before trusting findings about quotation marks"
    )
    return Finding(str(source.path), 1, "", "eaten-quotes", source.texts[0].strip()[:64], None, 0.9, what)


MARK = '"'
TOLD_BY_BOTH, TOLD_BY_TRANSLATION = 0.95, 0.9
"""How sure a mark is that the rest of its own segment asks for, and one that only the translation shows."""


def find_restorations(source: SourceText, translation: Sequence[str]) -> Iterator[Finding]:
    """A finding with its correction for every mark that was lost; lines out of step are looked up in step."""
    partner = iter(realign(source.texts, translation))
    what = "the translation has the quotation mark that this segment lost"
    for document in source.documents:
        for index, text in enumerate(document.texts):
            for position, confidence in find_lost_marks(text, next(partner)):
                edit = Edit(position, position, MARK)
                yield document.finding(index, "eaten-quotes", what, confidence, edit=edit)


def restore_marks(text: str, translation: str) -> str:
    """The text with the marks that it lost."""
    for position, _ in reversed(find_lost_marks(text, translation)):
        text = text[:position] + MARK + text[position:]
    return text


def find_lost_marks(text: str, translation: str) -> list[tuple[int, float]]:
    """Find where marks are missing, and how sure that is; none if the translation shows no more than the text has."""
    source_marks, translated_marks = _double_marks(text), _double_marks(translation)
    if not text.strip() or text.strip()[0] in ALL + DASHES or len(translated_marks) <= len(source_marks):
        return []
    start, leads = len(text) - len(text.lstrip()), translation.strip()[0] in DOUBLE
    if source_marks:
        return [(start, TOLD_BY_BOTH)] if leads and source_marks[0].side in ("close", "digit") else []
    positions = []
    who = TRAILING.search(text)
    end = who.start() if who is not None else len(text.rstrip())
    if len(translated_marks) == 1:
        # The partner of a mark may stand at the end of a later segment.
        closes = translated_marks[0].side != "open" and translated_marks[0].position > len(translation) / 2
        positions = [start] if leads else [end] if closes else []
    elif leads or who is not None:
        # In languages that name the speaker first, the marks are inside the segment.
        positions = [start, end]
    return [(position, TOLD_BY_TRANSLATION) for position in positions]


def _double_marks(text: str) -> list[Mark]:
    return [mark for mark in find_marks(text, 0) if mark.double]
