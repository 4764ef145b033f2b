"""What reading a fuzzed input comes to: read, explained, or a fault of adjudge, silent loss among them.

Nothing may be lost without a word: where one record of a file is damaged, all others come out as they do without it,
or are counted among what was set aside; and what the damaged one held is in the table, or set aside, or the file is
refused.
"""

from __future__ import annotations

import traceback
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.helpers.record_files import FILES

from adjudge.table.errors import AdjudgeError
from bench.fuzz_inputs import OPTIONS, SIDE_TABLES, FuzzInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.table.judgments import Judgments

LONGEST_MESSAGE = 3000
_ANSWER = ("annotator", "document", "segment", "system", "kind", "score", "rank")
# Segments are numbered by line here, so that those behind a record that is not there have other numbers.
_NUMBERED = ("metric-scores",)


class TooLongError(Exception):
    """An input took longer than it may."""


def outcome(fuzzed: FuzzInput, folder: Path) -> tuple[str, str]:
    """What came of an input, and details where it is a fault."""
    try:
        return _read_record(fuzzed, folder) if fuzzed.record is not None else _read(fuzzed, folder)
    except AdjudgeError as fault:
        message = str(fault)
        usable = message.isprintable() and len(message) < LONGEST_MESSAGE
        return ("explained", "") if usable else ("unreadable", message[:LONGEST_MESSAGE])
    except TooLongError:
        raise
    except BaseException:  # noqa: BLE001, whatever it is, it is what the bench looks for
        return "traceback", traceback.format_exc(limit=-6)


def _read(fuzzed: FuzzInput, folder: Path) -> tuple[str, str]:
    kind, _, rest = fuzzed.target.partition("/")
    file = folder / (rest if "." in rest else "input.csv")
    file.write_bytes(fuzzed.raw)
    if fuzzed.target in OPTIONS:
        _read_with_options(kind, rest, file, OPTIONS[fuzzed.target])
    else:
        _READERS.get(kind, _read_judgments)(kind, file)
    return "read", ""


def _read_with_options(kind: str, name: str, file: Path, given: Mapping[str, Any]) -> None:
    """Read a table with options, or a table beside a damaged file that an option names."""
    from adjudge.readers.registry import read

    options = {"bad_rows": 0.01 if "strict" in given else 1.0, "format": None if kind == "side" else kind, **given}
    if kind == "side":
        beside = {"a": file, ("a",): (file,)}
        options = {key: beside.get(value, value) if key != "format" else value for key, value in options.items()}
        table = file.with_name("table.csv")
        table.write_bytes(SIDE_TABLES[name])
        file = table
    read(file, **options)


def _read_history(_: str, file: Path) -> None:
    from adjudge.evidence.look import read_history

    read_history(file)


def _read_texts(_: str, file: Path) -> None:
    from adjudge.readers.texts import read_column

    read_column(file, names=("source",))


def _read_metrics(_: str, file: Path) -> None:
    from adjudge.readers.metric_scores import read_metric_scores

    read_metric_scores([file])


def _read_campaign(_: str, file: Path) -> None:
    from adjudge.campaigns.campaign_file import load_campaign

    for text in ("s.txt", "a.txt"):
        file.with_name(text).write_text("A cat.\n", encoding="utf-8")
    load_campaign(file)


def _read_tasks(_: str, file: Path) -> None:
    from adjudge.campaigns.tasks import load_tasks, parse_tasks, to_json

    tasks = load_tasks(file)
    if parse_tasks(to_json(tasks), file) != tasks:
        raise RuntimeError("tasks that do not come back")


def _read_edits(kind: str, file: Path) -> None:
    from adjudge.readers import post_edits

    {"edits": post_edits.read_post_edits, "predictions": post_edits.read_predictions}.get(
        kind, post_edits.read_document_scores
    )(file)


def _read_published(_: str, file: Path) -> None:
    from adjudge.readers.published import read_published

    read_published(file)


_READERS = {
    "texts": _read_texts, "metrics": _read_metrics, "campaign": _read_campaign, "tasks": _read_tasks,
    "published": _read_published, "edits": _read_edits, "predictions": _read_edits, "gold": _read_edits,
    "history": _read_history,
}  # fmt: skip


def _read_judgments(kind: str, file: Path) -> None:
    from adjudge.readers.registry import read

    ranks = ("a_rank", "b_rank", "c_rank") if kind == "rank-table" else ()
    wide = ("x", "y") if kind == "judgments" and file.read_bytes().startswith(b"id;rater") else ()
    if not len(read(file, format=kind, bad_rows=1.0, rank_columns=ranks, systems=wide)):
        raise RuntimeError("an empty table")


def _read_record(fuzzed: FuzzInput, folder: Path) -> tuple[str, str]:
    """Read a file with one damaged record, and look for what is missing."""
    name = fuzzed.target.partition("#")[2]
    after = _judgments(name, fuzzed.raw, folder)
    rest = _of_others(name, fuzzed.others, str(folder))
    whole = _of_others(name, _whole(name), str(folder))
    aside = _set_aside(after) - _set_aside(rest)
    if _NUMBERED[0] == FILES[name].format:
        lost = len(whole) - len(after) - _set_aside(after)
        return ("read", "") if lost <= 0 else ("silent loss", f"{lost} rows are neither used nor set aside")
    missing = sum((_rows(rest) - _rows(after)).values())
    if missing > max(aside, 0):
        return "silent loss", f"{missing} rows of other records are missing, {aside} more are set aside"
    expected, came = len(whole) - len(rest), len(after) - len(rest)
    explained = aside > 0 or bool(set(after.notes) - set(rest.notes))
    # What is left of a cut record, or stands in its place, may be whole in itself.
    changed = fuzzed.mutation.startswith(("cut", "scores is", "annotation is"))
    if came < (min(expected, 1) if changed else expected) and not explained and not _nothing(fuzzed):
        return "silent loss", f"{came} of {expected} rows of the record came, nothing was set aside"
    return "read", ""


def _nothing(fuzzed: FuzzInput) -> bool:
    """Whether the damage left nothing of the record."""
    return len(fuzzed.raw.split()) <= len(fuzzed.others.split())


def _judgments(name: str, raw: bytes, folder: Path) -> Judgments:
    from adjudge.readers.registry import read

    file = FILES[name]
    path = folder / file.name
    path.write_bytes(raw)
    reading: dict[str, Any] = dict(file.reading)
    return read(path, format=file.format, bad_rows=1.0, **reading)


@lru_cache(maxsize=5000)
def _of_others(name: str, raw: bytes, folder: str) -> Judgments:
    return _judgments(name, raw, Path(folder))


def _whole(name: str) -> bytes:
    file = FILES[name]
    return ("\n".join([*([file.header] if file.header else []), *file.rows]) + "\n").encode()


def _set_aside(judgments: Judgments) -> int:
    return sum(part.rows for part in judgments.set_aside)


def _rows(judgments: Judgments) -> Counter[tuple[object, ...]]:
    return Counter(judgments.table.select(_ANSWER).rows())
