"""What is wrong with source texts: technical and topical contaminants. `testset` is the main function.

One detector per file, each with `find`, which takes a document (or all of them) and gives findings; `inspect` runs all.
The categories follow A. Kim and others (2022), The Suboptimal WMT Test Sets and Their Impact on Human Parity, Table 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adjudge.readers.texts import TextFormat  # noqa: TC001 - the shell reads the types of settings when it runs
from adjudge.table.errors import UsageError, param, unknown_choice
from adjudge.table.judgments import fingerprint
from adjudge.table.languages import language_code
from adjudge.table.settings import option, seed_option
from adjudge.table.wording import agreeing, counted
from adjudge.testsets import alignment, confusions, punctuation, quotes, spelling
from adjudge.testsets import documents as boilerplate
from adjudge.testsets import words as language
from adjudge.testsets.documents import Document, SourceText, read_source, read_translation
from adjudge.testsets.findings import DocumentOrigin, Finding, TestSetCheck, Topics, text_statistics
from adjudge.testsets.versions import OutputFiles, Versions
from adjudge.testsets.words import Lexicon, detect, lexicon

# All detectors over all documents, in order of place.

ENGLISH = "en"
NEVER: tuple[str, ...] = (
    "accents that a name has lost wherever it occurs",
    "speech without any quotation marks",
    "whether the content is true or complete",
)
IN_PART = (
    "words that stand for another one (though for through), beyond the most frequent kinds",
    "grammar, beyond the most frequent kinds",
)
ELSEWHERE = (
    "words that stand for another one",
    "grammar",
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
        eaten = quotes.find_eaten_quotes(source)
        habits = punctuation.Habits.of(source.texts, code)
        in_documents = [
            finding for document in source.documents for finding in inspect_document(document, code, words, habits)
        ]
        for number, finding in enumerate(in_documents):
            if eaten and finding.category in ("quotation-marks", "quote-style"):
                in_documents[number] = replace(finding, confidence=finding.confidence * HALVED)
            if lacks_borders(source) and finding.category == "final-period" and finding.sure:
                # Without documents, headlines cannot be told from sentences.
                in_documents[number] = replace(finding, confidence=UNSURE)
        findings += (*source.findings, *eaten, *in_documents)
    documents = [document for source in sources for document in source.documents]
    findings += alignment.missing_headlines(documents)
    findings += alignment.repeated_segments(documents)
    order = {str(source.path): number for number, source in enumerate(sources)}
    return tuple(sorted(findings, key=lambda finding: (order.get(finding.file, 0), finding.line)))


def inspect_document(
    document: Document, code: str, words: Lexicon | None, habits: punctuation.Habits | None = None
) -> Iterator[Finding]:
    """Run the detectors that need one document only."""
    broken = list(punctuation.find_characters(document))
    yield from broken
    # Broken characters would be found again and again, as quotation marks, typos and other languages.
    lines = {finding.line for finding in broken}
    habits = habits or punctuation.Habits.of(document.texts, code)
    for finding in _run_detectors(punctuation.repaired(document, lines), code, words, habits):
        # Places in a repaired text are not places in the file.
        yield replace(finding, edit=None) if finding.line in lines else finding


def _run_detectors(
    document: Document, code: str, words: Lexicon | None, habits: punctuation.Habits
) -> Iterator[Finding]:
    yield from quotes.find_double_quotes(document, english=code == ENGLISH)
    yield from punctuation.find_brackets(document)
    if code == ENGLISH:
        yield from quotes.find_single_quotes(document)
        yield from boilerplate.find_boilerplate(document, words)
        yield from confusions.find_confusions(document)
    yield from spelling.find_lost_accents(document, habits.accented)
    if words is not None:
        yield from spelling.find_typos(document, words, habits.repeated)
        if code == ENGLISH:
            yield from punctuation.find_capitals(document, words)
    yield from punctuation.find_spacing(document, habits)
    yield from boilerplate.find_broken_sentences(document, code)
    yield from language.find_foreign_text(document, code)


def not_checked(code: str) -> tuple[str, ...]:
    """List what is not checked in this language."""
    names = (*(IN_PART if code == ENGLISH else ELSEWHERE), *NEVER)
    words = lexicon(code)
    if words is None:
        return (f"misspelt words: no frequency list knows '{code}'", *names)
    if not words.has_dictionary:
        return (f"rare misspelt words: there is no dictionary of '{code}', frequencies alone are used", *names)
    return names


def lacks_borders(source: SourceText) -> bool:
    """Whether nobody marked the borders between documents: so many segments are hardly one."""
    return len(source.documents) == 1 and len(source.texts) > MANY


# What a user can ask of `testset` besides the files.

FORMATS = ("auto", "text", "tsv", "wmt-xml", "sgm")


def _paths(files: str | Path | Iterable[str | Path]) -> tuple[Path, ...]:
    return (Path(files),) if isinstance(files, str | Path) else tuple(map(Path, files))


def _labels(names: str | Iterable[str]) -> tuple[str, ...]:
    given = names if isinstance(names, str) else ",".join(names)
    return tuple(name.strip() for name in given.split(",")) if given else ()


def _outputs(given: Mapping[str, tuple[str | Path, str | Path]] | Iterable[str]) -> tuple[OutputFiles, ...]:
    if isinstance(given, Mapping):
        return tuple(OutputFiles(name, Path(before), Path(after)) for name, (before, after) in given.items())
    return tuple(parse_output(text) for text in given)


def parse_output(text: str) -> OutputFiles:
    """`NAME=BEFORE,AFTER` taken apart."""
    name, _, files = text.partition("=")
    before, _, after = files.partition(",")
    if not (name and before and after):
        raise UsageError(f"{param('output_of')} '{text}' must be NAME=BEFORE,AFTER, with the output for both versions")
    return OutputFiles(name, Path(before), Path(after))


@dataclass(frozen=True, kw_only=True)
class TestSetOptions:
    """All options; the defaults look for technical contaminants only."""

    __test__ = False  # not a test, whatever its name looks like to pytest

    format: TextFormat = option(
        "auto", "text, tsv, wmt-xml or sgm. Default: by file extension.", "--format", "-f", typed=str, python="str"
    )
    language: str | None = option(None, "Language of the texts, such as en. Default: detected.", "--language")
    tokenize: str | None = option(
        None, "Tokenizer for counting words. Default: by language.", metavar="13a|intl|zh|char|none|..."
    )
    translations: tuple[Path, ...] = option(
        (),
        "A translation of the same lines, to check against the source. May be repeated.",
        "--translation",
        typed=list[Path] | None,
        python="str | Path | Iterable[str | Path]",
        about="translations of the same lines, to check against the source.",
        convert=_paths,
    )
    reference: tuple[Path, ...] = option(
        (),
        "Corpus whose mix of topics the texts should match.",
        "--reference",
        typed=list[Path] | None,
        python="str | Path | Iterable[str | Path]",
        convert=_paths,
    )
    topics: int = option(8, "Number of topics.")
    labels: tuple[str, ...] = option(
        (),
        "Names of the topics in the order shown, comma-separated.",
        typed=str | None,
        python="Iterable[str]",
        about="names of the topics, in the order shown.",
        convert=_labels,
    )
    embeddings: str = option(
        "words",
        "Compare topics by words, by sentence embeddings, or by the ONNX sentence model in a folder.",
        metavar="words|sentences|FOLDER",
    )
    after: Path | None = option(
        None,
        "A later version of FILE; shows what changed, segment by segment.",
        python="str | Path | None",
        about="a later version of the file; shows what changed, segment by segment.",
        convert=Path,
    )
    outputs: tuple[OutputFiles, ...] = option(
        (),
        "Output of a system for both versions. May be repeated.",
        "--output-of",
        metavar="NAME=BEFORE,AFTER",
        typed=list[str] | None,
        python="Mapping[str, tuple[str | Path, str | Path]] | None",
        about="output of a system for both versions, by the system's name.",
        convert=_outputs,
    )
    reference_translation: tuple[Path, ...] = option(
        (),
        "Reference translation for BLEU, chrF and TER: one, or one per version.",
        typed=list[Path] | None,
        python="str | Path | Iterable[str | Path]",
        convert=_paths,
    )
    seed: int = seed_option()

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise unknown_choice("format", self.format, FORMATS)
        if self.embeddings != "words" and not self.reference:
            raise UsageError(
                f"{param('embeddings')} {self.embeddings} compares topics with a "
                f"corpus; name it with {param('reference')}"
            )
        if self.topics < 2:
            raise UsageError(f"{param('topics')} is {self.topics}, it must be 2 or more")
        if (self.outputs or self.reference_translation) and self.after is None:
            raise UsageError(f"outputs for two versions need {param('after')}, the later version of the texts")
        if len(self.reference_translation) > 2:
            raise UsageError("give one reference translation, or one for each of the two versions")


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
    origins = tuple(_origins(sources, code))
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
        notes=(*_notes(sources, options, code), *_note_translated(origins, code)),
        segments=len(texts),
        documents=sum(len(source.documents) for source in sources),
        language=code,
        findings=tuple(findings),
        not_checked=not_checked(code),
        statistics=text_statistics(
            [document for source in sources for document in source.documents], language=code, tokenize=options.tokenize
        ),
        origins=origins,
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


def _origins(sources: Sequence[SourceText], code: str) -> Iterator[DocumentOrigin]:
    """The original language of every document of the files that say it."""
    for source in sources:
        for document, written in zip(source.documents, source.origins or (), strict=False):
            known = language_code(written) if written else None
            yield DocumentOrigin(document.name, known, None if known is None else known == code)


def _note_translated(origins: Sequence[DocumentOrigin], code: str) -> Iterator[str]:
    """Say how many sources are translations, which makes them easier to translate."""
    if translated := [one for one in origins if one.original is False]:
        languages = ", ".join(sorted({one.origlang or "" for one in translated}))
        share = f"{len(translated)} of {counted(len(origins), 'document')}"
        was = agreeing(len(translated), "was", "were")
        easier = "Translated sources are easier, so look at them apart"
        yield f"{share} {was} not written in '{code}' but in {languages}. {easier}"


def _compare_topics(sources: Sequence[SourceText], options: TestSetOptions) -> Topics | None:
    if not options.reference:
        return None
    from adjudge.testsets.topics import compare_topics

    corpus = [document for path in options.reference for document in read_source(path).documents]
    documents = [document for source in sources for document in source.documents]
    settings = {name: getattr(options, name) for name in ("topics", "labels", "seed", "embeddings")}
    return compare_topics(documents, corpus, **settings)


def _compare_versions(source: SourceText, options: TestSetOptions) -> Versions | None:
    if options.after is None:
        return None
    from adjudge.testsets.versions import compare_versions

    after = read_source(options.after, options.format)
    return compare_versions(source, after, options.outputs, options.reference_translation)


def check_translation(source: SourceText, path: Path, code: str) -> list[Finding]:
    """Find all that is wrong with one translation of the source."""
    texts = source.texts
    lines, findings = read_translation(path, len(texts), source.path, "one line per segment is needed")
    all_findings = [*findings, *alignment.find_alignment(texts, lines, path)]
    # Quotation marks that a CSV reader removed show in the source alone, or beside the translation.
    known = quotes.find_eaten_quotes(source)
    beside = () if known else quotes.find_with_translation(source, lines)
    if known or beside:
        all_findings += [*beside, *quotes.find_restorations(source, lines)]
    if len(lines) >= FEWEST_LINES and detect(lines) == code:
        what = f"the translation is in '{code}', the language of the source"
        all_findings.append(Finding(str(path), 1, "", "language", lines[0][:64], None, 0.9, what))
    return all_findings
