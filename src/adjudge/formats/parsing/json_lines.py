"""What readers of JSON lines share: which files, their objects with line numbers, and columns made from rows."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.core.errors import InputError, Source
from adjudge.core.files import read_text
from adjudge.core.languages import UNKNOWN, pair_in_name
from adjudge.core.spans import span_column
from adjudge.formats.parsing.bad_rows import BadRows
from adjudge.formats.parsing.delimited import numbered_lines
from adjudge.formats.parsing.sources import files_in, pair_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

SECTION = "_#_"
"""Between the parts of an item's name, as in `en-cs_CZ_#_news_#_doc1_#_0`: languages, domain, document, place."""
_LANGUAGES = re.compile(r"([a-z]{2,3})-([a-z]{2,3})(?:_[A-Za-z]+)*")


def json_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and the .jsonl files of the folders named."""
    explicit = {path for path in paths if not path.is_dir()}
    files = [path for path in files_in(paths) if path in explicit or ".jsonl" in path.name.lower()]
    if not files:
        raise InputError("holds no .jsonl file; check the path and --format", file=paths[0])
    return files


def json_lines(path: Path, options: ReadOptions, *, needed: str) -> tuple[list[tuple[int, str, Any]], BadRows]:
    """Every line that is JSON, with its row, its text and what it says; and the lines that cannot be used.

    Args:
        path: the file.
        options: how many bad lines there may be.
        needed: what a line holds; it ends the sentence about an empty file.
    """
    lines = list(numbered_lines(read_text(path)))
    if not lines:
        raise InputError(f"is empty; {needed} is needed", file=path)
    bad = BadRows(Source(str(path), lambda row: lines[row][0]), options, len(lines))
    entries: list[tuple[int, str, Any]] = []
    for row, (_, text) in enumerate(lines):
        try:
            entry = json.loads(text)
            # Half of a character, written as an escape, can be in no table.
            json.dumps(entry, ensure_ascii=False).encode()
            entries.append((row, text, entry))
        except (RecursionError, ValueError):
            bad.row(row, "is damaged JSON; the file may be cut", "line that is damaged JSON")
    return entries, bad


def pair_of_item(name: str) -> tuple[str, str] | None:
    """The languages in an item's name; where its first part is just that, also languages that we do not know."""
    first, between, _ = name.partition(SECTION)
    match = _LANGUAGES.fullmatch(first) if between else None
    return pair_in_name(first) or ((match[1], match[2]) if match else None)


def common_columns(
    rows: Sequence[Mapping[str, Any]], path: Path, options: ReadOptions, *, also: Sequence[str] = ()
) -> dict[str, Any]:
    """Make columns of the judgment table from rows; a row's own language pair counts where the file names none."""
    of_file = pair_of(path, options)
    pairs = [row["pair"] if of_file[0] == UNKNOWN and row["pair"] else of_file for row in rows]
    same = ("annotator", "document", "segment", "system", "score", *also)
    return {
        "source_lang": [source for source, _ in pairs],
        "target_lang": [target for _, target in pairs],
        **{name: [row[name] for row in rows] for name in same},
        "spans": span_column([row["spans"] for row in rows]),
        **{name: _as_times([row[name] for row in rows]) for name in ("started", "ended")},
    }


def _as_times(seconds: Sequence[float | None]) -> pl.Series:
    """Convert Unix seconds to times."""
    micros = pl.Series([None if moment is None else round(moment * 1e6) for moment in seconds], dtype=pl.Int64)
    return micros.cast(pl.Datetime("us", "UTC"))
