"""What is wrong with source texts: technical and topical contaminants. `testset` is the main function.

One detector per file, each with `find`, which takes a document (or all of them) and gives findings; `inspect` runs all.
The categories follow A. Kim and others (2022), The Suboptimal WMT Test Sets and Their Impact on Human Parity, Table 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import UsageError
from adjudge.core.fingerprint import fingerprint
from adjudge.results.testset import CATEGORIES, NOTED, Finding, TestSetCheck
from adjudge.testset import alignment, eaten_quotes
from adjudge.testset.document import SourceText, read_source, read_translation
from adjudge.testset.inspect import inspect, lacks_borders, not_checked
from adjudge.testset.language import detect
from adjudge.testset.options import TestSetOptions
from adjudge.testset.statistics import text_statistics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.results.testset import Topics
    from adjudge.results.testset_versions import Versions

__all__ = ["CATEGORIES", "NOTED", "TestSetOptions", "read_and_check", "testset"]
FEWEST_LINES = 10


def testset(files: Sequence[Path], options: TestSetOptions | None = None) -> TestSetCheck:
    """Look for contaminants in source texts.

    Args:
        files: plain text (a blank line between documents), TSV with columns `document` and `source`, WMT XML or SGM.
        options: language, translations, a reference corpus for topics, a later version; see `TestSetOptions`.
    """
    return read_and_check(files, options or TestSetOptions())[1]


testset.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name looks like to pytest


def read_and_check(files: Sequence[Path], options: TestSetOptions) -> tuple[list[SourceText], TestSetCheck]:
    """The texts as they were read, and what is wrong with them."""
    if len(files) > 1 and (options.translations or options.after is not None):
        raise UsageError("translations and later versions belong to one file of texts; give one FILE")
    sources = [read_source(path, options.format) for path in files]
    texts = [text for source in sources for text in source.texts]
    code = options.language or detect(texts)
    findings = list(inspect(sources, code))
    topics = _compare_topics(sources, options)
    for path in options.translations:
        findings += check_translation(sources[0], path, code)
    return sources, TestSetCheck(
        settings={
            "language": code,
            "tokenize": options.tokenize,
            "topics": options.topics if options.reference else None,
            "embeddings": topics.embeddings if topics else None,
            "seed": options.seed if options.reference else None,
        },
        data=fingerprint("\n".join(texts).encode("utf-8", "replace")),
        notes=tuple(_notes(sources, options, code)),
        segments=len(texts),
        documents=sum(len(source.documents) for source in sources),
        language=code,
        findings=tuple(findings),
        not_checked=not_checked(code),
        statistics=text_statistics(
            [document for source in sources for document in source.documents], language=code, tokenize=options.tokenize
        ),
        topics=topics,
        versions=_compare_versions(sources[0], options),
    )


def _notes(sources: Sequence[SourceText], options: TestSetOptions, code: str) -> list[str]:
    notes = [] if options.language else [f"the language was recognised as '{code}'; --language sets another"]
    notes += [
        f"{source.path} marks no document boundaries (blank lines); quotations are followed across documents, "
        "and headlines look like sentences without a period"
        for source in sources
        if lacks_borders(source)
    ]
    return [*notes, "not checked: " + "; ".join(not_checked(code))]


def _compare_topics(sources: Sequence[SourceText], options: TestSetOptions) -> Topics | None:
    if not options.reference:
        return None
    from adjudge.testset.topics import compare_topics

    corpus = [document for path in options.reference for document in read_source(path).documents]
    documents = [document for source in sources for document in source.documents]
    settings = {name: getattr(options, name) for name in ("topics", "labels", "seed", "embeddings")}
    return compare_topics(documents, corpus, **settings)


def _compare_versions(source: SourceText, options: TestSetOptions) -> Versions | None:
    if options.after is None:
        return None
    from adjudge.testset.versions import compare_versions

    after = read_source(options.after, options.format)
    return compare_versions(source, after, options.outputs, options.reference_translation)


def check_translation(source: SourceText, path: Path, code: str) -> list[Finding]:
    """Find all that is wrong with one translation of the source."""
    texts = source.texts
    lines, findings = read_translation(path, len(texts), source.path, "one line per segment is needed")
    all_findings = [*findings, *alignment.find(texts, lines, path)]
    all_findings += _find_eaten_quotes(source, lines)
    if len(lines) >= FEWEST_LINES and detect(lines) == code:
        what = f"the translation is in '{code}', the language of the source"
        all_findings.append(Finding(str(path), 1, "", "language", lines[0][:64], None, 0.9, what))
    return all_findings


def _find_eaten_quotes(source: SourceText, lines: Sequence[str]) -> list[Finding]:
    """Findings about quotation marks that a CSV reader removed from the source, by comparison with the translation."""
    known = eaten_quotes.find(source)
    shown = () if known else eaten_quotes.find_with_translation(source, lines)
    return [*shown, *eaten_quotes.restorations(source, lines)] if known or shown else []
