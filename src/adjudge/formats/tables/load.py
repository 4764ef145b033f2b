"""A table from any file that can hold one, with every column as text: delimited text, Excel, JSON, JSON lines, Parquet.

What a file is, its content says, not its name. Columns of Parquet files keep their types. Fields inside fields of JSON
are columns with a dotted name (`meta.system`). Exports of Label Studio become one row per annotation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.core.errors import InputError, Source, shown
from adjudge.core.files import read_bytes
from adjudge.core.text_encoding import decode_text
from adjudge.formats.parsing.delimited import numbered_lines
from adjudge.formats.tables.columns import KNOWN, SYNONYMS, map_columns, parse_columns, plain
from adjudge.formats.tables.delimited_rows import read_rows
from adjudge.formats.tables.excel import read_sheets, read_workbook
from adjudge.formats.tables.label_studio import annotation_rows, is_export
from adjudge.formats.tables.parquet import PARQUET_MAGIC, read_parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

ZIP_MAGIC = b"PK\x03\x04"
OLD_EXCEL_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Keys under which files keep their rows, where the outermost value is an object.
ROWS_UNDER = ("data", "rows", "records", "judgments", "results", "items", "annotations")
# Fields nested deeper than this stay JSON text.
DEEPEST = 16
# The share of a column's cells that must be numbers, before a comma in them is taken for a decimal one.
MOSTLY = 0.95
_DECIMAL_COMMA = r"^\s*([+-]?[0-9]+),([0-9]+)\s*$"


@dataclass(frozen=True)
class LoadedTable:
    """The columns of a file, where its rows stand, and what there is to say about the file."""

    frame: pl.DataFrame
    source: Source
    notes: tuple[str, ...] = ()
    ragged: Mapping[int, str] = field(default_factory=dict)
    """Rows that are longer or shorter than the header, or broken, and what is wrong: in the frame, but no use."""
    twice: frozenset[str] = frozenset()
    """Names that several columns of the file have; the first of them has it in the frame."""
    added: frozenset[str] = frozenset()
    """Columns that the file does not have, such as the annotator after whom a sheet is named."""


def load_sheets(
    path: Path, wanted: Sequence[str], *, columns: Sequence[str] = (), wide: Sequence[str] = (), raters: bool = False
) -> list[LoadedTable]:
    """The tables in several sheets of a workbook; each sheet is an annotator where no column names any.

    Args:
        path: the workbook.
        wanted: the names of the sheets, or `all`.
        columns: what the user says of the columns, as `system=model`.
        wide: the columns that hold a system or an annotator each.
        raters: whether these are annotators, so that the sheets are none.
    """
    raw = read_bytes(path)
    if not raw.startswith((ZIP_MAGIC, OLD_EXCEL_MAGIC)):
        raise InputError("is no Excel workbook, so it has no sheets; leave --sheets out", file=path)
    tables = []
    named = [*wide, *parse_columns(columns).values()]
    for name, sheet in read_sheets(raw, path, wanted, columns=named).items():
        frame, notes = with_decimal_points(sheet.frame, sheet.frame.columns)
        others = [column for column in frame.columns if column not in wide]
        mapping = map_columns(others, sheet.source, columns=columns, meanings=SYNONYMS)
        if not raters and "annotator" not in mapping:
            frame = frame.with_columns(pl.lit(name).alias("annotator"))
            notes = [*notes, f"each sheet of {path.name} is taken for an annotator, whose name is that of the sheet"]
        added = frozenset(frame.columns) - set(sheet.frame.columns)
        tables.append(LoadedTable(frame, sheet.source, (*sheet.notes, *notes), twice=sheet.twice, added=added))
    return tables


def load_table(path: Path) -> LoadedTable:
    """Load the table that a file holds; rows without any value are left out."""
    raw = read_bytes(path)
    if not raw.strip():
        raise InputError("is empty; a table with a header is needed", file=path)
    if raw.startswith(PARQUET_MAGIC):
        return LoadedTable(read_parquet(raw, path), Source(str(path)))
    if raw.startswith((ZIP_MAGIC, OLD_EXCEL_MAGIC)):
        sheet = read_workbook(raw, path)
        frame, notes = with_decimal_points(sheet.frame, sheet.frame.columns)
        return LoadedTable(frame, sheet.source, (*sheet.notes, *notes), twice=sheet.twice)
    text = decode_text(raw, path)
    if not text.strip():
        raise InputError("is empty; a table with a header is needed", file=path)
    if text.lstrip()[0] in "[{":
        return _load_json(text, path)
    return _load_delimited(text, path)


def _load_delimited(text: str, path: Path) -> LoadedTable:
    rows = read_rows(text, path)
    frame, notes = (rows.frame, []) if rows.separator == "," else with_decimal_points(rows.frame, rows.frame.columns)
    return LoadedTable(frame, rows.source, (*rows.notes, *notes), rows.ragged, rows.twice)


def with_decimal_points(
    frame: pl.DataFrame, columns: Iterable[str], *, thousands: bool = False
) -> tuple[pl.DataFrame, list[str]]:
    """Numbers with a decimal comma, as spreadsheets of many countries write them, with a point; and a note on which.

    Args:
        frame: the table, in text.
        columns: where to look.
        thousands: whether `1,234` may be a thousand: columns of nothing else are left alone.
    """
    changed: list[str] = []
    for name in columns:
        cells = frame[name].drop_nulls().str.strip_chars()
        with_comma = cells.str.contains(_DECIMAL_COMMA)
        numbers = with_comma | cells.str.contains(r"^[+-]?[0-9]+$") | (cells == "")
        unsure = thousands and not (with_comma & ~cells.str.contains(r",[0-9]{3}$")).any()
        if with_comma.any() and not unsure and len(numbers.arg_true()) >= MOSTLY * len(cells):
            changed.append(name)
    if not changed:
        return frame, []
    with_points = pl.col(changed).str.replace(_DECIMAL_COMMA, "$1.$2")
    return frame.with_columns(with_points), [f"commas in {', '.join(map(shown, changed))} are decimal points"]


def _load_json(text: str, path: Path) -> LoadedTable:
    try:
        content: Any = json.loads(text)
    except RecursionError as fault:
        raise InputError("is nested too deeply to be a table", file=path) from fault
    except ValueError as fault:
        rows, lines, broken = _parse_json_lines(text, path, fault)
        source = Source(str(path), lambda row: lines[row] if row < len(lines) else row + 1)
        return _make_table(rows, source, broken)
    rows = _rows_of(content, path)
    if is_export(rows):
        rows, notes, broken = annotation_rows(rows, path)
        return replace(_make_table(rows, Source(str(path)), broken), notes=tuple(notes))
    return _make_table(rows, Source(str(path)), {})


def _parse_json_lines(text: str, path: Path, whole: ValueError) -> tuple[list[Any], list[int], dict[int, str]]:
    """One value per line, their lines, and those that are damaged, empty among the values, with why.

    Where already the first line is no value, the text is damaged JSON as a whole.
    """
    rows: list[Any] = []
    lines: list[int] = []
    broken: dict[int, str] = {}
    for number, line in numbered_lines(text):
        try:
            rows.append(json.loads(line))
        except (RecursionError, ValueError):
            if not rows:
                line_number = getattr(whole, "lineno", None)
                raise InputError("is damaged JSON; the file may be cut", file=path, line=line_number) from whole
            broken[len(rows)] = "is damaged JSON; the file may be cut"
            rows.append({})
        lines.append(number)
    return rows, lines, broken


def _rows_of(content: Any, path: Path) -> list[Any]:
    if isinstance(content, list):
        return content
    if (rows := _rows_of_frame(content)) is not None:
        return rows
    lists = {name: value for name, value in content.items() if isinstance(value, list)}
    for name in ROWS_UNDER:
        if name in lists:
            return lists[name]
    if len(lists) == 1:
        return next(iter(lists.values()))
    if not lists:
        return [content]
    named = shown(", ".join(lists), 200)
    raise InputError(f"is a JSON object with several lists ({named}); give a list of rows", file=path)


def _rows_of_frame(content: dict[str, Any]) -> list[Any] | None:
    """The rows of a data frame that was written by columns, by the numbers of its rows, or apart from its header.

    These are the ways in which pandas writes JSON; None where it is another object.
    """
    header, data = content.get("columns"), content.get("data")
    if isinstance(header, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, header), row, strict=False)) for row in data]
    values = list(content.values())
    known = {plain(name) for names in KNOWN.values() for name in names} & set(map(plain, content))
    if len(values) > 1 and known and all(isinstance(value, list) for value in values):
        same = len({len(value) for value in values}) == 1
        return [dict(zip(content, row, strict=True)) for row in zip(*values, strict=True)] if same else None
    if len(values) < 2 or not all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values):
        return None
    return [{name: content[name][row] for name in content} for row in values[0]] if known else values


def _make_table(rows: Iterable[Any], source: Source, broken: Mapping[int, str]) -> LoadedTable:
    """Objects as rows of text, every field inside a field under its dotted name; other values are broken rows."""
    flat: list[dict[str, str | None]] = []
    problems = dict(broken)
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            problems[number] = f"is '{shown(row)}', an object with named fields is needed"
        flat.append(_flatten(row) if isinstance(row, dict) else {})
    names = list(dict.fromkeys(name for row in flat for name in row))
    if not names:
        raise source.fault("holds no named fields; a list of objects is needed")
    try:
        columns = {name: [row.get(name) for row in flat] for name in names}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
    except UnicodeEncodeError as fault:
        raise source.fault("holds half of a character (a lone surrogate); correct the text") from fault
    return LoadedTable(frame, source, ragged=problems)


def _flatten(record: dict[str, Any], prefix: str = "", depth: int = 0) -> dict[str, str | None]:
    fields: dict[str, str | None] = {}
    for name, value in record.items():
        if isinstance(value, dict) and depth < DEEPEST:
            fields |= _flatten(value, f"{prefix}{name}.", depth + 1)
        else:
            fields[f"{prefix}{name}"] = _as_text(value)
    return fields


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
