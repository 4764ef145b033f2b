"""Texts to be judged: the segments of one text, whatever file they come from, and translations in the source's order.

A translation has the same lines as its source, with the blank lines or without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


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
