"""Captions, and segments that are no part of the text: dates, bylines, places, links, advertisements (English).

`find` reports them; other detectors ask here whether a segment is a sentence of the text at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document
    from adjudge.testset.lexicon import Lexicon

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY = r"(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?,?\s+)?"
_TIME = r"(?:,?\s*(?:at\s+)?\d{1,2}[:.]\d{2}(?:\s*[ap]\.?m\.?)?(?:\s*(?:GMT|BST|UTC|CET|CEST|EDT|EST|PDT|PST|ET))?)?"
_DATE = rf"{_DAY}(?:\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?),?(?:\s+\d{{4}})?{_TIME}"

_CREDIT = regex.compile(
    r"^[(\[]?\s*(?:file\s+)?(?:photo(?:graph)?s?|image|picture|video|graphic|illustration|credit|caption|source)s?\s*"
    r"(?:credit|by|courtesy|caption)?\s*[:/|]"
    r"|^(?:photo(?:graph)?|image|picture|illustration)\s+by\s"
    r"|^(?:pictured|above|below)\s*:"
    r"|^file\s+(?:photo|picture|image)\b"
    r"|[(\[](?:photo|image|picture|pic|credit|file photo|AP Photo|Getty)[^)\]]{0,60}[)\]]\s*\.?$"
    r"|\b(?:Getty Images|AFP/Getty|AP Photo|Shutterstock|Rex Features|EPA-EFE|PA Wire|iStock)\b[^.]{0,40}\.?$",
    regex.IGNORECASE,
)
_DATE_LINE = regex.compile(
    r"^[\"'“(]?(?:(?:published|updated|posted|last updated|first published|created|date)\s*:?\s*(?:on|at)?\s*)?"
    rf"{_DATE}\.?[)\"'”]?$"
    r"|^(?:published|updated|posted|last updated|first published)\b[^.]{0,60}$"
    rf"|^\p{{Lu}}[\p{{L}} .'-]{{2,30}},\s+{_DATE}\.?$",
    regex.IGNORECASE,
)
_BYLINE = regex.compile(
    r"^[Bb]y\s+\p{Lu}[\p{L}.'’-]+(?:\s+(?:and\s+)?\p{Lu}[\p{L}.'’-]*){1,5}(?:,\s[^.]{3,60})?$"
    r"|^BY\s+\p{Lu}[\p{Lu} .'’,-]+$"
    r"|^(?:Reporting|Additional reporting|Writing|Editing)\s+by\s"
)
PLACE = "a place"
_CITY_LINE = regex.compile(
    r"^\p{Lu}{3,}(?:[ ,./-]+\p{Lu}{2,}){0,3}(?:\s*\((?:Reuters|AP|AFP|Bloomberg|dpa|UPI)\))?\s*[-–—:]?$"
)
_ADVERT = regex.compile(
    r"^(?:read|see|watch|listen)\s+(?:more|also|next|now|it here)\b|^(?:click|tap|sign up|subscribe|follow us|"
    r"share this|advertisement|sponsored|related(?: articles| stories)?:|more on this|story continues|scroll down|"
    r"download (?:the|our)|all rights reserved|copyright|©|join the conversation|watch the video|"
    r"support our journalism)\b"
    r"|^(?:https?://|www\.)\S+$|^\[?(?:comments|share|print|email|reuse content)\]?$",
    regex.IGNORECASE,
)
_SMALL_WORDS = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "but", "with", "by", "from", "as", "is", "are",
     "was", "vs", "v", "over", "after", "into", "out", "up", "off", "amid"]
)  # fmt: skip


def find(document: Document, words: Lexicon | None) -> Iterator[Finding]:
    """All findings of one document."""
    for index, text in enumerate(document.texts):
        if is_caption(text):
            yield document.finding(index, "caption", "the caption or credit of a picture", 0.8)
        elif (kind := irrelevant(text)) is not None and not (kind == PLACE and _is_heading(text, words)):
            yield document.finding(index, "irrelevant", f"{kind} as a segment of its own", 0.8)


def _is_heading(text: str, words: Lexicon | None) -> bool:
    """Capitals are a place only where no word of them is a common one: LONDON, but not LINES CROSSED."""
    return words is not None and any(words.in_dictionary(word.strip(",.-–—:").lower()) for word in text.split())


def is_caption(text: str) -> bool:
    """Whether the segment is, or ends with, the credit of a picture."""
    return _CREDIT.search(text.strip()) is not None


def irrelevant(text: str) -> str | None:
    """Say what the segment is instead of a sentence of the text."""
    stripped = text.strip()
    kinds = {"a date": _DATE_LINE, "a byline": _BYLINE, PLACE: _CITY_LINE, "a link or an advertisement": _ADVERT}
    return next((kind for kind, shape in kinds.items() if shape.search(stripped)), None)


def is_boilerplate(text: str) -> bool:
    """Whether the segment is no sentence of the text."""
    return is_caption(text) or irrelevant(text) is not None


def looks_like_title(text: str) -> bool:
    """Whether most words that can have a capital have one, or all are in capitals."""
    words = [word for word in regex.findall(r"[\p{L}'’-]+", text) if word.lower() not in _SMALL_WORDS]
    if len(words) < 2:
        return True
    capital = sum(word[0].isupper() for word in words)
    return bool(capital / len(words) > 0.7)
