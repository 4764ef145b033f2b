"""A table from any file that can hold one, with every column as text: delimited text, Excel, JSON, JSON lines, Parquet.

What a file is, its content says, not its name. Columns of Parquet files keep their types. Fields inside fields of JSON
are columns with a dotted name (`meta.system`). Exports of other tools become one row per judgment (`exports.py`).
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from dataclasses import replace
from functools import cached_property
from itertools import compress, islice
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.readers.columns import KNOWN, map_columns, plain, renamed, replace_decimal_commas
from adjudge.readers.exports import is_eval_archive, read_eval_archive, rows_of_export
from adjudge.readers.parsing import (
    DELIMITERS,
    LoadedTable,
    add_languages,
    detect_delimiter,
    numbered_lines,
    row_lines,
    undo_plain_text,
)
from adjudge.readers.spreadsheets import find_like_sheets, read_sheets, read_workbook, rows_above_header
from adjudge.table.errors import InputError, Source, param, shown
from adjudge.table.files import (
    COPIES_IN_MEMORY,
    ZIP_MAGIC,
    check_cells_fit,
    check_size,
    memory_at_hand,
    read_bytes,
    read_text,
    try_out,
    utf8_of,
)
from adjudge.table.judgments import SCHEMA, Judgments, first_true
from adjudge.table.languages import language_code
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.table.record import CampaignRecord


# Delimited text. Quotation marks enclose fields, as spreadsheets write them. Many programs write texts between tabs as
# they are, and a text may begin with a quotation mark: where every line fits the header if the marks are ordinary
# characters, and the marks would join lines or fit nowhere, they are ordinary.
#
# Above the header may stand a line `sep=;`, or comments. A line that begins with # may be the header itself. It is a
# comment only if none of the first rows has as many fields: such a table could not be read with it as the header.

QUOTE = '"'
ORDINARY_MARKS = "quotation marks are ordinary characters in {}: as the ends of fields they fit no row, or join several"

# polars gives the second of two equal columns such a name.
_DUPLICATE = re.compile(r"_duplicated_[0-9]+$")
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
COMMENT = "#"
# Taken only where the header has none of the other separators.
LAST_RESORT = "|"
# The empty columns around it in Markdown.
_OUTER = ("_duplicated_0",)
# Rows that are compared with a line that may be a comment, and how much text is searched for them.
ROWS = 20
HEAD = 1 << 20


def _load_delimited(raw: bytes, path: Path) -> LoadedTable:
    """Load a delimited text in UTF-8, whose header says what separates fields; rows without a value are left out.

    It stays in bytes, since a large file as text would be held twice.
    """
    is_named = _SEPARATOR.match(_decode_head(raw)) is not None
    raw, separator = _find_header(raw)
    cells = raw.count(separator.encode()) + raw.count(b"\n")
    _check_extent(_first_line(raw).count(separator) + 1, cells, path)
    rows = _choose_quoting(raw, separator)
    del raw
    source = Source(str(path), rows.line_of_row)
    frame = rows.frame if rows.frame is not None else _cut_to_header(rows, source)
    clean = {name: name.replace(QUOTE * 2, QUOTE).strip() for name in frame.columns}
    twice = frozenset(_DUPLICATE.sub("", name) for name in clean.values() if _DUPLICATE.search(name))
    times = Counter(clean.values())
    frame = frame.rename({name: new for name, new in clean.items() if times[new] == 1})
    if separator == LAST_RESORT and not is_named:
        # People write blanks around bars.
        frame = frame.with_columns(pl.all().str.strip_chars())
    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series() if frame.width else pl.Series([False])
    frame = frame.filter(~empty) if empty.any() else frame
    if rows.ragged and frame.height != len(rows.numbers):
        raise source.fault(rows.ragged[min(rows.ragged)], min(rows.ragged))
    frame, notes = (frame, []) if separator == "," else replace_decimal_commas(frame, frame.columns)
    notes = notes if rows.quoting else [ORDINARY_MARKS.format(path.name), *notes]
    loaded = LoadedTable(frame, source, tuple(notes), rows.ragged, twice)
    rows.forget(keep_lines=bool(empty.any()))
    if separator != LAST_RESORT or is_named or not frame.height:
        return loaded
    # Below the header of a table in Markdown stand dashes.
    dashes = frame.select(pl.all_horizontal(pl.all().fill_null("-").str.contains("^:?-+:?$"))).to_series()
    kept = loaded.take_rows((~dashes).arg_true().to_list(), "a row of dashes is not read") if dashes.any() else loaded
    return replace(kept, frame=kept.frame.drop(name for name in ("", *_OUTER) if name in kept.frame.columns))


# Each column costs work by itself, with few rows too: a damaged file may have a million of them.
MOST_COLUMNS = 20_000


def _check_extent(columns: int, cells: int, path: Path | str) -> None:
    """Refuse more columns than a table of judgments can have, and more cells than memory holds."""
    if columns > MOST_COLUMNS:
        what = f"has {columns:,} columns, a table may have {MOST_COLUMNS:,}; the file may be damaged, or turned round"
        raise InputError(f"{what}: judgments stand in rows", file=path)
    check_cells_fit(cells, path)


class _Rows:
    """The rows of a text, with quotation marks that enclose fields or with ordinary ones.

    Rows are counted from 0, without the header and without those that hold nothing.
    """

    def __init__(self, raw: bytes, separator: str, *, quoting: bool = True) -> None:
        self.raw, self.separator, self.quoting = raw, separator, quoting

    @cached_property
    def frame(self) -> pl.DataFrame | None:
        """The columns; None where some row is longer than the header, or a mark neither opens nor closes a field."""
        try:
            return self.read()
        except pl.exceptions.PolarsError:
            return None

    def read(self, *, cut: bool = False) -> pl.DataFrame:
        """The columns, also where rows are longer than the header, of which the rest is then cut off."""
        return pl.read_csv(
            self.raw,
            separator=self.separator,
            quote_char=QUOTE if self.quoting else None,
            infer_schema=False,
            truncate_ragged_lines=cut,
        )

    @cached_property
    def ragged(self) -> dict[int, str]:
        """The rows with more or fewer fields than the header, and what is wrong with each."""
        if self.frame is not None and not (self.frame.width and self.frame.to_series(-1).null_count()):
            # Where a row is cut, its last fields are missing.
            return {}
        lines = list(row_lines(self.raw.decode(), self.separator, quoting=self.quoting))
        if not lines:
            return {}
        (_, header), *rows = lines
        width = len(header)
        return {
            row: f"{counted(len(fields), 'field')} where the header has {width}; the file may be cut, or not what "
            f"{param('format')} says"
            for row, (_, fields) in enumerate(rows)
            if len(fields) != width
        }

    @cached_property
    def numbers(self) -> Sequence[int]:
        """The lines on which the rows begin, found out when they are asked for."""
        return [line for line, _ in row_lines(self.raw.decode(), self.separator, quoting=self.quoting)][1:]

    def line_of_row(self, row: int) -> int:
        """The line of a row."""
        return self.numbers[row] if row < len(self.numbers) else row + 2

    def forget(self, *, keep_lines: bool) -> None:
        """Let go of the columns; and of the text, where every line is a row, so that lines need not be looked up.

        Args:
            keep_lines: some lines hold nothing.
        """
        whole = (
            self.frame is not None
            and not keep_lines
            and QUOTE.encode() not in self.raw
            and not self.raw.startswith((b"\n", b"\r"))
        )
        height = 0 if self.frame is None else self.frame.height
        if whole and _count_lines(self.raw) == height + 1 and not self.ragged:
            self.numbers, self.raw = range(2, height + 2), b""
        del self.frame

    def joins_lines(self) -> bool:
        """Whether some field goes over several lines, so that there are fewer rows than lines."""
        return self.frame is not None and self.frame.height < self.raw.strip(b"\r\n").count(b"\n")


def _count_lines(raw: bytes) -> int:
    """Count the lines, without empty ones at the end."""
    end = len(raw)
    while raw[end - 1 : end] == b"\n":
        end -= 1
    return raw.count(b"\n", 0, end) + 1


def _choose_quoting(raw: bytes, separator: str) -> _Rows:
    """The rows by the reading of quotation marks that fits: fields that they enclose, if that is possible."""
    enclosed = _Rows(raw, separator)
    if QUOTE.encode() not in raw or QUOTE in _first_line(raw.lstrip()):
        return enclosed
    # Enclosed fields may hold line breaks between commas, but hardly ever between tabs.
    if enclosed.frame is not None and not (separator == "\t" and enclosed.joins_lines()):
        return enclosed
    ordinary = _Rows(raw, separator, quoting=False)
    fits = ordinary.frame is not None and ordinary.frame.width > 1 and not ordinary.ragged
    hopeless = enclosed.frame is None and not enclosed.ragged
    return ordinary if fits or (hopeless and separator == "\t") else enclosed


def _cut_to_header(rows: _Rows, source: Source) -> pl.DataFrame:
    """The rows as far as the header goes; those of another length are known and will not be used."""
    try:
        if rows.ragged:
            return rows.read(cut=True)
    except pl.exceptions.PolarsError as fault:
        raise source.fault(rows.ragged[min(rows.ragged)], min(rows.ragged)) from fault
    reader = csv.reader(io.StringIO(rows.raw.decode(), newline=""), delimiter=rows.separator, strict=True)
    try:
        for _ in reader:
            pass
    except csv.Error:
        pass
    problem = "a quotation mark neither begins nor ends a field; write it twice inside a field that marks enclose"
    raise InputError(f"cannot be read as a table: {problem}", file=source.name, line=reader.line_num)


def _find_header(raw: bytes) -> tuple[bytes, str]:
    """The text, with empty lines for all above the header so that lines keep their numbers, and the separator."""
    head = _decode_head(raw)
    if named := _SEPARATOR.match(head):
        return b"\n" + raw[len(named[0].encode()) :], named[1]
    comments = _count_comments(head) or _count_titles(head)
    if comments:
        raw = raw.split(b"\n", comments)[comments]
    first = _first_line(raw)
    separator = _find_separator(first)
    if separator not in first and (spaced := _join_by_single_blanks(raw.decode())):
        raw, separator = spaced.encode(), " "
    return (b"\n" * comments + raw if comments else raw), separator


def _decode_head(raw: bytes) -> str:
    """The beginning of a text, where all above the rows stands; half of a character at its end is left out."""
    return raw[:HEAD].decode(errors="ignore")


def _first_line(raw: bytes) -> str:
    """The first line, without a copy of all others."""
    end = raw.find(b"\n")
    return (raw if end < 0 else raw[:end]).decode()


def _find_separator(first: str) -> str:
    """The separator of a text, from its first line, or from the whole text."""
    separator = detect_delimiter(first)
    first = first.split("\n", 1)[0]
    return LAST_RESORT if separator not in first and LAST_RESORT in first else separator


def _join_by_single_blanks(text: str) -> str | None:
    """A table between blanks, as statistics programs write it, with one between fields; None where it is none.

    Such programs may write the numbers of rows before them, which the header does not name.
    """
    header, *lines = (" ".join(line.split()) for line in text.split("\n"))
    names = header.split(" ")
    widths = {len(fields) for _, fields in islice(row_lines("\n".join(lines), " "), ROWS)}
    if len(names) < 2 or names[0] == COMMENT or widths not in ({len(names)}, {len(names) + 1}):
        return None
    return "\n".join([header if widths == {len(names)} else f"row {header}", *lines])


def _count_comments(text: str) -> int:
    """Count the comments at the top, and the empty lines between them and the header."""
    if not text.startswith(COMMENT):
        return 0
    lines = text[:HEAD].split("\n")
    above = (not line.strip() or line.startswith(COMMENT) for line in lines)
    marked = next((number for number, is_above in enumerate(above) if not is_above), len(lines))
    rows = "\n".join(lines[marked:])
    if not rows.strip():
        return 0
    return next((number for number, line in enumerate(lines[:marked]) if _is_header(line, rows)), marked)


def _count_titles(text: str) -> int:
    """Count the lines above the header that hold one thing at most, whatever separates fields: a title, or nothing."""
    lines = [line.strip() for line in islice(text[: HEAD // 10].split("\n"), ROWS)]
    split = [
        [[f.strip(' "') or None for f in line.split(sign)] for line in lines] for sign in (*DELIMITERS, LAST_RESORT)
    ]
    rows = max(split, key=lambda rows: max(map(len, rows), default=0))
    above = rows_above_header(rows)
    is_title = all(sum(field is not None for field in row) <= 1 for rows in split for row in rows[:above])
    return above if is_title and len(rows) > above + 1 else 0


def _is_header(line: str, rows: str) -> bool:
    """Whether any of the first rows has as many fields as the line, by the separator of either."""
    for separator in (_find_separator(line), _find_separator(rows)):
        width = max((len(fields) for _, fields in row_lines(line, separator)), default=0)
        if width > 1 and any(len(fields) == width for _, fields in islice(row_lines(rows, separator), ROWS)):
            return True
    return False


# Parquet. Adjudge's own files hold the checksum of all their bytes, computed with zeros in the checksum's own place.
# Files of other tools have none. Reading a damaged one can end the whole process, so they are tried out in another one.

PARQUET_MAGIC = b"PAR1"
_KEY = "adjudge"
_RECORD_KEY = "adjudge-record"
_BEFORE = b"adjudge-sha256:"
_ZEROS = b"0" * 64
# Any bytes, so that a damaged checksum is noticed, too.
_CHECKSUM = re.compile(_BEFORE + rb"(.{64})", re.DOTALL)
# Longer than any file takes that fits into memory.
_SECONDS = 300
# What a value takes in memory at least: a text that stands in many rows is written once, so that a small file may hold
# billions of them.
_BYTES_PER_VALUE = 16
# Polars reserves addresses that it does not use.
_LEAST_MEMORY = 4_000_000_000
_TRY = """import io, polars
raw = sys.stdin.buffer.read()
table = polars.scan_parquet(io.BytesIO(raw))
if table.select(polars.len()).collect().item() * len(table.collect_schema()) <= {most}:
    polars.read_parquet(io.BytesIO(raw))
"""


def parquet_bytes(frame: pl.DataFrame, fingerprint: str, record: CampaignRecord | None = None) -> bytes:
    """The frame as Parquet that holds the table's fingerprint, the file's checksum, and how it was collected."""
    buffer = io.BytesIO()
    mark = (_BEFORE + _ZEROS).decode()
    collected = {} if record is None else {_RECORD_KEY: record.to_json()}
    frame.write_parquet(buffer, metadata={_KEY: f"{mark} fingerprint:{fingerprint}", **collected})
    raw = buffer.getvalue()
    return raw.replace(_BEFORE + _ZEROS, _BEFORE + hashlib.sha256(raw).hexdigest().encode())


def read_parquet(raw: bytes, path: Path) -> pl.DataFrame:
    """The frame that a Parquet file holds; a damaged file is refused in one sentence."""
    mark = _CHECKSUM.search(raw)
    if mark is not None:
        plain = raw[: mark.start(1)] + _ZEROS + raw[mark.end(1) :]
        if hashlib.sha256(plain).hexdigest().encode() != mark[1]:
            raise InputError("is damaged Parquet: its checksum is not that of its content; make it again", file=path)
    else:
        program = _TRY.format(most=memory_at_hand() // _BYTES_PER_VALUE)
        code, _, words = try_out(program, raw, memory=max(_LEAST_MEMORY, memory_at_hand()), seconds=_SECONDS)
        if code:
            reason = shown(words.split("\n")[-1], 120) or "reading it fails"
            raise InputError(f"is damaged Parquet ({reason}); make it again", file=path)
    try:
        table = pl.scan_parquet(io.BytesIO(raw))
        values = int(table.select(pl.len()).collect().item()) * len(table.collect_schema())
        check_size(values * _BYTES_PER_VALUE // COPIES_IN_MEMORY, path, what="once read")
        return pl.read_parquet(io.BytesIO(raw))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as fault:
        reason = shown(str(fault).split("\n", 1)[0], 120)
        raise InputError(f"is damaged Parquet ({reason}); make it again", file=path) from fault


def read_parquet_record(raw: bytes, path: Path) -> CampaignRecord | None:
    """How the judgments of a Parquet file were collected, where it says so."""
    from adjudge.table.record import parse_record

    text = pl.read_parquet_metadata(io.BytesIO(raw)).get(_RECORD_KEY)
    if text is None:
        return None
    try:
        return parse_record(text)
    except ValueError as fault:
        raise InputError("holds a record of its campaign that cannot be read; export it again", file=path) from fault


# Beside CSV, which has no place for it, the record lies in a file of its own, with the checksum of the table.

RECORD_ENDING = ".record.json"


def record_file(path: Path) -> Path:
    """Where the record of a table in CSV lies."""
    return path.with_name(path.name + RECORD_ENDING)


def record_text(raw: bytes, record: CampaignRecord) -> str:
    """The content of the file beside a table of these bytes."""
    return (
        json.dumps({"sha256": hashlib.sha256(raw).hexdigest(), "record": json.loads(record.to_json())}, indent=1) + "\n"
    )


def read_record_beside(raw: bytes, path: Path) -> tuple[CampaignRecord | None, tuple[str, ...]]:
    """The record beside a table of these bytes; where the table has changed since, a note says so instead."""
    from adjudge.table.record import parse_record

    file = record_file(path)
    if not file.is_file():
        return None, ()
    try:
        content = json.loads(read_text(file))
        digest, record = content["sha256"], parse_record(json.dumps(content["record"]))
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise InputError("is no record of a campaign; export again, or delete it", file=file) from fault
    if digest != hashlib.sha256(raw).hexdigest():
        return None, (f"{path.name} was changed after its export, so that {file.name} is not used",)
    return record, ()


GROUP = " / "
"""What stands between a group of columns and the name of one of them, where a header has two rows."""
OLD_EXCEL_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Keys under which files keep their rows, where the outermost value is an object.
ROWS_UNDER = ("data", "rows", "records", "judgments", "results", "items", "annotations")
# Fields nested deeper than this stay JSON text.
DEEPEST = 16


def is_workbook(path: Path) -> bool:
    """Whether a file is called like a workbook."""
    return path.suffix.lower() in (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")


def load_sheets(path: Path, wanted: Sequence[str], named: Sequence[str] = ()) -> dict[str, LoadedTable]:
    """The tables in several sheets of a workbook, by the names of the sheets; none where nobody asks for any.

    Args:
        path: the workbook.
        wanted: the names of the sheets, or `all`; default: those with the same header, where there are several.
        named: columns that the user names.
    """
    raw = read_bytes(path)
    if not raw.startswith((ZIP_MAGIC, OLD_EXCEL_MAGIC)):
        if wanted:
            raise InputError(f"is no Excel workbook, so it has no sheets; leave {param('sheets')} out", file=path)
        return {}
    like = [] if wanted or is_eval_archive(path) else find_like_sheets(raw, path)
    tables: dict[str, LoadedTable] = {}
    for name, sheet in read_sheets(raw, path, wanted or like, columns=named).items() if wanted or like else ():
        frame, notes = replace_decimal_commas(sheet.frame, sheet.frame.columns)
        tables[name] = join_headers(replace(sheet, frame=frame, notes=(*sheet.notes, *notes)))
    return tables


def load_table(path: Path) -> LoadedTable:
    """Load the table that a file holds; rows without any value are left out."""
    raw = read_bytes(path)
    if not raw.strip():
        raise InputError("is empty; a table with a header is needed", file=path)
    if raw.startswith(PARQUET_MAGIC):
        frame = split_objects(read_parquet(raw, path))
        return LoadedTable(frame, Source(str(path)), record=read_parquet_record(raw, path))
    if raw.startswith(ZIP_MAGIC) and (log := read_eval_archive(path)) is not None:
        return _make_json_table(log, path)
    if raw.startswith((ZIP_MAGIC, OLD_EXCEL_MAGIC)):
        sheet = join_headers(read_workbook(raw, path))
        frame = undo_plain_text(sheet.frame, sheet.frame.columns)
        frame, notes = replace_decimal_commas(frame, frame.columns)
        return replace(sheet, frame=frame, notes=(*sheet.notes, *notes))
    text = utf8_of(raw, path)
    begins = re.search(r"\S", _decode_head(text)) or re.search(r"\S", text.decode())
    if begins is None:
        raise InputError("is empty; a table with a header is needed", file=path)
    if begins[0] in "[{" or text.startswith(b"#FORMAT=WebAnno"):
        from adjudge.readers.inception import is_annotated

        if is_annotated(_decode_head(text)):
            what = "is one document of INCEpTION with the spans of one annotator"
            raise InputError(f"{what}; give the folder or zip file of the whole project", file=path)
        return _load_json(text.decode(), path)
    record, changed = read_record_beside(raw, path)
    del raw
    loaded = join_headers(_load_delimited(text, path))
    frame = undo_plain_text(loaded.frame, loaded.frame.columns)
    return replace(loaded, frame=frame, record=record, notes=(*loaded.notes, *changed))


def load_project(folder: Path) -> LoadedTable | None:
    """The table of a folder that is a project of INCEpTION; None for other folders."""
    from adjudge.readers.inception import find_annotations, rows_of_project

    files = find_annotations(folder)
    if not files:
        return None
    rows, notes = rows_of_project(folder, files)
    table = _make_table(rows, Source(str(folder)), {})
    return replace(table, notes=tuple(notes), added=frozenset(table.frame.columns))


def split_objects(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a column for each field of its objects, under a dotted name, as JSON has it; spans stay whole.

    Lists of what several people said, or of several outputs, become rows, and lengths of time seconds.
    """
    spans = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Duration)]
    frame = frame.with_columns(pl.col(spans).dt.total_microseconds() / 1e6)
    lists = {name: dtype.inner for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)}
    inner = {name: kind.to_schema() for name, kind in lists.items() if isinstance(kind, pl.Struct)}
    several = [name for name, fields in inner.items() if _OF_A_JUDGMENT & set(map(plain, fields))]
    side_by_side = [name for name, kind in lists.items() if kind is not None and not kind.is_nested()]
    named = {plain(name) for meaning in ("system", "annotator") for name in KNOWN[meaning]}
    if len(several) == 1:
        # The objects in the list may list others.
        return split_objects(_fields_apart(frame.explode(several), several))
    if len(side_by_side) > 1 and named & set(map(plain, side_by_side)):
        lengths = frame.select(pl.col(side_by_side).list.len())
        same = lengths.select(pl.all_horizontal(pl.all() == pl.first()).all()).item()
        frame = frame.explode(side_by_side) if same else frame
    objects = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Struct)]
    return split_objects(_fields_apart(frame, objects)) if objects else frame


def _fields_apart(frame: pl.DataFrame, objects: Iterable[str]) -> pl.DataFrame:
    """The frame with a column for each field of these columns of objects."""
    for name in objects:
        fields = frame[name].struct.unnest()
        fields = fields.rename({field: f"{name}.{field}" for field in fields.columns})
        place = frame.columns.index(name)
        frame = pl.concat([frame[:, :place], fields, frame[:, place + 1 :]], how="horizontal")
    return frame


_NO_NAME = re.compile(r"(_duplicated_[0-9]+|column [0-9]+|)")
_NUMBER = r"^\s*[+-]?[0-9]+([.,][0-9]+)?\s*%?\s*$"
_IMPORT_ID = '{"ImportId"'
_QUESTION = re.compile(r"([0-9]+_)?Q[0-9]+(_[0-9]+)*$")
"""How surveys number their questions; what was asked says more."""


def join_headers(loaded: LoadedTable) -> LoadedTable:
    """A table with one row of names, where its header has several: groups above names, or what was asked below them.

    A group stands above several columns, of which the first alone is named: `Opus, (nothing)` above `adequacy, fluency`
    becomes `Opus / adequacy` and `Opus / fluency`. Surveys of Qualtrics repeat the questions and their ids.
    """
    first = [[cell if isinstance(cell, str) else "" for cell in row] for row in loaded.frame.head(3).rows()]
    ids = next((row for row, cells in enumerate(first) if any(cell.startswith(_IMPORT_ID) for cell in cells)), None)
    if ids is not None:
        answers = range(ids + 1, loaded.frame.height)
        asked = loaded.take_rows(answers, f"{counted(ids + 1, 'row')} of questions and ids below the header")
        texts = dict(zip(loaded.frame.columns, first[0], strict=True)) if ids else {}
        named = {name: text.strip() for name, text in texts.items() if _QUESTION.match(name) and text.strip()}
        used = [*named.values(), *(name for name in texts if name not in named)]
        return replace(asked, frame=asked.frame.rename(named)) if len(set(used)) == len(used) else asked
    names = loaded.frame.columns
    unnamed = [_NO_NAME.fullmatch(name) is not None for name in names]
    below = first[0] if first else [""] * len(names)
    if not any(unnamed) or not all(below[place].strip() for place, is_unnamed in enumerate(unnamed) if is_unnamed):
        return loaded
    if any(re.match(_NUMBER, cell) for cell in below) or sum(bool(cell.strip()) for cell in below) < 2:
        return loaded
    joined, group = [], ""
    for name, is_unnamed, cell in zip(names, unnamed, below, strict=True):
        group = group if is_unnamed else name
        under = cell.strip()
        joined.append(f"{group}{GROUP}{under}" if under and group else under or name)
    if len(set(joined)) < len(joined):
        return loaded
    renamed = replace(loaded, frame=loaded.frame.rename(dict(zip(names, joined, strict=True))))
    return renamed.take_rows(range(1, loaded.frame.height), "two rows of names joined into one header")


def _load_json(text: str, path: Path) -> LoadedTable:
    try:
        content: Any = json.loads(text)
    except RecursionError as fault:
        raise InputError("is nested too deeply to be a table", file=path) from fault
    except ValueError as fault:
        rows, lines, broken = _parse_json_lines(text, path, fault)
        if not broken and rows_of_export(rows, path) is not None:
            return _make_json_table(rows, path)
        source = Source(str(path), lambda row: lines[row] if row < len(lines) else row + 1)
        return _make_table(rows, source, broken)
    return _make_json_table(content, path)


def _make_json_table(content: Any, path: Path) -> LoadedTable:
    export = rows_of_export(content, path)
    if export is None:
        return _make_table(_rows_of(content, path), Source(str(path)), {})
    rows, notes, broken = export
    return replace(_make_table(rows, Source(str(path)), broken), notes=tuple(notes))


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
    if (levels := _count_levels(content)) > 1:
        return [
            {**{f"part {place}": name for place, name in enumerate(names, start=1)}, "score": number}
            for *names, number in _leaves(content, levels)
        ]
    lists = {name: value for name, value in content.items() if isinstance(value, list)}
    for name in ROWS_UNDER:
        if name in lists:
            return lists[name]
    if len(lists) == len(content) > 1 and all(map(_lists_judgments, lists.values())):
        return [{"part 1": name, **row} for name, rows in lists.items() for row in rows]
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
    known = _NAMES & set(map(plain, content))
    if len(values) > 1 and known and all(isinstance(value, list) for value in values):
        same = len({len(value) for value in values}) == 1
        return [dict(zip(content, row, strict=True)) for row in zip(*values, strict=True)] if same else None
    if len(values) < 2 or not all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values):
        return None
    if not known and _count_levels(content):
        return None
    return [{name: content[name][row] for name in content} for row in values[0]] if known else values


def _count_levels(content: Any, depth: int = 0) -> int:
    """How many names lead to each number of objects in objects, such as system, text and person; 0 for others."""
    if isinstance(content, int | float) and not isinstance(content, bool):
        return 1
    if not isinstance(content, dict) or not content or depth > DEEPEST or {plain(name) for name in content} & _NAMES:
        return 0
    levels = {_count_levels(value, depth + 1) for value in content.values()}
    deeper = levels.pop()
    return 0 if levels or not deeper else deeper + 1


def _leaves(content: dict[str, Any], levels: int) -> Iterator[tuple[Any, ...]]:
    """Each number of objects in objects, with the names that lead to it."""
    for name, value in content.items():
        yield from ((name, value),) if levels == 2 else ((name, *rest) for rest in _leaves(value, levels - 1))


def _make_table(rows: Iterable[Any], source: Source, broken: Mapping[int, str]) -> LoadedTable:
    """Objects as rows of text, every field inside a field under its dotted name; other values are broken rows."""
    flat: list[dict[str, str | None]] = []
    problems = dict(broken)
    rows = given = list(rows)
    for _ in range(DEEPEST):
        # Objects in lists may list others.
        before, rows = rows, _with_outputs_apart(rows, source)
        if rows is before:
            break
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            problems[number] = f"is '{shown(row)}', an object with named fields is needed"
        flat.append(_flatten(row) if isinstance(row, dict) else {})
    names = list(dict.fromkeys(name for row in flat for name in row))
    if not names:
        raise source.fault("holds no named fields; a list of objects is needed")
    # Every object may name fields of its own, and in a table each is a column.
    _check_extent(len(names), len(names) * len(flat), source.name)
    if len(rows) > len(given):
        # The file has a text of several rows once, the table in each of them.
        check_size(sum(len(text or "") for row in flat for text in row.values()), source.name, what="once read")
    try:
        columns = {name: [row.get(name) for row in flat] for name in names}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
    except UnicodeEncodeError as fault:
        raise source.fault("holds half of a character (a lone surrogate); correct the text") from fault
    return LoadedTable(frame, source, ragged=problems)


_NAMES = {plain(name) for names in KNOWN.values() for name in names}
_OF_A_JUDGMENT = {
    plain(name) for meaning in ("system", "annotator", "score", "rank", "criterion") for name in KNOWN[meaning]
}


def _with_outputs_apart(rows: list[Any], source: Source) -> list[Any]:
    """A row for each object where each row lists several, of systems or people: `{"outputs": [{"system": ...}]}`."""

    def lists_objects(name: str) -> bool:
        return all(isinstance(row, dict) and _lists_judgments(row.get(name)) for row in rows)

    first = rows[0] if rows and isinstance(rows[0], dict) else {}
    several = [name for name, cell in first.items() if isinstance(cell, list) and lists_objects(name)]
    if not several:
        inside = [name for name, cell in first.items() if isinstance(cell, dict)]
        return next((named for name in inside if (named := _with_names_apart(rows, name)) is not None), rows)
    if len(several) != 1:
        return rows
    (name,) = several
    _check_extent(len(first), len(first) * sum(len(row[name]) for row in rows), source.name)
    return [
        {**row, name: None, **{f"{name}.{field}" if field in row else field: value for field, value in each.items()}}
        for row in rows
        for each in row[name]
    ]


def _is_judgment(value: Any, depth: int = 0) -> bool:
    """Whether an object has a field of a judgment, such as its system or its score, or lists such objects."""
    if not isinstance(value, dict) or depth > DEEPEST:
        return False
    has_field = bool(_OF_A_JUDGMENT & set(map(plain, map(str, value))))
    return has_field or any(_lists_judgments(each, depth + 1) for each in value.values())


def _lists_judgments(value: Any, depth: int = 0) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_judgment(each, depth) for each in value)


def _with_names_apart(rows: list[Any], name: str) -> list[Any] | None:
    """The rows with an object of objects as the list of these, each with its name: `{"Opus": {"text": ...}, ...}`.

    An object that holds such objects, or lists of outputs, is replaced by its fields; None for others.
    """
    cells = [row[name] for row in rows if isinstance(row, dict) and isinstance(row.get(name), dict) and row[name]]
    if len(cells) < len(rows):
        return None
    inner = [each for cell in cells for each in cell.values()]
    alike = len(cells[0]) > 1 and all(isinstance(each, dict) and each.keys() == inner[0].keys() for each in inner)
    if alike and _is_judgment(inner[0]):
        named = [[{f"{name} key": each, **fields} for each, fields in cell.items()] for cell in cells]
        return [{**row, name: cell} for row, cell in zip(rows, named, strict=True)]
    if any(map(_lists_judgments, cells[0].values())):
        fields = [{f"{name}.{field}": value for field, value in cell.items()} for cell in cells]
        return [{**row, name: None, **cell} for row, cell in zip(rows, fields, strict=True)]
    return None


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


# A side table: more columns for judgments, such as domain, original language or topic, joined on shared names.
# The table is any file that holds one (CSV, TSV, Excel, JSON, Parquet). Its columns that name something in the
# judgments (`KEYS`, most under any of their usual names) say which judgments a row is about: the document, the
# segment, or both. All others are added. What has no row in the table stays without a value, and a note counts it.

KEYS = ("campaign", "source_lang", "target_lang", "annotator", "task", "document", "segment", "system")
UNDER_OTHER_NAMES = ("annotator", "document", "segment", "source_lang", "target_lang", "pair")
"""Keys that are known by their usual other names, too; a column `project` or `batch` may well be an attribute."""


def add_attributes(judgments: Judgments, path: Path) -> Judgments:
    """Add the columns of a side table to the judgments."""
    loaded = load_table(path)
    source = loaded.source
    loaded.refuse_ragged()
    mapping = map_columns(loaded.frame.columns, source, meanings=UNDER_OTHER_NAMES)
    mapping.refuse_twice(loaded.twice)
    frame, pair_notes = add_languages(renamed(loaded.frame, mapping))
    keys = [name for name in KEYS if name in frame.columns]
    added = [name for name in frame.columns if name not in (*keys, "pair")]
    _check(keys, added, judgments, source)
    frame = frame.select(*keys, *added).with_columns(pl.col(keys).cast(pl.String).str.strip_chars())
    for language in {"source_lang", "target_lang"} & set(keys):
        frame = frame.with_columns(pl.col(language).map_elements(language_code, return_dtype=pl.String))
    known = _parse_numbers(_drop_equal_rows(frame, keys, source), added)
    if not judgments.table.join(known, on=keys, how="semi").height:
        example = " ".join(shown(judgments.table[name][0]) for name in keys)
        raise source.fault(f"has no row for any {' and '.join(keys)} of the judgments, such as '{example}'")
    table = judgments.table.join(known, on=keys, how="left", maintain_order="left", validate="m:1")
    notes = (*loaded.notes, *pair_notes, *_notes(judgments.table, known, keys, path))
    return replace(judgments, table=table, notes=(*judgments.notes, *notes))


def _check(keys: Sequence[str], added: Sequence[str], judgments: Judgments, source: Source) -> None:
    if not keys:
        named = "'document', 'segment' or another name of what was judged"
        raise source.fault(f"has no column {named}, so its rows belong to no judgment; add one")
    if not added:
        raise source.fault(f"has nothing but {', '.join(keys)}; add columns that say more of them")
    for name in added:
        if name in judgments.table.columns and (name in SCHEMA or judgments.table[name].is_not_null().any()):
            raise source.fault(f"has a column '{shown(name)}', which the judgments have, too; give it another name")


def _drop_equal_rows(frame: pl.DataFrame, keys: Sequence[str], source: Source) -> pl.DataFrame:
    """Keep one row for each key; two that contradict each other are refused."""
    distinct = frame.unique(maintain_order=True)
    again = first_true(distinct.select(pl.struct(keys).is_duplicated()).to_series())
    if again is not None:
        key = ", ".join(f"{name} '{shown(distinct[name][again])}'" for name in keys)
        raise source.fault(f"says two different things of {key}; keep one row")
    return distinct


def _parse_numbers(frame: pl.DataFrame, added: Sequence[str]) -> pl.DataFrame:
    """Convert columns of numbers, which files hold as text."""
    texts = [frame[name] for name in added if frame[name].dtype == pl.String and frame[name].is_not_null().any()]
    numbers = [text.cast(pl.Float64, strict=False) for text in texts]
    same = (number.null_count() == text.null_count() for number, text in zip(numbers, texts, strict=True))
    return frame.with_columns(compress(numbers, same))


def _notes(table: pl.DataFrame, known: pl.DataFrame, keys: Sequence[str], path: Path) -> tuple[str, ...]:
    """Count what did not match."""
    judged = table.select(keys).unique()
    without = judged.join(known.select(keys), on=keys, how="anti")
    rows = table.join(without, on=keys, how="semi", nulls_equal=True).height
    never = known.select(keys).join(judged, on=keys, how="anti").height
    unit = " and ".join(keys)
    notes = []
    if without.height:
        example = shown(" ".join(str(value) for value in without.row(0) if value is not None))
        what = f"{without.height:,} of {judged.height:,} values of {unit} in the judgments ({counted(rows, 'row')})"
        notes.append(f"{what} {agreeing(without.height, 'has', 'have')} no row in {path.name}, such as '{example}'")
    if never:
        of_all = f"{never:,} of {counted(known.height, 'row')} of {path.name}"
        notes.append(f"{of_all} {agreeing(never, 'names', 'name')} a {unit} that nobody judged")
    return tuple(notes)
