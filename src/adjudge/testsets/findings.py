"""What is wrong with source texts: findings with their place, counts of every category, and how topics compare."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

import regex

from adjudge.table.errors import MissingExtraError, install_line, param, unknown_choice
from adjudge.table.results import Cell, Result, Table, number, p_value, percent, tabulate, text
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.testsets.documents import Document
    from adjudge.testsets.versions import Versions


@dataclass(frozen=True)
class Topic:
    """A group of documents that use the same words."""

    label: str
    terms: tuple[str, ...]
    share_test: float
    share_reference: float


@dataclass(frozen=True)
class NearPair:
    """Two documents of the test set that may report the same event."""

    first: str
    second: str
    similarity: float
    first_text: str
    second_text: str


@dataclass(frozen=True)
class DocumentTopic:
    """The topic of a document."""

    document: str
    topic: str


@dataclass(frozen=True)
class Topics:
    """The test of the mix of topics (energy distance, documents permuted), the topics to look at, and near pairs."""

    documents_test: int
    documents_reference: int
    energy_distance: float
    p: float
    permutations: int
    embeddings: str
    """What made documents into points: `words`, or the name of a model."""
    topics: tuple[Topic, ...]
    near_pairs: tuple[NearPair, ...]
    by_document: tuple[DocumentTopic, ...] = ()
    """The topic of every document of the test set."""

    def tables(self) -> tuple[Table, ...]:
        """The test, the topics, and the near pairs where there are any."""
        test = Table(
            "Topics against the reference corpus",
            (number("documents", 0), number("in the corpus", 0), number("energy distance", 4), p_value("p")),
            ((self.documents_test, self.documents_reference, self.energy_distance, self.p),),
            f"p by {self.permutations:,} permutations of documents: small where the mix of topics differs. "
            f"Documents are compared by {self.embeddings}.",
        )
        shown = Table(
            "Topics",
            (text("topic"), percent("test set"), percent("corpus"), text("words")),
            tuple(
                (topic.label, topic.share_test, topic.share_reference, ", ".join(topic.terms)) for topic in self.topics
            ),
            "Groups for orientation; their boundaries are partly chance, so they are not tested.",
        )
        columns = {
            "first": text("document"), "second": text("document"), "similarity": number("similarity", 2),
            "first_text": text("starts"), "second_text": text("starts"),
        }  # fmt: skip
        pairs = tabulate("Documents that may report the same event", self.near_pairs, columns)
        note = "As a CSV file this is a side table for --by topic (docs/audit.md)."
        columns = {"document": text("document"), "topic": text("topic")}
        documents = tabulate("Topics of the documents", self.by_document, columns, note)
        return (test, shown, documents, pairs) if self.near_pairs else (test, shown, documents)


SURE = 0.9
"""From this confidence on, a correction is made by `--fix`."""

# name: what it is. The order is that of the summary; the first ones are those of Kim et al. (2022), Table 2.
CATEGORIES: dict[str, str] = {
    "quotation-marks": "a quotation that is never closed, or never opened",
    "apostrophe": "a quotation mark where an apostrophe belongs",
    "spacing": "joined words, or a missing or superfluous space at punctuation",
    "typo": "a misspelt, doubled or wrongly cased word, or one that stands for another",
    "grammar": "words whose forms do not go together",
    "final-period": "a sentence without punctuation at its end",
    "headline": "a document without a headline where the others have one",
    "caption": "the caption or credit of a picture inside the text",
    "irrelevant": "a date, byline, link or advertisement as a separate segment",
    "segmentation": "a sentence that is cut in two, or breaks off",
    "brackets": "a bracket that is never closed, or never opened",
    "mojibake": "characters broken by a wrong encoding",
    "markup": "remains of HTML, or invisible characters",
    "language": "text in another language",
    "duplicate": "a segment that occurs twice",
    "eaten-quotes": "quotation marks that a CSV reader removed",
    "encoding": "bytes that are not UTF-8",
    "blank": "an empty segment",
    "untranslated": "a translation that equals its source",
    "misaligned": "a translation whose lines are not aligned with the source",
}
# Reported but not counted as contaminants.
NOTED: dict[str, str] = {
    "quote-style": "single quotation marks where others use double ones",
    "out-of-context": "a document that starts in the middle of its text",
    "double-blank": "double spaces, or spaces at an end; harmless",
}


@dataclass(frozen=True)
class Edit:
    """Replace `start` to `end` (half-open code points of the segment) by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Finding:
    """One thing that seems wrong. `line` counts from 1; in XML, SGM and rows of tables it is the segment's number."""

    file: str
    line: int
    document: str
    category: str
    text: str
    """An excerpt."""
    suggestion: str | None
    """The excerpt as it should be, where that can be said."""
    confidence: float
    what: str
    edit: Edit | None = None

    @property
    def sure(self) -> bool:
        """Whether `--fix` may correct it."""
        return self.edit is not None and self.confidence >= SURE

    def to_dict(self) -> dict[str, Any]:
        """The documented keys."""
        names = ("file", "line", "document", "category", "text", "suggestion", "confidence", "what")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class DocumentOrigin:
    """The language in which a document was first written; `original` if it is that of the source."""

    document: str
    origlang: str | None
    original: bool | None


@dataclass(frozen=True)
class DocumentLength:
    """How long a document is."""

    document: str
    segments: int
    words: int


@dataclass(frozen=True, kw_only=True)
class TextStatistics:
    """How large the source texts are. A segment can hold several sentences, as where segments are paragraphs."""

    tokenize: str
    documents: int
    segments: int
    sentences: int
    sentences_per_segment: float | None
    most_sentences: int
    words: int
    distinct_words: int
    by_document: tuple[DocumentLength, ...]

    def tables(self) -> tuple[Table, ...]:
        """The counts, then the lengths of the documents."""
        columns = {
            **{name: number(name, 0) for name in ("documents", "segments", "sentences")},
            "sentences_per_segment": number("sentences per segment", 2),
            "most_sentences": number("most", 0),
            "words": number("words", 0),
            "distinct_words": number("distinct words", 0),
        }
        note = f"Words are lower-case tokens of the tokeniser {self.tokenize}, without punctuation."
        counts = tabulate("Size of the test set", [self], columns, note)
        columns = {"document": text("document"), "segments": number("segments", 0), "words": number("words", 0)}
        return counts, tabulate("Documents", self.by_document, columns)


@dataclass(frozen=True, kw_only=True)
class TestSetCheck(Result):
    """Everything found in the source texts."""

    __test__ = False  # not a test, whatever its name looks like to pytest
    verb: ClassVar[str] = "testset"

    segments: int
    documents: int
    language: str
    findings: tuple[Finding, ...]
    not_checked: tuple[str, ...]
    statistics: TextStatistics
    origins: tuple[DocumentOrigin, ...] = ()
    """The language in which each document was first written; empty where no file says it."""
    topics: Topics | None = None
    versions: Versions | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Findings by category, contaminants only."""
        counts = Counter(finding.category for finding in self.findings)
        return {name: counts[name] for name in CATEGORIES if counts[name]}

    @property
    def alarmed(self) -> int:
        """How many segments have at least one finding that counts."""
        return len({(finding.file, finding.line) for finding in self.findings if finding.category in CATEGORIES})

    def to_dict(self) -> dict[str, Any]:
        """The documented keys."""
        plain = super().to_dict()
        for name, part in (("topics", self.topics), ("versions", self.versions)):
            if part is None:
                del plain[name]
        noted = Counter(finding.category for finding in self.findings if finding.category in NOTED)
        return {**plain, "counts": self.counts, "noted": dict(noted), "alarmed": self.alarmed}

    def tables(self) -> tuple[Table, ...]:
        """Counts by category, the size of the texts, then every finding, topics and versions."""
        tables = [self._summary(), *self.statistics.tables(), self._findings()]
        if self.origins:
            columns = {"document": text("document"), "origlang": text("origlang"), "original": text("original")}
            note = "Translated sources are easier. As a CSV file this is a side table for --attributes."
            tables.append(tabulate("Original languages of the documents", self.origins, columns, note))
        tables += self.topics.tables() if self.topics is not None else ()
        tables += self.versions.tables() if self.versions is not None else ()
        return tuple(tables)

    def _summary(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for name, what in (CATEGORIES | NOTED).items():
            places = [(finding.file, finding.line) for finding in self.findings if finding.category == name]
            if places:
                shown = name if name in CATEGORIES else f"{name} *"
                rows.append((shown, len(places), len(set(places)) / max(1, self.segments), what))
        rows.append(("all", sum(self.counts.values()), self.alarmed / max(1, self.segments), ""))
        columns = (text("category"), number("findings", 0), percent("segments"), text("what it is"))
        size = f"{counted(self.segments, 'segment')} in {counted(self.documents, 'document')}"
        note = f"{size}, language {self.language}. * not counted."
        return Table("What is wrong with the test set", columns, tuple(rows), note)

    def _findings(self) -> Table:
        several = len({finding.file for finding in self.findings}) > 1
        rows = tuple(
            (
                f"{PurePath(finding.file).name}:{finding.line}" if several else str(finding.line),
                finding.document,
                finding.category,
                finding.text,
                finding.suggestion or finding.what,
                finding.confidence,
            )
            for finding in self.findings
        )
        columns = (*map(text, ("line", "document", "category", "text", "suggestion")), number("confidence", 2))
        return Table("Findings", columns, rows)


# How large a test set is: documents, sentences, words and distinct words, as Kim and others (2022) count in Table 1.
# Words are tokens of sacreBLEU's tokenisers in lower case, punctuation left out. Sentences end at a sentence mark
# that is followed by a blank and a capital letter, digit or opening quotation mark; in scripts without blanks at the
# mark itself.

TOKENIZERS = ("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none")
BY_LANGUAGE = {"zh": "zh", "ja": "char", "th": "char", "km": "char", "lo": "char", "my": "char"}
"""Languages written without blanks, whose words 13a cannot tell apart; Chinese is split into its characters."""

# A title or an initial before the mark does not end a sentence: "Mr. Smith", "J. Smith".
_NOT_AN_END = r"(?<!\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Lt|Sen|Rep|Gov|No|vs|\p{Lu})\.)"
_BORDER = regex.compile(
    rf"(?<=[.!?…։።]['\"”’»)\]]{{0,20}}){_NOT_AN_END}\s+(?=['\"“„«(\[¿¡]*[\p{{Lu}}\p{{Lo}}\p{{N}}])|(?<=[。！？।॥؟۔]['\"”’」』）]{{0,20}})(?=\S|\s+\S)"
)
_WORD = regex.compile(r"[\p{L}\p{N}]")


def text_statistics(documents: Sequence[Document], *, language: str, tokenize: str | None) -> TextStatistics:
    """Count documents, segments, sentences and words.

    Args:
        documents: the source texts.
        language: their language, which decides the tokeniser where none is named.
        tokenize: a name from `TOKENIZERS`, or None.
    """
    name = tokenize or BY_LANGUAGE.get(language, "13a")
    split = _find_tokenizer(name)
    sentences = [count_sentences(text) for document in documents for text in document.texts if text.strip()]
    vocabulary: Counter[str] = Counter()
    lengths = []
    for document in documents:
        words = [word for text in document.texts for word in split(text.lower()) if _WORD.search(word)]
        vocabulary.update(words)
        lengths.append(DocumentLength(document.name, len(document.segments), len(words)))
    return TextStatistics(
        tokenize=name,
        documents=len(documents),
        segments=sum(len(document.segments) for document in documents),
        sentences=sum(sentences),
        sentences_per_segment=sum(sentences) / len(sentences) if sentences else None,
        most_sentences=max(sentences, default=0),
        words=vocabulary.total(),
        distinct_words=len(vocabulary),
        by_document=tuple(lengths),
    )


def count_sentences(text: str) -> int:
    """The number of sentences in a segment that holds any text."""
    return sum(bool(_WORD.search(part)) for part in _BORDER.split(text)) or 1


def _find_tokenizer(name: str) -> Callable[[str], list[str]]:
    if name not in TOKENIZERS:
        raise unknown_choice("tokeniser", name, TOKENIZERS)
    from sacrebleu.metrics.bleu import BLEU

    try:
        tokenizer = BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as fault:
        # sacreBLEU raises a RuntimeError of its own where the package of a tokeniser is not installed.
        extra = name.removesuffix("-mecab").replace("ko", "korean").replace("ja", "japanese")
        raise MissingExtraError(
            f"{param('tokenize')} {name} needs packages that are not installed: {install_line(extra)}"
        ) from fault
    return lambda text: tokenizer(text).split()
