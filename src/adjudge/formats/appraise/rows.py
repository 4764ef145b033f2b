"""Appraise's result files as columns. They have no header: which columns a file has, its first row tells.

Every row begins with account, system, item, type, two languages and score. Then may follow: document and whether the
whole document was scored; the error spans as JSON; two columns of reported errors; start and end; and, where the
export added them, the batch number, the database's item number and (for pairs) the place of the target. Some exports
name the source segment between account and system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, Source, shown
from adjudge.core.files import read_text
from adjudge.core.judgments import language_codes
from adjudge.core.wording import counted
from adjudge.formats.appraise.spans import parse_spans
from adjudge.formats.parsing.bad_rows import SCORE_SCALE, BadRows
from adjudge.formats.parsing.delimited import split_rows
from adjudge.formats.tables.cells import KINDS_ELSEWHERE

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.formats.options import ReadOptions
    from adjudge.formats.parsing.bad_rows import UsableRows

BASE = ("account", "system", "item", "type", "source_lang", "target_lang", "score")
SOURCE = "source_segment"
DATA = (
    "account", "domain", "document", "system", "item", "type", "source_lang", "target_lang", "score", "rank_given",
    "start", "end",
)  # fmt: skip
BATCH = ("batch", "database_item", "target_place")
ITEM_TYPES = ("TGT", "BAD", "REF", "CHK")
KINDS = {name: KINDS_ELSEWHERE[name] for name in ITEM_TYPES}
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
    unnamed = fields[len(names) :]
    if len(unnamed) >= 2 and unnamed[1] in _BOOLEANS:
        names += ["document", "complete"]
        unnamed = unnamed[2:]
        if unnamed and not _is_number(unnamed[0]):
            names.append("mqm")
            unnamed = unnamed[1:]
    elif len(unnamed) >= 4 and all(map(_is_time, unnamed[2:4])) and not all(map(_is_time, unnamed[:2])):
        names += ["errors", "source_errors"]
        unnamed = unnamed[2:]
    if len(unnamed) >= 2:
        names += ["start", "end"]
        unnamed = unnamed[2:]
    if len(unnamed) > len(BATCH) or len(unnamed) == 1:
        return None
    return (*names, *BATCH[: len(unnamed)])


def drop_header(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The rows below a header, if somebody wrote one, without the numbers that data frames write before their rows."""
    header = [name.strip().casefold() for name in rows[0][1]] if rows else []
    if "score" not in header or layout(rows[0][1]) is not None:
        return rows
    first = 0 if header[0] else 1
    return [(line, fields[first:]) for line, fields in rows[1:]]


def is_result(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether a file that begins with these rows is one of results."""
    below = drop_header(rows)
    names = layout(below[0][1]) if below else None
    return names is not None and _is_number(below[0][1][names.index("score")])


def find_separator(line: str) -> str:
    """Find the separator of the fields of a row; the error spans in it contain commas."""
    return next((sign for sign in ("\t", ";") if line.count(sign) >= len(BASE)), ",")


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


def read_rows(path: Path, options: ReadOptions) -> UsableRows | None:
    """Read the rows of a result file with typed columns; None if the file is something else."""
    text = read_text(path)
    separator = find_separator(text.split("\n", 1)[0])
    rows = [(line, fields) for line, fields in split_rows(text, path, separator) if any(fields)]
    if rows and rows[0][1][-1:] == [""] and layout(rows[0][1]) is None:
        rows = [(line, fields[:-1]) for line, fields in rows]
    rows = drop_header(rows)
    names = layout(rows[0][1]) if rows else None
    if names is None:
        return None
    bad = BadRows(Source(str(path), lambda row: rows[row][0]), options, len(rows))
    for row, (_, fields) in enumerate(rows):
        if len(fields) != len(names):
            problem = f"{counted(len(fields), 'field')} where the first row has {len(names)}; the file may be cut"
            bad.row(row, problem, "row of another length than the first")
    whole = [(fields + [""] * len(names))[: len(names)] for _, fields in rows]
    columns = dict(zip(names, zip(*whole, strict=True), strict=True))
    frame = pl.DataFrame(
        {**columns, "line": [line for line, _ in rows]}, schema_overrides=dict.fromkeys(names, pl.String)
    )
    return bad.keep_usable(_convert_columns(frame, bad, path))


def _convert_columns(frame: pl.DataFrame, bad: BadRows, path: Path) -> pl.DataFrame:
    def refuse(broken: pl.Series, column: str, problem: str) -> None:
        bad.mark(
            broken.fill_null(value=True),
            lambda row: problem.replace("{}", shown(frame[column][row])),
            f"row with a broken {column}",
        )

    score = frame["score"].str.strip_chars().cast(pl.Float64, strict=False)
    empty = frame["score"].str.strip_chars() == ""
    inside = score.is_between(*SCORE_SCALE).fill_null(value=False)
    refuse(~(inside | empty), "score", "score is '{}', a number between 0 and 100 is needed; correct it")
    known = frame["type"].str.split(".").list.first().is_in(list(ITEM_TYPES))
    refuse(~known, "type", "item type is '{}', one of " + ", ".join(ITEM_TYPES) + " is needed")
    changes = [score, language_codes(frame["source_lang"]), language_codes(frame["target_lang"])]
    if "complete" in frame.columns:
        refuse(~frame["complete"].is_in(list(_BOOLEANS)), "complete", "'{}' stands where True or False is needed")
        changes.append(frame["complete"] == "True")
    if "mqm" in frame.columns:
        _check_spans(frame, bad, path)
    times = [_parse_seconds(frame, name, bad) for name in ("start", "end") if name in frame.columns]
    return frame.with_columns(*changes, *times)


def _check_spans(frame: pl.DataFrame, bad: BadRows, path: Path) -> None:
    for row, (text, line) in enumerate(frame.select("mqm", "line").iter_rows()):
        try:
            parse_spans(text, path, line)
        except InputError:
            bad.row(row, f"'{shown(text)}' is not a list of error spans; the file may be cut", "row with broken spans")


def _parse_seconds(frame: pl.DataFrame, name: str, bad: BadRows) -> pl.Series:
    """Unix seconds; null where nothing, or zero, was recorded, or what stands there is no number."""
    given = frame[name].str.strip_chars()
    parsed = given.cast(pl.Float64, strict=False)
    broken = parsed.is_null() & (given != "")
    bad.empty(broken, name, lambda row: f"{name} time is '{shown(given[row])}', a number is needed; correct it")
    return pl.select(pl.when(parsed.is_between(*_TIMES)).then(parsed).alias(name)).to_series()
