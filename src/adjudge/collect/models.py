"""What is stored. Saves are only ever added; a `ScreenState` is the sum of its saves, kept so that reading is quick.

Task, screen and output ids are those of `tasks.json`, of which `Campaign` keeps the text, so that the database alone
is enough to export everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    # What a field takes and gives, said once: the type checker runs without Django's own plugin.
    Char = models.CharField[str, str]
    Text = models.TextField[str, str]
    Flag = models.BooleanField[bool, bool]
    Whole = models.IntegerField[int, int]
    MaybeWhole = models.IntegerField[int | None, int | None]
    Seconds = models.FloatField[float, float]
    Real = models.FloatField[float, float]
    Time = models.DateTimeField[datetime, datetime]
    MaybeTime = models.DateTimeField[datetime | None, datetime | None]


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

    `browser_hash` is the hash of the cookie by which the browser is known in which a crowd worker came first.
    """

    id: int
    name: Char = models.CharField(max_length=200, unique=True)
    created: Time = models.DateTimeField()
    excluded: Flag = models.BooleanField(default=False)
    crowd: Flag = models.BooleanField(default=False)
    browser_hash: Char = models.CharField(max_length=64, default="")


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
    """How one screen stands: answers by output id, how many outputs are judged, and the time spent on it."""

    id: int
    assignment: models.ForeignKey[Assignment, Assignment] = models.ForeignKey(Assignment, on_delete=models.CASCADE)
    assignment_id: int
    screen: Char = models.CharField(max_length=200)
    revision: Whole = models.IntegerField(default=0)
    answers: Text = models.TextField(default="{}")
    judged: Whole = models.IntegerField(default=0)
    complete: Flag = models.BooleanField(default=False)
    first_shown: Time = models.DateTimeField()
    shown_seconds: Seconds = models.FloatField(default=0)
    visible_seconds: Seconds = models.FloatField(default=0)
    active_seconds: Seconds = models.FloatField(default=0)

    class Meta:
        """One state per screen of an assignment."""

        constraints: ClassVar = [models.UniqueConstraint(fields=["assignment", "screen"], name="one_state_per_screen")]


class Save(models.Model):
    """One save as it came: what was changed, when, and how the time since the save before it was spent."""

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
    `adjudge.adapt`. With the observations that were known it comes out again.
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
