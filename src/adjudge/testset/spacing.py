"""Blanks that are missing or too many beside punctuation, and words run together at a capital letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

from adjudge.core.testset import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adjudge.core.testset import Finding
    from adjudge.testset.document import Document
    from adjudge.testset.lexicon import Lexicon

_LINK = regex.compile(
    r"(?:https?://|www\.)\S+|\S+@\S+|[#@]\w+|\S+\.(?:com|org|net|co|uk|gov|edu|html?|io|tv|js|py)\b\S*"
)
_MISSING = regex.compile(
    r"(?<=\p{Ll}{2})[.!?](?=\p{Lu}\p{Ll})"  # end.Start
    r"|(?<=\p{L}{2}),(?=\p{L})"  # one,two
    r"|(?<=\p{Ll}{2})(?<!&\p{L}{2,6});(?=\p{L})"
    r"|(?<=\p{Ll}{3}):(?=\p{L}{2})"
)
_BEFORE_POINT = regex.compile(r"(?<=[\p{L}\p{N}\"”’')])\s+(?=[,.](?:\s|$))")
_IN_BRACKETS = regex.compile(r"(?<=[(\[])\s+(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}.%])\s+(?=[)\]])")
_BEFORE_MARKS = regex.compile(r"(?<=\p{L})\s+(?=[;:!?](?:\s|$))")
_BRACKET = regex.compile(r"(?<=\p{Ll}{3})\((?=\p{L}{4,})|(?<=\p{L}\))(?=\p{L}{2})")
_CAPITAL = regex.compile(r"(?<![\p{L}\p{N}@#/._-])(\p{Ll}{2,})(\p{Lu}\p{Ll}+)(?![\p{L}\p{N}_/])")
_DOUBLE = regex.compile(r"(?<=\S)[ \u00a0]{2,}(?=\S)")
# French puts a blank before these.
_BLANK_BEFORE_MARKS = ("fr", "br")
FEWEST = 5
USUAL = 0.3


@dataclass(frozen=True)
class Habits:
    """What texts do throughout is no error: some were cut into tokens, with blanks round brackets or points."""

    points: bool = False
    brackets: bool = False
    marks: bool = False

    @classmethod
    def of(cls, texts: Iterable[str], language: str) -> Habits:
        """The habits of all texts together."""
        whole = "\n".join(texts)

        def usual(shape: regex.Pattern[str], among: str) -> bool:
            found = len(shape.findall(whole))
            return found >= FEWEST and found > USUAL * sum(map(whole.count, among))

        marks = language in _BLANK_BEFORE_MARKS or usual(_BEFORE_MARKS, ";:!?")
        return cls(usual(_BEFORE_POINT, ",."), usual(_IN_BRACKETS, "()[]"), marks)


def find(document: Document, habits: Habits, lexicon: Lexicon | None) -> Iterator[Finding]:
    """All findings of one document."""
    for place, text in enumerate(document.texts):
        links = [match.span() for match in _LINK.finditer(text)]
        yield from _outside(links, _at_marks(document, place, text, habits))
        if lexicon is not None:
            yield from _outside(links, _at_capitals(document, place, text, lexicon))
        yield from _harmless(document, place, text)


def _outside(links: list[tuple[int, int]], findings: Iterator[Finding]) -> Iterator[Finding]:
    for one in findings:
        assert one.edit is not None
        if not any(start <= one.edit.start < end for start, end in links):
            yield one


def _at_marks(document: Document, place: int, text: str, habits: Habits) -> Iterator[Finding]:
    for match in _MISSING.finditer(text):
        edit = Edit(match.end(), match.end(), " ")
        confidence = 0.9 if match.group() in ".!?," else 0.7
        yield document.finding(place, "spacing", "a blank is missing after punctuation", confidence, edit=edit)
    for match in _BRACKET.finditer(text):
        what = "a blank is missing at a bracket"
        yield document.finding(place, "spacing", what, 0.7, edit=Edit(match.start(), match.start(), " "))
    shapes = ((_BEFORE_POINT, habits.points), (_IN_BRACKETS, habits.brackets), (_BEFORE_MARKS, habits.marks))
    for shape, usual in shapes:
        for match in () if usual else shape.finditer(text):
            if habits.brackets and text[match.start() - 1] in ")]":
                continue
            what = "a blank too many at punctuation"
            yield document.finding(place, "spacing", what, 0.9, edit=Edit(match.start(), match.end(), ""))


def _at_capitals(document: Document, place: int, text: str, lexicon: Lexicon) -> Iterator[Finding]:
    """theUnited: a word of the language, then another with a capital; names like iPhone do not start with a word."""
    for match in _CAPITAL.finditer(text):
        left, right = match[1], match[2]
        if lexicon.zipf(left) >= 4.5 and len(right) > 2 and lexicon.zipf(right.lower()) >= 2:
            edit = Edit(match.start(2), match.start(2), " ")
            yield document.finding(place, "spacing", "two words run together", 0.85, edit=edit)


def _harmless(document: Document, place: int, text: str) -> Iterator[Finding]:
    for match in _DOUBLE.finditer(text):
        yield document.finding(
            place, "double-blank", "two blanks in a row", 0.95, edit=Edit(match.start(), match.end(), " ")
        )
    if text != text.strip():
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        edit = Edit(end, len(text), "") if end < len(text) else Edit(0, start, "")
        yield document.finding(place, "double-blank", "blanks at an end of the segment", 0.95, edit=edit)
