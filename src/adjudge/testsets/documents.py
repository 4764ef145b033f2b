"""Documents as detectors see them: read from files, with the line of every segment, and a way to report findings.

Nothing is cleaned on the way, and bytes that are not UTF-8 are a finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

import regex

from adjudge.readers.texts import TextFormat, read_column, text_format
from adjudge.table.errors import InputError
from adjudge.table.files import read_bytes
from adjudge.testsets.findings import Edit, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.testsets.words import Lexicon


AROUND = 32
COLUMNS = ("source", "src", "text", "segment_text")


@dataclass(frozen=True)
class Segment:
    """A segment and the line it stands on."""

    line: int
    text: str


@dataclass(frozen=True)
class Document:
    """A run of segments that belong together."""

    file: str
    name: str
    segments: tuple[Segment, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the segments."""
        return tuple(segment.text for segment in self.segments)

    def finding(
        self,
        index: int,
        category: str,
        what: str,
        confidence: float,
        *,
        span: tuple[int, int] | None = None,
        edit: Edit | None = None,
    ) -> Finding:
        """A finding in the segment at this place; the excerpt shows the span, the edit or the start of the text."""
        line, text = self.segments[index].line, self.segments[index].text
        start, end = span or ((edit.start, edit.end) if edit else (0, min(len(text), 2 * AROUND)))
        low, high = max(0, start - AROUND), min(len(text), end + AROUND)
        before, after = "…" if low else "", "…" if high < len(text) else ""
        edited = None if edit is None else text[low : edit.start] + edit.text + text[edit.end : high]
        return Finding(
            file=self.file,
            line=line,
            document=self.name,
            category=category,
            text=f"{before}{text[low:high].strip()}{after}",
            suggestion=None if edited is None else f"{before}{edited.strip()}{after}",
            confidence=confidence,
            what=what,
            edit=edit,
        )


@dataclass(frozen=True)
class SourceText:
    """A file of source texts as documents, and what is wrong with the file itself."""

    path: Path
    format: TextFormat
    documents: tuple[Document, ...]
    findings: tuple[Finding, ...] = ()
    origins: tuple[str, ...] | None = None
    """The language in which each document was first written, empty where the file does not say it."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All segments in order."""
        return tuple(text for document in self.documents for text in document.texts)


def read_source(path: Path, format: TextFormat = "auto") -> SourceText:  # noqa: A002
    """Read a file of source texts; documents are separated by blank lines, or named by the file."""
    kind = text_format(path, format)
    if kind == "text":
        return _read_plain(path)
    column = read_column(path, format=kind, names=COLUMNS)
    first = 2 if kind == "tsv" else 1
    names = column.documents or ("1",) * len(column.texts)
    numbered = [Segment(i, text) for i, text in enumerate(column.texts, start=first)]
    documents = _group_documents(str(path), list(zip(names, numbered, strict=True)))
    return SourceText(path, kind, documents, origins=_origins_of(documents, column.origins))


def _origins_of(documents: Sequence[Document], origins: Sequence[str] | None) -> tuple[str, ...] | None:
    """The original language of each document, from that of its first segment."""
    if origins is None:
        return None
    starts = accumulate((len(document.segments) for document in documents), initial=0)
    return tuple(origins[start] for start, _ in zip(starts, documents, strict=False))


def _read_plain(path: Path) -> SourceText:
    lines, findings = read_decoded_lines(path)
    if not any(line.strip() for line in lines):
        raise InputError("is empty; one segment per line is needed", file=path)
    named: list[tuple[str, Segment]] = []
    document, between = 1, False
    for number, line in enumerate(lines, start=1):
        if line.strip():
            document += between and bool(named)
            named.append((str(document), Segment(number, line)))
        between = not line.strip()
    return SourceText(path, "text", _group_documents(str(path), named), findings)


def read_decoded_lines(path: Path) -> tuple[list[str], tuple[Finding, ...]]:
    """The lines of a file; lines that are not UTF-8 are read as Windows-1252 and reported."""
    raw = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    if b"\0" in raw:
        raise InputError("is a binary file (it holds a zero byte); give a text file", file=path)
    lines: list[str] = []
    findings: list[Finding] = []
    for number, line in enumerate(raw.split(b"\n"), start=1):
        text, wrong = decode_line(line)
        lines.append(text)
        if wrong is not None:
            what = f"byte 0x{wrong:02x} is not UTF-8; the line is read as Windows-1252"
            findings.append(Finding(str(path), number, "", "encoding", text[:64], None, 0.95, what))
    return (lines[:-1] if lines and not lines[-1] else lines), tuple(findings)


def read_translation(path: Path, number: int, source: Path, needed: str) -> tuple[list[str], tuple[Finding, ...]]:
    """Read the lines of a translation, which may keep the blank lines between documents, and findings about them."""
    lines, findings = read_decoded_lines(path)
    if len(lines) != number:
        lines = [line for line in lines if line.strip()]
    if len(lines) != number:
        held = f"has {len(lines):,} lines where {source} has {number:,} segments"
        raise InputError(f"{held}; {needed}", file=path)
    return lines, findings


def decode_line(line: bytes) -> tuple[str, int | None]:
    """The text of a line, and the first byte of it that is not UTF-8, if any."""
    try:
        return line.decode("utf-8").removesuffix("\r"), None
    except UnicodeDecodeError as fault:
        return line.decode("cp1252", errors="replace").removesuffix("\r"), line[fault.start]


def _group_documents(file: str, named: Sequence[tuple[str, Segment]]) -> tuple[Document, ...]:
    return tuple(
        Document(file, name, tuple(segment for _, segment in run))
        for name, run in groupby(named, key=lambda named_segment: named_segment[0])
    )


# Captions, and segments that are no part of the text: dates, bylines, places, links, advertisements (English).
# `find` reports them; other detectors ask here whether a segment is a sentence of the text at all.

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY = r"(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?,?\s+)?"
_TIME = r"(?:,?\s*(?:at\s+)?\d{1,2}[:.]\d{2}(?:\s*[ap]\.?m\.?)?(?:\s*(?:GMT|BST|UTC|CET|CEST|EDT|EST|PDT|PST|ET))?)?"
_DATE = rf"{_DAY}(?:\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?),?(?:\s+\d{{4}})?{_TIME}"

_CREDIT = regex.compile(
    r"^[(\[]?\s*(?:file\s+)?(?:photo(?:graph)?s?|image|picture|video|graphic|illustration|credit|caption|source)s?\s*"
    r"(?:credit|by|courtesy|caption)?\s*[:/|]"
    r"|^(?:photo(?:graph)?|image|picture|illustration)\s+by\s"
    r"|^(?:pictured|above|below)\s*:"
    r"|^file\s+(?:photo|picture|image)\b"
    r"|[(\[](?:photo|image|picture|pic|credit|file photo|AP Photo|Getty)[^)\]]{0,60}[)\]]\s*\.?$"
    r"|\b(?:Getty Images|AFP/Getty|AP Photo|Shutterstock|Rex Features|EPA-EFE|PA Wire|iStock)\b[^.]{0,40}\.?$",
    regex.IGNORECASE,
)
_DATE_LINE = regex.compile(
    r"^[\"'“(]?(?:(?:published|updated|posted|last updated|first published|created|date)\s*:?\s*(?:on|at)?\s*)?"
    rf"{_DATE}\.?[)\"'”]?$"
    r"|^(?:published|updated|posted|last updated|first published)\b[^.]{0,60}$"
    rf"|^\p{{Lu}}[\p{{L}} .'-]{{2,30}},\s+{_DATE}\.?$",
    regex.IGNORECASE,
)
_BYLINE = regex.compile(
    r"^[Bb]y\s+\p{Lu}[\p{L}.'’-]+(?:\s+(?:and\s+)?\p{Lu}[\p{L}.'’-]*){1,5}(?:,\s[^.]{3,60})?$"
    r"|^BY\s+\p{Lu}[\p{Lu} .'’,-]+$"
    r"|^(?:Reporting|Additional reporting|Writing|Editing)\s+by\s"
)
PLACE = "a place"
_CITY_LINE = regex.compile(
    r"^\p{Lu}{3,}(?:[ ,./-]+\p{Lu}{2,}){0,3}(?:\s*\((?:Reuters|AP|AFP|Bloomberg|dpa|UPI)\))?\s*[-–—:]?$"
)
_ADVERT = regex.compile(
    r"^(?:read|see|watch|listen)\s+(?:more|also|next|now|it here)\b|^(?:click|tap|sign up|subscribe|follow us|"
    r"share this|advertisement|sponsored|related(?: articles| stories)?:|more on this|story continues|scroll down|"
    r"download (?:the|our)|all rights reserved|copyright|©|join the conversation|watch the video|"
    r"support our journalism)\b"
    r"|^(?:https?://|www\.)\S+$|^\[?(?:comments|share|print|email|reuse content)\]?$",
    regex.IGNORECASE,
)
_SMALL_WORDS = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "but", "with", "by", "from", "as", "is", "are",
     "was", "vs", "v", "over", "after", "into", "out", "up", "off", "amid"]
)  # fmt: skip


def find_boilerplate(document: Document, words: Lexicon | None) -> Iterator[Finding]:
    """All findings of one document."""
    for index, text in enumerate(document.texts):
        if is_caption(text):
            yield document.finding(index, "caption", "the caption or credit of a picture", 0.8)
        elif (kind := irrelevant(text)) is not None:
            # Capitals are a place only where no word of them is a common one: LONDON, but not LINES CROSSED.
            letters = [word.strip(",.-–—:").lower() for word in text.split()] if kind == PLACE and words else []
            if words is not None and any(map(words.in_dictionary, letters)):
                continue
            yield document.finding(index, "irrelevant", f"{kind} as a segment of its own", 0.8)


def is_caption(text: str) -> bool:
    """Whether the segment is, or ends with, the credit of a picture."""
    return _CREDIT.search(text.strip()) is not None


def irrelevant(text: str) -> str | None:
    """Say what the segment is instead of a sentence of the text."""
    stripped = text.strip()
    kinds = {"a date": _DATE_LINE, "a byline": _BYLINE, PLACE: _CITY_LINE, "a link or an advertisement": _ADVERT}
    return next((kind for kind, shape in kinds.items() if shape.search(stripped)), None)


def looks_like_title(text: str) -> bool:
    """Whether most words that can have a capital have one, or all are in capitals."""
    words = [word for word in regex.findall(r"[\p{L}'’-]+", text) if word.lower() not in _SMALL_WORDS]
    if len(words) < 2:
        return True
    capital = sum(word[0].isupper() for word in words)
    return bool(capital / len(words) > 0.7)


# Segments as sentences: punctuation at the end, sentences cut in two, small letters at the start.

_ENDED = regex.compile(r"[.!?…:;。！？；：।॥؟۔։።៕][\"'”’»«)\]*“›‹」』）\s]*$")
_LINK_AT_END = regex.compile(r"(?:https?://|www\.|@|#)\S+$|(?<=\S)\.(?:com|org|net|html?|co\.uk)\S*$")
_CLOSERS = "\"'”’»«)]*“›‹」』）"
_SMALL_START = regex.compile(r"\p{Ll}{2,}\s")
_BRAND = regex.compile(r"(?:i|e)\p{Lu}|(?:https?|www)|\p{Ll}+\p{N}|(?:de|van|von|al|el|bin|da|di|la|le)\s\p{Lu}")
_FULL_STOP = {"zh": "。", "ja": "。", "hi": "।", "ur": "۔"}
_VERB = regex.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|would|can|could|may|might|must|should|did|does|do|said|says|"
    r"told|went|came|made|took|got|gave|left|met|ran|won|lost|heard|saw|found|knew|thought|felt|kept|held|began|brought|"
    r"bought|caught|stood|spoke|wrote|broke|chose|drove|fell|flew|grew|led|paid|sent|sold|spent|sat|rose|wore|shot|built|"
    r"fought|taught|became|drew|threw|ate|drank|sang|hid|shook|stole|struck|understood|withdrew|\p{Ll}{2,}ed)\b"
    r"|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"
)
# No sentence ends with an article, a conjunction or a preposition that never stands alone.
_BREAKS_OFF = regex.compile(r"(?<=\s\p{Ll}+\s)(?:the|a|an|of|and|or|but|with|from|into|than|because|its|their|our|my)$")
FEWEST_WORDS = 5
CERTAIN_WORDS = 8
INFORMAL = 0.1
USUAL = 0.25
"""Where more segments than this lack punctuation, the document does not use it, and none is missing."""


def is_ended(text: str) -> bool:
    """Whether the text ends with punctuation that ends a sentence or announces something."""
    return _ENDED.search(text) is not None


def find_broken_sentences(document: Document, language: str) -> Iterator[Finding]:
    """All findings of one document; the first segment may be a headline."""
    texts = document.texts
    body = range(1, len(texts))
    lacking = [index for index in body if texts[index].strip() and not is_ended(texts[index])]
    uses_punctuation = len(lacking) <= max(1, USUAL * len(body))
    for index in lacking:
        following = texts[index + 1] if index + 1 < len(texts) else ""
        what = None
        if _is_continued(texts[index], following):
            what = "a sentence is cut in two: the next segment starts with a lower-case letter"
        elif language == "en" and _BREAKS_OFF.search(texts[index]):
            what = "the sentence breaks off"
        if what is not None:
            end = len(texts[index])
            yield document.finding(index, "segmentation", what, 0.8, span=(max(0, end - 20), end))
        elif uses_punctuation and _is_sentence(texts[index], language):
            yield _report_missing_period(document, index, language)
    yield from _find_small_starts(document)


def _is_continued(text: str, following: str) -> bool:
    return bool(text.strip()) and _SMALL_START.match(following) is not None and _BRAND.match(following) is None


def _is_sentence(text: str, language: str) -> bool:
    words = text.split()
    scripts_without_blanks = len(words) < 3 and len(text) > 15 and not text.isascii()
    if (
        _LINK_AT_END.search(text)
        or is_caption(text)
        or irrelevant(text) is not None
        or text.rstrip().endswith((",", "-", "–", "—"))
    ):
        return False
    if scripts_without_blanks:
        return True
    # A short line without a verb is a heading.
    long_enough = len(words) >= (FEWEST_WORDS if language == "en" and _VERB.search(text) else CERTAIN_WORDS)
    return long_enough and not looks_like_title(text)


def _report_missing_period(document: Document, index: int, language: str) -> Finding:
    text = document.texts[index]
    end = len(text.rstrip())
    # In American usage the period stands before the closing quotation mark.
    position = end - 1 if end > 1 and text[end - 1] in '"”' and language == "en" else end
    edit = Edit(position, position, _FULL_STOP.get(language, "."))
    # Headings are recognised in English only.
    confidence = 0.6 if language != "en" else 0.9 if len(text.split()) >= CERTAIN_WORDS else 0.75
    return document.finding(index, "final-period", "no punctuation at the end", confidence, edit=edit)


def is_informal(texts: Sequence[str]) -> bool:
    """Whether the writers do not care for capital letters: several segments start with a small one."""
    small = sum(text[:1].islower() and _BRAND.match(text) is None for text in texts)
    return small > max(1, INFORMAL * len(texts))


def _find_small_starts(document: Document) -> Iterator[Finding]:
    texts = document.texts
    if is_informal(texts):
        return
    for index in range(1, len(texts)):
        if not _is_continued(texts[index - 1], texts[index]) or not is_ended(texts[index - 1]):
            continue
        if texts[index - 1].rstrip(_CLOSERS + " ").endswith((".", "!", "?")) and not _inside_list(texts, index):
            edit = Edit(0, 1, texts[index][0].upper())
            yield document.finding(index, "typo", "a lower-case letter at the start of a sentence", 0.7, edit=edit)


def _inside_list(texts: tuple[str, ...], index: int) -> bool:
    """Whether neighbours start with a small letter as well."""
    beside = [texts[i] for i in (index - 1, index + 1) if 0 <= i < len(texts)]
    return any(_SMALL_START.match(text) for text in beside)
