"""Tables as pandas, R and LibreOffice write them."""

from __future__ import annotations

import bz2
import io
import lzma
import pickle
import re
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
import xlsxwriter

from adjudge import read
from adjudge.readers import spreadsheets, tables
from adjudge.readers.tables import parquet_bytes
from adjudge.table import files
from adjudge.table.errors import LONGEST, InputError, UsageError, param
from adjudge.table.judgments import Judgments

ROWS = [("ann", 1, "A b", 70), ("ann", 1, "B", 60), ("bob", 2, "A b", 50), ("bob", 2, "B", 40)]
NAMES = ["annotator", "segment", "system", "score"]


def answers(judgments: Judgments) -> list[tuple[object, ...]]:
    return judgments.table.select(NAMES).rows()


EXPECTED = [(who, str(item), system, float(score)) for who, item, system, score in ROWS]


@pytest.mark.parametrize("orient", ["columns", "split", "table", "records", "index"])
def test_json_of_pandas(tmp_path: Path, orient: str) -> None:
    file = tmp_path / "frame.json"
    pd.DataFrame(ROWS, columns=NAMES).to_json(file, orient=orient)
    assert answers(read(file)) == EXPECTED


def test_json_of_lists_by_name(tmp_path: Path) -> None:
    file = tmp_path / "lists.json"
    file.write_text('{"system": ["A", "B"], "score": [70, 60], "annotator": ["u", "u"]}', encoding="utf-8")
    assert read(file).table["score"].to_list() == [70.0, 60.0]
    file.write_text('{"system": ["A", "B"], "score": [70], "annotator": ["u", "u"]}', encoding="utf-8")
    with pytest.raises(InputError, match="several lists"):
        read(file)


@pytest.mark.parametrize("numbered", [True, False])
def test_tables_between_blanks(tmp_path: Path, numbered: bool) -> None:
    """As R's write.table does it: names in quotes, and by default the numbers of rows without a name of their own."""
    rows = [f'"{who}" {item}  "{system}" {score}' for who, item, system, score in ROWS]
    lines = [f'"{number}" {row}' for number, row in enumerate(rows, start=1)] if numbered else rows
    file = tmp_path / "table.txt"
    file.write_text("\n".join([" ".join(f'"{name}"' for name in NAMES), *lines]) + "\n", encoding="utf-8")
    assert answers(read(file)) == EXPECTED


def test_one_column_of_sentences_is_no_table_between_blanks(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Notes on systems\nA is very good\nB is bad\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no column 'system', it has Notes on systems"):
        read(file)


def test_open_document(tmp_path: Path) -> None:
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    cells = [
        "".join(
            f"<table:table-cell office:value-type='string'><text:p>{cell}</text:p></table:table-cell>" for cell in row
        )
        for row in (NAMES, *ROWS)
    ]
    rows = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    sheet = f"<office:spreadsheet><table:table table:name='S'>{rows}</table:table></office:spreadsheet>"
    file = tmp_path / "ratings.ods"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        content = f"<office:document-content{spaces}><office:body>{sheet}</office:body></office:document-content>"
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    assert answers(read(file)) == EXPECTED


def test_an_old_workbook_that_is_damaged_is_called_one(tmp_path: Path) -> None:
    file = tmp_path / "ratings.xls"
    file.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    with pytest.raises(InputError, match="damaged workbook"):
        read(file)


@pytest.mark.parametrize(("encoding", "name"), [("cp1252", "José"), ("cp1251", "Иван"), ("utf-16-le", "José")])
def test_other_encodings_where_they_are_named(tmp_path: Path, encoding: str, name: str) -> None:
    """As Excel saves CSV on Windows; the table of attributes is in the same encoding."""
    file, groups = tmp_path / "table.csv", tmp_path / "groups.csv"
    lines = ["annotator;segment;system;score", f"{name};1;A;70", f"{name};1;B;60"]
    file.write_bytes("\r\n".join(lines).encode(encoding))
    groups.write_bytes(f"annotator;group\r\n{name};first\r\n".encode(encoding))
    table = read(file, encoding=encoding, attributes=groups).table
    assert table["annotator"].to_list() == [name, name]
    assert table["group"].to_list() == ["first", "first"]
    with pytest.raises(InputError, match=r"line \d: .*'encoding' (cp1251|cp1252|utf-16-le)"):
        read(file)


def test_encodings_that_do_not_fit(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(b"annotator,system,score\nJos\xe9,A,70\nJos\xe9,B,60\n")
    with pytest.raises(UsageError, match="'encoding' 'cp0' is not known"):
        read(file, encoding="cp0")
    with pytest.raises(InputError, match=r"line 2: byte 0xe9 is not ascii; name the file's own encoding by 'encoding'"):
        read(file, encoding="ascii")
    for encoding in ("utf-32", "utf-16"):
        with pytest.raises(InputError, match=f"is not {encoding}; name the file's own"):
            read(file, encoding=encoding)


def write_document(file: Path, sheets: str) -> None:
    """A workbook of OpenDocument with these sheets, given in XML."""
    names = ("office", "table", "text")
    spaces = "".join(f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    body = f"<office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", f"<office:document-content{spaces}>{body}</office:document-content>")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")


def document_with_merged_cells(folder: Path, rows_spanned: str) -> Path:
    """Below an empty row and beside an empty column, as people leave them."""

    def cell(value: str, more: str = "") -> str:
        return f"<table:table-cell{more} office:value-type='string'><text:p>{value}</text:p></table:table-cell>"

    spanned = f" table:number-rows-spanned='{rows_spanned}' table:number-columns-spanned='1'"
    lines = [
        cell("segment") + cell("system") + cell("score"),
        cell("7", spanned) + cell("A") + cell("70"),
        "<table:covered-table-cell/>" + cell("B") + cell("60"),
    ]
    empty = "<table:table-row><table:table-cell table:number-columns-repeated='4'/></table:table-row>"
    rows = empty + "".join(f"<table:table-row><table:table-cell/>{line}</table:table-row>" for line in lines)
    file = folder / "ratings.ods"
    write_document(file, f"<table:table table:name='S'>{rows}</table:table>")
    return file


# More rows than there are, and more digits than Python takes for a number, mean all rows below.
@pytest.mark.parametrize("rows", ["2", "999999999999", "9" * 5000])
def test_cells_merged_down_in_an_open_document(tmp_path: Path, rows: str) -> None:
    judgments = read(document_with_merged_cells(tmp_path, rows))
    assert judgments.table.select("segment", "system", "score").rows() == [("7", "A", 70.0), ("7", "B", 60.0)]
    assert "1 merged cell of ratings.ods filled with the value at their top" in judgments.notes


@pytest.mark.parametrize("rows", ["x", "-1", "", "1e9"])
def test_what_is_no_number_of_rows_merges_nothing(tmp_path: Path, rows: str) -> None:
    judgments = read(document_with_merged_cells(tmp_path, rows), bad_rows=1.0)
    assert judgments.table.select("segment", "system", "score").rows() == [("7", "A", 70.0), (None, "B", 60.0)]


def workbook(folder: Path, row: str, count: int = 1) -> Path:
    """A workbook of Excel with a table, and one more row, given in XML, or many of them."""
    plain, file = folder / "plain.xlsx", folder / "ratings.xlsx"
    pl.DataFrame(ROWS, schema=NAMES, orient="row").write_excel(plain, autofilter=False)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            more = row.encode() * count + b"</sheetData>"
            new.writestr(name, old.read(name).replace(b"</sheetData>", more))
    return file


def cell(place: str, more: str = "") -> str:
    return f"<row><c{more} r='{place}'><v>1</v></c></row>"


FAR = ["XFD1048576", "ZZZZZ9", "XFD108", "A99999999999", "ZZZZZZZZZZZZZZZ1", "BYA3"]
TOO_FAR = "too far for a table"


# XML allows for `>` in the value of an attribute.
@pytest.mark.parametrize("row", [*map(cell, FAR), cell("XFD1048576", " s='>'")])
def test_a_cell_far_from_the_table_is_refused_before_memory_is_taken(tmp_path: Path, row: str) -> None:
    """The reader of workbooks would ask for 512 GB for the first."""
    with pytest.raises(InputError, match=TOO_FAR):
        read(workbook(tmp_path, row))


def test_a_cell_beside_the_table_does_no_harm(tmp_path: Path) -> None:
    assert answers(read(workbook(tmp_path, cell("J2")))) == EXPECTED


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 300 MB were at hand."""
    for module in (files, spreadsheets):
        monkeypatch.setattr(module, "memory_at_hand", lambda: 300_000_000)


@pytest.mark.usefixtures("little_memory")
def test_a_text_that_stands_in_many_cells_is_read_within_bounds(tmp_path: Path) -> None:
    """A workbook writes it once, and the reader of workbooks copies it for each of its cells."""
    plain, file = tmp_path / "plain.xlsx", tmp_path / "ratings.xlsx"
    with xlsxwriter.Workbook(plain) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["system", "score", "text"])
        for row in range(1, 15_000):
            sheet.write_row(row, 0, ["A", row % 100, "x" * 32_000])
    with pytest.raises(InputError, match="more than 300 MB of memory"):
        read(plain)
    assert plain.stat().st_size < 1_000_000
    rows = "<table:table-row table:number-rows-repeated='50000'>{}</table:table-row>".format(
        "<table:table-cell office:value-type='string' table:number-columns-repeated='200'>"
        f"<text:p>{'x' * 1000}</text:p></table:table-cell>"
    )
    file = tmp_path / "ratings.ods"
    write_document(file, f"<table:table table:name='S'>{rows}</table:table>")
    with pytest.raises(InputError, match="more than 300 MB of memory"):
        read(file)


@pytest.mark.usefixtures("little_memory")
def test_an_archive_that_says_too_little_of_its_size_is_read_within_bounds(tmp_path: Path) -> None:
    """The reader of workbooks goes on to the end of a file, whatever the archive says of its size."""
    file = workbook(tmp_path, "<row>" + "<c><v>1</v></c>" * 100 + "</row>", 50_000)
    raw = bytearray(file.read_bytes())
    name = b"xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(file) as archive, archive.open(name.decode()) as sheet:
        begin = sheet.read(1000)
    entry = raw.rindex(b"PK\x01\x02", 0, raw.rindex(name))
    raw[entry + 16 : entry + 28] = struct.pack(
        "<III", zlib.crc32(begin), *struct.unpack_from("<I", raw, entry + 20), 1000
    )
    file.write_bytes(bytes(raw))
    with pytest.raises(InputError, match="more than 300 MB of memory"):
        read(file)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [("", "<cell table:number-columns-repeated='99999' office:value='1'/>")]
    + [
        (f"<row table:number-rows-repeated='{rows}'>", "<cell office:value='1'/>") for rows in ("9999999999", "1048577")
    ],
)
def test_a_repeated_cell_of_open_document_is_refused_too(tmp_path: Path, rows: str, columns: str) -> None:
    row = f"{rows or '<row>'}{columns}</row>".replace("row>", "table:table-row>").replace("<row", "<table:table-row")
    row = row.replace("<cell", "<table:table-cell office:value-type='float'")
    file = tmp_path / "ratings.ods"
    write_document(file, f"<table:table table:name='S'>{row}</table:table>")
    with pytest.raises(InputError, match=TOO_FAR):
        read(file)


def test_empty_cells_to_the_end_of_an_open_document_do_no_harm(tmp_path: Path) -> None:
    """As LibreOffice fills up its sheets."""
    file = document_with_merged_cells(tmp_path, "2")
    rest = (
        "<table:table-row table:number-rows-repeated='1048500'>"
        "<table:table-cell table:number-columns-repeated='16384'/></table:table-row></table:table>"
    )
    with zipfile.ZipFile(file) as archive:
        content = archive.read("content.xml").decode().partition("<office:spreadsheet>")[2]
    write_document(file, content.partition("</office:spreadsheet>")[0].replace("</table:table>", rest))
    assert len(read(file)) == 2


@pytest.mark.parametrize("name", ["many.csv", "many.zip", "many.xlsx"])
def test_many_short_cells_are_counted_before_they_are_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of short cells takes many times the size of its text, which a small archive may hold."""
    text, file = "system,score\n" + "a,1\n" * 20_000, tmp_path / name
    if name.endswith(".xlsx"):
        with xlsxwriter.Workbook(file) as book:
            sheet = book.add_worksheet()
            for row, line in enumerate(text.splitlines()):
                sheet.write_row(row, 0, line.split(","))
    elif name.endswith(".zip"):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("many.csv", text)
    else:
        file.write_text(text)
    for module in (files, spreadsheets):
        monkeypatch.setattr(module, "memory_at_hand", lambda: 3_000_000)
    with pytest.raises(InputError, match=r"once read, too much for the 3 MB|MB unpacked|too far for a table"):
        read(file)


@pytest.mark.parametrize("ours", [True, False], ids=["with our checksum", "of others"])
def test_parquet_that_would_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    frame = pl.DataFrame({"system": ["a" * 20], "score": [1.0]}).select(pl.all().repeat_by(100_000).explode())
    file = tmp_path / "bomb.parquet"
    file.write_bytes(parquet_bytes(frame, "0") if ours else b"")
    if not ours:
        frame.write_parquet(file)
    assert file.stat().st_size < 10_000
    for module in (files, tables):
        monkeypatch.setattr(module, "memory_at_hand", lambda: 1_000_000)
    with pytest.raises(InputError, match="once read, too much for the 1 MB of memory at hand"):
        read(file)


def test_no_message_is_longer_than_people_read(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("annotator,system,score\n" + "x" * 70_000 + ",A," + "y" * 70_000 + "\n")
    with pytest.raises(InputError) as fault:
        read(file)
    assert len(str(fault.value)) < LONGEST + 100
    long = UsageError(
        f"unknown '{'x' * 1480}{param('with_scores' * 20)}{'x' * 3000}': choose {param('with_scores')} or a"
    )
    assert len(str(long)) < LONGEST + 100
    assert str(long).endswith("choose 'with_scores' or a")
    assert not {"\ue000", "\ue001"} & set(str(long))


@pytest.mark.parametrize("inner", ["scores.csv", "sub/scores.xlsx", "scores.parquet", "scores.jsonl"])
def test_a_zip_archive_of_one_file_is_read(tmp_path: Path, inner: str) -> None:
    table, plain = tmp_path / Path(inner).name, pl.DataFrame(ROWS, schema=NAMES, orient="row")
    writers = {".csv": plain.write_csv, ".parquet": plain.write_parquet, ".jsonl": plain.write_ndjson}
    writers.get(table.suffix, pd.DataFrame(ROWS, columns=NAMES).set_index("annotator").to_excel)(table)
    with zipfile.ZipFile(tmp_path / "scores.zip", "w") as archive:
        archive.write(table, inner)
        archive.writestr("__MACOSX/._scores", b"\0\5\x16\7")
        archive.writestr("sub/.DS_Store", b"\0\0\0\1Bud1")
    assert answers(read(tmp_path / "scores.zip")) == EXPECTED


def test_a_format_is_recognised_inside_a_zip_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "counts.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("counts.txt", "A B 10 5 3\nB C 7 1 4\n")
    notes = read(tmp_path / "counts.zip").notes
    assert "the format was recognised as pairwise-counts; --format chooses another" in notes


def test_a_zip_archive_of_several_files_is_a_folder(tmp_path: Path) -> None:
    """Each file is a person's, what only describes files is left alone, and messages call files as people know them."""
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        for name in ("ann", "ben"):
            archive.writestr(f"ratings/{name}.csv", "item,system,score\n1,a,1\n1,b,2\n")
        archive.writestr("README.txt", "One file for each person.")
        archive.writestr("__MACOSX/ratings/._ann.csv", "x")
    judgments = read(tmp_path / "both.zip")
    assert judgments.table.select("annotator", "system", "score").rows() == [
        (name, *judged) for name in ("ann", "ben") for judged in (("a", 1.0), ("b", 2.0))
    ]
    assert {use.file for use in judgments.columns} == {
        f"{tmp_path}/both.zip/ratings/{name}.csv" for name in ("ann", "ben")
    }
    with zipfile.ZipFile(tmp_path / "both.zip", "a") as archive:
        archive.writestr("ratings/eva.csv", "item,system,score\n1,a,x\n1,b,2\n")
    with pytest.raises(InputError, match=rf"{tmp_path}/both.zip/ratings/eva.csv, line 2: column 'score' holds 'x'"):
        read(tmp_path / "both.zip")


def _tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("scores/a.csv")
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"a,b\n"))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (bz2.compress(b"system,score\na,1\n"), "is compressed by bzip2; unpack it"),
        (lzma.compress(b"system,score\na,1\n"), "is compressed by xz; unpack it"),
        (_tar(), "is a tar archive; unpack it and give the file inside, such as 'scores/a.csv'"),
        (b"SQLite format 3\0" + bytes(100), "is an SQLite database; export the table as CSV"),
        (b"%PDF-1.7\n%\xe2\xe3", "is a PDF document; give the table that it was made from"),
        (pickle.dumps({"system": ["a"]}), "is a Python pickle, which may run code; export the table as CSV"),
        (b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>", "is a web page, not a table; open it in a"),
        (b"\x89PNG\r\n\x1a\n", "is a picture; give the table"),
    ],
)
def test_files_that_are_no_tables_are_named(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "export.csv").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(told)):
        read(tmp_path / "export.csv")


def test_feather_is_named(tmp_path: Path) -> None:
    pl.DataFrame(ROWS, schema=NAMES, orient="row").write_ipc(tmp_path / "scores.feather")
    with pytest.raises(InputError, match=r"is an Arrow \(Feather\) file; write the table as Parquet"):
        read(tmp_path / "scores.feather")
