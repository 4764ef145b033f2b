"""Blanks that are missing or too many beside punctuation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

from adjudge.results.testset import Edit
from adjudge.testset.typos import repeated_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document

# An address starts at the start of a word; trying every letter of a long word would take minutes.
_LINK = regex.compile(
    r"(?:https?://|www\.)\S+|(?<!\S)\S+@\S+|[#@]\w+"
    r"|(?<!\S)\S+\.(?:com|org|net|co|uk|gov|edu|html?|io|tv|js|py)\b\S*"
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
# Not before an argument, as in call(name=1).
_BRACKET = regex.compile(r"\((?<=(?<![._])\b\p{L}*\p{Ll}{3}\()(?=\p{L}{4,}[^()=]*\))|(?<=\p{L}\))(?=\p{L}{2})")
_DOUBLE = regex.compile(r"(?<=\S)[ \u00a0]{2,}(?=\S)")
# French puts a blank before these.
_BLANK_BEFORE_MARKS = ("fr", "br")
FEWEST = 5
USUAL = 0.3


@dataclass(frozen=True)
class Habits:
    """Spacing that texts use throughout is no error: some were tokenised, with blanks around brackets or points."""

    points: bool = False
    brackets: bool = False
    marks: bool = False
    repeated: frozenset[str] = frozenset()
    """Words that are used more than once."""

    @classmethod
    def of(cls, texts: Collection[str], language: str) -> Habits:
        """The habits of all texts together."""
        whole = "\n".join(texts)

        def usual(shape: regex.Pattern[str], among: str) -> bool:
            times = len(shape.findall(whole))
            return times >= FEWEST and times > USUAL * sum(map(whole.count, among))

        marks = language in _BLANK_BEFORE_MARKS or usual(_BEFORE_MARKS, ";:!?")
        return cls(usual(_BEFORE_POINT, ",."), usual(_IN_BRACKETS, "()[]"), marks, repeated_words(texts))


def find(document: Document, habits: Habits) -> Iterator[Finding]:
    """All findings of one document."""
    for index, text in enumerate(document.texts):
        links = [match.span() for match in _LINK.finditer(text)]
        yield from _drop_links(links, _find_at_punctuation(document, index, text, habits))
        yield from _find_blanks(document, index, text)


def _drop_links(links: list[tuple[int, int]], findings: Iterator[Finding]) -> Iterator[Finding]:
    for finding in findings:
        assert finding.edit is not None
        if not any(start <= finding.edit.start < end for start, end in links):
            yield finding


def _find_at_punctuation(document: Document, index: int, text: str, habits: Habits) -> Iterator[Finding]:
    for match in _MISSING.finditer(text):
        edit = Edit(match.end(), match.end(), " ")
        confidence = 0.9 if match.group() in ".!?," else 0.7
        yield document.finding(index, "spacing", "a space is missing after punctuation", confidence, edit=edit)
    for match in _BRACKET.finditer(text):
        what = "a space is missing at a bracket"
        yield document.finding(index, "spacing", what, 0.7, edit=Edit(match.start(), match.start(), " "))
    shapes = ((_BEFORE_POINT, habits.points), (_IN_BRACKETS, habits.brackets), (_BEFORE_MARKS, habits.marks))
    for shape, usual in shapes:
        for match in () if usual else shape.finditer(text):
            if habits.brackets and text[match.start() - 1] in ")]":
                continue
            what = "a superfluous space at punctuation"
            yield document.finding(index, "spacing", what, 0.9, edit=Edit(match.start(), match.end(), ""))


def _find_blanks(document: Document, index: int, text: str) -> Iterator[Finding]:
    for match in _DOUBLE.finditer(text):
        yield document.finding(
            index, "double-blank", "two spaces in a row", 0.95, edit=Edit(match.start(), match.end(), " ")
        )
    if text != text.strip():
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        edit = Edit(end, len(text), "") if end < len(text) else Edit(0, start, "")
        yield document.finding(index, "double-blank", "spaces at an end of the segment", 0.95, edit=edit)
