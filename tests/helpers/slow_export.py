"""The export row by row, as a slow and clear implementation beside the one by columns. Needs a configured Django."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from adjudge.campaigns.tasks import Output, text_hash
from adjudge.server.export import EXTRA, EXTRA_DRAWN, EXTRA_EDITED, EXTRA_MARKED, EXTRA_SIDE_BY_SIDE
from adjudge.server.models import Annotator, Decision, Draw, Save, ScreenState
from adjudge.server.served_campaign import (
    Question,
    effective_spans,
    find_origin,
    find_warning,
    get_served,
    marks_to_dicts,
    score_spans,
    to_mark,
)
from adjudge.server.tasks import is_adaptive
from adjudge.table.judgments import SCHEMA, Judgments, SetAside
from adjudge.table.protocols import PROTOCOLS

Row = dict[str, Any]


def slowly_collected(*, with_excluded: bool = False) -> Judgments:
    """All judgments so far, row by row."""
    saves: dict[int, list[Save]] = defaultdict(list)
    for save in Save.objects.defer("events").order_by("edited", "revision").iterator(chunk_size=5000):
        saves[save.state_id].append(save)
    rows: list[Row] = []
    left_out: dict[str, int] = defaultdict(int)
    reasons = _reasons_for_exclusion()
    states = ScreenState.objects.select_related("assignment__annotator").order_by("pk")
    drawn = _drawn()
    for state in states.iterator(chunk_size=2000):
        new = [row | drawn.get(state.assignment_id, {}) for row in _rows(state, saves.pop(state.pk, []))]
        annotator = state.assignment.annotator
        if annotator.excluded and not with_excluded:
            left_out[f"annotator {annotator.name} was excluded: {reasons.get(annotator.pk, '')}"] += len(new)
        else:
            rows += new
    set_aside = [SetAside(reason, count) for reason, count in left_out.items()]
    marked = PROTOCOLS[get_served().campaign.protocol].marked
    schema = {**SCHEMA, **EXTRA, **(EXTRA_MARKED if marked else {})}
    edited = PROTOCOLS[get_served().campaign.protocol].edited
    if edited:
        schema |= EXTRA_EDITED
    if get_served().campaign.side_by_side > 1:
        schema |= EXTRA_SIDE_BY_SIDE
    if is_adaptive():
        schema |= EXTRA_DRAWN
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    # Edit rates need the outputs beside the edits.
    return Judgments.from_columns(_with_texts(frame) if edited else frame, set_aside=set_aside)


def _drawn() -> dict[int, Row]:
    """By assignment, the decision that it follows from."""
    if not is_adaptive():
        return {}
    columns = Draw.objects.values_list("assignment", "number", "probability")
    return {key: {"draw": number, "draw_probability": probability} for key, number, probability in columns}


def _with_texts(frame: pl.DataFrame) -> pl.DataFrame:
    shown = [get_served().question_by_id[task, output] for task, output in frame.select("task", "output").iter_rows()]
    sources = pl.Series("source_text", [placed.item.source for placed in shown], dtype=pl.String)
    return frame.with_columns(
        sources, pl.Series("target_text", [placed.output.text for placed in shown], dtype=pl.String)
    )


def _reasons_for_exclusion() -> dict[int, str]:
    """The reason of the last decision about everybody who is excluded."""
    excluded = set(Annotator.objects.filter(excluded=True).values_list("pk", flat=True))
    decisions = Decision.objects.select_related("annotator").order_by("made", "pk")
    return {made.annotator.pk: made.reason for made in decisions if made.annotator.pk in excluded}


@dataclass
class _History:
    """The values of one output while its saves are gone through."""

    values: dict[str, Any]
    seconds: float = 0.0
    revision: int = 0
    rows: list[Row] | None = None


def _rows(state: ScreenState, saves: Iterable[Save]) -> Iterator[Row]:
    """The rows of one screen, per output in the order of the changes."""
    histories: dict[str, _History] = defaultdict(lambda: _History({}))
    for save in saves:
        for output, seconds in json.loads(save.spent)[3].items():
            histories[output].seconds += seconds
        changed: dict[str, None] = {}
        for output, field, value in json.loads(save.changes):
            histories[output].values[field] = value
            changed[output] = None
        for output in changed:
            _add_revision(histories[output], output, state, save)
    believed = _believed_share(state, histories.values())
    for history in histories.values():
        if history.rows:
            history.rows[-1]["active_seconds"] = history.seconds
            for row in history.rows:
                row["active_seconds"] *= believed
            yield from _credited(
                history.rows, get_served().question_by_id[state.assignment.task, history.rows[0]["output"]]
            )


def _believed_share(state: ScreenState, histories: Iterable[_History]) -> float:
    """Which part of the reported seconds the server can have seen pass: earlier versions stored them as reported."""
    reported = sum(history.seconds for history in histories)
    return 1.0 if reported <= state.active_seconds else state.active_seconds / reported


def _add_revision(history: _History, output: str, state: ScreenState, save: Save) -> None:
    history.revision += 1
    history.rows = history.rows or []
    history.rows.append(
        {
            "annotator": state.assignment.annotator.name,
            "task": state.assignment.task,
            "score": history.values.get("score"),
            "rank": history.values.get("rank"),
            **_marks(history.values, get_served().question_by_id[state.assignment.task, output].output),
            **_texts(history.values, get_served().question_by_id[state.assignment.task, output].output),
            "started": state.first_shown,
            "ended": save.edited,
            "active_seconds": history.seconds,
            "revision": history.revision,
            "output": output,
            "saved": save.received,
            "screen_visible_seconds": state.visible_seconds,
            "screen_shown_seconds": state.shown_seconds,
            "excluded": state.assignment.annotator.excluded,
        }
    )


def _texts(values: dict[str, Any], output: Output) -> Row:
    """The comment; or the post-edit with what was done, in the words of released post-edits."""
    if not PROTOCOLS[get_served().campaign.protocol].edited:
        return {"text": values.get("comment")}
    edit = values.get("edit")
    action = None if edit is None else "OK" if edit == output.text else "EDIT"
    return {"text": edit, "action": action, "comment": values.get("comment")}


def _marks(values: dict[str, Any], output: Output) -> Row:
    """The errors marked, where the protocol has them and this translation was looked at for them."""
    campaign = get_served().campaign
    protocol = PROTOCOLS[campaign.protocol]
    if not protocol.marked or (values.get("score") is None and values.get("spans") is None):
        return {}
    spans = effective_spans(values, output)
    asked = find_warning(values, output, campaign)
    return {
        "score": score_spans(values["spans"], campaign) if protocol.categories else values.get("score"),
        "spans": marks_to_dicts([to_mark(span) for span in spans]),
        "span_origins": " ".join(find_origin(span, output) for span in spans) or None,
        "prefilled": json.dumps(marks_to_dicts(output.prefilled), ensure_ascii=False) if output.prefilled else None,
        "warning": asked,
        "warning_kept": None if asked is None else values.get("kept") == asked,
    }


def _credited(rows: list[Row], placed: Question) -> Iterator[Row]:
    """The rows of an output, once for every system that made it."""
    tasks = get_served().tasks
    common = {
        "campaign": tasks.campaign,
        "protocol": tasks.protocol,
        "source_lang": tasks.source_lang,
        "target_lang": tasks.target_lang,
        "screen": placed.screen.id,
        "document": placed.screen.document,
        "segment": placed.item.segment,
        "kind": placed.output.kind,
        "text_hash": text_hash(placed.output.text),
        "position": [output.id for output in placed.item.outputs].index(placed.output.id),
    }
    for system in placed.output.systems:
        for row in rows:
            yield {**row, **common, "system": system, "human": system in tasks.human}
