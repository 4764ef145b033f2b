"""What is stored. Saves are only ever added; a `ScreenState` is the sum of its saves, kept so that reading is quick.

Task, screen and output ids are those of `tasks.json`, of which `Campaign` keeps the text, so that the database alone
is enough to export everything.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import connection, models
from django.db.models import Q
from django.utils import timezone

if TYPE_CHECKING:
    from uuid import UUID

    Char = models.CharField[str, str]
    Text = models.TextField[str, str]
    Flag = models.BooleanField[bool, bool]
    Whole = models.IntegerField[int, int]
    MaybeWhole = models.IntegerField[int | None, int | None]
    Big = models.BigIntegerField[int, int]
    Real = models.FloatField[float, float]
    Time = models.DateTimeField[datetime, datetime]
    MaybeTime = models.DateTimeField[datetime | None, datetime | None]


def random_number() -> int:
    """A number of ten digits for a person."""
    return 10**9 + secrets.randbelow(9 * 10**9)


class Campaign(models.Model):
    """The one campaign of this database: its tasks, and the scale that scores are given on (empty where none are).

    `settings` are the keys of the campaign file that the tasks were made from, as JSON; `checked` is when it was last
    tried whether the database can be written to.
    """

    name: Text = models.TextField()
    tasks: Text = models.TextField()
    fingerprint: Char = models.CharField(max_length=12)
    scale: Char = models.CharField(max_length=100, default="")
    created: Time = models.DateTimeField()
    settings: Text = models.TextField(default="")
    checked: MaybeTime = models.DateTimeField(null=True)


class Annotator(models.Model):
    """A person who judges; `crowd` if sent by a crowd platform. `excluded` follows from the last decision.

    `reassigned`: the tasks that the person has not finished are for others; what is finished counts.

    `number`, drawn at random, stands for the person in what is published.

    `browser_hash` is the hash of the cookie by which the browser is known in which a crowd worker came first.
    """

    id: int
    name: Char = models.CharField(max_length=200, unique=True)
    created: Time = models.DateTimeField()
    excluded: Flag = models.BooleanField(default=False)
    crowd: Flag = models.BooleanField(default=False)
    browser_hash: Char = models.CharField(max_length=64, default="")
    number: Big = models.BigIntegerField(default=random_number)
    reassigned: Flag = models.BooleanField(default=False)


class FilledForm(models.Model):
    """What a person agreed to and answered before judging, apart from the judgments.

    `agreed` is when, `consent` a digest of the text; `answers` are by the keys of the questions, `personal` those that
    identify the person.
    """

    id: int
    annotator: models.OneToOneField[Annotator, Annotator] = models.OneToOneField(Annotator, on_delete=models.CASCADE)
    agreed: Time = models.DateTimeField()
    consent: Char = models.CharField(max_length=64, default="")
    answers: Text = models.TextField(default="{}")
    personal: Text = models.TextField(default="{}")


class Halt(models.Model):
    """That the campaign is `paused` or `closed`, and since when. As long as it runs, there is no row."""

    state: Char = models.CharField(max_length=7)
    since: Time = models.DateTimeField()


class Link(models.Model):
    """A way in: only the hash of its secret is stored.

    `role` is `annotator` (one person), `organiser`, or `crowd` (whoever a crowd platform sends, named by its own id).
    """

    id: int
    role: Char = models.CharField(max_length=9)
    annotator: models.ForeignKey[Annotator | None, Annotator | None] = models.ForeignKey(
        Annotator, null=True, on_delete=models.CASCADE
    )
    annotator_id: int | None
    label: Char = models.CharField(max_length=200)
    secret_hash: Char = models.CharField(max_length=64, unique=True)
    created: Time = models.DateTimeField()
    expires: Time = models.DateTimeField()
    revoked: MaybeTime = models.DateTimeField(null=True)
    last_entered: MaybeTime = models.DateTimeField(null=True)


class EndedSession(models.Model):
    """A session that was left: its cookie is worth nothing any more, wherever a copy of it is."""

    id: Char = models.CharField(max_length=32, primary_key=True)
    ended: Time = models.DateTimeField()


class Assignment(models.Model):
    """A task given to a person. `lease_until` is null where it has no end; `released`: when it was taken back."""

    id: int
    annotator: models.ForeignKey[Annotator, Annotator] = models.ForeignKey(Annotator, on_delete=models.CASCADE)
    annotator_id: int
    task: Char = models.CharField(max_length=200, db_index=True)
    position: Whole = models.IntegerField()
    taken: Time = models.DateTimeField()
    lease_until: MaybeTime = models.DateTimeField(null=True)
    released: MaybeTime = models.DateTimeField(null=True)
    complete: Flag = models.BooleanField(default=False)
    finished: MaybeTime = models.DateTimeField(null=True)

    class Meta:
        """One place per person and task."""

        constraints: ClassVar = [models.UniqueConstraint(fields=["annotator", "task"], name="once_per_person")]


class ScreenState(models.Model):
    """How one screen stands: answers by output id, how many outputs are judged, and the time spent on it.

    `saves` counts the saves that are chained (`server.log`), `chain` is the digest of the last one.
    """

    id: int
    assignment: models.ForeignKey[Assignment, Assignment] = models.ForeignKey(Assignment, on_delete=models.CASCADE)
    assignment_id: int
    screen: Char = models.CharField(max_length=200)
    revision: Whole = models.IntegerField(default=0)
    answers: Text = models.TextField(default="{}")
    judged: Whole = models.IntegerField(default=0)
    complete: Flag = models.BooleanField(default=False)
    first_shown: Time = models.DateTimeField()
    shown_seconds: Real = models.FloatField(default=0)
    visible_seconds: Real = models.FloatField(default=0)
    active_seconds: Real = models.FloatField(default=0)
    saves: Whole = models.IntegerField(default=0)
    chain: Char = models.CharField(max_length=64, default="")

    class Meta:
        """One state per screen of an assignment."""

        constraints: ClassVar = [models.UniqueConstraint(fields=["assignment", "screen"], name="one_state_per_screen")]


class Save(models.Model):
    """One save as it came: what was changed, when, and how the time since the save before it was spent.

    `number` counts the saves of the screen, `chain` is a digest over this one and the one before it. Saves of versions
    without a chain have no number.
    """

    id: models.UUIDField[UUID, UUID] = models.UUIDField(primary_key=True)
    state: models.ForeignKey[ScreenState, ScreenState] = models.ForeignKey(ScreenState, on_delete=models.CASCADE)
    state_id: int
    revision: MaybeWhole = models.IntegerField(null=True)
    changes: Text = models.TextField()
    digest: Char = models.CharField(max_length=16)
    edited: Time = models.DateTimeField()
    received: Time = models.DateTimeField()
    spent: Text = models.TextField()
    events: Text = models.TextField()
    number: MaybeWhole = models.IntegerField(null=True)
    chain: Char = models.CharField(max_length=64, default="")

    class Meta:
        """A revision number is given once; saves that only report time have none."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["state", "revision"], condition=Q(revision__isnull=False), name="revision_given_once"
            )
        ]


class Decision(models.Model):
    """A recorded decision about an annotator: excluded or taken back in, why, by whom and when."""

    id: int
    annotator: models.ForeignKey[Annotator, Annotator] = models.ForeignKey(Annotator, on_delete=models.CASCADE)
    excluded: Flag = models.BooleanField()
    reason: Text = models.TextField()
    who: Char = models.CharField(max_length=200)
    made: Time = models.DateTimeField()


class Draw(models.Model):
    """A decision of an adaptive campaign: which task was drawn for an assignment, with all probabilities.

    `candidates` are the tasks that could have been drawn, each with the people who had it then; `decision` is that of
    `campaigns.adaptive`. With the observations that were known it comes out again.
    """

    id: int
    number: Whole = models.IntegerField(unique=True)
    assignment: models.OneToOneField[Assignment, Assignment] = models.OneToOneField(
        Assignment, on_delete=models.CASCADE
    )
    made: Time = models.DateTimeField()
    probability: Real = models.FloatField()
    candidates: Text = models.TextField()
    decision: Text = models.TextField()


class Observed(models.Model):
    """What a task that was handed in says of one system, in the order in which policies learn of it."""

    id: int
    number: Whole = models.IntegerField(unique=True)
    assignment: models.ForeignKey[Assignment, Assignment] = models.ForeignKey(Assignment, on_delete=models.CASCADE)
    system: Text = models.TextField()
    item: Text = models.TextField()
    value: Real = models.FloatField()
    weight: Real = models.FloatField()


class Entry(models.Model):
    """An entry of the campaign's log: what happened, and a digest over it and the entry before it (`server.log`)."""

    number: Whole = models.IntegerField(primary_key=True)
    kind: Char = models.CharField(max_length=9)
    subject: Text = models.TextField()
    content: Text = models.TextField()
    made: Time = models.DateTimeField()
    digest: Char = models.CharField(max_length=64)


class Process(models.Model):
    """A process at work on this database: a server (`serve`), or one that copies it to another (`move`).

    `machine` says where its number means something; `url` is the address of a server; `seen` is when the process last
    said that it is there.
    """

    id: Char = models.CharField(max_length=32, primary_key=True)
    machine: Text = models.TextField()
    number: Whole = models.BigIntegerField()
    doing: Char = models.CharField(max_length=5)
    url: Text = models.TextField(default="")
    seen: Time = models.DateTimeField()


# The few statements behind every save, in SQL: building them anew each time would cost more than running them.

_VISITOR = """
SELECT l.id, l.role, l.label, a.id, a.name, a.excluded, a.crowd, a.reassigned
FROM collect_link l LEFT JOIN collect_annotator a ON a.id = l.annotator_id
WHERE l.id = %s AND l.role = %s AND l.revoked IS NULL AND l.expires > %s
  AND NOT EXISTS (SELECT 1 FROM collect_endedsession e WHERE e.id = %s)
"""
_LOCK = "SELECT id FROM collect_assignment WHERE annotator_id = %s AND task = %s FOR UPDATE"
_TARGET = """
SELECT a.id, a.taken, a.lease_until, a.released, a.finished, a.complete,
       s.id, s.revision, s.answers, s.complete, s.first_shown, s.shown_seconds, s.visible_seconds, s.active_seconds,
       v.state_id, v.digest, v.received,
       (SELECT SUM(o.active_seconds) FROM collect_screenstate o WHERE o.assignment_id = a.id),
       (SELECT COUNT(*) FROM collect_screenstate o WHERE o.assignment_id = a.id AND o.complete),
       p.crowd, p.name, s.saves, s.chain, (SELECT MAX(h.since) FROM collect_halt h WHERE h.state = 'closed')
FROM collect_assignment a
JOIN collect_annotator p ON p.id = a.annotator_id
LEFT JOIN collect_screenstate s ON s.assignment_id = a.id AND s.screen = %s
LEFT JOIN collect_save v ON v.id = %s
WHERE a.annotator_id = %s AND a.task = %s
"""
_INSERT = """
INSERT INTO collect_screenstate
       (assignment_id, screen, first_shown, revision, answers, judged, complete,
        shown_seconds, visible_seconds, active_seconds, saves, chain)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id
"""
_COMPLETE = "UPDATE collect_assignment SET complete = %s WHERE id = %s"
_PROLONG = "UPDATE collect_assignment SET lease_until = %s WHERE id = %s"
_COUNT = "SELECT COUNT(*) FROM collect_screenstate WHERE assignment_id = %s AND complete = %s"
_UPDATE = """
UPDATE collect_screenstate SET revision = %s, answers = %s, judged = %s, complete = %s,
       shown_seconds = %s, visible_seconds = %s, active_seconds = %s, saves = %s, chain = %s
WHERE id = %s
"""
_RECORD = """
INSERT INTO collect_save (id, state_id, revision, changes, digest, edited, received, spent, events, number, chain)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


@dataclass(frozen=True)
class Visitor:
    """A visitor: the link, and the annotator where it is one."""

    link_id: int
    role: str
    label: str
    annotator_id: int
    name: str
    excluded: bool
    crowd: bool = False
    reassigned: bool = False


@dataclass
class StoredState:
    """How a screen stands; `id` is None where it was never saved."""

    id: int | None
    revision: int
    answers: str
    complete: bool
    first_shown: datetime
    shown_seconds: float
    visible_seconds: float
    active_seconds: float
    judged: int = 0
    saves: int = 0
    chain: str = ""


@dataclass(frozen=True)
class SaveTarget:
    """Where a save goes: the assignment, the state of the screen, and an earlier save with the same id.

    `active_seconds` and `screens` are the time counted and the screens complete in the whole task so far,
    `closed` is when the campaign was closed, if it was.
    """

    assignment_id: int
    taken: datetime
    lease_until: datetime | None
    released: datetime | None
    finished: datetime | None
    complete: bool
    state: StoredState | None
    earlier_state: int | None
    earlier_digest: str | None
    earlier_received: datetime | None
    active_seconds: float
    screens: int
    crowd: bool
    annotator: str
    closed: datetime | None


def find_visitor(link_id: int, role: str, session: str) -> Visitor | None:
    """The visitor who came by this link in this role, if the link still holds and the session was not left."""
    row = _run(_VISITOR, [link_id, role, _to_database(timezone.now()), session])
    if row is None:
        return None
    return Visitor(row[0], row[1], row[2], row[3] or 0, row[4] or "", bool(row[5]), bool(row[6]), bool(row[7]))


def find_target(annotator_id: int, task: str, screen: str, save_id: UUID) -> SaveTarget | None:
    """Where a save goes; on PostgreSQL the assignment is locked first, so that its saves come one by one."""
    if connection.features.has_select_for_update:
        _run(_LOCK, [annotator_id, task])
    row = _run(_TARGET, [screen, _uuid(save_id), annotator_id, task])
    if row is None:
        return None
    state = None
    if row[6] is not None:
        seconds = (row[11], row[12], row[13])
        state = StoredState(
            row[6], row[7], row[8], bool(row[9]), _time(row[10]), *seconds, saves=row[21], chain=row[22]
        )
    earlier = (row[14], row[15], _time(row[16]))
    times = (_time(row[1]), _time(row[2]), _time(row[3]), _time(row[4]))
    who = (bool(row[19]), row[20])
    return SaveTarget(
        row[0], *times, bool(row[5]), state, *earlier, row[17] or 0.0, row[18], *who, closed=_time(row[23])
    )


def write_state(state: StoredState, assignment_id: int, screen: str) -> int:
    """Write how a screen stands now; returns its number."""
    seconds = (state.shown_seconds, state.visible_seconds, state.active_seconds)
    values = [state.revision, state.answers, state.judged, state.complete, *seconds, state.saves, state.chain]
    if state.id is not None:
        _run(_UPDATE, [*values, state.id])
        return state.id
    row = _run(_INSERT, [assignment_id, screen, _to_database(state.first_shown), *values])
    assert row is not None
    return int(row[0])


def note_completeness(target: SaveTarget, screens: int) -> None:
    """Note whether all screens of a task are complete."""
    row = _run(_COUNT, [target.assignment_id, True])
    complete = row is not None and row[0] == screens
    if complete != target.complete:
        _run(_COMPLETE, [complete, target.assignment_id])


def prolong_lease(target: SaveTarget, until: datetime) -> None:
    """Hold a task for longer."""
    _run(_PROLONG, [_to_database(until), target.assignment_id])


def record_save(save: Save) -> None:
    """Add a save to the log."""
    fields = [save.state_id, save.revision, save.changes, save.digest]
    times = [_to_database(save.edited), _to_database(save.received)]
    _run(_RECORD, [_uuid(save.id), *fields, *times, save.spent, save.events, save.number, save.chain])


def _to_database(when: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(when)


def _uuid(value: UUID) -> Any:
    return value if connection.features.has_native_uuid_field else value.hex


def _time(value: Any) -> Any:
    """A time as the database gave it, in UTC; None stays None."""
    when: datetime | None = datetime.fromisoformat(value) if isinstance(value, str) else value
    return when.replace(tzinfo=UTC) if when is not None and when.tzinfo is None else when


def _run(statement: str, values: list[Any]) -> tuple[Any, ...] | None:
    """Run a statement; returns the first row of its answer, if it has one."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone() if cursor.description else None
        return row
