"""Label Studio's JSON export as rows: one per annotation of a task, with the task's data and every answer by its name.

A task has `data` (what was shown) and `annotations`, each with the answers of one person (`result`). An answer stands
under the name of its control (`from_name`): a rating or number as such, a choice as its word, the side of a pairwise
comparison as `left` or `right`. Cancelled annotations are no judgments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.core.errors import InputError, shown
from adjudge.core.wording import agreeing, counted

if TYPE_CHECKING:
    from pathlib import Path

# Keys of a result's value that hold the answer; each type of control has its own.
_ANSWERS = ("rating", "number", "choices", "selected", "text", "ranker", "taxonomy")


def is_export(rows: list[Any]) -> bool:
    """Whether JSON is an export of Label Studio."""
    first = rows[0] if rows else None
    return (
        isinstance(first, dict) and isinstance(first.get("data"), dict) and isinstance(first.get("annotations"), list)
    )


def annotation_rows(tasks: list[Any], path: Path) -> tuple[list[dict[str, Any]], list[str], dict[int, str]]:
    """One row per annotation, notes on what was left out, and the rows of broken tasks (one each, empty) with why."""
    rows: list[dict[str, Any]] = []
    broken: dict[int, str] = {}
    cancelled = 0
    for number, task in enumerate(tasks, start=1):
        try:
            annotations = [(annotation, annotation.get("was_cancelled")) for annotation in task["annotations"]]
            rows += [_row(task, annotation) for annotation, is_cancelled in annotations if not is_cancelled]
            cancelled += sum(bool(is_cancelled) for _, is_cancelled in annotations)
        except (KeyError, TypeError, AttributeError, ValueError) as fault:
            reason = f"task {number} is not as Label Studio writes tasks ({shown(repr(fault))})"
            broken[len(rows)] = f"{reason}; check the export"
            rows.append({})
    if len(rows) == len(broken):
        if broken:
            raise InputError(next(iter(broken.values())), file=path)
        raise InputError("holds no annotation; check that annotation has begun", file=path)
    held = f"{counted(len(tasks), 'task')} with {counted(len(rows) - len(broken), 'annotation')}"
    notes = [f"{path.name} is an export of Label Studio: {held}"]
    if cancelled:
        were = agreeing(cancelled, "was cancelled and is no judgment", "were cancelled and are no judgments")
        notes.append(f"{counted(cancelled, 'annotation')} {were}")
    return rows, notes, broken


def _row(task: dict[str, Any], annotation: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = dict(task["data"])
    row.setdefault("item_id", task.get("id"))
    for answer in annotation.get("result") or []:
        if (value := _answer(answer.get("value") or {})) is not None:
            name = str(answer.get("from_name") or answer.get("type") or "answer")
            row[name if name not in task["data"] else f"{name} (answer)"] = value
    row["completed_by"] = _annotator_name(annotation.get("completed_by"))
    for name in ("created_at", "lead_time"):
        if annotation.get(name) is not None:
            row.setdefault(name, annotation[name])
    return row


def _answer(value: dict[str, Any]) -> Any:
    for name in _ANSWERS:
        given = value.get(name)
        if given is not None:
            return given[0] if isinstance(given, list) and len(given) == 1 else given
    return None


def _annotator_name(completed_by: Any) -> str | None:
    """The person's address, else the number of the account."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return None if completed_by is None else str(completed_by)
