"""Texts to be judged: the segments of one text, whatever file they come from, and translations in the source's order.

A translation has the same lines as its source, with the blank lines or without them.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adjudge.readers.parsing import Delimited, read_delimited, stripped_lines
from adjudge.table.errors import InputError
from adjudge.table.files import read_bytes, read_text
from adjudge.table.texts import SourceSegment, TestSet
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from xml.etree.ElementTree import Element


@dataclass(frozen=True)
class Column:
    """The segments of one file, or of one column of it.

    `documents` and `segments` are the names the file gives them, or None where it gives none. In plain text `lines`
    keeps the blank lines, because only the source can say whether a blank line is a border or an empty translation.
    """

    path: Path
    texts: tuple[str, ...]
    documents: tuple[str, ...] | None = None
    segments: tuple[str, ...] | None = None
    lines: tuple[str, ...] | None = None
    origins: tuple[str, ...] | None = None
    """The language in which each segment was first written, empty where the file does not say it."""


def aligned(source: Column, other: Column) -> tuple[str, ...] | None:
    """The texts of a translation in the order of the source, or None where they do not fit.

    Where both files name documents and segments, the names decide; else the numbers of lines.
    """
    sources, translations = _by_name(source), _by_name(other)
    if sources is not None and translations is not None:
        fits = sources.keys() == translations.keys()
        return tuple(translations[name] for name in sources) if fits else None
    count = len(source.texts)
    if other.lines is None or source.lines is None or len(other.lines) == count:
        texts = other.texts if other.lines is None else other.lines
        return texts if len(texts) == count else None
    if len(other.lines) == len(source.lines):
        pairs = list(zip(source.lines, other.lines, strict=True))
        # A blank line of the source is a border; text there means that the lines have slipped.
        if all(translation == "" for line, translation in pairs if line == ""):
            return tuple(translation for line, translation in pairs if line)
        return None
    return other.texts if len(other.texts) == count else None


def _by_name(column: Column) -> dict[tuple[str, str], str] | None:
    """Texts by document and segment, or None where the file does not name both or uses a name twice."""
    if column.documents is None or column.segments is None:
        return None
    named = dict(zip(zip(column.documents, column.segments, strict=True), column.texts, strict=True))
    return named if len(named) == len(column.texts) else None


# SGM, the older markup of test sets: `<doc docid=...>` and `<seg id=...>`, not quite XML and read leniently.

_TAG = re.compile(r"<(?P<name>doc|seg)\b(?P<attributes>[^<>]*)>", re.IGNORECASE)
_BEGIN = re.compile(r"<seg\b", re.IGNORECASE)
_END = re.compile(r"</seg\s*>", re.IGNORECASE)
# From where a word begins alone: a long one would be tried from each of its letters.
_ATTRIBUTE = re.compile(r"(?<!\w)(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")


def read_sgm(path: Path) -> Column:
    """Read one set (source, reference or one system's output) with its documents and segment names."""
    text = read_text(path)
    _refuse_broken_tags(text, path)
    document = origin = ""
    texts: list[str] = []
    documents: list[str] = []
    segments: list[str] = []
    origins: list[str] = []
    for tag in _TAG.finditer(text):
        attributes = {
            match[1].lower(): next(value for value in match.groups()[1:] if value is not None)
            for match in _ATTRIBUTE.finditer(tag["attributes"])
        }
        if tag["name"].lower() == "doc":
            document = attributes.get("docid") or attributes.get("id") or ""
            origin = attributes.get("origlang", "")
            continue
        end = _END.search(text, tag.end())
        line = text.count("\n", 0, tag.start()) + 1
        if end is None:
            raise InputError("a <seg> is not closed; the file may be cut", file=path, line=line)
        texts.append(" ".join(html.unescape(text[tag.end() : end.start()]).split()))
        documents.append(document)
        origins.append(origin)
        segments.append(attributes.get("id") or str(len(segments) + 1))
    if not texts:
        raise InputError("holds no <seg>; check that it is an SGM file", file=path)
    return Column(path, tuple(texts), tuple(documents), tuple(segments), origins=_known(origins))


def _known(origins: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(origins) if any(origins) else None


def _refuse_broken_tags(text: str, path: Path) -> None:
    """A damaged tag would lose a segment, or run two together, without a word: every <seg> must have its </seg>."""
    marks = sorted(
        [(tag.start(), True) for tag in _BEGIN.finditer(text)] + [(end.start(), False) for end in _END.finditer(text)]
    )
    whole = {tag.start() for tag in _TAG.finditer(text)}
    for number, (position, begins) in enumerate(marks):
        if begins is (number % 2 == 1) or (begins and position not in whole):
            line = text.count("\n", 0, position) + 1
            what = "a <seg> is damaged, or not closed" if begins else "a </seg> closes no segment"
            raise InputError(f"{what}; the file may be cut", file=path, line=line)


def segment_spans(text: str) -> list[tuple[int, int]]:
    """Find the start and end of the texts of all segments, in a file that `read_sgm` can read."""
    starts = (tag.end() for tag in _TAG.finditer(text) if tag["name"].lower() == "seg")
    return [(start, end.start()) for start in starts if (end := _END.search(text, start)) is not None]


# WMT XML (2021 and later): documents with source, references by translator and outputs by system, in one file.


@dataclass(frozen=True)
class _Document:
    name: str
    source: dict[str, str]  # segment id: text
    references: dict[str, dict[str, str]]
    systems: dict[str, dict[str, str]]
    origin: str = ""


def read_wmt_xml(path: Path) -> TestSet:
    """Read everything the file holds. A translation that lacks a segment of the source is an error."""
    return _testset(_documents(path), path)


def _testset(documents: Sequence[_Document], path: Path) -> TestSet:
    source = tuple(
        SourceSegment(document.name, segment, text)
        for document in documents
        for segment, text in document.source.items()
    )

    def collect(kind: Literal["references", "systems"]) -> dict[str, tuple[str, ...]]:
        """The texts of each translation in the order of the source."""
        names = dict.fromkeys(name for document in documents for name in getattr(document, kind))
        return {
            name: tuple(
                text
                for document in documents
                for text in _texts(document, name, getattr(document, kind).get(name, {}), path)
            )
            for name in names
        }

    return TestSet(source, collect("references"), collect("systems"))


def read_xml_column(path: Path, names: Sequence[str]) -> Column:
    """One text of the file: the source (`source`), or the first translation of one of these names."""
    held = _documents(path)
    testset = _testset(held, path)
    documents = tuple(segment.document for segment in testset.source)
    segments = tuple(segment.segment for segment in testset.source)
    translations = {**testset.systems, **testset.references}
    if not names or names[0] == "source":
        origins = _known([document.origin for document in held for _ in document.source])
        return Column(path, tuple(segment.text for segment in testset.source), documents, segments, origins=origins)
    chosen = next((name for name in names if name in translations), None)
    if chosen is None and len(translations) == 1:
        chosen = next(iter(translations))
    if chosen is None:
        existing = ", ".join(translations) or "none"
        raise InputError(f"holds no translation '{names[0]}', it holds {existing}; name one of these", file=path)
    return Column(path, translations[chosen], documents, segments)


def _documents(path: Path) -> list[_Document]:
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(read_bytes(path))
    except ParseError as fault:
        line = fault.position[0]
        raise InputError(f"is not well-formed XML ({fault}); it may be cut", file=path, line=line) from fault
    except DefusedXmlException as fault:
        raise InputError("declares entities, which are not read for safety; remove them", file=path) from fault
    documents = [_document(document, number, path) for number, document in enumerate(root.iter("doc"), start=1)]
    if not any(document.source for document in documents):
        raise InputError("holds no <doc> with a <src>; check that it is a WMT XML file", file=path)
    names = [document.name for document in documents]
    if doubled := min((name for name in names if names.count(name) > 1), default=None):
        raise InputError(f"holds the document '{doubled}' twice; keep one of them", file=path)
    return documents


def _document(element: Element, number: int, path: Path) -> _Document:
    name = element.get("id") or str(number)
    sources = element.findall("src")
    if len(sources) != 1:
        raise InputError(f"document '{name}' has {len(sources)} <src>, one is needed; correct it", file=path)
    references = {
        f"ref{translation.get('translator') or ''}": _segments(translation, name, path)
        for translation in element.findall("ref")
    }
    systems = {
        translation.get("system") or "system": _segments(translation, name, path)
        for translation in element.findall("hyp")
    }
    for kind, translations in (("ref", references), ("hyp", systems)):
        if len(translations) < len(element.findall(kind)):
            raise InputError(f"document '{name}' has two <{kind}> of one name; keep one of them", file=path)
    source = _segments(sources[0], name, path)
    return _Document(name, source, references, systems, element.get("origlang") or "")


def _segments(element: Element, document: str, path: Path) -> dict[str, str]:
    segments: dict[str, str] = {}
    for number, segment in enumerate(element.iter("seg"), start=1):
        name = segment.get("id") or str(number)
        if name in segments:
            raise InputError(f"document '{document}' has segment '{name}' twice; correct it", file=path)
        segments[name] = " ".join("".join(segment.itertext()).split())
    return segments


def _texts(document: _Document, name: str, translated: dict[str, str], path: Path) -> list[str]:
    if translated.keys() != document.source.keys():
        counts = f"{counted(len(translated), 'segment')} where the source has {len(document.source)}"
        raise InputError(f"'{name}' has {counts} in document '{document.name}'; complete or remove it", file=path)
    return [translated[segment] for segment in document.source]


# Texts to be judged: plain text, TSV, WMT XML and SGM, one column of segments at a time. Knows nothing of tasks.
# Plain text has one segment per line and a blank line between documents.

ORIGIN_COLUMNS = ("origlang", "orig_lang", "original_language")
"""Columns that say in which language a text was first written."""

TextFormat = Literal["auto", "text", "tsv", "wmt-xml", "sgm"]
_BY_ENDING: dict[str, TextFormat] = {".tsv": "tsv", ".xml": "wmt-xml", ".sgm": "sgm", ".sgml": "sgm"}


def text_format(path: Path, wanted: TextFormat = "auto") -> TextFormat:
    """The format asked for, or the one that the file's ending says."""
    if wanted != "auto":
        return wanted
    name = path.name.removesuffix(".gz")
    return next((kind for ending, kind in _BY_ENDING.items() if name.endswith(ending)), "text")


def read_column(path: Path, *, format: TextFormat = "auto", names: Sequence[str] = ()) -> Column:  # noqa: A002
    """Read the segments of a file.

    Args:
        path: the file.
        format: its format; default: by file extension.
        names: the column of a TSV file, or the translation inside an XML file; the first that exists is taken.
    """
    kind = text_format(path, format)
    if kind == "tsv":
        return _make_column(read_delimited(path, "\t", quoting=False), names)
    if kind == "wmt-xml":
        return read_xml_column(path, names)
    if kind == "sgm":
        return read_sgm(path)
    return _read_plain(path)


def _read_plain(path: Path) -> Column:
    """One segment per line; runs of blank lines separate documents."""
    lines = stripped_lines(read_text(path))
    if not any(lines):
        raise InputError("is empty; one segment per line is needed", file=path)
    texts: list[str] = []
    documents: list[str] = []
    number, between = 1, False
    for line in lines:
        if line:
            number += between and bool(texts)
            texts.append(line)
            documents.append(str(number))
        between = not line
    return Column(path, tuple(texts), tuple(documents), lines=lines)


def _make_column(table: Delimited, names: Sequence[str]) -> Column:
    indexes = (table.need(*names), table.find("document", "doc"), table.find("segment", "seg"))
    origin = table.find(*ORIGIN_COLUMNS)
    if not table.rows:
        raise InputError("holds a header but no rows; one segment per row is needed", file=table.path)
    # Without polars: a server reads texts before it forks, and polars' threads do not survive that.
    cells = [None if index is None else tuple(row[index].strip() for _, row in table.rows) for index in indexes]
    origins = None if origin is None else _known([row[origin].strip() for _, row in table.rows])
    texts, documents, segments = cells
    return Column(table.path, texts or (), documents, segments, origins=origins)


def read_table(path: Path) -> tuple[Column, dict[str, tuple[str, ...]]]:
    """Read a TSV file that holds all: the column `source`, and every other column but `document` and `segment`."""
    table = read_delimited(path, "\t", quoting=False)
    fixed = ("source", "document", "doc", "segment", "seg", *ORIGIN_COLUMNS)
    others = [name for name in table.header if name.casefold() not in fixed]
    return _make_column(table, ("source",)), {name: _make_column(table, (name,)).texts for name in others}
