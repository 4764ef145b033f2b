"""Tasks as Appraise batches, for those who collect there: `Direct`, `Document` (also with ESA) and `Pairwise`.

Rankings have no task type in Appraise. Appraise takes tasks of exactly 100 items and leaves out all others without
saying so; therefore smaller tasks are filled up with repeats here, and larger ones are refused. Where documents are
scored, an item of its own ends each page: without it, Appraise shows all pages of a document as one, whatever their
systems. Results name a segment by `itemID` alone, so that it is the same number in every task.
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from adjudge.table.errors import DataError
from adjudge.table.files import write_text
from adjudge.table.languages import three_letter_code
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.texts import MISSING, Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from adjudge.campaigns.tasks import Item, Output, Screen, Task, TaskSet

ITEMS = 100
Row = dict[str, Any]
_WHOLE_NUMBER = re.compile(r"0{0,99}[1-9][0-9]{0,17}")
_ELSEWHERE = {"ranking": "rankings", "postedit": "post-edits", "acceptability": "yes or no"}
_TYPES = {"system": "TGT", "calibration": "TGT", "reference": "REF", "degraded": "BAD", "repeat": "CHK"}


def write_batches(tasks: TaskSet, path: Path) -> int:
    """Write the work tasks as one batch file; returns how many repeats were added to fill tasks up."""
    batches = to_batches(tasks)
    write_text(path, json.dumps(batches, ensure_ascii=False, indent=2) + "\n")
    return sum("_filled" in item for batch in batches for item in batch["items"] if not item.get("isCompleteDocument"))


def to_batches(tasks: TaskSet) -> list[dict[str, Any]]:
    """One object per task with `items` and `task`, as Appraise's commands read them."""
    if tasks.protocol in _ELSEWHERE:
        what = _ELSEWHERE[tasks.protocol]
        raise DataError(f"Appraise batches have no task type for {what}; use another protocol or 'adjudge serve'")
    work = [task for task in tasks.tasks if task.kind == "work"]
    if any(item.inclusion is not None for task in work for screen in task.screens for item in screen.items):
        raise DataError(
            "Appraise's results do not tell with which probability a segment was chosen, so that they could not be "
            "weighted; leave out design.select or use 'adjudge serve'"
        )
    if any(screen.version is not None for task in work for screen in task.screens):
        raise DataError(
            "Appraise's results do not tell the versions of a test set apart; leave out files.after or use "
            "'adjudge serve'"
        )
    large = next((task for task in work if task.size > ITEMS), None)
    if large is not None:
        raise DataError(
            f"task '{large.id}' has {large.size} items, but Appraise takes tasks of exactly {ITEMS}; "
            f"set design.task_size to {ITEMS}"
        )
    if not PROTOCOLS[tasks.protocol].relative and any(
        len(item.outputs) > 1 for task in work for screen in task.screens for item in screen.items
    ):
        raise DataError("Appraise shows one output at a time; remove design.outputs, or judge with 'adjudge serve'")
    if joined := next((system for system in (*tasks.systems, *tasks.human) if "+" in system), None):
        raise DataError(f"system '{joined}' has a '+' in its name, which Appraise takes for two systems; rename it")
    numbers = _number_segments(tasks)
    return [
        {"items": _complete_task(tasks, _make_items(tasks, task), numbers), "task": _describe_batch(tasks, task, i)}
        for i, task in enumerate(work, start=1)
    ]


def _number_segments(tasks: TaskSet) -> dict[str, int]:
    """A number for every segment by its `sourceID`: its own where that is one, else one of the whole test set."""
    segments = {
        _source_id(screen, item): (screen.document, item.segment)
        for task in tasks.tasks
        for screen, item, _ in task.outputs()
    }
    numbered = {name: int(segment) for name, (_, segment) in segments.items() if _WHOLE_NUMBER.fullmatch(segment)}
    # Where results name the document, the numbers of each may begin anew.
    documents_named = all(_has_pages(task) for task in tasks.tasks if task.kind == "work")
    if len(numbered) == len(segments) and (documents_named or len(set(numbered.values())) == len(numbered)):
        return numbered
    ordered = sorted(segments, key=lambda name: (segments[name][0], numbered.get(name, 0), segments[name][1]))
    return {name: number for number, name in enumerate(ordered, start=1)}


def _has_pages(task: Task) -> bool:
    return any(len(screen.items) > 1 for screen in task.screens)


def _complete_task(tasks: TaskSet, rows: list[Row], numbers: dict[str, int]) -> list[Row]:
    """The items of a task with their numbers, filled up, and with those that end documents."""
    rows = [{**row, "itemID": numbers[row["sourceID"]]} for row in rows]
    rows += [_repeat(rows[i % len(rows)], 1 + i // len(rows)) for i in range(ITEMS - len(rows))]
    # Where no errors are marked, Appraise asks for a score of the whole document, too.
    if "documentID" in rows[0] and PROTOCOLS[tasks.protocol].needed_column == "score":
        rows = list(_add_document_items(rows))
    return [{**row, "_item": i} for i, row in enumerate(rows)]


def _repeat(row: Row, time: int) -> Row:
    """An item that fills up a task, marked in a key that Appraise does not store."""
    again = {**row, "itemType": "CHK", "_filled": True}
    if "documentID" in row:
        again["documentID"] = f"{row['documentID']}#duplicate{time}"
    return again


def _add_document_items(rows: Iterable[Row]) -> Iterator[Row]:
    """The items, page by page, each page with the item by which the whole is scored."""
    for _, group in groupby(rows, key=lambda row: (row["_block"], row["documentID"])):
        page = list(group)
        yield from page
        whole = {name: " ".join(row[name] or "" for row in page) for name in ("sourceText", "targetText")}
        last = page[-1]["itemID"] + 1
        context = {"sourceContextLeft": "", "targetContextLeft": ""}
        yield {**page[-1], **whole, **context, "itemID": last, "isCompleteDocument": True}


def _describe_batch(tasks: TaskSet, task: Task, number: int) -> dict[str, Any]:
    return {
        "batchNo": number,
        "batchSize": ITEMS,
        "randomSeed": tasks.seed,
        "requiredAnnotations": task.judgments,
        "sourceLanguage": three_letter_code(tasks.source_lang),
        "targetLanguage": three_letter_code(tasks.target_lang),
    }


def _make_items(tasks: TaskSet, task: Task) -> list[dict[str, Any]]:
    marked = PROTOCOLS[tasks.protocol].marked
    pages = marked or _has_pages(task)
    rows: list[dict[str, Any]] = []
    for block, screen in enumerate(task.screens):
        for item in screen.items:
            row = _make_row(screen, item, len(rows), in_pairs=PROTOCOLS[tasks.protocol].in_pairs)
            if pages:
                left = screen.items[: screen.items.index(item)]
                row |= {
                    "documentID": screen.document,
                    "isCompleteDocument": False,
                    "sourceContextLeft": " ".join(item.source or "" for item in left),
                    "targetContextLeft": " ".join(item.outputs[0].text for item in left),
                }
            if marked:
                row["documentID"] = _page_id(screen)
                row["mqm"] = [_make_span(mark) for mark in item.outputs[0].prefilled]
            rows.append({**row, "_block": block})
    return rows


def _make_row(screen: Screen, item: Item, number: int, *, in_pairs: bool) -> dict[str, Any]:
    kinds = [_item_type(output) for output in item.outputs]
    row = {
        "itemID": number + 1,
        "itemType": next((kind for kind in ("BAD", "REF", "CHK") if kind in kinds), "TGT"),
        "sourceID": _source_id(screen, item),
        # Where the reference is shown instead of the source, Appraise takes it in the source's place.
        "sourceText": item.source if item.source is not None else item.reference,
    }
    if not in_pairs:
        output = item.outputs[0]
        return {**row, "targetID": "+".join(output.systems), "targetText": output.text}
    return {
        **row,
        "targetsSize": len(item.outputs),
        "targets": [
            {"_itemAll": number, "_target": i, "targetID": "+".join(output.systems), "targetText": output.text}
            for i, output in enumerate(item.outputs)
        ],
    }


def _make_span(mark: Mark) -> dict[str, Any]:
    """A mark that annotators find: its end is not included, and it has no type as those that they make have."""
    missing = mark.start is None
    offsets = {"start_i": MISSING if missing else mark.start, "end_i": MISSING if missing else mark.end}
    return {**offsets, "severity": mark.severity}


def _page_id(screen: Screen) -> str:
    """A name for a page of its own, as campaigns with error spans have it: no item ends a document there."""
    output = screen.items[0].outputs[0]
    flag = {"degraded": "#bad", "repeat": "#dup"}.get(output.kind, "")
    return f"{screen.document}#{'+'.join(output.systems)}{flag}"


def _source_id(screen: Screen, item: Item) -> str:
    return f"{screen.document}#{item.segment}"


def _item_type(output: Output) -> str:
    if output.kind not in _TYPES:
        raise DataError(f"Appraise batches have no item type for '{output.kind}'; remove these controls")
    return _TYPES[output.kind]
