"""What the server answers the annotators' page. The types of the page's scripts are made from this description."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ninja import Schema
from pydantic import Field

from adjudge.campaigns.campaign_file import Navigation, Shows
from adjudge.campaigns.media import MediumKind
from adjudge.campaigns.questions import Scope
from adjudge.server.actions import NewsOut
from adjudge.table.protocols import TaskKind

Direction = Literal["ltr", "rtl"]
# Plain text, or a tree of harmless tags where the campaign allows markup.
ShownText = str | list[Any]


class Fault(Schema):
    """Why a request was refused, in words, and under a name where the page acts upon it."""

    detail: Any
    code: str | None = None


class EnterOut(Schema):
    """Who has entered."""

    role: str
    name: str


class AnswerOut(Schema):
    """The answer to one output: what was given of score, rank, marks, decision, correction and comment."""

    score: float | None = None
    rank: int | None = None
    spans: list["SpanOut"] | None = None
    both: str | None = None
    kept: str | None = None
    edit: str | None = None
    comment: str | None = None
    skipped: str | None = None


class SpanOut(Schema):
    """A marked error; `of` is the number of the mark that the translation came with, where it was made from one."""

    start: int | None
    end: int | None
    severity: str
    category: str | None
    side: str
    text: str | None
    of: int | None


class StateOut(Schema):
    """How a screen stands."""

    revision: int
    answers: dict[str, AnswerOut]
    complete: bool
    active_seconds: float
    wrong: list[str] = Field(description="answers to an example that must be passed, and that are not right yet")


class SavedOut(Schema):
    """The acknowledgement of a save that is on the disk."""

    id: UUID
    saved: datetime
    state: StateOut
    met: list[str] = Field(description="outputs that another tab had changed meanwhile; the newest change counts")
    repeated: bool
    released: bool = Field(description="the task has gone to somebody else; what was judged is kept")


class LanguageOut(Schema):
    """A language and the direction of its script."""

    lang: str
    dir: Direction


class AnchorOut(Schema):
    """A mark on the scale and its meaning."""

    at: float
    text: str


class ScaleOut(Schema):
    """The scale of scores."""

    low: float
    high: float
    step: float
    anchors: list[AnchorOut]


class CriterionOut(Schema):
    """What a score is given for; without a name it is the only one. `question`: what is asked, by language."""

    name: str
    of: Scope
    question: dict[str, str] | None
    scale: ScaleOut


class QuestionOut(Schema):
    """A further score that is asked for, by the number of its criterion."""

    id: str
    criterion: int


class CategoryOut(Schema):
    """A category of errors, and how errors in it count."""

    name: str
    counts: Literal["severity", "nothing", "punctuation", "non_translation"]


class MarkRulesOut(Schema):
    """What can be marked, what errors cost, and when the page asks for confirmation."""

    severities: list[str]
    source: bool
    missing: bool
    overlap: bool
    categories: list[CategoryOut]
    weights: dict[str, float]
    warn_below: float
    warn_above: float


class CampaignOut(Schema):
    """What the page must know of the campaign."""

    id: str
    name: str
    protocol: str
    source: LanguageOut
    target: LanguageOut
    scale: ScaleOut
    criteria: list[CriterionOut]
    shows: Shows
    navigation: Navigation
    comments: bool
    skip: list[str] | None = Field(description="reasons for skipping; empty: in one's own words; null: not allowed")
    ties: bool
    ties_apart: bool
    rank_labels: list[str]
    side_by_side: int
    idle_seconds: int
    spans: MarkRulesOut | None
    snap: dict[str, str]


class InstructionsOut(Schema):
    """What annotators are told: all of it, and a sentence that stays in sight."""

    short: str
    body: ShownText


class MediumOut(Schema):
    """A file to be shown or played, at `/api/media/` with the task, its place and its number there."""

    kind: MediumKind
    place: str
    number: int


class FormQuestionOut(Schema):
    """A question before judging; `answers` are what is stored and what is shown, none where people write."""

    key: str
    ask: str
    answers: list[tuple[str, str]]
    several: bool
    required: bool
    personal: bool


class FormOut(Schema):
    """What people read and answer before they judge."""

    consent: ShownText | None
    questions: list[FormQuestionOut]


class FilledInOut(Schema):
    """Which answers of a quiz were wrong; if none, the form is stored."""

    wrong: list[str]


class OutputOut(Schema):
    """A translation as shown; `expected`, and phrases to mark errors in, are given in tutorials only."""

    id: str
    text: ShownText
    expected: tuple[float, float] | None
    to_mark: list[str]
    explanation: str | None
    prefilled: list[SpanOut]
    more: list[QuestionOut]
    media: list[MediumOut]


class ItemOut(Schema):
    """A segment with the outputs that are judged together; `asks` names what each of their answers must have."""

    asks: list[str]
    source: ShownText | None
    reference: ShownText | None
    note: str | None
    media: list[MediumOut]
    outputs: list[OutputOut]


class ContextOut(Schema):
    """A neighbouring segment that is not judged."""

    source: ShownText | None
    target: ShownText | None


class ScreenOut(Schema):
    """What is shown together."""

    id: str
    context_before: list[ContextOut]
    items: list[ItemOut]
    context_after: list[ContextOut]
    whole: list[list[QuestionOut]] = Field(description="scores of the whole page, for each column of outputs")


class TaskSummaryOut(Schema):
    """A task that was given to the annotator."""

    id: str
    number: int
    kind: TaskKind
    complete: bool
    finished: bool
    released: bool


class TaskOut(TaskSummaryOut):
    """The task in hand."""

    screens: list[ScreenOut]
    states: dict[str, StateOut]


class CompletionOut(Schema):
    """What a crowd platform wants from a person who has finished; `more`: there is another task if wanted."""

    code: str | None
    url: str | None
    more: bool


class PersonOut(Schema):
    """The annotator."""

    id: int
    name: str


class WorkOut(Schema):
    """All that the page needs: who, the campaign, the tasks given, the task in hand, and what follows when done."""

    annotator: PersonOut
    campaign: CampaignOut
    tasks: list[TaskSummaryOut]
    form: bool = Field(description="before the first task, a form is to be filled in")
    task: TaskOut | None
    completion: CompletionOut | None
    tasks_planned: int | None
    active_seconds: float
    news: NewsOut


class FinishOut(Schema):
    """Whether the task was handed in, and if not, the screens where something is missing."""

    finished: bool
    missing: list[str]
