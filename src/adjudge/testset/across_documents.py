"""What only shows beside other documents: missing headlines, documents that start in the middle, repeated segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from adjudge.testset.sentences import is_ended

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document


FEWEST_DOCUMENTS = 5
MOST_HAVE_ONE = 0.75
"""Share of documents with a headline from which on its absence is worth a word."""
_MIDDLE = regex.compile(
    r"(?:And|But|However|Meanwhile|Also|Then|He|She|They|It|His|Her|Their|This|These|That)\s|\p{Ll}"
)


def missing_headlines(documents: Sequence[Document]) -> Iterator[Finding]:
    """All findings of a set of documents."""
    with_text = [document for document in documents if len(document.segments) > 1]
    headed = sum(has_headline(document) for document in with_text)
    if len(with_text) < FEWEST_DOCUMENTS or headed < MOST_HAVE_ONE * len(with_text):
        return
    for document in with_text:
        if has_headline(document):
            continue
        what = f"no headline, {headed} of {len(with_text)} documents have one"
        yield document.finding(0, "headline", what, 0.7)
        if _MIDDLE.match(document.texts[0]):
            yield document.finding(0, "out-of-context", "the document seems to start in the middle of its text", 0.5)


def has_headline(document: Document) -> bool:
    """Whether the first segment does not end like a sentence; a question or a quotation may be a headline too."""
    first = document.texts[0].rstrip()
    return not is_ended(first) or first.rstrip("\"'”’").endswith(("?", "!", ":", "…"))


FEWEST_WORDS = 5


def repeated_segments(documents: Sequence[Document]) -> Iterator[Finding]:
    """All repeats after the first occurrence, in order; short segments may well recur."""
    first: dict[str, tuple[str, int]] = {}
    for document in documents:
        for index, segment in enumerate(document.segments):
            if not segment.text.strip():
                yield document.finding(index, "blank", "an empty segment", 0.95)
                continue
            key = " ".join(segment.text.casefold().split())
            if len(key.split()) < FEWEST_WORDS and len(key) < 25:
                continue
            if key in first:
                name, line = first[key]
                yield document.finding(
                    index, "duplicate", f"the same text stands on line {line} (document {name})", 0.9
                )
            else:
                first[key] = (document.name, segment.line)
