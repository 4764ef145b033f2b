"""Documents as detectors see them: read from files, with the line of every segment, and a way to report findings.

Nothing is cleaned on the way, and bytes that are not UTF-8 are a finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.files import read_bytes
from adjudge.formats.texts.columns import TextFormat, read_column, text_format
from adjudge.results.testset import Edit, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    return SourceText(path, kind, _group_documents(str(path), list(zip(names, numbered, strict=True))))


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
