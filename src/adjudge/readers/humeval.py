"""Judgments as the general translation task releases them since 2023: JSON lines, one segment each.

A line holds the segment (`doc_id`, `src_text`), the outputs (`tgt_text`) and under `scores`, for every system, what
people said of it: a list of answers, one answer, or answers numbered by their round (`human1`, `annotator1`). Another
release of the same judgments has one answer per line (`system`, `esa_score`, `esa_spans`). Both are read.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from adjudge.readers.appraise_batches import note_undecided, read_span
from adjudge.readers.parsing import SECTION, common_columns, json_files, json_lines, pair_of_item, read_each
from adjudge.table.errors import InputError, param, shown
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.participants import mark_humans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions

_ROUND = re.compile(r"(human|score|errors|annotator|times|protocol)([0-9]{1,9})")
_SCORES = ("score", "human", "esa_score")
_HIGHEST, _LOWEST = 100.0, -1e6
_LATEST = 4e9
_PROTOCOLS = {"esa": "esa", "mqm": "mqm", "da": "da", "sqm": "sqm", "da+sqm": "sqm"}
_NONE = "line that is no judged segment"
Entry = dict[str, Any]


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files, or the .jsonl files of a folder; each becomes a campaign named after it."""
    return read_each(json_files(paths), options, _read_file)


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    entries, bad = json_lines(path, options, needed="one JSON line per judged segment")
    # Annotators' spans include their last character; `error_type` marks spans as theirs. A release that took this key
    # from all spans holds annotators' spans only.
    typed = any('"error_type"' in json.dumps(entry) for _, _, entry in entries)
    rows: list[Entry] = []
    unscored = 0
    for row, text, entry in entries:
        if not isinstance(entry, dict) or "doc_id" not in entry or not ({"scores", "esa_score"} & entry.keys()):
            bad.row(
                row,
                f"'{shown(text)}' is no judged segment: it needs 'doc_id' and 'scores'; check {param('format')}",
                _NONE,
            )
            continue
        try:
            answers = [_add_spans(answer, typed=typed) for answer in _make_rows(entry)]
            rows += answers
            unscored += not answers
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as fault:
            bad.row(
                row, f"is no judged segment ({type(fault).__name__}: {shown(fault)}); check {param('format')}", _NONE
            )
    spoilt, row_notes = bad.settle()
    scored = [row for row in rows if row["score"] is not None]
    if not scored:
        raise InputError("holds no score; check that this is the file with the judgments", file=path)
    notes = [f"{path.name}: {note}" for note in note_undecided(row["spans"] for row in scored)]
    left_out = [SetAside("no score was given", len(rows) - len(scored))]
    left_out += [SetAside("segment without any answer", unscored), *spoilt]
    protocol = _protocol(scored)
    columns = {
        **common_columns(scored, path, options),
        "campaign": [campaign] * len(scored),
        "protocol": [_PROTOCOLS.get(row["protocol"], protocol) for row in scored],
        "screen": [_page(row) for row in scored],
        "active_seconds": [None if row["started"] is None else row["ended"] - row["started"] for row in scored],
        "revision": _revisions(scored),
    }
    judgments = Judgments.from_columns(columns, set_aside=left_out, notes=[*notes, *row_notes], source=str(path))
    return mark_humans(judgments, options.human, given=("kind",))


def _make_rows(entry: Entry) -> Iterator[Entry]:
    """One row for every answer about every system."""
    if "scores" not in entry:
        segment = f"{entry['doc_id']}{SECTION}{entry['line_id']}"
        answer = {**entry, "errors": entry.get("esa_spans")}
        yield _row(segment, str(entry["system"]), answer, entry.get("tgt"), str(entry.get("langs") or segment))
        return
    segment, targets = str(entry["doc_id"]), entry.get("tgt_text") or {}
    for system, given in entry["scores"].items():
        for answer in _answers(given):
            yield _row(segment, str(system), answer, targets.get(system), segment)


def _answers(given: Any) -> Iterator[Entry]:
    """The answers about one system: a list of them, one alone, or several numbered by their round."""
    if isinstance(given, list):
        yield from given
        return
    if not isinstance(given, dict):
        yield {"score": given}
        return
    rounds: dict[int, Entry] = {}
    for key, value in given.items():
        if match := _ROUND.fullmatch(key):
            rounds.setdefault(int(match[2]), {})[match[1]] = value
    yield from [rounds[number] for number in sorted(rounds)] if rounds else [given]


def _row(segment: str, system: str, answer: Entry, target: Any, named_in: str) -> Entry:
    document, between, _ = segment.rpartition(SECTION)
    started, ended = _times(answer.get("times"))
    annotator = answer.get("annotator")
    return {
        "segment": segment, "document": document if between else None, "system": system,
        "annotator": None if annotator is None else str(annotator), "score": _score(answer),
        "errors": answer.get("errors"), "target": target if isinstance(target, str) else None,
        "protocol": str(answer.get("protocol") or "").lower(), "pair": pair_of_item(named_in),
        "started": started, "ended": ended,
    }  # fmt: skip


def _score(answer: Entry) -> float | None:
    given = next((answer[name] for name in _SCORES if answer.get(name) is not None), None)
    if given is None or isinstance(given, bool):
        return None
    number = float(given)
    if math.isnan(number):
        return None
    if not _LOWEST <= number <= _HIGHEST:
        raise ValueError(f"score {number:g}, it must not be above {_HIGHEST:g}")
    return number


def _times(given: Any) -> tuple[float | None, float | None]:
    times = [float(time) for time in given or () if time is not None]
    times = [time for time in times if 0 < time < _LATEST]
    return (min(times), max(times)) if len(times) > 1 else (None, None)


def _add_spans(row: Entry, *, typed: bool) -> Entry:
    marked = {} if typed else {"error_type": None}
    try:
        return {**row, "spans": [read_span({**marked, **error}, row["target"]) for error in row["errors"] or ()]}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as fault:
        raise ValueError("an error span without start, end or severity") from fault


def _page(row: Entry) -> str | None:
    """Name what was shown together: a document by a system, or a single segment if the document is not known."""
    if row["annotator"] is None:
        return None
    return " ".join((row["annotator"], row["document"] or row["segment"], row["system"]))


def _protocol(rows: list[Entry]) -> str:
    """Guess the protocol of answers that do not say it: errors with points lost are MQM, errors with a score ESA."""
    if any(row["score"] < 0 for row in rows):
        return "mqm"
    return "esa" if any(row["errors"] is not None for row in rows) else "da"


def _revisions(rows: list[Entry]) -> list[int]:
    """Answers of one person to one output, the earlier before the later; those of unknown people all count as first."""
    order = sorted(range(len(rows)), key=lambda i: (rows[i]["ended"] or 0.0, i))
    seen: Counter[tuple[str, str, str]] = Counter()
    numbers = [1] * len(rows)
    for i in order:
        row = rows[i]
        if row["annotator"] is not None:
            key = (row["annotator"], row["segment"], row["system"])
            seen[key] += 1
            numbers[i] = seen[key]
    return numbers
