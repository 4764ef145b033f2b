"""Error spans as Appraise writes them, and back.

Offsets of spans that annotators marked include the last character; those of spans that were filled in beforehand and
left as they were do not, and may run past the text. The key `error_type` tells them apart: it is there for the former.
An omission has the word `missing` instead of offsets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import InputError, shown

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.spans import Span

MISSING = "missing"
UNDECIDED = "undecided"
# The furthest place in a text that a span may name; beyond it the number is damaged.
LONGEST = 10**9


def parse_spans(text: str, path: Path, line: int, target: str | None = None) -> list[Span]:
    """The spans of one judgment; `target` is the judged text, where it is known, to quote from and to cut spans at."""
    if text in ("", "[]"):
        return []
    try:
        given = json.loads(text)
        # An object instead of a list comes from a tutorial: its payload are the spans.
        entries = given.get("payload", []) if isinstance(given, dict) else given
        return [read_span(entry, target) for entry in entries]
    except (RecursionError, AttributeError, KeyError, TypeError, ValueError, OverflowError) as fault:
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
