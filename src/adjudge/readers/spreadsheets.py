"""Tables of spreadsheets: those in workbooks of Excel and OpenDocument, and texts that look like formulas.

The sheet is the first that has the columns of judgments, otherwise the first, unless others are asked for. Rows above
the header, such as a title or headings over several columns, are left out. What stands in cells that were merged down
holds for each of their rows.
"""

from __future__ import annotations

import io
import re
import signal
import zipfile
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl

from adjudge.readers.columns import BRACKETS, PAIR_COLUMNS, SYNONYMS, map_columns, plain
from adjudge.readers.parsing import LoadedTable
from adjudge.table.errors import InputError, Source, param, shown
from adjudge.table.files import (
    BYTES_PER_CELL,
    COPIES_IN_MEMORY,
    PACKING_FAULTS,
    check_size,
    memory_at_hand,
    try_out,
)
from adjudge.table.wording import counted, few_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

# Of merged cells calamine gives the value of the uppermost alone. Where cells are merged it says of Excel's workbooks;
# of OpenDocument it is read from the XML.

OPEN_DOCUMENT = "content.xml"
_MOST_DIGITS = 12
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


def corner_and_merged(workbook: Workbook, number: int) -> tuple[tuple[int, int], list[tuple[int, int, int]]]:
    """Row and column of the first cell that holds something, and the cells that were merged down, of a sheet."""
    sheet = workbook.sheet(number)
    row, column = sheet.start or (0, 0)
    if (table := _open_document_sheet(workbook.raw, workbook.sheet_names[number])) is not None:
        return (row + 1, column + 1), _find_open_document_merged(table)
    merged = [
        (left + 1, top + 1, bottom + 1)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
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
    except (*PACKING_FAULTS, ParseError):
        return None


def _read_count(text: str | bytes | None) -> int:
    """How many rows or columns an attribute speaks of: 1 where it says nothing; a number beyond all bounds is cut."""
    digits = (text.decode("ascii", "replace") if isinstance(text, bytes) else text or "").strip()
    return int(digits[:_MOST_DIGITS]) if re.fullmatch("[0-9]+", digits) else 1


def _find_open_document_merged(table: Any) -> list[tuple[int, int, int]]:
    """Do the same for a sheet of an OpenDocument workbook, in which equal rows and cells are written once."""
    merged: list[tuple[int, int, int]] = []
    row = 1
    for line in table.iter(f"{_TABLE}table-row"):
        column = 1
        for cell in line:
            down, across = (_read_count(cell.get(f"{_TABLE}number-{name}-spanned")) for name in ("rows", "columns"))
            if down > 1 and across == 1:
                merged.append((column, row, row + down - 1))
            column += _read_count(cell.get(f"{_TABLE}number-columns-repeated"))
        row += _read_count(line.get(f"{_TABLE}number-rows-repeated"))
    return merged


# A header is looked for in so many rows of a sheet.
TITLE_ROWS = 20
ALL_SHEETS = "all"
_LONG_HEADER = 3
_ROW = "row of the sheet"
_NAMES = {
    meaning: {plain(name) for name in names}
    for meaning, names in {**SYNONYMS, **PAIR_COLUMNS}.items()
    if meaning in ("system", "score", "rank", *PAIR_COLUMNS)
}
_ROWS_AT_ONCE = 10_000


class Workbook:
    """A workbook whose cells are read as texts."""

    def __init__(self, raw: bytes) -> None:
        from python_calamine import CalamineWorkbook, SheetTypeEnum

        self.raw = raw
        self._book = CalamineWorkbook.from_filelike(io.BytesIO(raw))
        self._read: dict[int, Any] = {}
        self.sheet_names = [
            sheet.name
            for sheet in self._book.sheets_metadata
            if sheet.typ not in (SheetTypeEnum.ChartSheet, SheetTypeEnum.Vba)
        ]

    def sheet(self, number: int) -> Any:
        """A sheet, which is read once."""
        if number not in self._read:
            self._read[number] = self._book.get_sheet_by_name(self.sheet_names[number])
        return self._read[number]

    def first_rows(self, number: int) -> list[list[str | None]]:
        """The first rows of a sheet, from the first that holds something."""
        return [list(map(_as_text, row)) for row in self.sheet(number).to_python(nrows=TITLE_ROWS)]

    def read_below(self, number: int, above: int) -> pl.DataFrame:
        """The rows of a sheet below its header, above which so many rows stand."""
        sheet = self.sheet(number)
        rows = islice(sheet.iter_rows(), (sheet.start or (0, 0))[0] + above, None)
        schema = dict.fromkeys(_name_columns(list(map(_as_text, next(rows, ())))), pl.String)
        parts = [pl.DataFrame(schema=schema)]
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            columns = zip(schema, zip(*some, strict=True), strict=True)
            parts.append(pl.DataFrame({name: list(map(_as_text, cells)) for name, cells in columns}, schema=schema))
        return pl.concat(parts)


def _as_text(value: Any) -> str | None:
    """The text of a cell: numbers with the 15 digits that a spreadsheet shows, dates as in ISO 8601."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.15g}"
    return str(value)


def _name_columns(header: Sequence[str | None]) -> list[str]:
    """The names of columns, each once; those without one are called after their place."""
    names: list[str] = []
    for place, given in enumerate(header, 1):
        name = given or f"column {place}"
        further = (f"{name}_{number}" for number in count(1))
        names.append(name if name not in names else next(other for other in further if other not in names))
    return names


def read_workbook(raw: bytes, path: Path) -> LoadedTable:
    """Read the sheet of a workbook that holds the table; its rows are numbered as a spreadsheet shows them."""
    with _open(raw, path) as workbook:
        number, above = _find_table(workbook)
        sheet = _read_sheet(workbook, path, number, above)
        later = range(number + 1, len(workbook.sheet_names))
        more = any(_header_row(workbook, other) is not None for other in later)
    hint = ("other sheets hold judgments, too; --sheets all reads them all",) if more else ()
    return replace(sheet, notes=(*sheet.notes, *hint))


def find_like_sheets(raw: bytes, path: Path) -> list[str]:
    """The sheets of a workbook that hold one table in parts: several with the same header, long or with an answer."""
    with _open(raw, path) as workbook:
        headers: dict[tuple[str, ...], list[str]] = {}
        for number, name in enumerate(workbook.sheet_names):
            rows = workbook.first_rows(number)
            above = _header_row(workbook, number)
            above = rows_above_header(rows) if above is None else above
            header = tuple(plain(BRACKETS.sub("", cell)) for cell in (rows[above] if above < len(rows) else ()) if cell)
            answered = set(header) & (_NAMES["score"] | _NAMES["rank"] | _NAMES["winner"])
            if len(rows) > above + 1 and (answered or len(header) > _LONG_HEADER):
                headers.setdefault(header, []).append(name)
    like = max(headers.values(), key=len, default=[])
    return like if len(like) > 1 else []


def read_sheets(
    raw: bytes, path: Path, wanted: Sequence[str], *, columns: Sequence[str] = ()
) -> dict[str, LoadedTable]:
    """Read several sheets of a workbook by their names.

    Args:
        raw: the workbook.
        path: its file, for messages.
        wanted: the sheets; `all` are those that name the columns of judgments and have rows below.
        columns: columns that the user names: a row that holds all of these names the columns, too.

    Returns:
        The sheets by their names, in the order of the workbook.
    """
    with _open(raw, path) as workbook:
        names = workbook.sheet_names
        asked = {_find_sheet(name, names, path) for name in wanted if name != ALL_SHEETS}
        headers = {name: _header_row(workbook, number, columns) for number, name in enumerate(names)}
        chosen = [name for name in names if name in asked or (ALL_SHEETS in wanted and headers[name] is not None)]
        if not chosen:
            raise InputError(
                f"has no sheet with the columns of judgments; name the sheets by {param('sheets')}", file=path
            )
        read = {}
        for name in chosen:
            number, above = names.index(name), headers[name]
            above = rows_above_header(workbook.first_rows(number)) if above is None else above
            read[name] = _read_sheet(workbook, path, number, above, several=chosen)
        return _drop_empty(read, asked, path)


def _find_sheet(name: str, names: Sequence[str], path: Path) -> str:
    """The sheet of this name, in any case where only one has it."""
    same = [sheet for sheet in names if sheet == name] or [sheet for sheet in names if plain(sheet) == plain(name)]
    if len(same) != 1:
        raise InputError(f"has no sheet '{shown(name)}', it has {shown(', '.join(names), 300)}", file=path)
    return same[0]


def _drop_empty(sheets: dict[str, LoadedTable], asked: Collection[str], path: Path) -> dict[str, LoadedTable]:
    """The sheets without those that hold a header alone and that nobody asked for by name, which the notes tell."""
    empty = [name for name, sheet in sheets.items() if not sheet.frame.height and name not in asked]
    if not empty or len(empty) == len(sheets):
        return sheets
    kept = {name: sheet for name, sheet in sheets.items() if name not in empty}
    first = next(iter(kept))
    note = f"no rows below the header in {path.name}, sheet {', '.join(map(shown, empty))}"
    kept[first] = replace(kept[first], notes=(*kept[first].notes, note))
    return kept


@contextmanager
def _open(raw: bytes, path: Path) -> Iterator[Workbook]:
    """A workbook; damage that is found while it is read becomes one sentence."""
    from python_calamine import CalamineError

    _check_archive(raw, path)
    try:
        workbook = Workbook(raw)
        if not workbook.sheet_names:
            raise InputError("is a workbook without sheets of cells; name one with a table", file=path)
        yield workbook
    except (CalamineError, OSError) as fault:
        raise _damaged(str(fault).split("\n", 1)[0], path) from fault


def _read_sheet(workbook: Workbook, path: Path, number: int, above: int, *, several: Sequence[str] = ()) -> LoadedTable:
    """A sheet, of which so many rows stand above the header; one of several if these are named."""
    frame = workbook.read_below(number, above)
    header = workbook.sheet(number).to_python(nrows=above + 1)[above:]
    name = workbook.sheet_names[number]
    notes = list(_notes(path.name, workbook.sheet_names, several or [name], above))
    corner, merged = corner_and_merged(workbook, number)
    frame, filled = fill_merged(frame, corner, above, merged)
    if filled:
        notes.append(f"{counted(filled, 'merged cell')} of {path.name} filled with the value at their top")
    first = corner[0] + above + 1
    frame = frame.with_row_index(_ROW)
    frame = frame.filter(~pl.all_horizontal(pl.exclude(_ROW).is_null()))
    numbers = frame[_ROW].to_list()
    source = Source(
        f"{path}, sheet '{shown(name)}'" if several else str(path),
        lambda row: numbers[row] + first if row < len(numbers) else row + first,
    )
    twice = frozenset(name for name, times in Counter(map(_as_text, chain(*header))).items() if name and times > 1)
    return LoadedTable(frame.drop(_ROW), source, tuple(notes), twice=twice)


def _find_table(workbook: Workbook) -> tuple[int, int]:
    """The number of the sheet with the table, and how many rows stand above its header."""
    headers = {number: _header_row(workbook, number) for number in range(len(workbook.sheet_names))}
    found = {number: above for number, above in headers.items() if above is not None}
    if not found:
        return 0, rows_above_header(workbook.first_rows(0))

    def names(number: int) -> int:
        # A summary of the systems names fewer columns than the judgments themselves.
        row = workbook.first_rows(number)[found[number]]
        return len(map_columns([cell for cell in row if cell], Source(""), meanings=SYNONYMS).columns)

    best = max(found, key=names)
    return best, found[best]


def _header_row(workbook: Workbook, number: int, columns: Sequence[str] = ()) -> int | None:
    """The row of a sheet, from 0, that names the columns of judgments, or these columns."""
    wanted = set(map(plain, columns))
    for above, row in enumerate(workbook.first_rows(number)):
        if _names_judgments(row) or (wanted and wanted <= {plain(value) for value in row if value is not None}):
            return above
    return None


def _names_judgments(row: Sequence[str | None]) -> bool:
    """Whether a row names the columns of judgments: a system and its score or rank, or both sides and the winner."""
    names = {plain(text) for value in row if value is not None for text in (value, BRACKETS.sub("", value))}
    known = {meaning for meaning, synonyms in _NAMES.items() if names & synonyms}
    return ("system" in known and bool(known & {"score", "rank"})) or set(PAIR_COLUMNS) <= known


def rows_above_header(rows: Sequence[Sequence[str | None]]) -> int:
    """Count the rows, such as a title over all columns, above the first row that could name the columns."""
    filled = [sum(value is not None and value.strip() != "" for value in row) for row in rows]
    enough = max(2, (max(filled, default=0) + 1) // 2)
    found = next((row for row, count in enumerate(filled) if count >= enough), 0)
    if found and filled[found - 1] > 1:
        # Of two rows of names the upper one names the columns that the lower one does not.
        two = list(zip(rows[found - 1], rows[found], strict=False))
        lower = [name for _, name in two]
        found -= (None in lower or len(set(lower)) < len(lower)) and all(upper or name for upper, name in two)
    return found


def _notes(file: str, sheets: Sequence[str], read: Sequence[str], above: int) -> Iterator[str]:
    others = ", ".join(shown(name) for name in sheets if name not in read)
    if others:
        which = f"the sheet '{shown(read[0])}' of {file} is" if len(read) == 1 else f"{len(read)} sheets of {file} are"
        yield f"only {which} read; not {others}"
    if above:
        yield f"{counted(above, 'row')} above the header of {file}, such as a title, not read"


# A workbook is read as the rectangle around all of its cells, empty ones included, and with a text as often as it
# stands in cells: one forgotten cell far from the table, or one long text, would take all memory and end the process.
# So another process with bounds reads it first, and says how far the cells of each sheet reach.

MOST_COLUMNS = 2_000
# No program for sheets has more: what reaches to the last one was cut there.
MOST_ROWS = 1_048_576
_SECONDS = 120
# Memory for reading: a text that is written once may stand in many cells, but cells and texts are what a table has.
_LEAST_MEMORY = 300_000_000
_TIMES_ITS_SIZE = 20
_TRY = """import io, python_calamine
try:
    workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
    kinds = python_calamine.SheetTypeEnum.ChartSheet, python_calamine.SheetTypeEnum.Vba
    sheets = [workbook.get_sheet_by_name(part.name) for part in workbook.sheets_metadata if part.typ not in kinds]
except python_calamine.CalamineError:
    sheets = []
for sheet in sheets:
    print(*(sheet.end or (0, 0)))
"""
# What a process prints that asks for more memory than it may have: in Rust, with numbers that wrap, and in Python.
_TOO_MUCH = ("memory allocation", "capacity overflow", "MemoryError")


def _check_archive(raw: bytes, path: Path) -> None:
    """Refuse a zip file that is no workbook, or what cannot be read within bounds of memory and time."""
    size = len(raw)
    with suppress(*PACKING_FAULTS), zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        check_size(size, path, what="unpacked")
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        if not any(name.startswith("xl/") or name == OPEN_DOCUMENT for name in names):
            raise InputError(f"is a zip archive of {few_names(names)}; unpack it and name the table", file=path)
    memory = max(_LEAST_MEMORY, min(_TIMES_ITS_SIZE * size, memory_at_hand() // COPIES_IN_MEMORY))
    code, out, words = try_out(_TRY, raw, memory=memory, seconds=_SECONDS)
    if any(sign in words for sign in _TOO_MUCH):
        _refuse_size(f"needs more than {memory // 1_000_000:,} MB of memory", path)
    if code:
        took_long = "it takes too long" if code == -signal.SIGXCPU else ""
        raise _damaged(took_long or words.split("\n")[-1] or "reading it fails", path)
    for line in out.splitlines():
        rows, columns = (int(number) + 1 for number in line.split())
        if rows >= MOST_ROWS or columns > MOST_COLUMNS or rows * columns * BYTES_PER_CELL > memory_at_hand():
            _refuse_size(f"has a sheet whose cells reach to row {rows:,} and column {columns:,}", path)


def _damaged(reason: str, path: Path) -> InputError:
    how = f"is a damaged workbook ({shown(reason, 120)}), or has cells too far for a table"
    return InputError(f"{how}; delete what stands apart, and save it again", file=path)


def _refuse_size(how: str, path: Path) -> NoReturn:
    raise InputError(f"{how}, too far for a table; delete what stands apart from it, and save it again", file=path)
