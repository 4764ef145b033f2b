"""Which format a file has, recognised by its name and its first lines, where `--format` is not given.

Only layouts that nothing else has are recognised; anything else is left to the reader of tables, which takes columns by
their names. What is recognised is said in a note, and `--format` always overrules it.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from typing import TYPE_CHECKING

from adjudge.core.text_encoding import encoding_of
from adjudge.formats.appraise.rows import is_result, separator_of
from adjudge.formats.metric_scores import ENDING, HUMAN_SCORES
from adjudge.formats.wmt_da.files import SOURCES, member_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_HEAD = 1 << 16
# Columns that a header must have, in small letters, and columns that it must not have.
_HEADERS: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = (
    ("wmt-ranking", frozenset({"srclang", "trglang", "system1id", "system1rank"}), frozenset()),
    ("wmt-edits", frozenset({"editid", "editorid", "system1id", "system1edit"}), frozenset()),
    ("wmt-acceptability", frozenset({"editid", "judgeid", "systemid", "judgment"}), frozenset()),
    ("wmt-ranking-2007", frozenset({"task", "type", "item_id", "annotator_id", "system_0"}), frozenset()),
    ("mturk-da", frozenset({"hitid", "workerid", "answer.q1"}), frozenset()),
    ("mqm", frozenset({"system", "rater", "category", "severity"}), frozenset({"score", "rank"})),
    ("mqm", frozenset({"system", "annotator", "category", "severity"}), frozenset({"score", "rank"})),
    ("wmt-da", frozenset({"sys_id", "rid", "sid", "score"}), frozenset()),
)
# Direct assessment without a header: assignment, worker, languages, what was asked, ..., type of item.
_DIRECT = re.compile(
    r"\S+[ \t]+\S+[ \t]+[a-z]{2,3}[ \t]+[a-z]{2,3}[ \t]+(ad|fl)([ \t]+\S+){3}[ \t]+[A-Z_]+([ \t]+\S+){3}"
)
_COUNTS = re.compile(r"\S+[ \t]+\S+([ \t]+[0-9]+){3}")


def recognise(paths: Sequence[Path]) -> str | None:
    """The format that all paths have, by its name; None where it is a table, or unknown."""
    formats = {_of_folder(path) if path.is_dir() else _of_file(path) for path in paths}
    return formats.pop() if len(formats) == 1 else None


def _of_folder(folder: Path) -> str | None:
    scores = folder if folder.name == HUMAN_SCORES else folder / HUMAN_SCORES
    if any(scores.glob(f"*{ENDING}")):
        return "metric-scores"
    members = [member_of(file) for inside in (folder, folder / "analysis") for file in inside.glob("ad-*")]
    return "wmt-da" if any(member is not None and member.role in SOURCES for member in members) else None


def _of_file(path: Path) -> str | None:
    if path.name.endswith(ENDING):
        return "metric-scores"
    member = member_of(path)
    if member is not None and member.role in SOURCES:
        return "wmt-da"
    lines = _first_lines(path)
    if not lines:
        return None
    return _of_json(lines[0]) or _of_header(lines[0]) or _of_rows(lines)


def _first_lines(path: Path) -> list[str]:
    """The whole lines among the first 64 KiB of an ordinary text file; pipes and the like can be read only once."""
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


def _of_json(line: str) -> str | None:
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if "doc_id" in entry and ({"scores", "esa_score"} & entry.keys()):
        return "wmt-humeval"
    return "pearmut" if {"annotation", "user_id"} <= entry.keys() else None


def _of_header(line: str) -> str | None:
    """By the names of the columns, which some of these files separate by blanks."""
    names = {name.strip().strip('"').lower() for name in re.split(r"[\t,; ]", line)}
    for name, needed, unwanted in _HEADERS:
        if needed <= names and not unwanted & names:
            return name
    return None


def _of_rows(lines: Sequence[str]) -> str | None:
    """By the rows: counts of pairs, and Appraise's account, system, item, type, languages and score."""
    if _DIRECT.fullmatch(lines[0].strip()):
        return "wmt-da"
    if all(_COUNTS.fullmatch(line.strip()) for line in lines):
        return "pairwise-counts"
    try:
        first = list(csv.reader(lines[:2], delimiter=separator_of(lines[0])))
    except csv.Error:
        return None
    return "appraise" if is_result(list(enumerate(first, start=1))) else None
