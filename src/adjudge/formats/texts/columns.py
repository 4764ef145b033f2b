"""Texts to be judged: plain text, TSV, WMT XML and SGM, one column of segments at a time. Knows nothing of tasks.

Plain text has one segment per line and a blank line between documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.formats.parsing.delimited import read_delimited, stripped_lines
from adjudge.formats.texts import Column
from adjudge.formats.texts.sgm import read_sgm
from adjudge.formats.texts.wmt_xml import read_xml_column

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.formats.parsing.delimited import Delimited

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
    column = table.need(*names)
    document = table.find("document", "doc")
    segment = table.find("segment", "seg")
    if not table.rows:
        raise InputError("holds a header but no rows; one segment per row is needed", file=table.path)
    return Column(
        table.path,
        tuple(table.texts(column)),
        None if document is None else tuple(table.texts(document)),
        None if segment is None else tuple(table.texts(segment)),
    )


def read_table(path: Path) -> tuple[Column, dict[str, tuple[str, ...]]]:
    """Read a TSV file that holds all: the column `source`, and every other column but `document` and `segment`."""
    table = read_delimited(path, "\t", quoting=False)
    fixed = ("source", "document", "doc", "segment", "seg")
    others = [name for name in table.header if name.casefold() not in fixed]
    return _make_column(table, ("source",)), {name: _make_column(table, (name,)).texts for name in others}
