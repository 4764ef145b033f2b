"""Appraise's result files as columns. They have no header: which columns a file has, its first row tells.

Every row begins with account, system, item, type, two languages and score. Then may follow: document and whether the
whole document was scored; the error spans as JSON; two columns of reported errors; start and end; and, where the
export added them, the batch number, the database's item number and (for pairs) the place of the target. Some exports
name the source segment between account and system.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.files import read_text
from adjudge.formats.parsing.delimited import to_float
from adjudge.formats.parsing.sources import language_codes

if TYPE_CHECKING:
    from pathlib import Path

BASE = ("account", "system", "item", "type", "source_lang", "target_lang", "score")
SOURCE = "source_segment"
DATA = (
    "account", "domain", "document", "system", "item", "type", "source_lang", "target_lang", "score", "rank_given",
    "start", "end",
)  # fmt: skip
BATCH = ("batch", "database_item", "target_place")
ITEM_TYPES = ("TGT", "BAD", "REF", "CHK")
KINDS = {"TGT": "system", "BAD": "degraded", "REF": "reference", "CHK": "repeat"}
SCALE = (0.0, 100.0)
_BOOLEANS = ("True", "False")
# 2001 to 2096: what can be a time in Unix seconds, and not a batch number or a score.
_TIMES = (1e9, 4e9)


def layout(fields: list[str]) -> tuple[str, ...] | None:
    """The columns of a file whose first row this is, or None where it is no result row."""
    if len(fields) >= len(DATA) and _is_type(fields[5]) and not _is_type(fields[3]):
        return DATA if len(fields) == len(DATA) else None
    names = list(BASE)
    if len(fields) > len(BASE) and _is_type(fields[4]) and not _is_type(fields[3]):
        names.insert(1, SOURCE)
    if len(fields) < len(names) or not _is_type(fields[names.index("type")]):
        return None
    rest = fields[len(names) :]
    if len(rest) >= 2 and rest[1] in _BOOLEANS:
        names += ["document", "complete"]
        rest = rest[2:]
        if rest and not _is_number(rest[0]):
            names.append("mqm")
            rest = rest[1:]
    elif len(rest) >= 4 and all(map(_is_time, rest[2:4])) and not all(map(_is_time, rest[:2])):
        names += ["errors", "source_errors"]
        rest = rest[2:]
    if len(rest) >= 2:
        names += ["start", "end"]
        rest = rest[2:]
    if len(rest) > len(BATCH) or len(rest) == 1:
        return None
    return (*names, *BATCH[: len(rest)])


def _is_type(text: str) -> bool:
    return text.split(".", 1)[0] in ITEM_TYPES


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    return _is_number(text) and (float(text) == 0 or _TIMES[0] <= float(text) <= _TIMES[1])


def read_rows(path: Path) -> pl.DataFrame | None:
    """The rows of a result file with typed columns, or None where the file is something else."""
    rows = _split(path)
    if rows and rows[0][1][-1:] == [""] and layout(rows[0][1]) is None:
        rows = [(line, fields[:-1]) for line, fields in rows]
    if rows and layout(rows[0][1]) is None and len(rows) > 1 and "score" in rows[0][1]:
        rows = rows[1:]
    names = layout(rows[0][1]) if rows else None
    if names is None:
        return None
    for line, fields in rows:
        if len(fields) != len(names):
            problem = f"{len(fields)} fields where the first row has {len(names)}"
            raise InputError(f"{problem}; the file may be cut", file=path, line=line)
    columns = dict(zip(names, zip(*(fields for _, fields in rows), strict=True), strict=True))
    frame = pl.DataFrame(
        {**columns, "line": [line for line, _ in rows]}, schema_overrides=dict.fromkeys(names, pl.String)
    )
    return _typed(frame, path)


def _split(path: Path) -> list[tuple[int, list[str]]]:
    text = read_text(path)
    csv.field_size_limit(max(len(text), 131_072))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for fields in reader:
            if any(fields):
                rows.append((line, fields))
            line = reader.line_num + 1
    except csv.Error as fault:
        raise InputError(f"cannot be read as a table ({fault}); check quotes", file=path, line=line) from fault
    return rows


def _typed(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    def refuse(bad: pl.Series, column: str, problem: str) -> None:
        if bad.fill_null(value=True).any():
            first = bad.fill_null(value=True).arg_max() or 0
            value = shown(frame[column][first])
            raise InputError(problem.format(value), file=path, line=frame["line"][first])

    score = frame["score"].str.strip_chars().cast(pl.Float64, strict=False)
    empty = frame["score"].str.strip_chars() == ""
    inside = score.is_between(*SCALE).fill_null(value=False)
    refuse(~(inside | empty), "score", "score is '{}', a number between 0 and 100 is needed; correct it")
    known = frame["type"].str.split(".").list.first().is_in(list(ITEM_TYPES))
    refuse(~known, "type", "item type is '{}', one of " + ", ".join(ITEM_TYPES) + " is needed")
    changes = [score, language_codes(frame["source_lang"]), language_codes(frame["target_lang"])]
    if "complete" in frame.columns:
        refuse(~frame["complete"].is_in(list(_BOOLEANS)), "complete", "'{}' stands where True or False is needed")
        changes.append(frame["complete"] == "True")
    times = [_seconds(frame, name, path) for name in ("start", "end") if name in frame.columns]
    return frame.with_columns(*changes, *times)


def _seconds(frame: pl.DataFrame, name: str, path: Path) -> pl.Series:
    """Unix seconds; null where nothing, or zero, was recorded."""
    given = frame[name].str.strip_chars()
    parsed = given.cast(pl.Float64, strict=False)
    bad = parsed.is_null() & (given != "")
    if bad.any():
        first = bad.arg_max() or 0
        to_float(given[first], f"{name} time", path, frame["line"][first])
    return pl.select(pl.when(parsed.is_between(*_TIMES)).then(parsed).alias(name)).to_series()
