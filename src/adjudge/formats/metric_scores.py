"""Scores of metrics: tables with one column per metric, long tables, mt-metrics-eval files, sacrebleu's JSON.

- a table (tabs or commas) with columns `system`, `segment` (optional), `document` (optional) and one per metric;
- a long table `system segment metric score`;
- `NAME.seg.score` and `NAME.sys.score`: lines of system and score, segments in order; `None` is missing;
- JSON that sacrebleu prints: a score of the whole test set for one system, named by the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.formats.delimited import read_delimited

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from adjudge.formats.delimited import Delimited

MISSING = ("", "none", "null", "na", "nan")


@dataclass(frozen=True)
class MetricScore:
    """One score: of a segment, or of the whole test set where the segment is None."""

    metric: str
    system: str
    segment: str | None
    document: str | None
    score: float | None


def read_metric_scores(paths: Iterable[Path]) -> list[MetricScore]:
    """Read any number of files of any of these forms; folders stand for the score files in them."""
    found: list[MetricScore] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.name.endswith((".seg.score", ".sys.score")))
            if not inside:
                raise InputError("is a folder without *.seg.score or *.sys.score files; name the files", file=path)
            found += [score for one in inside for score in _read_file(one)]
        else:
            found += _read_file(path)
    return found


def _read_file(path: Path) -> list[MetricScore]:
    if path.name.endswith((".seg.score", ".sys.score")):
        return _read_mtme(path)
    if path.suffix == ".json":
        return _read_sacrebleu(path)
    first = read_text(path).split("\n", 1)[0]
    table = read_delimited(path, "\t" if "\t" in first else ",")
    long = table.column("metric", required=False) is not None and table.column("score", required=False) is not None
    return _read_long(table) if long else _read_wide(table)


def _number(value: str, path: Path, line: int) -> float | None:
    if value.strip().casefold() in MISSING:
        return None
    try:
        number = float(value)
    except ValueError:
        number = float("inf")
    if abs(number) == float("inf"):
        raise InputError(f"score is '{value}', a number is needed; correct it", file=path, line=line)
    return number


def _read_long(table: Delimited) -> list[MetricScore]:
    system, metric, score = table.need("system"), table.need("metric"), table.need("score")
    segment, document = table.column("segment", required=False), table.column("document", required=False)
    return [
        MetricScore(
            fields[metric], fields[system], _optional(fields, segment), _optional(fields, document),
            _number(fields[score], table.path, line),
        )
        for line, fields in table.rows
    ]  # fmt: skip


def _optional(fields: list[str], place: int | None) -> str | None:
    return fields[place] if place is not None and fields[place] else None


def _read_wide(table: Delimited) -> list[MetricScore]:
    system = table.need("system")
    segment, document = table.column("segment", required=False), table.column("document", required=False)
    named = {system, segment, document}
    metrics = [(i, name) for i, name in enumerate(table.header) if i not in named]
    if not metrics:
        raise InputError("has no column of scores beside the systems and segments", file=table.path, line=1)
    return [
        MetricScore(
            name,
            fields[system],
            _optional(fields, segment),
            _optional(fields, document),
            _number(fields[i], table.path, line),
        )
        for line, fields in table.rows
        for i, name in metrics
    ]


def _read_mtme(path: Path) -> list[MetricScore]:
    """`NAME.seg.score`: the segments of a system are its lines in order, counted from 1."""
    metric, _, level = path.name.removesuffix(".score").rpartition(".")
    found: list[MetricScore] = []
    seen: dict[str, int] = {}
    for line, text in enumerate(read_text(path).splitlines(), start=1):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != 2:
            raise InputError(f"has {len(fields)} fields, a system and a score are needed", file=path, line=line)
        seen[fields[0]] = seen.get(fields[0], 0) + 1
        segment = str(seen[fields[0]]) if level == "seg" else None
        found.append(MetricScore(metric, fields[0], segment, None, _number(fields[1], path, line)))
    if not found:
        raise InputError("is empty; lines of system and score are needed", file=path)
    return found


def _read_sacrebleu(path: Path) -> list[MetricScore]:
    """What `sacrebleu --format json` prints, one metric or a list of them; the system is the file's name."""
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as fault:
        raise InputError(f"is not JSON ({fault.msg})", file=path, line=fault.lineno) from fault
    entries = content if isinstance(content, list) else [content]
    found = [
        MetricScore(str(one["name"]), path.stem, None, None, float(one["score"]))
        for one in entries
        if isinstance(one, dict) and isinstance(one.get("score"), int | float) and "name" in one
    ]
    if not found:
        raise InputError("holds no 'name' and 'score' as sacrebleu prints them", file=path)
    return found
