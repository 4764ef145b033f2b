"""Saving: one transaction per save, acknowledged after it is durable, harmless when repeated, with nothing overwritten.

A save carries an id made by the page, so that a save sent twice counts once. It names the revision that the page knew;
where another tab has changed the same answer since, the newest change wins and the page is told. Every save is kept.

In which order screens may be judged and changed is the campaign's to say. `free`: any order, and answers can be changed
for as long as the campaign runs. `back-only`: a screen opens when those before it are complete, and answers can be
changed until the task is handed in. `strict`: no way back.
"""

from __future__ import annotations

import gc
import json
import threading
from collections import defaultdict
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from uuid import UUID  # noqa: TC003 - the web framework reads the types when it runs

import polars as pl
from django.db import connection, transaction
from django.utils import timezone
from ninja import Schema
from pydantic import AfterValidator, ConfigDict, Field

from adjudge.server import log, models, served_campaign
from adjudge.server.answers import (
    COMMENT_LENGTH,
    EDIT_LENGTH,
    FIELDS,
    REASON_LENGTH,
    Change,
    Refused,
    check_changes,
    find_missing,
    list_judged,
    merge,
    time_of_change,
)
from adjudge.server.database import write_transaction
from adjudge.server.processes import ensure_tasks
from adjudge.server.sites import OfSite, Site, current_site, working_for
from adjudge.server.tasks import lease_length, renew_lease
from adjudge.table.judgments import fingerprint
from adjudge.table.protocols import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from adjudge.campaigns.tasks import Screen
    from adjudge.server.models import SaveTarget
    from adjudge.server.served_campaign import Question

    Cells = tuple[Any, ...]
    Describe = Callable[[dict[str, Any], Question], Cells]


# The revisions of every answer, from the log of saves: columns first, because a campaign may hold very many.
#
# A save changes some answers of a screen and reports seconds for some of its outputs. Each answer that it changes gives
# one revision of the output, with the values that hold from then on.

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
_HEAD = ("score", "rank", "both", "skipped", "text")
_MARKS = ("spans", "span_origins", "prefilled", "warning", "warning_kept")


@dataclass
class _History:
    """The values of one output while its saves are gone through, and the rows of its revisions in the columns."""

    values: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    rows: list[int] = field(default_factory=list)


@dataclass
class Revisions:
    """What every revision consists of; `history` numbers the outputs as they stand on screens.

    `known` are state, output, number of the revision, when it was edited and received, and then the cells that describe
    the answer, in the columns `cell_names`.
    """

    cell_names: tuple[str, ...]
    known: list[Cells] = field(default_factory=list)
    history: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


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
    # Many short JSON texts are parsed at once.
    changes, spent = (json.loads(f"[{','.join(row[column] for row in rows)}]") for column in (1, 2))
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
    asked = served_campaign.get_served().question_by_id
    for save, changes, spent in saves:
        for output, seconds in spent[3].items():
            histories[output].seconds += seconds
        changed: dict[str, _History] = {}
        for output, name, value in changes:
            histories[output].values[name] = value
            changed[output] = histories[output]
        for output, history in changed.items():
            history.rows.append(len(revisions.known))
            cells = describe(history.values, asked[task, output])
            revisions.known.append((state, output, len(history.rows), save[3], save[4], *cells))
            revisions.seconds.append(history.seconds)
            revisions.history.append(0)
    # The last revision gets all the seconds, and none more than the server can have seen pass: earlier versions stored
    # the seconds as reported.
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
    protocol = PROTOCOLS[served_campaign.get_served().campaign.protocol]
    if protocol.edited:
        return (*_HEAD, "action", "comment"), _describe_edit
    if protocol.marked:
        return (*_HEAD, *_MARKS), _describe_marks
    return _HEAD, _describe_answer


def _describe_answer(values: dict[str, Any], question: Question) -> Cells:  # noqa: ARG001 - the same for all
    """What is left open by somebody who skips is no answer, whatever was given before."""
    skipped = values.get("skipped")
    if skipped is not None:
        return None, None, None, skipped, values.get("comment")
    return values.get("score"), values.get("rank"), values.get("both"), None, values.get("comment")


def _describe_edit(values: dict[str, Any], question: Question) -> Cells:
    """The post-edit with what was done, in the words of released post-edits."""
    *head, comment = _describe_answer(values, question)
    edit = values.get("edit") if values.get("skipped") is None else None
    action = None if edit is None else "OK" if edit == question.output.text else "EDIT"
    return (*head, edit, action, comment)


def _describe_marks(values: dict[str, Any], question: Question) -> Cells:
    """The errors marked, where this translation was looked at for them."""
    campaign, output = served_campaign.get_served().campaign, question.output
    head, without = _describe_answer(values, question), (None,) * len(_MARKS)
    marked = values.get("score") is not None or values.get("spans") is not None
    if question.id != output.id or not marked or values.get("skipped") is not None:
        return (*head, *without)
    spans = served_campaign.effective_spans(values, output)
    asked = served_campaign.find_warning(values, output, campaign)
    score = (
        served_campaign.score_spans(values["spans"], campaign)
        if PROTOCOLS[campaign.protocol].categories
        else values.get("score")
    )
    return (
        score,
        *head[1:],
        served_campaign.marks_to_dicts([served_campaign.to_mark(span) for span in spans]),
        " ".join(served_campaign.find_origin(span, output) for span in spans) or None,
        json.dumps(served_campaign.marks_to_dicts(output.prefilled), ensure_ascii=False) if output.prefilled else None,
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


def _fetch(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


# Writes that wait together are committed together: one trip to the disk acknowledges them all.
#
# SQLite has one writer, and a durable commit waits for the disk. One by one, a slow disk would allow some hundred
# saves a second at best; together they cost little more than one. Each job still stands or falls alone, by a
# savepoint.

Value = TypeVar("Value")
Job = tuple["Callable[[], Any]", "Future[Any]"]
# So that no save waits for very many others.
MOST_TOGETHER = 64


def run_durably(job: Callable[[], Value]) -> Value:
    """Run a job in a transaction; returns its value once that is on the disk, or raises what the job raised."""
    if connection.vendor != "sqlite":
        # PostgreSQL has many writers, and shares trips to the disk among them by itself.
        with write_transaction():
            return job()
    outcome: Future[Value] = Future()
    _writer().jobs.put((job, outcome))
    return outcome.result()


class _Writer(threading.Thread):
    """The one thread of this process that commits the saves of a campaign."""

    def __init__(self, site: Site) -> None:
        super().__init__(name=f"commits {site.path}", daemon=True)
        self.site = site
        self.jobs: SimpleQueue[Job] = SimpleQueue()

    def run(self) -> None:
        with working_for(self.site):
            self._work()

    def _work(self) -> None:
        while True:
            jobs = [self.jobs.get()]
            with suppress(Empty):
                while len(jobs) < MOST_TOGETHER:
                    jobs.append(self.jobs.get_nowait())
            self._commit(jobs)

    def _commit(self, jobs: list[Job]) -> None:
        """Run all jobs in one transaction; each gets its value, or the exception that undid it."""
        outcomes: list[Any] = []
        try:
            with write_transaction():
                for job, _ in jobs:
                    try:
                        with transaction.atomic():
                            outcomes.append(job())
                    except Exception as fault:  # noqa: BLE001 - handed to the one who waits for this job
                        outcomes.append(fault)
        except Exception as fault:  # noqa: BLE001 - whatever it is, the waiting threads must learn of it
            outcomes = [fault] * len(jobs)
        for (_, future), outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


@OfSite
def _writer() -> _Writer:
    """The writer of a campaign in this process. None is started before processes fork, which threads do not survive."""
    writer = _Writer(current_site())
    writer.start()
    return writer


# What the pages send to the server, as published in the OpenAPI description. The answers are in `responses`.


def _storable(text: str) -> str:
    """Refuse what no database stores as text: zero characters and halves of surrogate pairs."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds a character that is not text")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Id = Annotated[Text, Field(min_length=1, max_length=200)]
LONGEST_TEXT = 1_000_000
# A month in seconds: nothing waits longer in a browser's queue.
Seconds = Annotated[float, Field(ge=0, le=2_678_400, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
# The page reports time twice a minute, so that there is never this much to tell.
MOST_EVENTS = 1000
ShortText = Annotated[Text, Field(max_length=1000)]
Event = Annotated[list[ShortText | int | Finite | None], Field(min_length=2, max_length=4)]
Name = Annotated[
    Text, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f\s][^\x00-\x1f\x7f]*$")
]


class Incoming(Schema):
    """Base of what is sent to the server: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class EnterIn(Incoming):
    """The secret of a link; `person` is the id of a worker sent by a crowd platform, `signature` its signature."""

    secret: Text = Field(min_length=1, max_length=200)
    person: Name | None = None
    signature: Text | None = Field(default=None, max_length=200)


class SpanIn(Incoming):
    """An error: half-open offsets in code points and the text there; none of these where something is missing.

    `of` is the number of the mark, among those that the translation came with, from which this one was made.
    """

    start: int | None = Field(default=None, ge=0, le=LONGEST_TEXT, strict=True)
    end: int | None = Field(default=None, ge=0, le=LONGEST_TEXT, strict=True)
    severity: Text = Field(max_length=40)
    category: Text | None = Field(default=None, max_length=200)
    side: Text = Field(default="target", max_length=10)
    text: Text | None = Field(default=None, max_length=LONGEST_TEXT)
    of: int | None = Field(default=None, ge=0, le=served_campaign.MOST_MARKS, strict=True)


class ChangeIn(Incoming):
    """Fields of one output that were changed: those that are present; null unsets."""

    output: Id
    score: float | None = Field(default=None, allow_inf_nan=False, strict=True)
    rank: int | None = Field(default=None, strict=True)
    both: Text | None = Field(default=None, max_length=40)
    spans: list[SpanIn] | None = Field(default=None, max_length=served_campaign.MOST_MARKS)
    kept: Text | None = Field(default=None, max_length=40)
    edit: Text | None = Field(default=None, min_length=1, max_length=EDIT_LENGTH)
    comment: Text | None = Field(default=None, max_length=COMMENT_LENGTH)
    skipped: Text | None = Field(default=None, max_length=REASON_LENGTH)

    def field_changes(self) -> list[Change]:
        """One change per field that was sent."""
        values = self.model_dump(include=set(FIELDS) & self.model_fields_set)
        return [Change(self.output, name, values[name]) for name in FIELDS if name in values]


class SpentIn(Incoming):
    """Seconds since the last save of this screen: shown, visible, active; and active seconds per output."""

    shown: Seconds = 0
    visible: Seconds = 0
    active: Seconds = 0
    outputs: dict[Id, Seconds] = Field(default={}, max_length=500)


class SaveIn(Incoming):
    """A save. `id` and `tab` are made by the page, `base` is the revision it knew, `age` seconds since the change.

    `number` counts the saves of a tab, from 1 on, in the order in which they were begun.
    """

    id: UUID
    annotator: int
    task: Id
    screen: Id
    base: int = Field(ge=0, le=2**31 - 1)
    tab: UUID | None = None
    number: int = Field(default=0, ge=0, le=2**31 - 1)
    age: Seconds = 0
    changes: list[ChangeIn] = Field(default=[], max_length=500)
    spent: SpentIn = SpentIn()
    events: list[Event] = Field(default=[], max_length=MOST_EVENTS)

    @cached_property
    def field_changes(self) -> list[Change]:
        """One change per field that was sent."""
        return [change for output in self.changes for change in output.field_changes()]


class AnnotatorIn(Incoming):
    """A new annotator."""

    name: Name


class DecisionIn(Incoming):
    """A decision about an annotator: excluded or taken back in, and why."""

    excluded: bool
    reason: Text = Field(min_length=3, max_length=2000, pattern=r"\S")


class StateIn(Incoming):
    """What is to become of the campaign."""

    state: Literal["running", "paused", "closed"]


class ReassignIn(Incoming):
    """Whether a person's tasks go to others, or come `back`."""

    back: bool = False


class EraseIn(Incoming):
    """The name of the person, written out to be sure, and whether the judgments go, too."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    judgments: bool = False


class ExtendIn(Incoming):
    """How many more judgments are wanted in all."""

    judgments: int = Field(ge=1, le=1_000_000)


class MessageIn(Incoming):
    """A message to one annotator, by number, or to all."""

    text: Text = Field(min_length=1, max_length=2000, pattern=r"\S")
    annotator: int | None = None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Saved:
    """The acknowledgement: what is stored now. `conflicts` are outputs that another tab had changed meanwhile."""

    state: models.StoredState
    received: datetime
    conflicts: tuple[str, ...]
    repeated: bool
    released: bool


def save(annotator_id: int, new: SaveIn) -> Saved:
    """Store a save durably, or raise `Refused` and store nothing."""
    ensure_tasks([new.task])
    screen = served_campaign.get_served().screen_by_id.get((new.task, new.screen))
    if screen is None:
        raise Refused(f"there is no screen '{new.screen}' in task '{new.task}'")
    check_changes(new.field_changes, screen, served_campaign.get_served().campaign)
    asked = served_campaign.list_questions(screen, served_campaign.get_served().campaign)
    unknown = set(new.spent.outputs) - {question.id for question in asked}
    if unknown:
        raise Refused(f"output '{min(unknown)}' is not on screen '{screen.id}'")
    try:
        return run_durably(lambda: _save(annotator_id, screen, new))
    except _LeaseRanOut:
        renew_lease(annotator_id, new.task)
        return run_durably(lambda: _save(annotator_id, screen, new))


class _LeaseRanOut(Exception):  # noqa: N818 - nothing is wrong, but another lock is needed first
    """The lease of the task has run out: whether its place is still free must be settled before anything is saved."""


def _save(annotator_id: int, screen: Screen, new: SaveIn) -> Saved:
    target = models.find_target(annotator_id, new.task, new.screen, new.id)
    if target is None:
        raise Refused(f"task '{new.task}' was not given to you")
    if target.earlier_digest is not None:
        state = target.state
        if state is None or target.earlier_state != state.id or target.earlier_digest != _digest(new):
            raise Refused(f"the id {new.id} belongs to another save", code="id-used")
        assert target.earlier_received is not None
        return Saved(state, target.earlier_received, (), repeated=True, released=target.released is not None)
    if target.lease_until is not None and target.released is None:
        now, length = timezone.now(), lease_length(crowd=target.crowd, screens=target.screens)
        if target.lease_until <= now:
            raise _LeaseRanOut
        # Not with every save, because each write costs.
        if target.lease_until - now < length * 0.9:
            models.prolong_lease(target, now + length)
    return _store(target, screen, new)


def _store(target: SaveTarget, screen: Screen, new: SaveIn) -> Saved:
    received = timezone.now()
    changes = new.field_changes
    if changes:
        check_order(target, screen, new.task)
        # What was judged before the end and comes later, for want of a connection, is taken.
        if target.closed is not None and received - timedelta(seconds=new.age) > target.closed:
            raise Refused("the campaign is closed; this answer was given after its end", code="closed")
    spent = _limit_to_elapsed(new.spent, target, received)
    first_shown = _date_back(target, received, new.age + spent.shown)
    state = target.state or models.StoredState(None, 0, "{}", False, first_shown, 0, 0, 0)
    answers = json.loads(state.answers)
    tab = "" if new.tab is None else str(new.tab)
    estimated = (_date_back(target, received, new.age) - _EPOCH) // timedelta(microseconds=1)
    at = time_of_change(answers, changes, estimated=estimated, base=new.base, tab=tab, number=new.number)
    revision = state.revision + 1 if changes else None
    merged, conflicts = merge(
        answers, changes, at=at, base=new.base, tab=tab, number=new.number, revision=revision or state.revision
    )
    _add_time(state, merged, spent, (received - target.taken).total_seconds())
    was_complete = state.complete
    campaign = served_campaign.get_served().campaign
    state.answers = _to_json(merged)
    state.revision = revision or state.revision
    state.judged = len(list_judged(merged, screen, campaign))
    state.complete = not find_missing(merged, screen, campaign)
    stored = models.Save(
        id=new.id,
        revision=revision,
        changes=_to_json(changes),
        digest=_digest(new),
        edited=_EPOCH + timedelta(microseconds=at),
        received=received,
        spent=_to_json([spent.shown, spent.visible, spent.active, spent.outputs]),
        events=_to_json(new.events),
    )
    before = state.chain or log.first_link(target.annotator, new.task, new.screen, state.first_shown)
    state.saves = stored.number = state.saves + 1
    state.chain = stored.chain = log.link(before, log.content_of_save(stored))
    stored.state_id = state.id = models.write_state(state, target.assignment_id, new.screen)
    models.record_save(stored)
    if state.complete != was_complete:
        models.note_completeness(target, len(served_campaign.get_served().task_by_id[new.task].screens))
    return Saved(state, received, conflicts, repeated=False, released=target.released is not None)


def _limit_to_elapsed(spent: SpentIn, target: SaveTarget, received: datetime) -> SpentIn:
    """Limit the time reported to what the server can have seen pass.

    Within a task nobody can have been active for longer, on all screens together, than has passed since it was taken;
    and no output can have been looked at for longer than the screen.
    """
    passed = max(0.0, (received - target.taken).total_seconds())
    shown = min(spent.shown, passed)
    visible = min(spent.visible, shown)
    active = min(spent.active, visible, max(0.0, passed - target.active_seconds))
    reported = sum(spent.outputs.values())
    share = 1.0 if reported <= active else active / reported
    outputs = {output: share * seconds for output, seconds in spent.outputs.items()}
    return SpentIn(shown=shown, visible=visible, active=active, outputs=outputs)


def _add_time(state: models.StoredState, answers: dict[str, dict[str, Any]], spent: SpentIn, most: float) -> None:
    """Add up the seconds; none can have spent more than has passed since the task was taken.

    What was counted before stays counted, also where the server's clock was set back.
    """
    state.shown_seconds = min(state.shown_seconds + spent.shown, max(most, state.shown_seconds))
    state.visible_seconds = min(state.visible_seconds + spent.visible, state.shown_seconds)
    state.active_seconds = min(state.active_seconds + spent.active, state.visible_seconds)
    for output, seconds in spent.outputs.items():
        answer = answers.setdefault(output, {})
        before = answer.get("seconds", 0)
        answer["seconds"] = min(before + seconds, max(most, before))


def _date_back(target: SaveTarget, received: datetime, age: float) -> datetime:
    """When something of this age happened; never before the task was taken, whatever the page's clock says."""
    return max(received - timedelta(seconds=age), target.taken)


def _digest(new: SaveIn) -> str:
    """Identify a save by its content, not by when it was sent."""
    return fingerprint(_to_json([new.task, new.screen, new.base, new.field_changes]), digits=16)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def check_order(target: SaveTarget, screen: Screen, task: str) -> None:
    """Refuse a change that the campaign's order of work does not allow."""
    navigation = served_campaign.get_served().campaign.page.navigation
    if navigation == "free":
        return
    if target.finished is not None:
        raise Refused("this task has been handed in; its answers can no longer be changed")
    order = [screen.id for screen in served_campaign.get_served().task_by_id[task].screens]
    states = list(models.ScreenState.objects.filter(assignment_id=target.assignment_id))
    complete = {state.screen for state in states if state.complete}
    touched = {state.screen for state in states if state.revision}
    place = order.index(screen.id)
    if not set(order[:place]) <= complete:
        raise Refused("the screens before this one are not complete yet")
    if navigation == "strict" and any(later in touched for later in order[place + 1 :]):
        raise Refused("this screen is closed: a later one has been judged")
