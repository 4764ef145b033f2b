"""A corrected copy of the texts, with a log of every change. Only sure corrections are made, never in place."""

from __future__ import annotations

import gzip
import html
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.readers.texts import TextFormat, segment_spans
from adjudge.table.errors import UsageError, param
from adjudge.table.files import atomic_path, is_gzip, read_bytes, write_text
from adjudge.testsets.documents import COLUMNS, SourceText, decode_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.testsets.findings import Edit, Finding


# A file of texts with some segments replaced, in the format it has: everything else stays as it is, byte for byte.

Changes = dict[int, str]
"""New texts by the number of the segment in the file, from 0."""
_BARE = re.compile(r"&(?!#?\w+;)")


def replace_segments(raw: bytes, kind: TextFormat, changes: Changes, column: Sequence[str] = ()) -> bytes:
    """The file's bytes with these segments replaced; `column` are the names that a table's column of texts may have."""
    if not changes:
        return raw
    if kind == "tsv":
        return _replace_in_table(raw, changes, column)
    if kind == "sgm":
        return _replace_in_sgm(raw, changes)
    if kind == "wmt-xml":
        return _replace_in_xml(raw, changes)
    return _replace_in_lines(raw, changes)


def find_segments_with_markup(raw: bytes, kind: TextFormat) -> frozenset[int]:
    """The segments that hold markup inside: nobody can say where it belongs in a new text, so they stay as they are."""
    if kind == "wmt-xml":
        return _find_xml_markup(raw)
    if kind == "sgm":
        text = raw.decode("utf-8")
        return frozenset(i for i, (start, end) in enumerate(segment_spans(text)) if "<" in text[start:end])
    return frozenset()


def _replace_in_lines(raw: bytes, changes: Changes) -> bytes:
    start = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    lines = raw.removeprefix(start).split(b"\n")
    held = [number for number, line in enumerate(lines) if decode_line(line)[0].strip()]
    for segment, text in changes.items():
        end = b"\r" if lines[held[segment]].endswith(b"\r") else b""
        lines[held[segment]] = text.encode() + end
    return start + b"\n".join(lines)


def _replace_in_table(raw: bytes, changes: Changes, column: Sequence[str]) -> bytes:
    lines = raw.decode("utf-8").split("\n")
    header = [name.strip().casefold() for name in lines[0].removeprefix("\ufeff").split("\t")]
    column_index = next(header.index(name) for name in column if name in header)
    rows = [number for number, line in enumerate(lines) if number and line.strip()]
    for segment, text in changes.items():
        fields = lines[rows[segment]].split("\t")
        fields[column_index] = _keep_blanks(fields[column_index], text)
        lines[rows[segment]] = "\t".join(fields)
    return "\n".join(lines).encode()


def _replace_in_sgm(raw: bytes, changes: Changes) -> bytes:
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
    return _keep_blanks(before, inside)


def _keep_blanks(before: str, after: str) -> str:
    stripped = before.strip()
    start = before.index(stripped) if stripped else 0
    return before[:start] + after + before[start + len(stripped) :]


@dataclass
class _Span:
    """The bytes between the tags of a segment of a source; `plain` where they hold nothing but text."""

    start: int
    end: int = -1
    plain: bool = True


def _replace_in_xml(raw: bytes, changes: dict[int, str]) -> bytes:
    """The file with these segments of its sources replaced; none of them may hold markup."""
    spans, encoding = _source_segments(raw)
    for segment in sorted(changes, reverse=True):
        span = spans[segment]
        before = raw[span.start : span.end].decode(encoding)
        after = escaped(before, changes[segment]).encode(encoding, "xmlcharrefreplace")
        raw = raw[: span.start] + after + raw[span.end :]
    return raw


def _find_xml_markup(raw: bytes) -> frozenset[int]:
    """The segments of sources that hold more than text. In UTF-16 all count as such: their bytes are not looked for."""
    spans, _ = _source_segments(raw)
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    return frozenset(i for i, span in enumerate(spans) if wide or not span.plain or b"<" in raw[span.start : span.end])


def _source_segments(raw: bytes) -> tuple[list[_Span], str]:
    """The places of all segments of sources, in order, and the encoding."""
    from xml.parsers import expat  # the file was read before, by a parser that refuses what is unsafe

    parser = expat.ParserCreate()
    spans: list[_Span] = []
    encodings = ["utf-8"]
    inside: list[str] = []

    def start(name: str, _: dict[str, str]) -> None:
        if "src" in inside and name == "seg":
            spans.append(_Span(_find_end_of_tag(raw, parser.CurrentByteIndex)))
        elif inside and inside[-1] == "seg" and "src" in inside:
            spans[-1].plain = False
        inside.append(name)

    def end(name: str) -> None:
        inside.pop()
        if "src" in inside and name == "seg":
            spans[-1].end = max(spans[-1].start, parser.CurrentByteIndex)

    def declaration(_: str, encoding: str | None, __: int) -> None:
        encodings.append(encoding or "utf-8")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.XmlDeclHandler = declaration
    parser.Parse(raw, True)
    return spans, encodings[-1]


def _find_end_of_tag(raw: bytes, position: int) -> int:
    """The place behind the tag that starts here; values of attributes may hold what else would end it."""
    quote = b""
    for index in range(position, len(raw)):
        character = raw[index : index + 1]
        if quote:
            quote = b"" if character == quote else quote
        elif character in (b'"', b"'"):
            quote = character
        elif character == b">":
            return index + 1
    return len(raw)


LOG = "changes.tsv"
_HEADER = ("file", "line", "document", "category", "confidence", "before", "after")


@dataclass(frozen=True)
class Fixed:
    """What was written."""

    files: tuple[Path, ...]
    changes: int
    left: int = 0
    """Segments that were not corrected, because they hold markup."""


def write_fixed(sources: Sequence[SourceText], findings: Sequence[Finding], folder: Path) -> Fixed:
    """Write every text, corrected, under its own name and in its own format into the folder, and the log beside."""
    if any(source.path.resolve().parent == folder.resolve() for source in sources):
        raise UsageError(
            f"{param('fix')} {folder} is the folder of the texts themselves; name another, they are never overwritten"
        )
    names = [LOG, *(source.path.name for source in sources)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{param('fix')} would write two files '{twice}' into {folder}; correct the texts one by one")
    log = ["\t".join(_HEADER)]
    contents: dict[Path, bytes] = {}
    left = 0
    for source in sources:
        raw = read_bytes(source.path)
        changes, used = _changes(source, findings)
        locked = find_segments_with_markup(raw, source.format) & changes.keys() if changes else frozenset()
        left += len(locked)
        changes = {index: text for index, text in changes.items() if index not in locked}
        log += [line for index, lines in used.items() if index not in locked for line in lines]
        new = replace_segments(raw, source.format, changes, COLUMNS)
        contents[folder / source.path.name] = gzip.compress(new, mtime=0) if is_gzip(source.path) else new
    for path, content in contents.items():
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)
    write_text(folder / LOG, "\n".join(log) + "\n")
    return Fixed((*contents, folder / LOG), len(log) - 1, left)


def _changes(source: SourceText, findings: Sequence[Finding]) -> tuple[Changes, dict[int, list[str]]]:
    """New texts by the place of their segment, and their lines of the log."""
    sure: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.sure and finding.file == str(source.path):
            sure[finding.line].append(finding)
    # Lines in another encoding are written as UTF-8, even where nothing else is wrong with them.
    recoded = {finding.line: finding for finding in source.findings if finding.category == "encoding"}
    changes: Changes = {}
    log: dict[int, list[str]] = {}
    for index, segment in enumerate(segment for document in source.documents for segment in document.segments):
        text, used = apply_edits(segment.text, sure.get(segment.line, []))
        used += [recoded[segment.line]] if segment.line in recoded else []
        if used:
            changes[index] = text
            for finding in used:
                where = (finding.file, finding.line, finding.document, finding.category, f"{finding.confidence:.2f}")
                line = "\t".join(" ".join(str(value).split()) for value in (*where, segment.text, text))
                log.setdefault(index, []).append(line)
    return changes, log


def apply_edits(text: str, findings: Sequence[Finding]) -> tuple[str, list[Finding]]:
    """The text after the edits, and the findings whose edits were made; of two that overlap the surer is made.

    A segment of which nothing would be left stays as it is: without it, translations would be out of step.
    """

    def overlap(first: Edit, second: Edit) -> bool:
        if first == second or first.start == first.end == second.start == second.end:
            return True
        return first.start < second.end and second.start < first.end

    used: list[Finding] = []
    edits: list[Edit] = []
    for finding in sorted(findings, key=lambda finding: -finding.confidence):
        if finding.edit is not None and not any(overlap(finding.edit, other) for other in edits):
            used.append(finding)
            edits.append(finding.edit)
    after = text
    # From the end, so that the places of earlier edits stay.
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end))[::-1]:
        after = after[: edit.start] + edit.text + after[edit.end :]
    return (after, used) if after.strip() else (text, [])
