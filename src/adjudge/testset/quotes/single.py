"""Single quotation marks: never closed, never opened; and the note that a document uses them for speech."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.testset.quotes.cues import last_of_speech
from adjudge.testset.quotes.marks import Mark, find_marks
from adjudge.testset.quotes.pairing import Broken, Pairing, looks_possessive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document

FARTHEST = 6
"""A quotation in single marks that is not closed within so many segments was an apostrophe, or is never closed."""
_PUNCTUATION = (".", ",", "!", "?", "…")


def find(document: Document) -> Iterator[Finding]:
    """Single quotations without an end or a start, and pairs where double ones are the American custom."""
    marks = [find_marks(text, index) for index, text in enumerate(document.texts)]
    single = _drop_apostrophes(document.texts, [mark for in_segment in marks for mark in in_segment if not mark.double])
    for broken in Pairing(document.texts, single).run():
        if broken.problem == "never opened":
            # No apostrophe stands after a comma or the end of a sentence.
            if document.texts[broken.mark.index][: broken.mark.position].endswith(_PUNCTUATION):
                what = "the end of a quotation in single marks that was never opened"
                yield _report(document, broken.mark, what)
        elif broken.problem != "apostrophe":
            yield _report_unclosed(document, broken)
    yield from _find_style(document, marks, single)


def _drop_apostrophes(texts: tuple[str, ...], marks: list[Mark]) -> list[Mark]:
    """The marks without apostrophes: a plural's genitive, where another mark soon after can still close."""
    return [
        mark
        for number, mark in enumerate(marks)
        if mark.side == "open" or not _is_apostrophe(texts, mark, marks[number + 1 :])
    ]


def _is_apostrophe(texts: tuple[str, ...], mark: Mark, later: list[Mark]) -> bool:
    if not looks_possessive(texts[mark.index], mark.position):
        return False
    following = later[0] if later else None
    return following is not None and following.side == "close" and following.index - mark.index < FARTHEST


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
        return _report(document, mark, what)
    end = len(document.texts[last].rstrip())
    return document.finding(last, "quotation-marks", what, 0.6, span=(max(0, end - 1), end))


def _report(document: Document, mark: Mark, what: str) -> Finding:
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
