"""SGM, the older markup of test sets: `<doc docid=...>` and `<seg id=...>`, not quite XML and read leniently."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.formats.texts import Column

if TYPE_CHECKING:
    from pathlib import Path

_TAG = re.compile(r"<(?P<name>doc|seg)\b(?P<attributes>[^<>]*)>", re.IGNORECASE)
_BEGIN = re.compile(r"<seg\b", re.IGNORECASE)
_END = re.compile(r"</seg\s*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")


def read_sgm(path: Path) -> Column:
    """Read one set (source, reference or one system's output) with its documents and segment names."""
    text = read_text(path)
    _refuse_broken_tags(text, path)
    document = ""
    texts: list[str] = []
    documents: list[str] = []
    segments: list[str] = []
    for tag in _TAG.finditer(text):
        attributes = _attributes(tag["attributes"])
        if tag["name"].lower() == "doc":
            document = attributes.get("docid") or attributes.get("id") or ""
            continue
        end = _END.search(text, tag.end())
        line = text.count("\n", 0, tag.start()) + 1
        if end is None:
            raise InputError("a <seg> is not closed; the file may be cut", file=path, line=line)
        texts.append(" ".join(html.unescape(text[tag.end() : end.start()]).split()))
        documents.append(document)
        segments.append(attributes.get("id") or str(len(segments) + 1))
    if not texts:
        raise InputError("holds no <seg>; check that it is an SGM file", file=path)
    return Column(path, tuple(texts), tuple(documents), tuple(segments))


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


def _attributes(text: str) -> dict[str, str]:
    return {
        match[1].lower(): next(value for value in match.groups()[1:] if value is not None)
        for match in _ATTRIBUTE.finditer(text)
    }
