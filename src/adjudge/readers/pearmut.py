"""Pearmut's log of annotations: JSON lines, one per submitted document, with the items shown and what was said of them.

The lines may also be the lists of one object, `annotations.json`, whose keys are campaigns or language pairs.

A reset marker voids the earlier lines of its user, of its document, or of both. A document that was submitted again has
several revisions. Tutorials (`welcome_`, `goodbye_`, or skippable) and attention checks (`random_`) are told apart by
their kind. Where a campaign has several sliders, each is a campaign of its own, named after it.

Both ends of an error span are included. The browser counts UTF-16 units and skips line breaks, which are no characters
on its page. Behind the text stands the word [missing]; a span that begins there marks an omission.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adjudge.readers.appraise_batches import LONGEST, unplaced_span
from adjudge.readers.mqm import score_spans
from adjudge.readers.parsing import (
    SECTION,
    BadRows,
    common_columns,
    json_files,
    json_lines,
    pair_of_item,
    read_each,
    stem,
)
from adjudge.table.errors import InputError, Source, param, shown
from adjudge.table.files import parse_json, read_text
from adjudge.table.judgments import Judgments, SetAside, concat, fingerprint
from adjudge.table.languages import pair_in_name
from adjudge.table.participants import mark_humans
from adjudge.table.texts import MISSING, Span
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions

RESET = "__RESET__"
TUTORIAL, CHECK = "_#_tutorial_#_", "attention_check_"
"""In the names of items that are no judgments of the campaign."""
_VERSION = re.compile(r"\s+v[0-9]+$", re.IGNORECASE)
_NONE = "line that is no submitted document"
# The standard slider; sliders that a campaign defines have scales of their own.
_SCALE = (0.0, 100.0)
_SCORES = (-1e6, 1e6)
_TIMES = (0.0, 4e9)
Entry = dict[str, Any]
Row = dict[str, Any]


class _OffScaleError(Exception):
    """A score that the slider cannot give."""


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read logs, or those among the files of a folder; each becomes a campaign named after it."""
    return read_each(json_files(paths), options, _read_file)


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    campaigns = _campaigns_in(path)
    if campaigns:
        parts = [_read_campaign(path, name, given, options) for name, given in campaigns.items() if given]
        return concat(parts)
    lines, bad = json_lines(path, options, needed="one JSON line per submitted document")
    entries: list[tuple[int, Entry]] = []
    for row, text, entry in lines:
        if isinstance(entry, dict) and "annotation" in entry:
            entries.append((row, entry))
        else:
            bad.row(
                row, f"'{shown(text)}' is no submitted document: it has no 'annotation'; check {param('format')}", _NONE
            )
    return _read_entries(path, campaign, entries, bad, options)


def _campaigns_in(path: Path) -> dict[str, list[Any]]:
    """The submitted documents by campaign, in a file that is one object of them; empty for a log."""
    try:
        content = parse_json(read_text(path))
    except ValueError:
        return {}
    is_object = isinstance(content, dict) and content and all(isinstance(given, list) for given in content.values())
    return content if is_object and "annotation" not in content else {}


def _read_campaign(path: Path, name: str, given: Sequence[Any], options: ReadOptions) -> Judgments:
    """One campaign of such an object; one that is called after its languages is the file's campaign in them."""
    plain_name = _VERSION.sub("", name).strip()
    pair = pair_in_name(plain_name)
    bad = BadRows(Source(f"{path}, campaign '{shown(name)}'"), options, len(given))
    entries = [(row, entry) for row, entry in enumerate(given) if isinstance(entry, dict) and "annotation" in entry]
    known = {row for row, _ in entries}
    for row in range(len(given)):
        if row not in known:
            bad.row(row, "is no submitted document: it has no 'annotation'; check the export", _NONE)
    return _read_entries(path, stem(path) if pair else plain_name, entries, bad, options, pair=pair)


def _read_entries(
    path: Path,
    campaign: str,
    entries: list[tuple[int, Entry]],
    bad: BadRows,
    options: ReadOptions,
    *,
    pair: tuple[str, str] | None = None,
) -> Judgments:
    """The judgments in submitted documents; `pair` are the languages of items that do not name any."""
    counts: Counter[str] = Counter()
    kept = _drop_voided(entries, counts)
    rows: list[Row] = []
    for number, entry in kept:
        try:
            rows += [row | {"pair": row["pair"] or pair} for row in _make_rows(entry, counts)]
        except _OffScaleError as fault:
            bad.row(number, str(fault), "document with a score off the scale")
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as fault:
            what = f"({type(fault).__name__}: {shown(fault)})"
            bad.row(number, f"is not a submitted document as Pearmut writes it {what}", _NONE)
    spoilt, row_notes = bad.settle()
    if not rows:
        raise InputError("holds no score; check that annotation has begun", file=path)
    judgments = _judgments(rows, path, campaign, counts, options)
    return replace(judgments, set_aside=(*judgments.set_aside, *spoilt), notes=(*judgments.notes, *row_notes))


def _drop_voided(entries: list[tuple[int, Entry]], counts: Counter[str]) -> list[tuple[int, Entry]]:
    """The lines that no later reset marker voids; a marker without user or document is for all of them."""
    void: set[tuple[str | None, str | None]] = set()
    kept: list[tuple[int, Entry]] = []
    for line, entry in reversed(entries):
        user, item = _text_or_none(entry.get("user_id")), _text_or_none(entry.get("item_i"))
        if entry["annotation"] == RESET:
            void.add((user, item))
        elif void & {(user, item), (user, None), (None, item), (None, None)}:
            counts["voided"] += 1
        else:
            kept.append((line, entry))
    return kept[::-1]


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _make_rows(entry: Entry, counts: Counter[str]) -> Iterator[Row]:
    """One row for every system of every item of a submitted document."""
    annotations = entry["annotation"] if isinstance(entry["annotation"], list) else [entry["annotation"]]
    items = entry.get("item") or [{}] * len(annotations)
    items = items if isinstance(items, list) else [items]
    if len(items) != len(annotations):
        raise ValueError(f"{counted(len(items), 'item')} and {counted(len(annotations), 'annotation')}")
    user, page = _text_or_none(entry.get("user_id")), _text_or_none(entry.get("item_i"))
    segments = [_segment(item, f"{page}.{number}") for number, item in enumerate(items)]
    document = segments[0].rsplit(SECTION, 1)[0] if segments else None
    given = [(number, systems) for number, systems in enumerate(annotations) if systems and "form" not in items[number]]
    counts["form"] += len(annotations) - len(given)
    started, ended = _times(entry)
    judged = sum(len(systems) for _, systems in given) or 1
    for number, systems in given:
        pair = pair_of_item(str(items[number].get("item_id") or items[number].get("doc_id") or ""))
        common = {
            "annotator": user, "task": user, "screen": page, "document": document, "segment": segments[number],
            "kind": _kind(page or "", items[number]), "pair": pair, "started": started, "ended": ended,
            "active_seconds": None if started is None or ended is None else (ended - started) / judged,
            # One comment for the whole document: it stands with the first item.
            "comment": entry.get("comment") if number == given[0][0] else None,
        }  # fmt: skip
        for system, answer in systems.items():
            text = (items[number].get("tgt") or {}).get(system)
            yield from _answers({**common, "system": str(system)}, answer, text, counts)


def _answers(common: Row, answer: Entry, target: str | None, counts: Counter[str]) -> Iterator[Row]:
    """One row, or one per slider."""
    spans = [read_span(span, target) for span in answer.get("error_spans") or []]
    sliders = answer.get("sliders") or {}
    several = sliders.items() if sliders else [("", answer.get("score"))]
    for slider, given in several:
        # Without a score, errors with categories imply one, as in MQM.
        value = score_spans(spans) if given is None and any(span["category"] for span in spans) else given
        if value is None:
            counts["unscored"] += 1
            continue
        number = float(value)
        low, high = _SCALE if given is not None and not sliders else _SCORES
        if not low <= number <= high:
            raise _OffScaleError(f"score is {number:g}, it must lie between {low:g} and {high:g}; correct it")
        text = answer.get("textfield") or common["comment"]
        yield {**common, "slider": str(slider), "score": number, "spans": spans, "text": str(text) if text else None}


def _segment(item: Entry, otherwise: str) -> str:
    """The item's id; without one, a name made from the source text, so that it is the same for everybody."""
    # Older versions called it a document's id.
    for name in ("item_id", "doc_id"):
        if item.get(name) is not None:
            return str(item[name])
    text = item.get("src") or item.get("ref")
    return f"src-{fingerprint(str(text))}" if text else otherwise


def _kind(page: str, item: Entry) -> str:
    name = str(item.get("item_id") or "")
    if page.startswith(("welcome_", "goodbye_")) or item.get("skippable") or TUTORIAL in name:
        return "tutorial"
    return "attention" if page.startswith("random_") or name.startswith(CHECK) else "system"


def _times(entry: Entry) -> tuple[float | None, float | None]:
    times = [float(time["time"]) for time in entry.get("actions") or [] if "time" in time]
    times = [time for time in times if _TIMES[0] <= time <= _TIMES[1]]
    return (min(times), max(times)) if times else (None, None)


def _judgments(rows: list[Row], path: Path, campaign: str, counts: Counter[str], options: ReadOptions) -> Judgments:
    columns = {
        **common_columns(rows, path, options, also=("task", "screen", "kind", "text", "active_seconds")),
        "campaign": [f"{campaign}/{row['slider']}" if row["slider"] else campaign for row in rows],
        "protocol": [_protocol(rows)] * len(rows),
        "revision": _revisions(rows),
    }
    left_out = [
        SetAside("submitted document that a reset voided", counts["voided"]),
        SetAside("form or skipped item, not a judgment", counts["form"]),
        SetAside("no score was given", counts["unscored"]),
    ]
    judgments = Judgments.from_columns(columns, set_aside=left_out, source=str(path))
    return mark_humans(judgments, options.human, given=("kind",))


def _protocol(rows: list[Row]) -> str:
    spans: list[Span] = [span for row in rows for span in row["spans"]]
    return "mqm" if any(span["category"] for span in spans) else "esa" if spans else "da"


def _revisions(rows: list[Row]) -> list[int]:
    seen: Counter[tuple[Any, ...]] = Counter()
    numbers: list[int] = []
    for row in rows:
        key = tuple(row[name] for name in ("annotator", "screen", "document", "segment", "system", "kind", "slider"))
        seen[key] += 1
        numbers.append(seen[key])
    return numbers


def read_span(entry: dict[str, Any], target: str | None) -> Span:
    """Read one span; `target` is the judged text, where the log holds it."""
    span = unplaced_span(entry.get("severity"), entry.get("category"))
    if entry["start_i"] == MISSING:
        return {**span, "side": MISSING}
    first, last = int(entry["start_i"]), int(entry["end_i"])
    if not 0 <= first <= last <= LONGEST:
        raise ValueError(first, last)
    if target is None:
        return {**span, "start": first, "end": last + 1}
    characters = _browser_units(target)
    if first >= len(characters):
        return {**span, "side": MISSING}
    start, end = characters[first], characters[min(last, len(characters) - 1)] + 1
    return {**span, "start": start, "end": end, "text": target[start:end]}


def _browser_units(text: str) -> list[int]:
    """For every unit that the browser counts, which code point of the text it is part of."""
    return [
        position
        for position, character in enumerate(text)
        if character != "\n"
        for _ in range(2 if ord(character) > 0xFFFF else 1)
    ]
