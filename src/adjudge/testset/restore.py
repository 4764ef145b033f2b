"""Quotation marks that a reader of tables took away, put back where a translation made before still shows them.

Such a reader takes the mark at the start of a field, and the next one as its partner. So a mark can be missing only at
the start of a segment, and its partner at an end or before the words that say who spoke. A translation, whatever its
language, tells which segments had them: it starts with a mark, or has marks where the source has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.results.testset import Edit
from adjudge.testset.alignment import in_step
from adjudge.testset.quotes.cues import TRAILING
from adjudge.testset.quotes.marks import ALL, DASHES, DOUBLE, find_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.results.testset import Finding
    from adjudge.testset.quotes.marks import Mark
    from adjudge.testset.read import SourceText

MARK = '"'
TOLD_BY_BOTH, TOLD_BY_TRANSLATION = 0.95, 0.9
"""How sure a mark is that the rest of its own segment asks for, and one that only the translation shows."""


def find(source: SourceText, translation: Sequence[str]) -> Iterator[Finding]:
    """A finding with its correction for every mark that was lost; lines out of step are looked up in step."""
    partner = iter(in_step(source.texts, translation))
    what = "the translation has the quotation mark that this segment lost"
    for document in source.documents:
        for place, text in enumerate(document.texts):
            for position, confidence in marks_lost(text, next(partner)):
                edit = Edit(position, position, MARK)
                yield document.finding(place, "eaten-quotes", what, confidence, edit=edit)


def restored(text: str, translation: str) -> str:
    """The text with the marks that it lost."""
    for position, _ in reversed(marks_lost(text, translation)):
        text = text[:position] + MARK + text[position:]
    return text


def marks_lost(text: str, translation: str) -> list[tuple[int, float]]:
    """Where marks are missing, and how sure that is; none where the translation shows no more than the text has."""
    own, theirs = _double(text), _double(translation)
    if not text.strip() or text.strip()[0] in ALL + DASHES or len(theirs) <= len(own):
        return []
    start, leads = len(text) - len(text.lstrip()), translation.strip()[0] in DOUBLE
    if own:
        return [(start, TOLD_BY_BOTH)] if leads and own[0].side in ("close", "digit") else []
    places = []
    who = TRAILING.search(text)
    end = who.start() if who is not None else len(text.rstrip())
    if len(theirs) == 1:
        # The partner of a mark may stand at the end of a later segment.
        closes = theirs[0].side != "open" and theirs[0].position > len(translation) / 2
        places = [start] if leads else [end] if closes else []
    elif leads or who is not None:
        # Languages that put first who spoke have the marks inside the segment.
        places = [start, end]
    return [(place, TOLD_BY_TRANSLATION) for place in places]


def _double(text: str) -> list[Mark]:
    return [mark for mark in find_marks(text, 0) if mark.double]
