"""Segments that occur twice, and empty ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document

FEWEST_WORDS = 5


def find(documents: Sequence[Document]) -> Iterator[Finding]:
    """All repeats after the first occurrence, in order; short segments may well recur."""
    first: dict[str, tuple[str, int]] = {}
    for document in documents:
        for place, segment in enumerate(document.segments):
            if not segment.text.strip():
                yield document.finding(place, "blank", "an empty segment", 0.95)
                continue
            key = " ".join(segment.text.casefold().split())
            if len(key.split()) < FEWEST_WORDS and len(key) < 25:
                continue
            if key in first:
                name, line = first[key]
                yield document.finding(
                    place, "duplicate", f"the same text stands on line {line} (document {name})", 0.9
                )
            else:
                first[key] = (document.name, segment.line)
