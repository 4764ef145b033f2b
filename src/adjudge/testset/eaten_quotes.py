"""Quotation marks that a CSV reader removed, and their restoration by a translation that still has them.

Such a reader takes a mark at the start of a field for the field's own, and drops it with its partner. What is left are
texts in which no segment starts with a quotation mark, though many end with one, or many translations start with one.

So a mark can be missing only at the start of a segment, and its partner at an end or before the words that say who
spoke. A translation made before, whatever its language, tells which segments had them: it starts with a mark, or has
marks where the source has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.wording import counted
from adjudge.results.testset import Edit, Finding
from adjudge.testset.alignment import move_in_step
from adjudge.testset.quotes.cues import TRAILING
from adjudge.testset.quotes.marks import ALL, DASHES, DOUBLE, find_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.testset.document import SourceText
    from adjudge.testset.quotes.marks import Mark

FEWEST = 8
"""So many segments must end a quotation before it is strange that none starts with one."""
RATIO = 0.25


def find(source: SourceText) -> tuple[Finding, ...]:
    """One finding for the file, if at all."""
    stripped = [text.strip() for text in source.texts]
    starting = _count_starting(stripped)
    ending = [text for text in stripped if text[-1:] in set(DOUBLE) and _closes_more(text)]
    if len(ending) < FEWEST or starting > RATIO * len(ending):
        return ()
    return (_finding(source, starting, f"{len(ending)} end with one that none opened"),)


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


def _closes_more(text: str) -> bool:
    """Whether more marks close than open in the segment."""
    sides = [mark.side for mark in _double_marks(text)]
    return sides.count("close") + sides.count("digit") > sides.count("open")


MARK = '"'
TOLD_BY_BOTH, TOLD_BY_TRANSLATION = 0.95, 0.9
"""How sure a mark is that the rest of its own segment asks for, and one that only the translation shows."""


def restorations(source: SourceText, translation: Sequence[str]) -> Iterator[Finding]:
    """A finding with its correction for every mark that was lost; lines out of step are looked up in step."""
    partner = iter(move_in_step(source.texts, translation))
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
