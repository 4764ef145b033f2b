"""Characters broken by a wrong encoding, remains of HTML, and characters that cannot be seen."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.results.testset import Edit
from adjudge.testset.document import Segment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document

_ENTITY = re.compile(
    r"&(?:amp|quot|lt|gt|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,5}|[lr][sd]quo|[mn]dash|hellip|[a-z]acute);"
)
_TAG = re.compile(r"</?(?:p|br|b|i|em|strong|a|div|span|img|u|h[1-6]|li|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_UNSEEN = re.compile("[\u200b\u2060\ufeff\u00ad\u0000-\u0008\u000b-\u001f\u007f-\u009f]")
_REPLACED = re.compile("\ufffd+")


def find(document: Document) -> Iterator[Finding]:
    """All findings of one document."""
    for index, text in enumerate(document.texts):
        yield from _find_broken(document, index, text)
        for shape, what in ((_ENTITY, "an HTML entity"), (_TAG, "an HTML tag")):
            for match in shape.finditer(text):
                edit = Edit(*match.span(), html.unescape(match.group()) if shape is _ENTITY else "")
                yield document.finding(index, "markup", what, 0.9 if shape is _ENTITY else 0.8, edit=edit)
        for match in _UNSEEN.finditer(_unbroken(text)):
            yield document.finding(index, "markup", f"an unseen character U+{ord(match.group()):04X}", 0.9,
                                   edit=Edit(*match.span(), ""))  # fmt: skip


def repaired(document: Document, lines: set[int]) -> Document:
    """The document with broken characters and markup put right on these lines."""
    if not lines:
        return document
    import ftfy

    segments = tuple(
        Segment(segment.line, _strip_markup(ftfy.fix_encoding(segment.text))) if segment.line in lines else segment
        for segment in document.segments
    )
    return replace(document, segments=segments)


def _strip_markup(text: str) -> str:
    """The text without entities, tags and what cannot be seen."""
    return _UNSEEN.sub("", _TAG.sub("", _ENTITY.sub(lambda match: html.unescape(match.group()), text)))


def _unbroken(text: str) -> str:
    """The text as far as wrong encodings can be undone: what they broke is reported as such, not as unseen."""
    if text.isascii():
        return text
    import ftfy

    return text if ftfy.fix_encoding(text) == text else ""


def _find_broken(document: Document, index: int, text: str) -> Iterator[Finding]:
    for match in _REPLACED.finditer(text):
        yield document.finding(index, "mojibake", "a character that was lost (U+FFFD)", 0.95, span=match.span())
    if text.isascii():
        return
    import ftfy

    fixed = ftfy.fix_encoding(text)
    if fixed == text:
        return
    start = next((i for i, (a, b) in enumerate(zip(text, fixed, strict=False)) if a != b), min(len(text), len(fixed)))
    behind = next(
        (i for i, (a, b) in enumerate(zip(reversed(text[start:]), reversed(fixed[start:]), strict=False)) if a != b),
        min(len(text), len(fixed)) - start,
    )
    edit = Edit(start, len(text) - behind, fixed[start : len(fixed) - behind])
    yield document.finding(index, "mojibake", "characters broken by a wrong encoding", 0.95, edit=edit)
