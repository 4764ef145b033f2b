"""Documents for tests, and their findings."""

from __future__ import annotations

from adjudge.testsets.check import inspect_document
from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.findings import Finding
from adjudge.testsets.words import lexicon


def document(*texts: str) -> Document:
    return Document("made.txt", "1", tuple(Segment(i, text) for i, text in enumerate(texts, start=1)))


def findings_in(*texts: str, language: str = "en", category: str | None = None) -> list[Finding]:
    everything = inspect_document(document(*texts), language, lexicon(language))
    return [finding for finding in everything if category in (None, finding.category)]


def lines_and_suggestions(findings: list[Finding]) -> list[tuple[int, str | None]]:
    """The line and the suggestion of each finding."""
    return [(finding.line, finding.suggestion) for finding in findings]
