"""Tasks as Appraise batches, for those who collect there: `Direct`, `Document` (also with ESA) and `Pairwise`.

Rankings have no task type in Appraise. Appraise takes tasks of exactly 100 items and leaves out all others without
saying so; therefore smaller tasks are filled up with repeats here, and larger ones are refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import DataError
from adjudge.core.files import write_text
from adjudge.core.languages import three_letter_code
from adjudge.core.spans import MISSING
from adjudge.design.marking import MARKED

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.spans import Mark
    from adjudge.design.tasks import Item, Output, Screen, Task, TaskSet

ITEMS = 100
_TYPES = {"system": "TGT", "calibration": "TGT", "reference": "REF", "degraded": "BAD", "repeat": "CHK"}


def write_batches(tasks: TaskSet, path: Path) -> int:
    """Write the work tasks as one batch file; returns how many repeats were added to fill tasks up."""
    batches = to_batches(tasks)
    write_text(path, json.dumps(batches, ensure_ascii=False, indent=2) + "\n")
    return sum("_filled" in item for batch in batches for item in batch["items"])


def to_batches(tasks: TaskSet) -> list[dict[str, Any]]:
    """One object per task with `items` and `task`, as Appraise's commands read them."""
    if tasks.protocol == "ranking":
        raise DataError("Appraise batches have no task type for rankings; use another protocol or 'adjudge serve'")
    work = [task for task in tasks.tasks if task.kind == "work"]
    large = next((task for task in work if task.size > ITEMS), None)
    if large is not None:
        raise DataError(
            f"task '{large.id}' has {large.size} items, but Appraise takes tasks of exactly {ITEMS}; "
            f"set design.task_size to {ITEMS}"
        )
    return [
        {"items": _filled(_items(tasks, task)), "task": _head(tasks, task, i)} for i, task in enumerate(work, start=1)
    ]


def _filled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items and, up to 100, the first of them again as repeats, marked in a key that Appraise does not store."""
    filled = list(rows)
    while len(filled) < ITEMS:
        number = len(filled)
        again = {**rows[(number - len(rows)) % len(rows)], "itemID": number + 1, "_item": number, "_filled": True}
        again["itemType"] = "CHK"
        if "documentID" in again:
            again["documentID"] += "#duplicate1"
        filled.append(again)
    return filled


def _head(tasks: TaskSet, task: Task, number: int) -> dict[str, Any]:
    return {
        "batchNo": number,
        "batchSize": ITEMS,
        "randomSeed": tasks.seed,
        "requiredAnnotations": task.judgments,
        "sourceLanguage": three_letter_code(tasks.source_lang),
        "targetLanguage": three_letter_code(tasks.target_lang),
    }


def _items(tasks: TaskSet, task: Task) -> list[dict[str, Any]]:
    marked = tasks.protocol in MARKED
    pages = marked or any(len(screen.items) > 1 for screen in task.screens)
    rows: list[dict[str, Any]] = []
    for block, screen in enumerate(task.screens):
        for item in screen.items:
            make = _pair if tasks.protocol == "pairwise" else _segment
            row = make(screen, item, len(rows))
            if pages:
                left = screen.items[: screen.items.index(item)]
                row |= {
                    "documentID": screen.document,
                    "isCompleteDocument": False,
                    "sourceContextLeft": " ".join(one.source or "" for one in left),
                    "targetContextLeft": " ".join(one.outputs[0].text for one in left),
                }
            if marked:
                row["mqm"] = [_span(mark) for mark in item.outputs[0].prefilled]
            rows.append({**row, "_block": block, "_item": len(rows)})
    return rows


def _segment(screen: Screen, item: Item, number: int) -> dict[str, Any]:
    output = item.outputs[0]
    return {
        "itemID": number + 1,
        "itemType": _type(output),
        "sourceID": f"{screen.document}#{item.segment}",
        # Where the reference is shown instead of the source, Appraise takes it in the source's place.
        "sourceText": item.source if item.source is not None else item.reference,
        "targetID": "+".join(output.systems),
        "targetText": output.text,
    }


def _pair(screen: Screen, item: Item, number: int) -> dict[str, Any]:
    kinds = [_type(output) for output in item.outputs]
    known = next((kind for kind in ("BAD", "REF", "CHK") if kind in kinds), "TGT")
    return {
        "itemID": number + 1,
        "itemType": known,
        "sourceID": f"{screen.document}#{item.segment}",
        "sourceText": item.source if item.source is not None else item.reference,
        "targetsSize": len(item.outputs),
        "targets": [
            {"_itemAll": number, "_target": i, "targetID": "+".join(output.systems), "targetText": output.text}
            for i, output in enumerate(item.outputs)
        ],
    }


def _span(mark: Mark) -> dict[str, Any]:
    """A mark that annotators find: its end is not included, and it has no type as those that they make have."""
    missing = mark.start is None
    place = {"start_i": MISSING if missing else mark.start, "end_i": MISSING if missing else mark.end}
    return {**place, "severity": mark.severity}


def _type(output: Output) -> str:
    if output.kind not in _TYPES:
        raise DataError(f"Appraise batches have no item type for '{output.kind}'; remove these controls")
    return _TYPES[output.kind]
