"""What the pages send to the server, as published in the OpenAPI description. The answers are in `responses`."""

from functools import cached_property
from typing import Annotated, Any
from uuid import UUID

from ninja import Schema
from pydantic import AfterValidator, ConfigDict, Field

from adjudge.collect.answers import COMMENT_LENGTH, EDIT_LENGTH, FIELDS, Change
from adjudge.collect.marking import MOST_MARKS


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
    of: int | None = Field(default=None, ge=0, le=MOST_MARKS, strict=True)


class ChangeIn(Incoming):
    """Fields of one output that were changed: those that are present; null unsets."""

    output: Id
    score: float | None = Field(default=None, allow_inf_nan=False, strict=True)
    rank: int | None = Field(default=None, strict=True)
    spans: list[SpanIn] | None = Field(default=None, max_length=MOST_MARKS)
    kept: Text | None = Field(default=None, max_length=40)
    edit: Text | None = Field(default=None, min_length=1, max_length=EDIT_LENGTH)
    comment: Text | None = Field(default=None, max_length=COMMENT_LENGTH)

    def field_changes(self) -> list[Change]:
        """One change per field that was sent."""
        return [Change(self.output, name, self._value(name)) for name in FIELDS if name in self.model_fields_set]

    def _value(self, name: str) -> Any:
        if name == "spans" and self.spans is not None:
            return [span.model_dump() for span in self.spans]
        return getattr(self, name)


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
