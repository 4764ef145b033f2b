"""Cells of a workbook that were merged down: what stands in the uppermost holds for all of them.

The reader of workbooks gives the value of the uppermost cell alone, so where cells are merged is asked of calamine, and
of OpenDocument, for which it does not say, read from the XML.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

OPEN_DOCUMENT = "content.xml"
"""The file with all sheets of an OpenDocument workbook."""
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"


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
    from python_calamine import CalamineError, CalamineWorkbook

    if (table := _open_document_sheet(raw, sheet)) is not None:
        try:
            return _find_open_document_cells(table)
        except ValueError:
            return (1, 1), []
    try:
        read = CalamineWorkbook.from_filelike(io.BytesIO(raw)).get_sheet_by_name(sheet)
    except (CalamineError, OSError, ValueError):
        # It has been read by the reader of workbooks already.
        return (1, 1), []
    row, column = read.start or (0, 0)
    merged = [
        (left + 1, top + 1, bottom + 1)
        for (top, left), (bottom, right) in read.merged_cell_ranges or ()
        if left == right and bottom > top
    ]
    return (row + 1, column + 1), merged


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
    except (zipfile.BadZipFile, OSError, ValueError, KeyError, ParseError):
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
