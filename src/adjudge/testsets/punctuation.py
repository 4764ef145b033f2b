"""Brackets without their partner, followed through a document as far as a bracket reasonably reaches."""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import regex

from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.findings import Edit, Finding
from adjudge.testsets.spelling import accented_names, repeated_words
from adjudge.testsets.words import NEVER_PARTS, Lexicon

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


_CLOSING = {"(": ")", "[": "]", "（": "）", "【": "】"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
_FACE = regex.compile(r"(?:^|(?<=\s))[:;=][-'^o]?[()\[\]]+")
# What a bracket without a partner may be: the number of a list, a face the other way round, half-open in mathematics.
_OTHER_USES = regex.compile(
    r"(?:^|(?<=\s))\p{L}?[\p{N}ivx]{0,4}[)\]]|[()]{1,20}[-'^]?[:;=]|[:;=8xX][-'^o]?[()]|[\[(]-?[\d.]+\s*[,;]\s*-?[\d.]+[)\]]"
)
FARTHEST = 3
"""A bracket may close some segments later."""


class Bracket(NamedTuple):
    """A bracket and its place."""

    segment: int
    position: int
    character: str


def find_brackets(document: Document) -> Iterator[Finding]:
    """All findings of one document."""
    other_uses: dict[int, set[int]] = {}
    for bracket, what in _find_unmatched(document.texts):
        if bracket.segment not in other_uses:
            matches = _OTHER_USES.finditer(document.texts[bracket.segment])
            other_uses[bracket.segment] = {position for match in matches for position in range(*match.span())}
        if bracket.position not in other_uses[bracket.segment]:
            span = (bracket.position, bracket.position + 1)
            yield document.finding(bracket.segment, "brackets", f"a bracket that is {what}", 0.7, span=span)


def _find_unmatched(texts: tuple[str, ...]) -> Iterator[tuple[Bracket, str]]:
    opened: list[Bracket] = []
    for index, text in enumerate(texts):
        for bracket in _find_brackets(text, index):
            if bracket.character in _CLOSING:
                opened.append(bracket)
            elif opened and opened[-1].character == _OPENING[bracket.character]:
                opened.pop()
            else:
                yield bracket, "never opened"
        last = index == len(texts) - 1
        late = [bracket for bracket in opened if last or index - bracket.segment >= FARTHEST]
        yield from ((bracket, "never closed") for bracket in late)
        opened = [bracket for bracket in opened if not last and index - bracket.segment < FARTHEST]


def _find_brackets(text: str, index: int) -> list[Bracket]:
    faces = {position for match in _FACE.finditer(text) for position in range(*match.span())}
    return [
        Bracket(index, position, character)
        for position, character in enumerate(text)
        if (character in _CLOSING or character in _OPENING) and position not in faces
    ]


# Words run together at or behind a capital letter (English): theUnited, Thisis, Londonwhere.

_INSIDE = regex.compile(r"(?<![\p{L}\p{N}@#/._-])(\p{Ll}{2,})(\p{Lu}\p{Ll}+)(?![\p{L}\p{N}_/])")
_NAME = regex.compile(
    r"(?<![\p{L}\p{N}@#/._-]|\p{L}['’])\p{Lu}\p{Ll}{2,}(?![\p{L}\p{N}_@/.-]\p{L}|[\p{L}\p{N}_@/-]|['’](?!s\b))"
)
SHORTEST = 6
# Many names end in two letters that are a word, so only these count.
_SHORT = ("to", "of", "by", "we", "he", "it")
FUNCTION, KNOWN, RARE = 6.0, 3.0, 2.2
"""On the Zipf scale: words that hold sentences together, words that are quite frequent, and hardly words."""


def find_capitals(document: Document, lexicon: Lexicon) -> Iterator[Finding]:
    """All findings of one document."""
    names = Counter(name for text in document.texts for name in _NAME.findall(text))
    what = "two words run together"
    for index, text in enumerate(document.texts):
        for match in _INSIDE.finditer(text):
            if lexicon.zipf(match[1]) >= 4.5 and len(match[2]) > 2 and lexicon.zipf(match[2].lower()) >= 2:
                yield document.finding(index, "spacing", what, 0.85, edit=Edit(match.start(2), match.start(2), " "))
        for match in _NAME.finditer(text):
            if (cut := _find_missing_blank(match.group(), names, lexicon)) is not None:
                edit = Edit(match.start() + cut, match.start() + cut, " ")
                yield document.finding(index, "spacing", what, 0.8, edit=edit)


def _find_missing_blank(word: str, names: Counter[str], lexicon: Lexicon) -> int | None:
    """Find the missing blank in a capitalised word that the lists hardly know and that occurs once."""
    if len(word) < SHORTEST or names[word] > 1 or lexicon.zipf(word.lower()) >= RARE:
        return None
    if lexicon.in_dictionary(word) or lexicon.in_dictionary(word.lower()):
        return None
    return next(
        (cut for cut in range(len(word) - 2, 1, -1) if _are_two_words(word[:cut], word[cut:], names, lexicon)), None
    )


def _are_two_words(left: str, right: str, names: Counter[str], lexicon: Lexicon) -> bool:
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


# Blanks that are missing or too many beside punctuation.


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
    accented: Mapping[str, str] = field(default_factory=dict)
    """Names that have accents somewhere, by what is left of them without."""

    @classmethod
    def of(cls, texts: Collection[str], language: str) -> Habits:
        """The habits of all texts together."""
        whole = "\n".join(texts)

        def usual(shape: regex.Pattern[str], among: str) -> bool:
            times = len(shape.findall(whole))
            return times >= FEWEST and times > USUAL * sum(map(whole.count, among))

        marks = language in _BLANK_BEFORE_MARKS or usual(_BEFORE_MARKS, ";:!?")
        return cls(
            usual(_BEFORE_POINT, ",."), usual(_IN_BRACKETS, "()[]"), marks, repeated_words(texts), accented_names(texts)
        )


def find_spacing(document: Document, habits: Habits) -> Iterator[Finding]:
    """All findings of one document."""
    for index, text in enumerate(document.texts):
        links = [match.span() for match in _LINK.finditer(text)]
        for finding in _find_at_punctuation(document, index, text, habits):
            assert finding.edit is not None
            if not any(start <= finding.edit.start < end for start, end in links):
                yield finding
        yield from _find_blanks(document, index, text)


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
        edit = Edit(match.start(), match.end(), " ")
        yield document.finding(index, "double-blank", "two spaces in a row", 0.95, edit=edit)
    if text != text.strip():
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        edit = Edit(end, len(text), "") if end < len(text) else Edit(0, start, "")
        yield document.finding(index, "double-blank", "spaces at an end of the segment", 0.95, edit=edit)


# Characters broken by a wrong encoding, remains of HTML, and characters that cannot be seen.

_ENTITY = re.compile(
    r"&(?:amp|quot|lt|gt|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,5}|[lr][sd]quo|[mn]dash|hellip|[a-z]acute);"
)
_TAG = re.compile(r"</?(?:p|br|b|i|em|strong|a|div|span|img|u|h[1-6]|li|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_UNSEEN = re.compile("[\u200b\u2060\ufeff\u00ad\u0000-\u0008\u000b-\u001f\u007f-\u009f]")
_REPLACED = re.compile("\ufffd+")


def find_characters(document: Document) -> Iterator[Finding]:
    """All findings of one document."""
    for index, text in enumerate(document.texts):
        yield from _find_broken(document, index, text)
        for shape, what in ((_ENTITY, "an HTML entity"), (_TAG, "an HTML tag")):
            for match in shape.finditer(text):
                edit = Edit(*match.span(), html.unescape(match.group()) if shape is _ENTITY else "")
                yield document.finding(index, "markup", what, 0.9 if shape is _ENTITY else 0.8, edit=edit)
        for match in _UNSEEN.finditer(_undo_wrong_encoding(text)):
            yield document.finding(index, "markup", f"an unseen character U+{ord(match.group()):04X}", 0.9,
                                   edit=Edit(*match.span(), ""))  # fmt: skip


def repaired(document: Document, lines: set[int]) -> Document:
    """The document with broken characters and markup put right on these lines."""
    if not lines:
        return document
    import ftfy

    segments = tuple(
        Segment(segment.line, _strip_markup(ftfy.fix_encoding(segment.text))) if segment.line in lines else segment
        for segment in document.segments
    )
    return replace(document, segments=segments)


def _strip_markup(text: str) -> str:
    """The text without entities, tags and what cannot be seen."""
    return _UNSEEN.sub("", _TAG.sub("", _ENTITY.sub(lambda match: html.unescape(match.group()), text)))


def _undo_wrong_encoding(text: str) -> str:
    """The text as far as wrong encodings can be undone: what they broke is reported as such, not as unseen."""
    if text.isascii():
        return text
    import ftfy

    return text if ftfy.fix_encoding(text) == text else ""


def _find_broken(document: Document, index: int, text: str) -> Iterator[Finding]:
    for match in _REPLACED.finditer(text):
        yield document.finding(index, "mojibake", "a character that was lost (U+FFFD)", 0.95, span=match.span())
    if text.isascii():
        return
    import ftfy

    fixed = ftfy.fix_encoding(text)
    if fixed == text:
        return
    start = next((i for i, (a, b) in enumerate(zip(text, fixed, strict=False)) if a != b), min(len(text), len(fixed)))
    behind = next(
        (i for i, (a, b) in enumerate(zip(reversed(text[start:]), reversed(fixed[start:]), strict=False)) if a != b),
        min(len(text), len(fixed)) - start,
    )
    edit = Edit(start, len(text) - behind, fixed[start : len(fixed) - behind])
    yield document.finding(index, "mojibake", "characters broken by a wrong encoding", 0.95, edit=edit)
