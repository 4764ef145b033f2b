"""Texts to be judged: plain text, TSV, WMT XML and SGM, one column of segments at a time. Knows nothing of tasks.

Plain text has one segment per line and a blank line between documents. A translation has the same lines as its source,
with the blank lines or without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.formats.parsing.delimited import read_delimited

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TextFormat = Literal["auto", "text", "tsv", "wmt-xml", "sgm"]
_BY_ENDING: dict[str, TextFormat] = {".tsv": "tsv", ".xml": "wmt-xml", ".sgm": "sgm", ".sgml": "sgm"}


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
        format: its format; by its ending where left out.
        names: the column of a TSV file, or the translation inside an XML file; the first that exists is taken.
    """
    kind = text_format(path, format)
    if kind == "tsv":
        return _read_tsv(path, names)
    if kind == "wmt-xml":
        from adjudge.formats.texts.wmt_xml import read_xml_column

        return read_xml_column(path, names)
    if kind == "sgm":
        from adjudge.formats.texts.sgm import read_sgm

        return read_sgm(path)
    return _read_plain(path)


def _read_plain(path: Path) -> Column:
    """One segment per line; runs of blank lines separate documents."""
    lines = _lines(read_text(path))
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


def _lines(text: str) -> tuple[str, ...]:
    """Lines end at line feeds only: other separators of Unicode occur inside segments of real test sets."""
    lines = [line.strip() for line in text.split("\n")]
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def _read_tsv(path: Path, names: Sequence[str]) -> Column:
    table = read_delimited(path, "\t", quoting=False)
    column = table.need(*names)
    document = table.column("document", "doc", required=False)
    segment = table.column("segment", "seg", required=False)
    rows = [fields for _, fields in table.rows]
    if not rows:
        raise InputError("holds a header but no rows; one segment per row is needed", file=path)
    return Column(
        path,
        tuple(fields[column].strip() for fields in rows),
        None if document is None else tuple(fields[document].strip() for fields in rows),
        None if segment is None else tuple(fields[segment].strip() for fields in rows),
    )


def aligned(source: Column, other: Column) -> tuple[str, ...] | None:
    """The texts of a translation in the order of the source, or None where they do not fit.

    Where both files name documents and segments, the names decide; else the numbers of lines.
    """
    by_name, theirs_by_name = _by_name(source), _by_name(other)
    if by_name is not None and theirs_by_name is not None:
        fits = by_name.keys() == theirs_by_name.keys()
        return tuple(theirs_by_name[name] for name in by_name) if fits else None
    count = len(source.texts)
    if other.lines is None or source.lines is None or len(other.lines) == count:
        texts = other.texts if other.lines is None else other.lines
        return texts if len(texts) == count else None
    if len(other.lines) == len(source.lines):
        pairs = zip(source.lines, other.lines, strict=True)
        # A blank line of the source is a border; text there means that the lines have slipped.
        if all(theirs == "" for ours, theirs in pairs if ours == ""):
            return tuple(theirs for ours, theirs in zip(source.lines, other.lines, strict=True) if ours)
        return None
    return other.texts if len(other.texts) == count else None


def _by_name(column: Column) -> dict[tuple[str, str], str] | None:
    """Texts by document and segment, or None where the file does not name both or uses a name twice."""
    if column.documents is None or column.segments is None:
        return None
    named = dict(zip(zip(column.documents, column.segments, strict=True), column.texts, strict=True))
    return named if len(named) == len(column.texts) else None


def read_table(path: Path) -> tuple[Column, dict[str, tuple[str, ...]]]:
    """A TSV file that holds all: the column `source`, and every other column but `document` and `segment`."""
    source = _read_tsv(path, ("source",))
    table = read_delimited(path, "\t", quoting=False)
    fixed = ("source", "document", "doc", "segment", "seg")
    others = [name for name in table.header if name.casefold() not in fixed]
    return source, {name: _read_tsv(path, (name,)).texts for name in others}
