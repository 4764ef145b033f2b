"""A file of texts with some segments replaced, in the format it has: everything else stays as it is, byte for byte."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from adjudge.formats.texts.sgm import segment_spans
from adjudge.testset.read import decoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.formats.texts.columns import TextFormat

Changes = dict[int, str]
"""New texts by the number of the segment in the file, from 0."""
_BARE = re.compile(r"&(?!#?\w+;)")


def rewritten(raw: bytes, kind: TextFormat, changes: Changes, column: Sequence[str] = ()) -> bytes:
    """The file's bytes with these segments replaced; `column` are the names that a table's column of texts may have."""
    if not changes:
        return raw
    if kind == "tsv":
        return _in_table(raw, changes, column)
    if kind == "sgm":
        return _in_sgm(raw, changes)
    if kind == "wmt-xml":
        from adjudge.testset.rewrite_xml import in_xml

        return in_xml(raw, changes)
    return _in_lines(raw, changes)


def with_markup(raw: bytes, kind: TextFormat) -> frozenset[int]:
    """The segments that hold markup inside: nobody can say where it belongs in a new text, so they stay as they are."""
    if kind == "wmt-xml":
        from adjudge.testset.rewrite_xml import segments_with_markup

        return segments_with_markup(raw)
    if kind == "sgm":
        text = raw.decode("utf-8")
        return frozenset(i for i, (start, end) in enumerate(segment_spans(text)) if "<" in text[start:end])
    return frozenset()


def _in_lines(raw: bytes, changes: Changes) -> bytes:
    start = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    lines = raw.removeprefix(start).split(b"\n")
    held = [number for number, line in enumerate(lines) if decoded(line)[0].strip()]
    for segment, text in changes.items():
        end = b"\r" if lines[held[segment]].endswith(b"\r") else b""
        lines[held[segment]] = text.encode() + end
    return start + b"\n".join(lines)


def _in_table(raw: bytes, changes: Changes, column: Sequence[str]) -> bytes:
    lines = raw.decode("utf-8").split("\n")
    header = [name.strip().casefold() for name in lines[0].removeprefix("\ufeff").split("\t")]
    column_index = next(header.index(name) for name in column if name in header)
    rows = [number for number, line in enumerate(lines) if number and line.strip()]
    for segment, text in changes.items():
        fields = lines[rows[segment]].split("\t")
        fields[column_index] = _keeping_blanks(fields[column_index], text)
        lines[rows[segment]] = "\t".join(fields)
    return "\n".join(lines).encode()


def _in_sgm(raw: bytes, changes: Changes) -> bytes:
    text = raw.decode("utf-8")
    for segment, (start, end) in reversed(list(enumerate(segment_spans(text)))):
        if segment in changes:
            text = text[:start] + escaped(text[start:end], changes[segment]) + text[end:]
    return text.encode()


def escaped(before: str, after: str) -> str:
    """New text for a place in markup, with the entities that were used there, and the blanks around it."""
    inside = after if _BARE.search(before) else after.replace("&", "&amp;")
    inside = inside.replace("<", "&lt;").replace(">", "&gt;" if ">" not in before else ">")
    for entity in ("&quot;", "&apos;", "&#39;", "&#34;"):
        if entity in before:
            inside = inside.replace(html.unescape(entity), entity)
    return _keeping_blanks(before, inside)


def _keeping_blanks(before: str, after: str) -> str:
    stripped = before.strip()
    start = before.index(stripped) if stripped else 0
    return before[:start] + after + before[start + len(stripped) :]
