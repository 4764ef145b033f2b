"""Results in the formats of files: JSON, CSV, Parquet, Excel, LaTeX, text, and pages as HTML and PDF.

In CSV, spreadsheets must not take a text for a formula: one that begins with `=`, `+`, `-`, `@`, a tab or a carriage
return gets an apostrophe in front, which spreadsheets take as "this is text". So does one that begins with apostrophes
before such a sign, so that the change can be undone. Numbers are left alone, and so is the judgment table, which is
exact.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from adjudge.core.errors import InputError, UsageError
from adjudge.core.files import atomic_path, write_text
from adjudge.results.display import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl

    from adjudge.results.result import Result
    from adjudge.results.table import Table

    Results = Mapping[str, Result]
    Writer = Callable[[Results, Path], list[Path]]

T = TypeVar("T")
PAIR_COLUMN = "language pair"
_FORMULA = r"^('*[=+\-@\t\r])"


def to_json(value: dict[str, Any], *, plain: bool = False) -> str:
    """One JSON object; texts stay readable, or `plain` ASCII, and NaN is an error because results hold none."""
    return json.dumps(value, ensure_ascii=plain, indent=2, allow_nan=False)


def to_csv(table: Table) -> str:
    """A table as plain CSV: a header and rows, numbers in full precision, what is not defined as an empty cell."""
    return as_plain_text(frame_of(table)).write_csv()


def check_ending(path: Path) -> None:
    """Refuse a folder, and a file whose ending says nothing that can be written."""
    if path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    if path.suffix.lower() not in WRITERS:
        raise UsageError(f"{path}: the ending says what is written; use one of {' '.join(WRITERS)}")


def write_results(results: Results, path: Path) -> list[Path]:
    """Write results as the ending says.

    Args:
        results: one result, or one per language pair.
        path: the file; tables that do not fit into one CSV or Parquet file get files of their own beside it.

    Returns:
        All files that were written.
    """
    check_ending(path)
    return WRITERS[path.suffix.lower()](results, path)


class ByPair(dict[str, T]):
    """Results by language pair. `several` says whether the files held several, even if only one has a result."""

    several = False


def are_several(results: Mapping[str, object]) -> bool:
    """Whether results are shown by language pair."""
    return len(results) > 1 or (isinstance(results, ByPair) and results.several)


def as_object(results: Results, summary: Result | None = None) -> dict[str, Any]:
    """The JSON object of one result, or of several by language pair; a summary of these has its own key."""
    if not are_several(results):
        return next(iter(results.values())).to_dict()
    pairs = {"pairs": {name: result.to_dict() for name, result in results.items()}}
    return pairs if summary is None else {**pairs, "summary": summary.to_dict()}


def frames_of(results: Results) -> dict[str, pl.DataFrame]:
    """Every table by its title; those of several language pairs one below the other, with a column that says which."""
    import polars as pl

    parts: dict[str, list[pl.DataFrame]] = {}
    for name, result in results.items():
        for table in result.all_tables():
            frame = frame_of(table)
            if are_several(results):
                frame = frame.insert_column(0, pl.Series(PAIR_COLUMN, [name] * frame.height, dtype=pl.String))
            parts.setdefault(table.title, []).append(frame)
    return {title: pl.concat(frames, how="diagonal_relaxed") for title, frames in parts.items()}


def slug(title: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "table"


def _json(results: Results, path: Path) -> list[Path]:
    write_text(path, to_json(as_object(results)) + "\n")
    return [path]


def _tables(results: Results, path: Path, write: Callable[[pl.DataFrame, Path], None]) -> list[Path]:
    """The first table under the name given, the others beside it, and the signatures in a file of their own."""
    written: list[Path] = []
    for title, frame in frames_of(results).items():
        file = path if not written else path.with_name(f"{path.stem}-{slug(title)}{path.suffix}")
        write(frame, file)
        written.append(file)
    return [*written, write_signatures([result.signature for result in results.values()], path)]


def write_signatures(signatures: list[str], path: Path) -> Path:
    """The signatures in a text file beside `path`, one per line."""
    file = path.with_name(f"{path.stem}.signature.txt")
    write_text(file, "".join(f"{signature}\n" for signature in dict.fromkeys(signatures)))
    return file


def _csv(results: Results, path: Path) -> list[Path]:
    return _tables(results, path, lambda frame, file: write_text(file, as_plain_text(frame).write_csv()))


def _parquet(results: Results, path: Path) -> list[Path]:
    def write(frame: pl.DataFrame, file: Path) -> None:
        with atomic_path(file) as temporary:
            frame.write_parquet(temporary)

    return _tables(results, path, write)


def _excel(results: Results, path: Path) -> list[Path]:
    """One sheet per table, and one with the signatures. Texts stay texts, also those that look like formulas."""
    from datetime import UTC, datetime

    import xlsxwriter

    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with atomic_path(path) as temporary, xlsxwriter.Workbook(str(temporary), options) as workbook:
        # The same result gives the same file on every day.
        workbook.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})
        sheets: list[str] = []
        for title, frame in frames_of(results).items():
            sheets.append(_sheet_name(title, sheets))
            _fill_sheet(workbook.add_worksheet(sheets[-1]), frame)
        signatures = workbook.add_worksheet(_sheet_name("signature", sheets))
        signatures.write_column(0, 0, [result.signature for result in results.values()])
    return [path]


def _fill_sheet(sheet: Any, frame: pl.DataFrame) -> None:
    sheet.write_row(0, 0, frame.columns)
    for i, row in enumerate(frame.iter_rows(), start=1):
        sheet.write_row(i, 0, row)
    sheet.freeze_panes(1, 0)


def _sheet_name(title: str, taken: list[str]) -> str:
    """At most 31 characters without those that spreadsheets forbid, and no two alike."""
    name = re.sub(r"[\[\]:*?/\\']", " ", title)[:31].strip() or "table"
    return name if name.lower() not in {sheet.lower() for sheet in taken} else f"{name[:27]} {len(taken) + 1}"


def _latex(results: Results, path: Path) -> list[Path]:
    from dataclasses import replace

    from adjudge.report.output.latex import to_latex

    several = are_several(results)
    tables = [
        replace(table, title=f"{name}: {table.title}") if several else table
        for name, result in results.items()
        for table in result.tables()
    ]
    write_text(path, to_latex(tables, signatures=[result.signature for result in results.values()]))
    return [path]


def _text(results: Results, path: Path) -> list[Path]:
    from adjudge.report.text import result_as_text

    headings = {name: f"== {name} ==\n" if are_several(results) else "" for name in results}
    write_text(path, "\n".join(headings[name] + result_as_text(result) for name, result in results.items()))
    return [path]


def _page(results: Results, path: Path) -> list[Path]:
    from adjudge.report.output.pages import write_page
    from adjudge.report.result_page import build_page

    write_page(build_page(results, title=path.stem), path)
    return [path]


WRITERS: dict[str, Writer] = {
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
    ".xlsx": _excel,
    ".tex": _latex,
    ".html": _page,
    ".pdf": _page,
    ".txt": _text,
}


def as_plain_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with texts that no spreadsheet takes for formulas."""
    import polars as pl

    names = {
        name: f"'{name}" for name in frame.columns if name.lstrip("'")[:1] in ("=", "+", "-", "@", "\t", "\r") and name
    }
    return frame.with_columns(pl.col(pl.String).str.replace(_FORMULA, "'${1}")).rename(names)


def undo_plain_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as it was before `as_plain_text`."""
    import polars as pl

    names = {name: name[1:] for name in frame.columns if name[:1] == "'" and name.lstrip("'")[:1] in tuple("=+-@\t\r")}
    return frame.with_columns(pl.col(pl.String).str.replace(r"^'('*[=+\-@\t\r])", "${1}")).rename(names)
