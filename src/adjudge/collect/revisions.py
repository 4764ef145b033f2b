"""The revisions of every answer, from the log of saves: columns first, because a campaign may hold very many.

A save changes some answers of a screen and reports seconds for some of its outputs. Each answer that it changes gives
one revision of the output, with the values that hold from then on.
"""

from __future__ import annotations

import gc
import json
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl
from django.db import connection

from adjudge.collect.marking import effective_spans, find_origins, find_warning, marks_to_dicts, score_spans, to_mark
from adjudge.collect.served_campaign import get_served
from adjudge.core.protocols import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from adjudge.design.tasks import Output

    Cells = tuple[Any, ...]
    Describe = Callable[[dict[str, Any], Output], Cells]

# A time followed by nothing is plain text on SQLite: parsing it here, one by one, would take most of the time.
_SAVES = """
SELECT v.state_id, v.changes, v.spent, {edited}, {received}
FROM collect_save v ORDER BY v.state_id, v.edited, v.revision
"""
_STATES = """
SELECT s.id, p.id, p.name, p.excluded, a.id, a.task, {shown}, s.visible_seconds, s.shown_seconds, s.active_seconds
FROM collect_screenstate s
JOIN collect_assignment a ON a.id = s.assignment_id
JOIN collect_annotator p ON p.id = a.annotator_id
"""
# Their columns, with types where the values alone would not tell them: before the first save there are none.
STATE_COLUMNS: dict[str, type[pl.DataType] | None] = {
    "state": pl.Int64, "person": pl.Int64, "annotator": pl.String, "excluded": None, "assignment": pl.Int64,
    "task": pl.String, "started": None, "screen_visible_seconds": pl.Float64, "screen_shown_seconds": pl.Float64,
    "believed_seconds": pl.Float64,
}  # fmt: skip
_MARKS = ("score", "rank", "text", "spans", "span_origins", "prefilled", "warning", "warning_kept")


@dataclass
class _History:
    """The values of one output while its saves are gone through, and the rows of its revisions in the columns."""

    values: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    rows: list[int] = field(default_factory=list)


@dataclass
class Revisions:
    """Columns with one entry per revision; `history` numbers the outputs as they stand on screens.

    `cells` describe the answers, in the columns `cell_names`.
    """

    cell_names: tuple[str, ...]
    state: list[int] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    history: list[int] = field(default_factory=list)
    revision: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    edited: list[Any] = field(default_factory=list)
    received: list[Any] = field(default_factory=list)
    cells: list[Cells] = field(default_factory=list)

    def add(self, state: int, output: str, history: _History, save: Sequence[Any], cells: Cells) -> None:
        """Add one revision."""
        history.rows.append(len(self.state))
        self.state.append(state)
        self.output.append(output)
        self.revision.append(len(history.rows))
        self.seconds.append(history.seconds)
        self.edited.append(save[3])
        self.received.append(save[4])
        self.cells.append(cells)
        self.history.append(0)


def read_states() -> pl.DataFrame:
    """Every screen that was saved, with who judged it and the seconds that the server believes."""
    rows = _fetch(_STATES.format(shown=_time_column("s.first_shown")))
    frame = pl.DataFrame(rows, schema=STATE_COLUMNS, orient="row", infer_schema_length=None)
    return frame.with_columns(parse_times(frame["started"]), pl.col("excluded").cast(pl.Boolean))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Spare the garbage collector millions of small new values, none of which refers back to itself."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_without_collector()
def read_revisions(states: pl.DataFrame) -> Revisions:
    """Read all revisions, by screen in the order of their numbers and within a screen by output."""
    rows = _fetch(_SAVES.format(edited=_time_column("v.edited"), received=_time_column("v.received")))
    changes, spent = (_parse_json(row[column] for row in rows) for column in (1, 2))
    whose = dict(zip(states["state"], zip(states["task"], states["believed_seconds"], strict=True), strict=True))
    names, describe = _choose_description()
    revisions = Revisions(names)
    saves = zip(rows, changes, spent, strict=True)
    for state, group in groupby(saves, key=lambda save: save[0][0]):
        if state not in whose:
            continue  # first saved after the screens were read, while people work: it is exported next time
        task, most_seconds = whose[state]
        _add_screen(revisions, group, describe, state=state, task=task, most_seconds=most_seconds)
    return revisions


def _add_screen(
    revisions: Revisions, saves: Iterable[Any], describe: Describe, *, state: int, task: str, most_seconds: float
) -> None:
    histories: dict[str, _History] = defaultdict(_History)
    placed = get_served().output_by_id
    for save, changes, spent in saves:
        for output, seconds in spent[3].items():
            histories[output].seconds += seconds
        changed: dict[str, _History] = {}
        for output, name, value in changes:
            histories[output].values[name] = value
            changed[output] = histories[output]
        for output, history in changed.items():
            revisions.add(state, output, history, save, describe(history.values, placed[task, output].output))
    _limit_seconds(revisions, histories, most_seconds)


def _limit_seconds(revisions: Revisions, histories: dict[str, _History], most_seconds: float) -> None:
    """Give the last revision all the seconds, and none more than the server can have seen pass.

    Earlier versions stored the seconds as reported.
    """
    reported = sum(history.seconds for history in histories.values())
    share = 1.0 if reported <= most_seconds else most_seconds / reported
    for number, history in enumerate(histories.values()):
        if not history.rows:
            continue
        revisions.seconds[history.rows[-1]] = history.seconds
        for row in history.rows:
            revisions.seconds[row] *= share
            revisions.history[row] = number


def _choose_description() -> tuple[tuple[str, ...], Describe]:
    """The columns that describe an answer under this campaign's protocol, and the function that fills them."""
    protocol = PROTOCOLS[get_served().campaign.protocol]
    if protocol.edited:
        return ("score", "rank", "text", "action", "comment"), _describe_edit
    if protocol.marked:
        return _MARKS, _describe_marks
    return ("score", "rank", "text"), _describe_text


def _describe_text(values: dict[str, Any], output: Output) -> Cells:  # noqa: ARG001 - the others need it
    return values.get("score"), values.get("rank"), values.get("comment")


def _describe_edit(values: dict[str, Any], output: Output) -> Cells:
    """The post-edit with what was done, in the words of released post-edits."""
    edit = values.get("edit")
    action = None if edit is None else "OK" if edit == output.text else "EDIT"
    return values.get("score"), values.get("rank"), edit, action, values.get("comment")


def _describe_marks(values: dict[str, Any], output: Output) -> Cells:
    """The errors marked, where this translation was looked at for them."""
    campaign = get_served().campaign
    head = values.get("score"), values.get("rank"), values.get("comment")
    if values.get("score") is None and values.get("spans") is None:
        return (*head, None, None, None, None, None)
    spans = effective_spans(values, output)
    asked = find_warning(values, output, campaign)
    score = score_spans(values["spans"], campaign) if PROTOCOLS[campaign.protocol].categories else values.get("score")
    return (
        score,
        *head[1:],
        marks_to_dicts([to_mark(span) for span in spans]),
        " ".join(find_origins(spans, output)) or None,
        json.dumps(marks_to_dicts(output.prefilled), ensure_ascii=False) if output.prefilled else None,
        asked,
        None if asked is None else values.get("kept") == asked,
    )


def parse_times(values: pl.Series) -> pl.Series:
    """Times as the database gave them, in UTC."""
    if values.dtype == pl.String:
        return values.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us").dt.replace_time_zone("UTC")
    return values.cast(pl.Datetime("us", "UTC"))


def _time_column(column: str) -> str:
    return f"{column} || ''" if connection.vendor == "sqlite" else column


def _parse_json(texts: Iterable[str]) -> list[Any]:
    """Many short JSON texts at once."""
    values: list[Any] = json.loads(f"[{','.join(texts)}]")
    return values


def _fetch(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
