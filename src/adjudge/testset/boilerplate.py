"""Captions, and segments that are no part of the text: dates, bylines, places, links, advertisements (English)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.testset.shapes import PLACE, irrelevant, is_caption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document
    from adjudge.testset.lexicon import Lexicon


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
