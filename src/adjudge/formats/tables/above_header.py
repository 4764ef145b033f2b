"""The separator of a delimited text, and what stands above its header: a line `sep=;`, or comments.

A line that begins with # may be the header itself. It is a comment only if none of the first rows has as many fields:
such a table could not be read with it as the header.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from adjudge.formats.parsing.delimited import detect_delimiter, row_lines

_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
COMMENT = "#"
# Taken only where the header has none of the other separators.
LAST_RESORT = "|"
# Rows that are compared with a line that may be a comment, and how much text is searched for them.
ROWS = 20
HEAD = 1 << 20


class Layout(NamedTuple):
    """How a delimited text is to be read."""

    text: str
    """With empty lines for all that stands above the header, so that lines keep their numbers."""
    separator: str
    padded: bool = False
    """Whether blanks around fields are no part of them, as people write them around bars."""


def find_header(text: str) -> Layout:
    """Find the separator, and leave out what stands above the header."""
    named = _SEPARATOR.match(text)
    if named:
        return Layout("\n" + text[named.end() :], named[1])
    comments = _comments(text)
    if comments:
        text = text.split("\n", comments)[comments]
    separator = _separator(text)
    return Layout("\n" * comments + text, separator, separator == LAST_RESORT)


def _separator(text: str) -> str:
    separator, first = detect_delimiter(text), text.split("\n", 1)[0]
    return LAST_RESORT if separator not in first and LAST_RESORT in first else separator


def _comments(text: str) -> int:
    """How many lines at the top are comments, or empty lines between them and the header."""
    if not text.startswith(COMMENT):
        return 0
    lines = text[:HEAD].split("\n")
    above = (not line.strip() or line.startswith(COMMENT) for line in lines)
    marked = next((number for number, is_above in enumerate(above) if not is_above), len(lines))
    rows = "\n".join(lines[marked:])
    if not rows.strip():
        return 0
    return next((number for number, line in enumerate(lines[:marked]) if _is_header(line, rows)), marked)


def _is_header(line: str, rows: str) -> bool:
    """Whether any of the first rows has as many fields as the line, by the separator of either."""
    for separator in (_separator(line), _separator(rows)):
        width = max((len(fields) for _, fields in row_lines(line, separator)), default=0)
        if width > 1 and any(len(fields) == width for _, fields in islice(row_lines(rows, separator), ROWS)):
            return True
    return False
