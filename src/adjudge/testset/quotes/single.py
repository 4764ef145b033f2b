"""Single quotation marks: opened and never closed; and the note that a document uses them for speech."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.testset.quotes.machine import looks_possessive
from adjudge.testset.quotes.marks import Mark, find_marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.core.testset import Finding
    from adjudge.testset.document import Document

FARTHEST = 6
"""A quotation in single marks that is not closed within so many segments was an apostrophe, or is never closed."""


def find(document: Document) -> Iterator[Finding]:
    """Unclosed single quotations, and pairs that stand where double ones are the American custom."""
    opened: Mark | None = None
    for place, text in enumerate(document.texts):
        marks = find_marks(text, place)
        for number, mark in enumerate(marks):
            if mark.double:
                continue
            if mark.side == "open":
                if opened is not None:
                    yield _unclosed(document, opened)
                opened = mark
            elif opened is not None and not _is_apostrophe(text, mark, marks[number + 1 :]):
                if opened.place == place and not _inside_double(marks, opened):
                    yield _style(document, opened, mark)
                opened = None
        if opened is not None and place - opened.place >= FARTHEST:
            yield _unclosed(document, opened)
            opened = None
    if opened is not None:
        yield _unclosed(document, opened)


def _is_apostrophe(text: str, mark: Mark, later: list[Mark]) -> bool:
    """A plural's genitive, where another single mark of the segment can still close."""
    following = next((one.side for one in later if not one.double), None)
    return looks_possessive(text, mark.position) and following == "close"


def _inside_double(marks: list[Mark], opened: Mark) -> bool:
    return sum(one.double for one in marks if one.position < opened.position) % 2 == 1


def _unclosed(document: Document, mark: Mark) -> Finding:
    what = "a single quotation mark that opens and is never closed, or another mark closes it"
    return document.finding(mark.place, "quotation-marks", what, 0.6, span=(mark.position, mark.position + 1))


def _style(document: Document, opened: Mark, closed: Mark) -> Finding:
    what = "single quotation marks, where double ones are the American custom"
    return document.finding(opened.place, "quote-style", what, 0.5, span=(opened.position, closed.position + 1))
