"""The campaign as this process serves it: its tasks by id, and what makes the statistics of its organisers' page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from adjudge.campaigns.controls import is_spaced
from adjudge.readers.mqm import Weights, score, weight
from adjudge.server.sites import current_site
from adjudge.table.protocols import KINDS, PROTOCOLS, RATED, counted_kinds
from adjudge.table.texts import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adjudge.campaigns.campaign_file import Campaign
    from adjudge.campaigns.questions import Asked
    from adjudge.campaigns.tasks import Item, Output, Screen, Task, TaskSet
    from adjudge.server.panels import Statistics


# Marks of errors in answers: which count where none was changed, what they cost, who made them, where they snap.

MOST_MARKS = 200
# What the page asks to confirm: a low score although no error is marked; a high one in spite of a major error.
WARNINGS = ("low-without-error", "high-with-major")
SEVERE = ("major", "critical")
_SAMPLE = 200

Span = dict[str, Any]


def to_mark(span: Mapping[str, Any]) -> Mark:
    """Turn a mark of a stored answer into a `Mark`."""
    return Mark(*(span[name] for name in ("start", "end", "severity", "category", "side", "text")))


def marks_to_dicts(marks: Sequence[Mark]) -> list[Span]:
    """Marks as the judgment table has them."""
    return [dict(vars(mark)) for mark in marks]


def prefilled_spans(output: Output) -> list[Span]:
    """The marks that a translation comes with, as if an answer held them."""
    return [{**span, "of": i} for i, span in enumerate(marks_to_dicts(output.prefilled))]


def asked_fields(campaign: Campaign) -> tuple[str, ...]:
    """What an answer to an output must have; the page asks for the same."""
    answer = PROTOCOLS[campaign.protocol].field
    if answer == "score" and campaign.asked[0].of == "document":
        return ()
    return (answer,)


def shared_item(screen: Screen) -> str:
    """What the systems that are judged on a screen share with others elsewhere: its document, or its one segment."""
    return screen.document if len(screen.items) > 1 else f"{screen.document}\n{screen.items[0].segment}"


def is_open(value: Any) -> bool:
    """Whether a judgment is still to be made: there is none, or it has errors whose category is not chosen yet."""
    return value is None or (isinstance(value, list) and any(span["category"] is None for span in value))


def score_spans(spans: list[Span] | None, campaign: Campaign) -> float | None:
    """The score that follows from the errors, where they are the judgment; None as long as it is open."""
    if is_open(spans):
        return None
    weights = campaign.spans.weights.as_weights()
    return score([weight(span["severity"], span["category"], weights) or 0.0 for span in spans or ()])


def category_kind(category: str) -> str:
    """How a category counts, so that the page can tell what errors cost: as its severity says, or otherwise."""
    told_apart = Weights(minor=1, punctuation=2, major=1, critical=1, non_translation=3)
    kinds = {0.0: "nothing", 2.0: "punctuation", 3.0: "non_translation"}
    return kinds.get(weight("minor", category, told_apart) or 0.0, "severity")


def effective_spans(answer: Mapping[str, Any], output: Output) -> list[Span]:
    """The marks that count: the annotator's, or as long as none was changed those that the translation came with."""
    given = answer.get("spans")
    return prefilled_spans(output) if given is None else given


def find_origin(span: Span, output: Output) -> Literal["annotator", "prefilled", "changed"]:
    """Who made a mark: the annotator, or it was there before, and was kept or changed."""
    number = span.get("of")
    if number is None:
        return "annotator"
    return "prefilled" if to_mark(span) == output.prefilled[number] else "changed"


def find_warning(answer: Mapping[str, Any], output: Output, campaign: Campaign) -> str | None:
    """What the page asks to confirm, or None."""
    given = answer.get("score")
    if given is None:
        return None
    spans, (below, above) = effective_spans(answer, output), campaign.warn_limits
    if given < below and not spans:
        return WARNINGS[0]
    if given > above and any(span["severity"] in SEVERE for span in spans):
        return WARNINGS[1]
    return None


@dataclass(frozen=True)
class Question:
    """What one answer is given to: an output, or a whole page, by one criterion, with where it stands.

    The first question about an output has the id of the output, and holds its marks and comments, too; `owner` is the
    id of the first question about the same output or page. `of` is the id of the same question about the output that
    this one repeats or degrades. `position` is the place, from 0, among outputs shown side by side. `output` is the
    first one of the page, if the question is about a whole page. `counts`: an answer makes a judgment of its output, or
    of its page where segments are not judged; several criteria make one.
    """

    id: str
    owner: str
    asks: tuple[str, ...]
    screen: Screen
    item: Item
    output: Output
    position: int = 0
    asked: Asked | None = None
    of: str | None = None
    counts: bool = False

    @property
    def judged(self) -> str:
        """The id of what is judged: the output, or the page as it shows one column of outputs."""
        return f"{self.screen.id}-d{self.position}" if self.whole else self.output.id

    @property
    def leads(self) -> bool:
        """Whether it is the first of those whose answers make one judgment."""
        return self.counts and self.id == self.owner

    @property
    def whole(self) -> bool:
        """Whether it is about a whole page."""
        return self.asked is not None and self.asked.of == "document" and self.id != self.output.id

    def is_skipped(self, answers: Mapping[str, Any]) -> bool:
        """Whether somebody said why it cannot be answered."""
        return answers.get(self.owner, {}).get("skipped") is not None

    def is_open(self, answers: Mapping[str, Any]) -> bool:
        """Whether something that is asked for is missing among the answers of the screen, and was not skipped."""
        answer = answers.get(self.id, {})
        return not self.is_skipped(answers) and any(is_open(answer.get(field)) for field in self.asks)


def list_questions(screen: Screen, campaign: Campaign) -> tuple[Question, ...]:
    """All that is asked on a screen, in order: about each output, then about the page as a whole."""
    asks, asked = asked_fields(campaign), campaign.asked
    first = asked[0] if asked and asks != ("spans",) else None
    more = [(number, one) for number, one in enumerate(asked) if one is not first or not asks]
    questions: list[Question] = []
    for item in screen.items:
        for position, output in enumerate(item.outputs):
            place = (screen, item, output, position)
            # Marks without a score of their own are filed under the criterion that comes first.
            questions.append(Question(output.id, output.id, asks, *place, first, output.of, bool(asks)))
            for number, one in more:
                if one.of == "segment":
                    of = None if output.of is None else f"{output.of}-c{number}"
                    name = f"{output.id}-c{number}"
                    questions.append(Question(name, output.id, ("score",), *place, one, of, bool(asks)))
    whole = [(number, one) for number, one in more if one.of == "document"]
    segments = any(question.counts for question in questions)
    for position, output in enumerate(screen.items[0].outputs if whole else ()):
        for number, one in whole:
            ids = [f"{screen.id}-d{position}-c{which}" for which in (number, whole[0][0])]
            of = None if output.of is None else f"{_page_of(output.of)}-c{number}"
            place = (screen, screen.items[0], output, position)
            questions.append(Question(ids[0], ids[1], ("score",), *place, one, of, not segments))
    return tuple(questions)


def _page_of(output: str) -> str:
    """The page on which an output stands, as questions about it have it: `t001-s02-d0` of `t001-s02-i1-o1`."""
    screen, _, place = output.rsplit("-", 2)
    return f"{screen}-d{int(place[1:]) - 1}"


@dataclass(frozen=True)
class ServedCampaign:
    """The campaign as served. `statistics` of the judgments so far are made by other stages.

    `id` names the campaign to browsers, which keep what waits under it: it stays the same once judging has begun.
    `fingerprint` is that of the tasks, by which it is noticed that others were added. `place` are the campaign file and
    its database, for commands that organisers start on their page.
    """

    campaign: Campaign
    tasks: TaskSet
    statistics: Statistics | None = None
    id: str = ""
    fingerprint: str = ""
    place: tuple[Path, str | None] | None = None

    @cached_property
    def task_by_id(self) -> dict[str, Task]:
        """Every task under its id."""
        return {task.id: task for task in self.tasks.tasks}

    @cached_property
    def snapping(self) -> dict[str, str]:
        """Whether marks end at words or at characters, in the source and in the translations."""
        if self.campaign.spans.snap != "auto":
            return dict.fromkeys(("source", "target"), self.campaign.spans.snap)
        shown = [(item, output) for task in self.tasks.tasks for _, item, output in task.outputs()][:_SAMPLE]
        texts = {"source": [item.source or "" for item, _ in shown], "target": [output.text for _, output in shown]}
        return {side: "words" if is_spaced("".join(several)) else "characters" for side, several in texts.items()}

    @cached_property
    def screen_by_id(self) -> dict[tuple[str, str], Screen]:
        """Every screen under the ids of its task and of itself."""
        return {(task.id, screen.id): screen for task in self.tasks.tasks for screen in task.screens}

    @cached_property
    def special_screens(self) -> list[str]:
        """The ids of screens that hold controls or examples, or what a control was made from."""
        placed = [(screen.id, output) for task in self.tasks.tasks for screen, _, output in task.outputs()]
        special = [output for _, output in placed if KINDS[output.kind].control or output.kind == "tutorial"]
        checked = [output for _, output in placed if output.expected is not None]
        wanted = {output.id for output in (*special, *checked)} | {output.of for output in special}
        return list(dict.fromkeys(screen for screen, output in placed if output.id in wanted))

    @cached_property
    def question_by_id(self) -> dict[tuple[str, str], Question]:
        """Every question under the ids of its task and of itself; those about outputs have the ids of these."""
        return {
            (task.id, question.id): question
            for task in self.tasks.tasks
            for screen in task.screens
            for question in list_questions(screen, self.campaign)
        }

    @cached_property
    def editors_by_task(self) -> dict[str, frozenset[str]]:
        """By task, the people whose edits it shows, where there are some: they do not get it."""
        editors = {
            task.id: frozenset(output.editor for *_, output in task.outputs() if output.editor is not None)
            for task in self.tasks.tasks
            if task.kind == "work"
        }
        return {task: people for task, people in editors.items() if people}

    @cached_property
    def media_by_place(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """By task, the names of the files beside each item and each output that has some."""
        return {
            task.id: {
                place.id: place.media for _, item, output in task.outputs() for place in (item, output) if place.media
            }
            for task in self.tasks.tasks
        }

    @cached_property
    def rated_by_task(self) -> dict[str, Counter[str]]:
        """How many outputs that count each task of work has of each system."""
        return {
            task.id: Counter(
                system for _, _, output in task.outputs() if output.kind in RATED for system in output.systems
            )
            for task in self.tasks.tasks
            if task.kind == "work"
        }

    @cached_property
    def systems_by_task(self) -> dict[str, tuple[str, ...]]:
        """The systems that each task of work judges, controls left out."""
        return {task: tuple(sorted(systems)) for task, systems in self.rated_by_task.items()}

    @cached_property
    def items_by_task(self) -> dict[str, tuple[str, ...]]:
        """The documents or segments of each task of work on which systems can meet; none if outputs stand together."""
        if self.campaign.side_by_side > 1:
            return dict.fromkeys(self.rated_by_task, ())
        return {
            task.id: tuple(sorted({shared_item(screen) for screen in task.screens}))
            for task in self.tasks.tasks
            if task.kind == "work"
        }

    @cached_property
    def judgments_by_task(self) -> dict[str, int]:
        """How many judgments that count each task of work holds."""
        kinds = counted_kinds(self.tasks.protocol)
        judged = Counter(
            task
            for (task, _), question in self.question_by_id.items()
            if question.leads and question.output.kind in kinds
        )
        return {task.id: judged[task.id] for task in self.tasks.tasks if task.kind == "work"}

    @cached_property
    def texts_by_task(self) -> dict[str, frozenset[tuple[str, str, str]]]:
        """The genuine outputs of every task of work, by document, segment and text."""
        return {
            task.id: frozenset(
                (screen.document, item.segment, output.text)
                for screen, item, output in task.outputs()
                if output.kind == "system"
            )
            for task in self.tasks.tasks
            if task.kind == "work"
        }


def get_served() -> ServedCampaign:
    """The campaign that this thread works for, as it is served."""
    served = current_site().served
    assert served is not None
    return served
