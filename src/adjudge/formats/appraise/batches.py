"""Appraise's batch files: the tasks handed out. They tell which rows belong to a corrupted copy of a document.

For quality control a document is shown a second time with some of its segments corrupted. The results name only those
segments; the intact ones look like ordinary judgments of the document, although people gave them within the damaged
copy. The batch says which segments the copy holds, and the times tell the two showings apart.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.files import check_size, read_bytes
from adjudge.core.text_encoding import decode_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

ZIP_MAGIC = b"PK"
_SHOWN = ("account", "page", "system")
_Row = tuple[int, str, float]  # line, item, time


@dataclass(frozen=True)
class CorruptedCopy:
    """The items of a showing of a document by a system in which some are corrupted."""

    corrupted: frozenset[str]
    intact: frozenset[str]


@dataclass
class Batches:
    """What the batch files say: corrupted copies by (document, system), texts by (document, system, item, type)."""

    copies: dict[tuple[str, str], list[CorruptedCopy]] = field(default_factory=dict)
    texts: dict[tuple[str, str, str, str], str] = field(default_factory=dict)
    tasks: int = 0
    notes: list[str] = field(default_factory=list)


def read_batches(paths: Sequence[Path]) -> Batches:
    """Read batch files, JSON or zip. A file that is cut gives its complete tasks and a note with the place."""
    batches = Batches()
    for path in paths:
        for name, text in _documents(path):
            for task in _tasks(text, path, name, batches):
                batches.tasks += 1
                _add_task(task, batches, path)
    return batches


def _documents(path: Path) -> Iterable[tuple[str, str]]:
    raw = read_bytes(path)
    if not raw.startswith(ZIP_MAGIC):
        yield path.name, decode_text(raw, path)
        return
    try:
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            names = [name for name in archive.namelist() if name.lower().endswith(".json")]
            check_size(sum(archive.getinfo(name).file_size for name in names), path, what="unpacked")
            if not names:
                raise InputError("holds no JSON file; check --batches", file=path)
            for name in names:
                yield name, decode_text(archive.read(name), path)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error) as fault:
        raise InputError(f"is a damaged zip file ({fault}); get it again", file=path) from fault


def _tasks(text: str, path: Path, name: str, batches: Batches) -> list[Any]:
    try:
        tasks = json.loads(text)
    except RecursionError as fault:
        raise InputError(f"{name} is nested too deeply to be a batch", file=path) from fault
    except json.JSONDecodeError as fault:
        tasks = _complete_tasks(text)
        if not tasks:
            problem = f"{name} is damaged JSON at column {fault.colno}; check that the file is complete"
            raise InputError(problem, file=path, line=fault.lineno) from fault
        position = f"line {fault.lineno}, column {fault.colno}"
        batches.notes.append(
            f"{name} is cut at {position}: its {len(tasks)} complete tasks are used, the rest is missing"
        )
    except ValueError as fault:
        raise InputError(f"{name} holds a number of too many digits; correct it", file=path) from fault
    if not isinstance(tasks, list):
        raise InputError(f"{name} is JSON but not a list of tasks; check --batches", file=path)
    return tasks


def _complete_tasks(text: str) -> list[Any]:
    decoder = json.JSONDecoder()
    tasks: list[Any] = []
    position = text.find("[") + 1
    while position:
        while position < len(text) and text[position] in " \t\r\n,":
            position += 1
        try:
            task, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        tasks.append(task)
    return tasks


def _add_task(task: Any, batches: Batches, path: Path) -> None:
    try:
        showing: list[dict[str, Any]] = []
        for item in task["items"]:
            if showing and _document_and_system(item) != _document_and_system(showing[0]):
                _add_showing(showing, batches)
                showing = []
            showing.append(item)
            if "targetText" in item:
                key = (*_document_and_system(item), str(item["itemID"]), str(item["itemType"]))
                batches.texts[key] = str(item["targetText"])
            if item.get("isCompleteDocument"):
                _add_showing(showing, batches)
                showing = []
        _add_showing(showing, batches)
    except (KeyError, TypeError, AttributeError) as fault:
        problem = f"task {batches.tasks} is not as Appraise writes tasks ({fault!r} is the trouble)"
        raise InputError(f"{problem}; check --batches", file=path) from fault


def _document_and_system(item: dict[str, Any]) -> tuple[str, str]:
    return str(item.get("documentID", "")), str(item.get("targetID", ""))


def _add_showing(items: list[dict[str, Any]], batches: Batches) -> None:
    corrupted = frozenset(str(item["itemID"]) for item in items if str(item["itemType"]).startswith("BAD"))
    if not corrupted or not _document_and_system(items[0])[0]:
        return
    intact = frozenset(str(item["itemID"]) for item in items if not item.get("isCompleteDocument")) - corrupted
    batches.copies.setdefault(_document_and_system(items[0]), []).append(CorruptedCopy(corrupted, intact))


def find_lines_of_corrupted_copies(rows: pl.DataFrame, batches: Batches) -> list[int]:
    """The line numbers of intact segments of corrupted copies.

    An account that saw a document both ways saved the genuine versions of the corrupted segments at one time and the
    corrupted ones at another. Every other segment of the copy was saved near one of these two times.
    """
    corrupted = rows.filter(pl.col("kind") == "degraded")
    seen = rows.join(corrupted.select(_SHOWN).unique(), on=_SHOWN, how="semi").filter(pl.col("kind") != "tutorial")
    lines: list[int] = []
    for group in seen.partition_by(_SHOWN):
        page, system = group["page"][0], group["system"][0]
        bad = _lines_items_times(group.filter(pl.col("kind") == "degraded"))
        copies = [
            copy for copy in batches.copies.get((page, system), []) if {item for _, item, _ in bad} <= copy.corrupted
        ]
        if copies:
            lines += _lines_within_copy(_lines_items_times(group.filter(pl.col("kind") != "degraded")), bad, copies)
    return lines


def _lines_items_times(group: pl.DataFrame) -> list[_Row]:
    return [(line, item, end or 0.0) for line, item, end in group.select("line", "item", "end").iter_rows()]


def _lines_within_copy(others: list[_Row], bad: list[_Row], copies: list[CorruptedCopy]) -> list[int]:
    intact = frozenset().union(*(copy.intact for copy in copies))
    corrupted = frozenset().union(*(copy.corrupted for copy in copies))
    genuine_times = [time for _, item, time in others if item in corrupted]
    copy_times = [time for _, _, time in bad]
    return [line for line, item, time in others if item in intact and _is_nearer(time, copy_times, genuine_times)]


def _is_nearer(time: float, these: list[float], those: list[float]) -> bool:
    return not those or min(abs(time - other) for other in these) < min(abs(time - other) for other in those)
