"""All detectors over all documents, in order of place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.testset import (
    across_documents,
    boilerplate,
    brackets,
    capitals,
    characters,
    eaten_quotes,
    language,
    sentences,
    spacing,
    typos,
)
from adjudge.testset.lexicon import lexicon
from adjudge.testset.quotes import double, single

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document, SourceText
    from adjudge.testset.lexicon import Lexicon

ENGLISH = "en"
NEVER: tuple[str, ...] = (
    "misspellings that are words themselves (though for through)",
    "accents that names have lost",
    "grammar",
    "speech without any quotation marks",
    "whether the content is true or complete",
)
ELSEWHERE = (
    "who speaks (it tells where an unclosed quotation ends)",
    "captions, bylines, dates and advertisements",
    "single quotation marks",
)
MANY = 60
UNSURE = 0.7
HALVED = 0.5
"""The factor on the confidence of findings about quotation marks if a CSV reader removed marks."""


def inspect(sources: Sequence[SourceText], code: str) -> tuple[Finding, ...]:
    """Run all detectors on the texts, whose language is `code`."""
    words = lexicon(code)
    findings: list[Finding] = []
    for source in sources:
        eaten = eaten_quotes.find(source)
        habits = spacing.Habits.of(source.texts, code)
        in_documents = [
            finding for document in source.documents for finding in inspect_document(document, code, words, habits)
        ]
        if eaten:
            in_documents = [_doubt_quotes(finding) for finding in in_documents]
        if lacks_borders(source):
            in_documents = [_doubt_headline(finding) for finding in in_documents]
        findings += (*source.findings, *eaten, *in_documents)
    documents = [document for source in sources for document in source.documents]
    findings += across_documents.missing_headlines(documents)
    findings += across_documents.repeated_segments(documents)
    order = {str(source.path): number for number, source in enumerate(sources)}
    return tuple(sorted(findings, key=lambda finding: (order.get(finding.file, 0), finding.line)))


def inspect_document(
    document: Document, code: str, words: Lexicon | None, habits: spacing.Habits | None = None
) -> Iterator[Finding]:
    """Run the detectors that need one document only."""
    broken = list(characters.find(document))
    yield from broken
    # Broken characters would be found again and again, as quotation marks, typos and other languages.
    lines = {finding.line for finding in broken}
    habits = habits or spacing.Habits.of(document.texts, code)
    for finding in _run_detectors(characters.repaired(document, lines), code, words, habits):
        # Places in a repaired text are not places in the file.
        yield replace(finding, edit=None) if finding.line in lines else finding


def _run_detectors(document: Document, code: str, words: Lexicon | None, habits: spacing.Habits) -> Iterator[Finding]:
    yield from double.find(document, english=code == ENGLISH)
    yield from brackets.find(document)
    if code == ENGLISH:
        yield from single.find(document)
        yield from boilerplate.find(document, words)
    if words is not None:
        yield from typos.find(document, words, habits.repeated)
    if words is not None and code == ENGLISH:
        yield from capitals.find(document, words)
    yield from spacing.find(document, habits)
    yield from sentences.find(document, code)
    yield from language.find(document, code)


def not_checked(code: str) -> tuple[str, ...]:
    """List what is not checked in this language."""
    names = NEVER
    if code != ENGLISH:
        names = (*ELSEWHERE, *names)
    words = lexicon(code)
    if words is None:
        return (f"misspelt words: no frequency list knows '{code}'", *names)
    if not words.has_dictionary:
        return (f"rare misspelt words: there is no dictionary of '{code}', frequencies alone are used", *names)
    return names


def lacks_borders(source: SourceText) -> bool:
    """Whether nobody marked the borders between documents: so many segments are hardly one."""
    return len(source.documents) == 1 and len(source.texts) > MANY


def _doubt_headline(finding: Finding) -> Finding:
    """Lower the confidence of missing periods: without documents, headlines cannot be told from sentences."""
    unsure = finding.category == "final-period" and finding.sure
    return replace(finding, confidence=UNSURE) if unsure else finding


def _doubt_quotes(finding: Finding) -> Finding:
    about_quotes = finding.category in ("quotation-marks", "quote-style")
    return replace(finding, confidence=finding.confidence * HALVED) if about_quotes else finding
