"""Cells of a workbook that were merged down: what stands in the uppermost holds for all of them.

The reader of workbooks gives the value of the uppermost cell alone, so where cells are merged is read from the XML.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

OPEN_DOCUMENT = "content.xml"
"""The file with all sheets of an OpenDocument workbook."""
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_CELL = re.compile(rb'<c r="([A-Z]+)([0-9]+)"[^>]*[^>/]>')
_MERGED = re.compile(rb'<mergeCell ref="([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)"')
_UNREADABLE = (zipfile.BadZipFile, OSError, ValueError, KeyError)
"""What cannot be understood here has been read by the reader of workbooks already."""


def fill_merged(
    frame: pl.DataFrame, corner: tuple[int, int], above: int, merged: Sequence[tuple[int, int, int]]
) -> tuple[pl.DataFrame, int]:
    """The frame with the upper value of cells merged down in all of them, and how many were filled.

    Args:
        frame: the rows below the header.
        corner: row and column, from 1, of the first cell of the sheet that holds something.
        above: rows above the header.
        merged: column, first and last row of merged cells.
    """
    filled = 0
    columns = {name: frame[name].to_list() for name in frame.columns}
    for column, first, last in merged:
        place, start = column - corner[1], first - corner[0] - above - 1
        if not 0 <= place < frame.width or not 0 <= start < frame.height:
            continue
        values = columns[frame.columns[place]]
        rows = range(start + 1, min(last - first + start + 1, frame.height))
        empty = [row for row in rows if values[row] is None] if values[start] is not None else []
        for row in empty:
            values[row] = values[start]
        filled += len(empty)
    return (pl.DataFrame(columns, schema=frame.schema), filled) if filled else (frame, 0)


def corner_and_merged(raw: bytes, sheet: str) -> tuple[tuple[int, int], list[tuple[int, int, int]]]:
    """Row and column of the first cell that holds something, and the cells that were merged down, of a sheet."""
    if (table := _open_document_sheet(raw, sheet)) is not None:
        try:
            return _find_open_document_cells(table)
        except ValueError:
            return (1, 1), []
    content = _sheet_content(raw, sheet)
    first = _CELL.search(content)
    if first is None:
        return (1, 1), []
    merged = [
        (_column_number(ref[0]), int(ref[1]), int(ref[3]))
        for ref in _MERGED.findall(content)
        if ref[0] == ref[2] and int(ref[3]) > int(ref[1])
    ]
    columns = {cell[1] for cell in _CELL.finditer(content)} if merged else {first[1]}
    return (int(first[2]), min(map(_column_number, columns))), merged


def _open_document_sheet(raw: bytes, sheet: str) -> Any:
    """The XML of a sheet of an OpenDocument workbook; None where the workbook is of another kind, or merges nothing."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            content = archive.read(OPEN_DOCUMENT)
        if b"number-rows-spanned" not in content:
            return None
        tables = fromstring(content).iter(f"{_TABLE}table")
        return next((table for table in tables if table.get(f"{_TABLE}name") == sheet), None)
    except (*_UNREADABLE, ParseError):
        return None


def _find_open_document_cells(table: Any) -> tuple[tuple[int, int], list[tuple[int, int, int]]]:
    """Do the same for a sheet of an OpenDocument workbook, in which equal rows and cells are written once."""
    filled: list[tuple[int, int]] = []
    merged: list[tuple[int, int, int]] = []
    row = 1
    for line in table.iter(f"{_TABLE}table-row"):
        column = 1
        for cell in line:
            if len(cell):
                filled.append((row, column))
            down, across = (int(cell.get(f"{_TABLE}number-{name}-spanned", 1)) for name in ("rows", "columns"))
            if down > 1 and across == 1:
                merged.append((column, row, row + down - 1))
            column += int(cell.get(f"{_TABLE}number-columns-repeated", 1))
        row += int(line.get(f"{_TABLE}number-rows-repeated", 1))
    if not filled:
        return (1, 1), []
    return (filled[0][0], min(column for _, column in filled)), merged


def _column_number(letters: bytes) -> int:
    """A is 1, Z 26, AA 27."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _sheet_content(raw: bytes, sheet: str) -> bytes:
    """The XML of a sheet; nothing where the workbook is of another kind."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            links = {
                link.get("Id"): link.get("Target", "")
                for link in fromstring(archive.read("xl/_rels/workbook.xml.rels"))
            }
            for element in fromstring(archive.read("xl/workbook.xml")).iter():
                if element.tag.endswith("}sheet") and element.get("name") == sheet:
                    link = next(value for name, value in element.attrib.items() if name.endswith("}id"))
                    target = links[link]
                    return archive.read(target.lstrip("/") if target.startswith("/") else f"xl/{target}")
    except (*_UNREADABLE, StopIteration, ParseError):
        pass
    return b""
