"""Appraise's batch files: the tasks handed out. They tell which rows belong to a corrupted copy of a document.

For quality control a document is shown a second time with some of its segments corrupted. The results name only those
segments; the intact ones look like ordinary judgments of the document, although people gave them within the damaged
copy. The batch says which segments the copy holds, and the times tell the two showings apart.
"""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.table.errors import DataError, InputError, UsageError, param, shown
from adjudge.table.files import PACKING_FAULTS, check_size, decode_text, parse_json, read_bytes, write_text
from adjudge.table.languages import three_letter_code
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from adjudge.table.judgments import Judgments
    from adjudge.table.texts import Span


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
        for name, text in batch_documents(path):
            for task in _tasks(text, path, name, batches):
                batches.tasks += 1
                _add_task(task, batches, path)
    return batches


def batch_documents(path: Path) -> Iterable[tuple[str, str]]:
    """The JSON files of batches with their names: one, or those of a zip archive."""
    raw = read_bytes(path)
    if not raw.startswith(ZIP_MAGIC):
        yield path.name, decode_text(raw, path)
        return
    try:
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            names = [name for name in archive.namelist() if name.lower().endswith(".json")]
            check_size(sum(archive.getinfo(name).file_size for name in names), path, what="unpacked")
            if not names:
                raise InputError(f"holds no JSON file; check {param('batches')}", file=path)
            for name in names:
                yield name, decode_text(archive.read(name), path)
    except PACKING_FAULTS as fault:
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
        raise InputError(f"{name} is JSON but not a list of tasks; check {param('batches')}", file=path)
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
        raise InputError(f"{problem}; check {param('batches')}", file=path) from fault


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
        is_bad = pl.col("kind") == "degraded"
        bad, others = (
            group.filter(which).select("line", "item", pl.col("end").fill_null(0.0)).rows()
            for which in (is_bad, ~is_bad)
        )
        copies = [
            copy for copy in batches.copies.get((page, system), []) if {item for _, item, _ in bad} <= copy.corrupted
        ]
        if copies:
            lines += _lines_within_copy(others, bad, copies)
    return lines


def _lines_within_copy(others: list[_Row], bad: list[_Row], copies: list[CorruptedCopy]) -> list[int]:
    intact = frozenset().union(*(copy.intact for copy in copies))
    corrupted = frozenset().union(*(copy.corrupted for copy in copies))
    genuine_times = [time for _, item, time in others if item in corrupted]
    copy_times = [time for _, _, time in bad]

    def distance(time: float, times: list[float]) -> float:
        return min((abs(time - other) for other in times), default=math.inf)

    return [
        line
        for line, item, time in others
        if item in intact and (not genuine_times or distance(time, copy_times) < distance(time, genuine_times))
    ]


# Error spans as Appraise writes them, and back.
# Offsets of spans that annotators marked include the last character; those of spans that were filled in beforehand
# and left as they were do not, and may run past the text. The key `error_type` tells them apart: it is there for the
# former. An omission has the word `missing` instead of offsets.

MISSING = "missing"
UNDECIDED = "undecided"
# The furthest place in a text that a span may name; beyond it the number is damaged.
LONGEST = 10**9


def parse_spans(text: str, path: Path, line: int, target: str | None = None) -> list[Span]:
    """The spans of one judgment; `target` is the judged text, where it is known, to quote from and to cut spans at."""
    if text in ("", "[]"):
        return []
    try:
        given = parse_json(text)
        # An object instead of a list comes from a tutorial: its payload are the spans.
        entries = given.get("payload", []) if isinstance(given, dict) else given
        return [read_span(entry, target) for entry in entries]
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as fault:
        problem = f"'{shown(text)}' is not a list of error spans; the file may be cut"
        raise InputError(problem, file=path, line=line) from fault


def read_span(entry: Any, target: str | None) -> Span:
    """One span as Appraise describes it."""
    category = entry.get("error_type")
    if isinstance(category, list):
        category = "/".join(str(part) for part in category if part is not None)
    span = unplaced_span(entry.get("severity"), category, entry.get("side"))
    if entry["start_i"] == MISSING:
        return {**span, "side": MISSING}
    start, end = int(entry["start_i"]), int(entry["end_i"]) + (1 if "error_type" in entry else 0)
    if not 0 <= start <= LONGEST or end > LONGEST:
        raise ValueError
    if target is not None:
        end = min(end, len(target))
        start = min(start, end)
        span["text"] = target[start:end]
    return {**span, "start": start, "end": max(start, end)}


def unplaced_span(severity: object, category: object, side: object = None) -> Span:
    """Make a span without a place; an unfinished click leaves the severity undecided."""
    return {
        "start": None,
        "end": None,
        "severity": str(severity or UNDECIDED).lower(),
        "category": str(category) if category else None,
        "side": str(side or "target"),
        "text": None,
    }


def note_undecided(spans: Iterable[Sequence[Span]]) -> list[str]:
    """A note on the spans of all judgments that have no severity, where there are such."""
    undecided = sum(span["severity"] == UNDECIDED for of_judgment in spans for span in of_judgment)
    has = f"{counted(undecided, 'error span')} {agreeing(undecided, 'has', 'have')}"
    return [f"{has} no severity (an unfinished click)"] if undecided else []


def format_spans(spans: list[Span] | None) -> str:
    """Spans as Appraise writes them when annotators marked them."""
    return json.dumps([_entry(span) for span in spans or []], ensure_ascii=False, separators=(",", ":"))


def _entry(span: Span) -> dict[str, Any]:
    missing = span["side"] == MISSING or span["start"] is None
    entry = {
        "start_i": MISSING if missing else span["start"],
        "end_i": MISSING if missing else span["end"] - 1,
        "severity": span["severity"],
        "error_type": span["category"].split("/") if span["category"] else None,
    }
    return {**entry, "side": span["side"]} if span["side"] == "source" else entry


# A judgment table as an Appraise result file: 9 columns for outputs alone, 11 for documents, 12 with error spans.
# What the format cannot hold is lost: people behind accounts (the task is written as the account where there is one),
# ranks, texts, and whether a span was filled in beforehand. Scores must be numbers; a judgment without one is refused.

COLUMNS = (9, 11, 12)
_TYPES = {
    "system": "TGT",
    "degraded": "BAD",
    "reference": "REF",
    "repeat": "CHK",
    "tutorial": "TGT",
    "calibration": "TGT",
    # Appraise has no attention checks; degraded outputs also show who pays attention.
    "attention": "BAD",
}


def write(judgments: Judgments, path: Path, *, columns: int | None = None) -> None:
    """Write a result file.

    Args:
        judgments: the table; every revision becomes a row.
        path: the file to write.
        columns: 9, 11 or 12; default: as few as hold the table's documents and error spans.
    """
    table = judgments.table
    if columns is None:
        columns = 12 if table["spans"].is_not_null().any() else 11 if table["document"].is_not_null().any() else 9
    if columns not in COLUMNS:
        raise UsageError(f"Appraise files have 9, 11 or 12 columns, not {columns}")
    unscored = table["score"].null_count()
    if unscored:
        without = counted(unscored, "judgment has", "judgments have")
        raise DataError(f"{without} no score, which Appraise files need; leave {agreeing(unscored, 'it', 'them')} out")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    if "flags" not in table.columns:
        table = table.with_columns(pl.lit(None, dtype=pl.String).alias("flags"))
    # Where times are equal or missing, the order of the rows decides which revision is the last.
    for row in table.sort("revision", maintain_order=True).with_columns(_account()).iter_rows(named=True):
        writer.writerow(_fields(row, columns))
    write_text(path, text.getvalue())


def _account() -> pl.Expr:
    """The task, as an account is one; with the person where several people did the same task."""
    people = pl.col("annotator").n_unique().over("task")
    task, person = pl.col("task").fill_null(""), pl.col("annotator").fill_null("")
    alone = pl.when(task == "").then(person).otherwise(task)
    return pl.when((people > 1) & (task != "")).then(pl.format("{}.{}", task, person)).otherwise(alone).alias("account")


def _fields(row: dict[str, Any], columns: int) -> list[str]:
    fields = [
        row["account"],
        row["system"],
        row["segment"] or "",
        _item_type(row),
        three_letter_code(row["source_lang"]),
        three_letter_code(row["target_lang"]),
        # In MQM nobody gives a score: Appraise writes 0, and it follows from the errors.
        "0" if row["protocol"] == "mqm" else f"{row['score']:.15g}",
    ]
    if columns >= 11:
        fields += ["#".join(part for part in (row["document"] or "", row["flags"]) if part), "False"]
    if columns == 12:
        fields.append(format_spans(row["spans"]))
    return [*fields, _seconds(row["started"]), _seconds(row["ended"])]


def _item_type(row: dict[str, Any]) -> str:
    # A document that was repeated whole is flagged as such, and its items are ordinary ones.
    return "TGT" if row["kind"] == "repeat" and "dup" in (row["flags"] or "") else _TYPES[row["kind"]]


def _seconds(moment: Any) -> str:
    return "" if moment is None else f"{moment.timestamp():.3f}"
