"""Recognises the format of a file by its name and its first lines, where `--format` is not given.

Only layouts that nothing else has are recognised (`Format.headers`, and below); anything else is left to the reader of
tables, which takes columns by their names. A note says what was recognised, and `--format` always overrules it.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from typing import TYPE_CHECKING

from adjudge.core.text_encoding import encoding_of
from adjudge.formats import FORMATS
from adjudge.formats.appraise.rows import find_separator, is_result
from adjudge.formats.metric_scores import ENDING, HUMAN_SCORES
from adjudge.formats.wmt_da.files import SOURCES, member_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_HEAD = 1 << 16
# Direct assessment without a header: assignment, worker, languages, what was asked, ..., type of item.
_DIRECT = re.compile(
    r"\S+[ \t]+\S+[ \t]+[a-z]{2,3}[ \t]+[a-z]{2,3}[ \t]+(ad|fl)([ \t]+\S+){3}[ \t]+[A-Z_]+([ \t]+\S+){3}"
)
_COUNTS = re.compile(r"\S+[ \t]+\S+([ \t]+[0-9]+){3}")


def recognise(paths: Sequence[Path]) -> str | None:
    """Return the name of the format that all paths have; None for tables and unknown formats."""
    formats = {_recognise_folder(path) if path.is_dir() else _recognise_file(path) for path in paths}
    return formats.pop() if len(formats) == 1 else None


def _recognise_folder(folder: Path) -> str | None:
    scores = folder if folder.name == HUMAN_SCORES else folder / HUMAN_SCORES
    if any(scores.glob(f"*{ENDING}")):
        return "metric-scores"
    members = [member_of(file) for inside in (folder, folder / "analysis") for file in inside.glob("ad-*")]
    return "wmt-da" if any(member is not None and member.role in SOURCES for member in members) else None


def _recognise_file(path: Path) -> str | None:
    if path.name.endswith(ENDING):
        return "metric-scores"
    member = member_of(path)
    if member is not None and member.role in SOURCES:
        return "wmt-da"
    lines = _first_lines(path)
    if not lines:
        return None
    return _recognise_json(lines[0]) or _recognise_header(lines[0]) or _recognise_rows(lines)


def _first_lines(path: Path) -> list[str]:
    """Return the whole lines in the first 64 KiB of a regular text file; a pipe could be read only once."""
    if not path.is_file():
        return []
    try:
        with path.open("rb") as file:
            raw = file.read(_HEAD)
        if raw.startswith(b"\x1f\x8b"):
            with gzip.open(path) as unpacked:
                raw = unpacked.read(_HEAD)
        text = raw.decode(encoding_of(raw), "ignore" if len(raw) == _HEAD else "strict")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return []  # The reader says what is wrong.
    lines = text.splitlines()
    return [line for line in (lines[:-1] if len(raw) == _HEAD else lines) if line.strip()]


def _recognise_json(line: str) -> str | None:
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if "doc_id" in entry and ({"scores", "esa_score"} & entry.keys()):
        return "wmt-humeval"
    return "pearmut" if {"annotation", "user_id"} <= entry.keys() else None


def _recognise_header(line: str) -> str | None:
    """Recognise a format by the names of columns, which some of these files separate by blanks."""
    names = {name.strip().strip('"').lower() for name in re.split(r"[\t,; ]", line)}
    for name, known in FORMATS.items():
        has_header = any(names.issuperset(header.split()) for header in known.headers)
        if has_header and names.isdisjoint(known.not_in_header.split()):
            return name
    return None


def _recognise_rows(lines: Sequence[str]) -> str | None:
    """Recognise counts of pairs, and Appraise's rows of account, system, item, type, languages and score."""
    if _DIRECT.fullmatch(lines[0].strip()):
        return "wmt-da"
    if all(_COUNTS.fullmatch(line.strip()) for line in lines):
        return "pairwise-counts"
    try:
        first = list(csv.reader(lines[:2], delimiter=find_separator(lines[0])))
    except csv.Error:
        return None
    return "appraise" if is_result(list(enumerate(first, start=1))) else None
