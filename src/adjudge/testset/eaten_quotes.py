"""Quotation marks that a reader of tables took away.

Such a reader takes a mark at the start of a field for the field's own, and drops it with its partner. What is left are
texts in which no segment starts with a quotation mark, though many end with one, or many translations start with one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.results.testset import Finding
from adjudge.testset.quotes.marks import ALL, DASHES, DOUBLE, find_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.testset.read import SourceText

FEWEST = 8
"""So many segments must end a quotation before it is strange that none starts with one."""
RATIO = 0.25


def find(source: SourceText) -> tuple[Finding, ...]:
    """One finding for the file, if at all."""
    stripped = [text.strip() for text in source.texts]
    starting = _starting(stripped)
    ending = [text for text in stripped if text[-1:] in set(DOUBLE) and _unopened(text)]
    if len(ending) < FEWEST or starting > RATIO * len(ending):
        return ()
    return (_finding(source, starting, f"{len(ending)} end with one that none opened"),)


def find_by(source: SourceText, translation: Sequence[str]) -> tuple[Finding, ...]:
    """The same, where a translation shows it: hardly a segment starts with a mark, but many of its translations do."""
    starting, theirs = _starting(source.texts, ALL + DASHES), _starting(translation)
    if theirs < FEWEST or starting > RATIO * theirs:
        return ()
    return (_finding(source, starting, f"{theirs} of their translations do"),)


def _starting(texts: Sequence[str], marks: str = DOUBLE) -> int:
    return sum(text.strip()[:1] in set(marks) for text in texts)


def _finding(source: SourceText, starting: int, trace: str) -> Finding:
    what = (
        f"{starting} segments start with a quotation mark, {trace}: a reader of tables seems to have taken marks away; "
        "export the file again, or let --fix restore them by a --translation that has them, before trusting what is "
        "said of quotation marks"
    )
    return Finding(str(source.path), 1, "", "eaten-quotes", source.texts[0].strip()[:64], None, 0.9, what)


def _unopened(text: str) -> bool:
    """Whether more marks close than open in the segment."""
    sides = [mark.side for mark in find_marks(text, 0) if mark.double]
    return sides.count("close") + sides.count("digit") > sides.count("open")
