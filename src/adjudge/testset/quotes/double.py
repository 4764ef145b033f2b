"""Double quotation marks: quotations never closed or never opened, and marks that should be apostrophes."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.results.testset import Edit
from adjudge.testset.quotes.cues import TRAILING, last_of_speech, sounds_like_narration, trailing_starts
from adjudge.testset.quotes.marks import DOUBLE, Mark, find_marks
from adjudge.testset.quotes.pairing import Broken, Pairing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document

QUOTES, APOSTROPHE = "quotation-marks", "apostrophe"
_CONTRACTED = re.compile(r"(?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
LOOK_BACK = 5000
_OPENED_HERE = re.compile(r": (?=[A-Z])")
# ""Yes,"" he said: tables write a mark inside a field twice.
_DOUBLED = re.compile(r'(?<!")""(?=[^\s"])([^"]*[^\s"])""(?!")')
_PARTNER = {"”": "“", "“": "”", "»": "«", "«": "»", "„": "“", "」": "「"}


def find(document: Document, *, english: bool = True) -> Iterator[Finding]:
    """All findings of one document; who speaks is known in English only."""
    marks = [mark for i, text in enumerate(document.texts) for mark in find_marks(text, i) if mark.double]
    yield from (_report_inside(document, mark) for mark in marks if mark.side == "inside")
    escaped = [_DOUBLED.search(text) is not None for text in document.texts]
    for index, text in enumerate(document.texts):
        yield from (_report_doubled(document, index, match) for match in _DOUBLED.finditer(text))
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
            yield _report_opens_anew(document, broken)
        else:
            yield _report_never_closed(document, broken, english=english)


def _report_doubled(document: Document, index: int, match: re.Match[str]) -> Finding:
    what = "quotation marks doubled, as in a field of a table"
    return document.finding(index, QUOTES, what, 0.9, edit=Edit(match.start(), match.end(), f'"{match[1]}"'))


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
    closing = _closing(mark.character)
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


def _report_opens_anew(document: Document, broken: Broken) -> Finding:
    """Right in a newspaper, but a segment that is translated by itself has an end that nobody sees."""
    last = broken.until - 1
    end = len(document.texts[last].rstrip())
    what = "a quotation that opens again in the next segment without being closed (newspaper convention)"
    return document.finding(last, QUOTES, what, 0.5, edit=Edit(end, end, _closing(broken.mark.character)))


def _closing(opening: str) -> str:
    return {"“": "”", "„": "“", "«": "»", "»": "«", "「": "」"}.get(opening, opening)
