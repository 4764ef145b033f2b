"""WMT XML (2021 and later): documents with source, references by translator and outputs by system, in one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.files import read_bytes
from adjudge.core.test_set import SourceSegment, TestSet
from adjudge.core.wording import counted
from adjudge.formats.texts import Column

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from xml.etree.ElementTree import Element


@dataclass(frozen=True)
class _Document:
    name: str
    source: dict[str, str]  # segment id: text
    references: dict[str, dict[str, str]]
    systems: dict[str, dict[str, str]]


def read_wmt_xml(path: Path) -> TestSet:
    """Read everything the file holds. A translation that lacks a segment of the source is an error."""
    documents = _documents(path)
    source = tuple(
        SourceSegment(document.name, segment, text)
        for document in documents
        for segment, text in document.source.items()
    )
    return TestSet(
        source,
        _collect_translations(documents, [document.references for document in documents], path),
        _collect_translations(documents, [document.systems for document in documents], path),
    )


def read_xml_column(path: Path, names: Sequence[str]) -> Column:
    """One text of the file: the source (`source`), or the first translation of one of these names."""
    testset = read_wmt_xml(path)
    documents = tuple(segment.document for segment in testset.source)
    segments = tuple(segment.segment for segment in testset.source)
    translations = {**testset.systems, **testset.references}
    if not names or names[0] == "source":
        return Column(path, tuple(segment.text for segment in testset.source), documents, segments)
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
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"holds the document '{doubled[0]}' twice; keep one of them", file=path)
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
    return _Document(name, _segments(sources[0], name, path), references, systems)


def _segments(element: Element, document: str, path: Path) -> dict[str, str]:
    segments: dict[str, str] = {}
    for number, segment in enumerate(element.iter("seg"), start=1):
        name = segment.get("id") or str(number)
        if name in segments:
            raise InputError(f"document '{document}' has segment '{name}' twice; correct it", file=path)
        segments[name] = " ".join("".join(segment.itertext()).split())
    return segments


def _collect_translations(
    documents: list[_Document], translations: list[dict[str, dict[str, str]]], path: Path
) -> dict[str, tuple[str, ...]]:
    """The texts of each translation in the order of the source."""
    names = list(dict.fromkeys(name for in_document in translations for name in in_document))
    return {
        name: tuple(
            text
            for document, translated in zip(documents, translations, strict=True)
            for text in _texts(document, name, translated, path)
        )
        for name in names
    }


def _texts(document: _Document, name: str, translations: dict[str, dict[str, str]], path: Path) -> list[str]:
    translated = translations.get(name, {})
    if translated.keys() != document.source.keys():
        counts = f"{counted(len(translated), 'segment')} where the source has {len(document.source)}"
        raise InputError(f"'{name}' has {counts} in document '{document.name}'; complete or remove it", file=path)
    return [translated[segment] for segment in document.source]
