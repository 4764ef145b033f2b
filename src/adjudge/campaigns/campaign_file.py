"""The campaign file: everything that a campaign is, as data. Knows nothing of how tasks are made or shown.

`docs/design.md` explains every key. `load_campaign` reads a file and names all its faults at once.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from adjudge.campaigns.questions import (
    AnyScale,
    Asked,
    ByLanguage,
    Criterion,
    ErrorWeights,
    Name,
    Part,
    Scale,
    Spans,
    list_asked,
)
from adjudge.table import protocols
from adjudge.table.errors import InputError, UsageError, param
from adjudge.table.errors import shown as quoted
from adjudge.table.files import read_text
from adjudge.table.languages import language_code
from adjudge.table.participants import PREFIX, any_judge, visible_name
from adjudge.table.wording import agreeing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic_core import ErrorDetails


# The parts of the campaign file: texts, design, context, controls, page, instructions, crowd and links.

MOST_PEOPLE = 100_000
PAGES = ("pages", "pages-same-documents", "pages-all-systems")
Direction = Literal["auto", "ltr", "rtl"]
Structure = Literal["mixed", "all-systems", "pages", "pages-same-documents", "pages-all-systems"]
Select = Literal["outputs", "spread"]
TextFormat = Literal["auto", "text", "tsv", "wmt-xml", "sgm"]
# These values also go to the page; the server's answers and the types of the page's scripts are made from them.
Shows = Literal["source", "reference", "both", "nothing"]
Navigation = Literal["free", "back-only", "strict"]


def is_one_line(text: str) -> bool:
    """Whether a text has no control characters, line breaks or halves of characters; joiners in names are allowed."""
    return all(unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") for character in text)


def _count_or_share(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not 0 <= value <= 1_000_000 or (isinstance(value, float) and value >= 1):
        raise ValueError("give a count per task (a whole number) or a share of the task (a number below 1)")
    return value


def _table_or(key: str, wanted: str) -> BeforeValidator:
    """A table, for which a text alone may stand: the value of this key."""

    def make_table(value: Any) -> Any:
        if not isinstance(value, str | dict | BaseModel):
            raise ValueError(f"give {wanted}")  # noqa: TRY004
        return {key: value} if isinstance(value, str) else value

    return BeforeValidator(make_table)


def _person_name(value: str) -> str:
    if value != value.strip() or not is_one_line(value):
        raise ValueError("a person's name has no line breaks or tabs in it, and no spaces around it")
    return value


Reason = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
PersonName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_person_name)]
Amount = Annotated[int | float, BeforeValidator(_count_or_share)]


class Languages(Part):
    """The language pair, and in which direction its scripts run (`auto`: as the texts themselves say)."""

    source: str = Field(min_length=1)
    target: str = Field(min_length=1)
    source_direction: Direction = "auto"
    target_direction: Direction = "auto"

    @property
    def codes(self) -> tuple[str, str]:
        """The short codes of source and target."""
        return language_code(self.source), language_code(self.target)


class TextFile(Part):
    """A file of texts; `column` is the column of a TSV file, or the translation's name inside an XML file."""

    file: Path
    column: str | None = None


AnyTextFile = Annotated[TextFile, _table_or("file", 'a file name, or a table as {file = "texts.tsv", column = "A"}')]


def map_paths(value: Any, change: Callable[[Path, tuple[str, ...]], Path], keys: tuple[str, ...] = ()) -> Any:
    """Replace every path in the campaign, or in a part of it, by `change(path, keys)`.

    A file of texts is usually given by its name alone, so its path has the key of the file (`files.source`).
    """
    if isinstance(value, Path):
        return change(value, keys)
    if isinstance(value, dict):
        return {key: map_paths(inner, change, (*keys, key)) for key, inner in value.items()}
    if isinstance(value, Part):
        inner_keys = {name: keys if isinstance(value, TextFile) else (*keys, name) for name in type(value).model_fields}
        return value.model_copy(update={name: map_paths(inner, change, inner_keys[name]) for name, inner in value})
    return value


class Texts(Part):
    """The texts of a test set. Paths are relative to the campaign file."""

    testset: Path | None = None
    source: AnyTextFile | None = None
    references: dict[str, AnyTextFile] = Field(default={})
    systems: dict[str, AnyTextFile] = Field(default={})
    documents: Path | None = None

    @model_validator(mode="after")
    def _texts_are_there(self) -> Self:
        if self.testset is None and self.source is None:
            raise ValueError("name a source file ('source'), or one file that holds all ('testset')")
        if self.testset is None and not self.systems:
            raise ValueError("name the outputs of at least one system under 'systems'")
        return self


class Media(Part):
    """Pictures, sound and video: the folder that they lie in, and lists of the files of each segment."""

    folder: Path
    source: Path | None = None
    systems: dict[str, Path] = Field(default={})


class Files(Texts):
    """Where everything is; `after` is the corrected version of the test set, where two are judged together."""

    media: Media | None = None

    tutorial: Path | None = None
    prefilled: Path | None = None
    edits: Path | None = None
    spread: Path | None = None
    format: TextFormat = "auto"
    only: tuple[str, ...] = ()
    human: tuple[str, ...] | None = None
    after: Texts | None = None


def named_annotators(annotators: int | tuple[str, ...]) -> tuple[str, ...]:
    """The people of the key `annotators`: as named, or numbered where only their number is given."""
    if not isinstance(annotators, int):
        return annotators
    width = max(2, len(str(annotators)))
    return tuple(f"annotator-{i:0{width}d}" for i in range(1, annotators + 1))


MOST_SIDE_BY_SIDE = 6


class LongSources(Part):
    """Where a source has at least so many characters, at most so many outputs stand side by side."""

    characters: int = Field(ge=1, le=1_000_000)
    outputs: int = Field(ge=2, le=9)


class Design(Part):
    """How judgments are spread over tasks and people.

    `outputs` stand side by side on a screen: 5 in rankings, 2 in pairs, elsewhere 1 if nothing is said.
    `screens_per_segment`: 1 in rankings and pairs; where scores are given side by side, as many as all outputs need.
    """

    structure: Structure = "mixed"
    task_size: int = Field(default=100, ge=1, le=1_000_000)
    annotators: Annotated[int, Field(ge=1, le=MOST_PEOPLE)] | tuple[PersonName, ...] = 1
    judgments: int = Field(default=1, ge=1, le=MOST_PEOPLE)
    segments: int | None = Field(default=None, ge=1, le=100_000_000)
    select: Select | None = None
    outputs: int | None = Field(default=None, ge=1, le=9)
    long_sources: tuple[LongSources, ...] = Field(default=(), max_length=20)
    screens_per_segment: int | None = Field(default=None, ge=1, le=10_000)
    consecutive: int = Field(default=3, ge=1, le=1_000_000)
    reference_rate: float = Field(default=0.0, ge=0, le=1)
    references_as_systems: bool = False

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        if self.select is not None and self.segments is None:
            raise ValueError(f"'select' = '{self.select}' draws some of the segments; say how many in 'segments'")
        if self.select is not None and self.structure == "pages":
            raise ValueError(
                "'select' draws segments that all systems are judged on; use structure 'pages-same-documents'"
            )
        people = len(self.annotator_names)
        if len(set(map(visible_name, self.annotator_names))) < people:
            raise ValueError("'annotators' lists a name twice, as people see it; every name must be a different person")
        if any_judge(self.annotator_names):
            raise ValueError(f"'annotators' has a name that begins with '{PREFIX}', as those of machines do; change it")
        # Where nobody is named, a crowd platform sends people, and nobody knows yet how many.
        if people and self.judgments > people:
            raise ValueError(
                f"'judgments' = {self.judgments} different people are wanted per item, but 'annotators' "
                f"{agreeing(people, 'is', 'are')} {people}; ask for fewer judgments or more annotators"
            )
        return self

    @property
    def annotator_names(self) -> tuple[str, ...]:
        """The people, named as in the file or numbered."""
        return named_annotators(self.annotators)


class Context(Part):
    """What is shown around a segment: neighbours that are not judged, and how long a page may be."""

    before: int = Field(default=0, ge=0, le=1_000_000)
    after: int = Field(default=0, ge=0, le=1_000_000)
    max_segments: int | None = Field(default=None, ge=1, le=100_000_000)
    show: Shows = "source"


class Controls(Part):
    """Items that check the people, per task: a count, or a share of the task size.

    `calibration` is the number of segments, with all their outputs, of one extra task that everybody does first.
    """

    degraded: Amount = 0
    degraded_from: Literal["outputs", "references"] = "outputs"
    repeats: Amount = 0
    references: Amount = 0
    attention: Amount = 0
    attention_text: str | None = None
    calibration: int = Field(default=0, ge=0, le=1_000_000)

    @model_validator(mode="after")
    def _room_for_a_number(self) -> Self:
        if self.attention_text is not None and "{score}" not in self.attention_text:
            raise ValueError("'attention_text' must say which score to give: write {score} where it stands")
        return self


class Assignment(Part):
    """`fixed`: everybody has their tasks from the start. `pool`: the next free task, held for a while."""

    policy: Literal["fixed", "pool"] = "fixed"
    lease_minutes: int = Field(default=240, ge=1, le=1_000_000)
    first_lease_minutes: int = Field(default=15, ge=1, le=1_000_000)


class Adaptive(Part):
    """Which task of the pool comes next: drawn by a policy from what has been handed in. See docs/adaptive.md.

    `floor` is the share of the work that is spread evenly over the systems whatever the policy; `warm_up` is how often
    every system is observed before the policy begins.
    """

    policy: Annotated[str, Field(pattern=r"^(even|best|pairs|top:[1-9][0-9]{0,3})$")] = "even"
    floor: float = Field(default=0.2, gt=0, le=1)
    warm_up: int = Field(default=3, ge=1, le=1000)


class Looks(Part):
    """The plan of looks at the growing campaign: how many, at how many judgments in all, and what is to be settled."""

    looks: int = Field(ge=1, le=100)
    planned: int = Field(ge=1, le=1_000_000_000)
    goal: Annotated[str, Field(pattern=r"^(best|pairs|top:[1-9][0-9]{0,3})$")] = "pairs"
    spending: Literal["kim-demets", "obrien-fleming", "pocock", "anytime"] = "kim-demets"
    level: float = Field(default=0.05, gt=0, lt=1)
    people: int | None = Field(default=None, ge=1, le=1_000_000)


class Page(Part):
    """How the page behaves; `logo` is a picture (PNG, JPEG or SVG) at the top of every page.

    `skip`: what people cannot judge may be skipped, for one of these reasons, or for one in their own words (`true`).
    `ties` in pairs: allowed, or told apart as both good and both bad. `rank_labels` stand for ranks, the best first.
    `tutorial = "pass"`: nobody goes on to the work before every example is answered rightly.
    """

    navigation: Navigation = "free"
    comments: bool = False
    skip: bool | Annotated[tuple[Reason, ...], Field(min_length=1, max_length=20)] = False
    rank_labels: Annotated[tuple[Reason, ...], Field(min_length=2, max_length=9)] | None = None
    html: Literal["no", "sanitised"] = "no"
    ties: bool | Literal["good-or-bad"] = True
    idle_seconds: int = Field(default=120, ge=10, le=86_400)
    tutorial: Literal["free", "pass"] = "free"
    logo: Path | None = None


class Instruction(Part):
    """What annotators read first, as CommonMark here or in a file; `short` stays in sight while they judge."""

    text: str | None = None
    file: Path | None = None
    short: Annotated[str, Field(min_length=1, max_length=300)] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.file is None):
            raise ValueError("give either 'text' or 'file'")
        return self


InstructionText = Annotated[Instruction, _table_or("text", 'a text, or a table as {file = "instructions.md"}')]


class Crowd(Part):
    """Where annotators of a crowd platform go when done: a code to copy, or a page to return to.

    With `signing_key`, an id is believed only with its signature: HMAC-SHA-256 of the id under this key, in hexadecimal
    digits. `registrations_per_minute` limits how many new people may come in. Nobody fails by fewer controls than
    `least_controls`.
    """

    completion_code: str | None = None
    failure_code: str | None = None
    return_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    failure_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    pass_share: float = Field(default=protocols.PASS_SHARE, ge=0, le=1)
    least_controls: int = Field(default=protocols.LEAST_CONTROLS, ge=1, le=10_000)
    least_seconds: float = Field(default=protocols.LEAST_SECONDS, ge=0, le=3600)
    signing_key: Annotated[str, Field(min_length=16, max_length=1000)] | None = None
    registrations_per_minute: int = Field(default=30, ge=1, le=100_000)


def _lists_by_language(value: Any) -> Any:
    """Lists by language, of which one alone is for all languages."""
    if not isinstance(value, dict):
        value = {"": value}
    return {language: tuple(each) if isinstance(each, list) else each for language, each in value.items()}


# By language, as `ByLanguage`: lists of texts.
AnswersByLanguage = Annotated[
    dict[str, tuple[Annotated[str, Field(min_length=1, max_length=300)], ...]],
    Field(min_length=1),
    BeforeValidator(_lists_by_language),
]


class Question(Part):
    """A question that people answer before they judge.

    `answers` are choices; without them people write. `personal` answers (a name, an address) are for paying and
    organising, and are never given out with the others. With `right`, it belongs to a quiz: who answers otherwise is
    asked again.
    """

    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    ask: ByLanguage
    answers: AnswersByLanguage | None = None
    several: bool = False
    required: bool = True
    personal: bool = False
    right: str | tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        lists = list((self.answers or {}).values())
        if any(len(each) != len(lists[0]) or len(set(each)) != len(each) for each in lists):
            raise ValueError(f"'answers' of '{self.key}' must be as many in every language, and each another one")
        if self.answers is not None and not 2 <= len(lists[0]) <= 300:
            raise ValueError(f"'answers' of '{self.key}' must be 2 to 300; leave them out if people are to write")
        if self.several and self.answers is None:
            raise ValueError(f"'several' of '{self.key}' needs 'answers' to choose from")
        if self.right is not None and (self.personal or not set(self.rights) <= set(self.choices)):
            raise ValueError(f"'right' of '{self.key}' must be among its answers in their first language")
        if len(self.rights) > 1 and not self.several:
            raise ValueError(f"'{self.key}' has {len(self.rights)} right answers; add several = true, or name one")
        return self

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers as they are stored, whatever the language of the page: those of the first language."""
        return next(iter(self.answers.values())) if self.answers else ()

    @property
    def rights(self) -> tuple[str, ...]:
        """The right answers of a quiz."""
        return (self.right,) if isinstance(self.right, str) else self.right or ()


class Form(Part):
    """What people read and answer before they judge: a declaration of consent (CommonMark), and questions."""

    consent: dict[str, InstructionText] = Field(default={})
    questions: tuple[Question, ...] = Field(default=(), max_length=100)

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        keys = [question.key for question in self.questions]
        if len(set(keys)) < len(keys):
            raise ValueError("two questions have the same 'key'; name each once")
        if any(text.short is not None for text in self.consent.values()):
            raise ValueError("'consent' has no short version; remove 'short'")
        return self

    @property
    def asks(self) -> bool:
        """Whether there is anything to agree to or to answer."""
        return bool(self.consent or self.questions)


class Pay(Part):
    """What the pay list reckons with: a rate per hour of work, per judgment, per task; they are added up."""

    currency: Annotated[str, Field(min_length=1, max_length=12)] = "EUR"
    per_hour: float = Field(default=0, ge=0, le=1_000_000)
    per_judgment: float = Field(default=0, ge=0, le=1_000_000)
    per_task: float = Field(default=0, ge=0, le=1_000_000)


class Links(Part):
    """How long personal links and sessions live."""

    lifetime_days: int = Field(default=90, ge=1, le=3660)
    session_hours: int = Field(default=24, ge=1, le=8784)


class Campaign(Part):
    """One campaign of one protocol and one language pair."""

    name: Annotated[PersonName, Field(max_length=100)]
    protocol: protocols.CollectedProtocol
    seed: int = Field(default=1, ge=0, lt=2**63)
    languages: Languages
    files: Files
    design: Design = Design()
    context: Context = Context()
    controls: Controls = Controls()
    assignment: Assignment = Assignment()
    adaptive: Adaptive | None = None
    looks: Looks | None = None
    page: Page = Page()
    spans: Spans = Spans()
    scale: AnyScale | None = None
    criteria: dict[Name, Criterion] = Field(default={}, max_length=12)
    instructions: dict[str, InstructionText] = Field(default={})
    form: Form = Form()
    crowd: Crowd = Crowd()
    pay: Pay = Pay()
    links: Links = Links()

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        for wrong, why in self._list_conflicts():
            if wrong:
                raise ValueError(why)
        return self

    def _list_conflicts(self) -> Iterator[tuple[bool, str]]:
        """Whether parts contradict each other, and how that is said; the first contradiction counts."""
        protocol, design, files, name = (
            protocols.PROTOCOLS[self.protocol],
            self.design,
            self.files,
            f"'{self.protocol}'",
        )
        for key, given in {"spans": self.spans != Spans(), "files.prefilled": files.prefilled is not None}.items():
            yield (
                not protocol.marked and given,
                f"'{key}' is for marking errors ({', '.join(protocols.MARKED)}); remove it",
            )
        finer = self.spans.categories is not None or self.spans.weights != ErrorWeights()
        without = protocol.marked and not protocol.categories
        yield without and finer, f"protocol {name} has no categories and no weights; remove them from [spans]"
        markup = self.page.html != "no"
        yield (
            protocol.in_text and markup,
            f"page.html = '{self.page.html}' cannot be used if texts are marked or edited",
        )
        scaled = self.scale is not None and not protocol.on_scale
        yield scaled, f"'scale' has no meaning for protocol {name}, which has no scores; remove it"
        for_scores = f"is for scores ({', '.join(protocols.ONE_BY_ONE)})"
        yield (
            design.structure != "mixed" and protocol.relative,
            f"design.structure '{design.structure}' {for_scores}; for protocol {name} leave it out",
        )
        yield from self._list_conflicts_side_by_side(protocol)
        yield from self._list_conflicts_of_questions(protocol)
        instructed = self.controls.attention_text is not None and not protocol.on_scale
        yield instructed, f"controls.attention_text asks for a score; it is for {', '.join(protocols.ON_SCALE)} only"
        drawn, pooled = self.adaptive is not None, self.assignment.policy == "pool"
        sent = pooled and bool(self.crowd.completion_code or self.crowd.return_url)
        nobody = "design.annotators names nobody; name people, or let a crowd platform send them"
        how = "assignment.policy = 'pool', and a completion_code or return_url under [crowd]"
        yield not design.annotator_names and not sent, f"{nobody} ({how})"
        yield (
            drawn and not pooled,
            "'adaptive' draws tasks from the pool; set assignment.policy = \"pool\", or remove it",
        )
        edited = drawn and protocol.edited
        yield edited, f"'adaptive' needs judgments that are scores or ranks, not {name}; remove it"
        weighted = f"rankings and pairs cannot be weighted; leave it out for protocol {name}"
        yield design.select is not None and protocol.relative, f"design.select {for_scores}: {weighted}"
        yield (
            (design.select == "spread") != (files.spread is not None),
            'design.select = "spread" and files.spread, a number per segment, belong together; give both or neither',
        )
        yield from self._list_conflicts_of_media()
        sampled = design.structure == "pages" and design.segments is not None
        for key, given in {
            'assignment.policy = "pool"': pooled,
            "design.select": design.select is not None,
            "controls.calibration": bool(self.controls.calibration),
            "files.prefilled": files.prefilled is not None,
            "files.edits": files.edits is not None,
            "files.media": files.media is not None,
            "design.segments of structure 'pages'": sampled,
        }.items():
            both = files.after is not None and given
            yield both, f"{key} cannot be used with two versions of a test set (files.after); remove it"

    def _list_conflicts_of_media(self) -> Iterator[tuple[bool, str]]:
        """Whether controls can be made of outputs that are sound or pictures, and whether anything is left to see."""
        controls, media = self.controls, self.files.media
        yield (
            media is not None and not media.systems and media.source is None,
            "'files.media' names no list of files; give 'source', or lists of systems, or remove it",
        )
        made = bool(controls.degraded or controls.references or controls.attention)
        yield (
            media is not None and bool(media.systems) and made,
            "controls of degraded outputs, references and attention are texts; with files.media.systems use repeats",
        )
        marked_source = self.spans.source and self.context.show in ("reference", "nothing")
        yield marked_source, f"spans.source marks the source, which context.show = '{self.context.show}' hides"

    def _list_conflicts_side_by_side(self, protocol: protocols.Protocol) -> Iterator[tuple[bool, str]]:
        """Whether as many outputs can stand side by side as the file says."""
        outputs, name = self.design.outputs, f"'{self.protocol}'"
        got = f"design.outputs = {outputs}"
        yield protocol.in_blocks and outputs == 1, f"{got}, but protocol {name} compares outputs; give 2 to 9"
        yield protocol.edited and outputs not in (None, 1), f"{got}, but protocol {name} shows one output; remove it"
        many = not protocol.relative and outputs is not None and outputs > MOST_SIDE_BY_SIDE
        yield many, f"{got}, but scores are given to at most {MOST_SIDE_BY_SIDE} outputs side by side; lower it"
        apart = not protocol.relative and self.side_by_side > 1 and self.design.structure == "pages"
        drawn = "design.segments of structure 'pages' draws documents for each system by itself"
        yield (
            apart and self.design.segments is not None,
            f"{drawn}, which cannot stand side by side; use structure 'pages-same-documents'",
        )
        for long in self.design.long_sources:
            fewer = f"fewer than {self.side_by_side}, the outputs beside other sources"
            yield (
                long.outputs >= self.side_by_side,
                f"design.long_sources shows {long.outputs} outputs, which must be {fewer}; lower it or remove it",
            )

    def _list_conflicts_of_questions(self, protocol: protocols.Protocol) -> Iterator[tuple[bool, str]]:
        """Whether what is asked fits the protocol and the structure of the tasks."""
        name, pages = f"'{self.protocol}'", f"{', '.join(PAGES)}; it is '{self.design.structure}'"
        of_document = [asked.name for asked in self.asked if asked.of == "document"]
        yield (
            bool(self.criteria) and not protocol.scored,
            f"'criteria' are scores ({', '.join(protocols.SCORED)}); remove them for protocol {name}",
        )
        looks_alike = len({criterion.casefold() for criterion in self.criteria}) < len(self.criteria)
        yield looks_alike, "'criteria' names one twice, but for capitals; give each its own name"
        yield (
            bool(of_document) and self.design.structure not in PAGES,
            f"criterion '{', '.join(of_document)}' is of whole documents, so design.structure must be one of {pages}",
        )
        yield (
            self.adaptive is not None and protocol.on_scale and bool(of_document) and self.asked[0].of == "document",
            "'adaptive' needs a score of each segment, but all criteria are of whole documents; remove it",
        )
        fed = self.files.edits is not None
        yield (
            fed and not (protocol.edited or protocol.answer == "verdict"),
            f"files.edits are corrected again (postedit) or judged (acceptability), not with {name}; remove it",
        )
        split = self.page.ties == "good-or-bad"
        yield split and not protocol.in_pairs, f"page.ties = 'good-or-bad' is for pairs; protocol {name} has none"
        labels = self.page.rank_labels
        yield labels is not None and not protocol.in_blocks, "page.rank_labels is for rankings; remove it"
        yield (
            labels is not None and self.page.ties is False,
            "page.rank_labels are given to any number of outputs, so ties must be allowed; remove page.ties = false",
        )

    @property
    def side_by_side(self) -> int:
        """How many outputs of a segment are shown together; 1 where each is judged by itself."""
        protocol = protocols.PROTOCOLS[self.protocol]
        if protocol.in_pairs:
            return 2
        return self.design.outputs or (5 if protocol.in_blocks else 1)

    def outputs_beside(self, characters: int) -> int:
        """How many outputs are shown together beside a source of this length: fewer, if it is long."""
        fewer = [long.outputs for long in self.design.long_sources if characters >= long.characters]
        return min([self.side_by_side, *fewer])

    @property
    def score_scale(self) -> Scale:
        """The scale of the scores that come first: the file's, or the protocol's own."""
        return self.asked[0].scale if self.asked else Scale()

    @property
    def warn_limits(self) -> tuple[float, float]:
        """The score below which an error is missed, and above which a major one surprises."""
        scale, given = self.score_scale, (self.spans.warn_below, self.spans.warn_above)
        shares = zip(given, (0.5, 0.9), strict=True)
        below, above = (
            scale.low + share * (scale.high - scale.low) if said is None else said for said, share in shares
        )
        return below, above

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The scores that are asked for, those of segments first."""
        return list_asked(self.criteria, self.protocol, self.scale)


# Reading `campaign.toml`: every fault of the file in one message, each with its key and what to do.

# Errors are marked, and texts edited, in whole documents, if the file says nothing else.
WHOLE_DOCUMENTS = "pages-same-documents"
MOST_LOGO_BYTES = 1_000_000
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
# An SVG element, behind at most a byte order mark, a declaration and comments.
_SVG = re.compile(rb"(\xef\xbb\xbf)?\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<svg[\s>]", re.DOTALL)


def load_campaign(path: Path | str) -> Campaign:
    """Read a campaign file. Paths in it are made absolute, and texts of instructions are read in."""
    path = Path(path)
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"is not valid TOML ({fault}); correct it", file=path) from fault
    except (ValueError, RecursionError) as fault:
        what = "is nested too deeply" if isinstance(fault, RecursionError) else "holds a number of too many digits"
        raise InputError(f"{what} for a campaign; correct it", file=path) from fault
    protocol = protocols.PROTOCOLS.get(str(data.get("protocol")))
    if protocol is not None and protocol.in_text and isinstance(data.setdefault("design", {}), dict):
        data["design"].setdefault("structure", WHOLE_DOCUMENTS)
    try:
        campaign = check_campaign(data)
    except (RecursionError, OverflowError) as fault:
        raise InputError("is nested too deeply for a campaign; correct it", file=path) from fault
    except ValidationError as fault:
        faults = dict.fromkeys(_describe_fault(error) for error in fault.errors() if not _is_other_branch(error))
        raise InputError("; ".join(faults), file=path) from fault
    return _resolve_files(campaign, path)


def check_campaign(data: dict[str, Any]) -> Campaign:
    """Check the content of a campaign file; paths stay as they are."""
    # As JSON, because arrays and paths are then accepted in strict mode, while "5" for 5 still is not.
    return Campaign.model_validate_json(json.dumps(data, default=str))


def set_selection(campaign: Campaign, select: str) -> Campaign:
    """The campaign with its segments chosen by `outputs`, or by the numbers in a file."""
    file = None if select == "outputs" else Path(select).resolve()
    if file is not None and not file.is_file():
        raise UsageError(
            f"{param('select')} is '{quoted(select)}', which is neither 'outputs' nor a file; name a file of numbers"
        )
    how = "outputs" if file is None else "spread"
    try:
        return Campaign(
            **{
                **dict(campaign),
                "design": Design(**{**dict(campaign.design), "select": how}),
                "files": campaign.files.model_copy(update={"spread": file}),
            }
        )
    except ValidationError as fault:
        raise UsageError("; ".join(dict.fromkeys(_describe_fault(error) for error in fault.errors()))) from fault


def _describe_fault(error: ErrorDetails) -> str:
    """One fault as `key: what is wrong (got ...)`."""
    # Names of union branches such as `function-before[...]` or `int` say nothing to users.
    branches = ("int", "float", "constrained-int", "constrained-float", "constrained-str")
    parts = [part for part in map(str, error["loc"]) if "[" not in part and part not in branches]
    key = quoted(".".join(parts), 100) or "the file"
    if error["type"] == "extra_forbidden":
        return f"{key}: this key is unknown; check its spelling and its place"
    if error["type"] == "missing":
        return f"{key}: this key is missing; add it"
    message = error["msg"].removeprefix("Value error, ")
    got = error["input"]
    shown = f" (got {quoted(json.dumps(got, ensure_ascii=False))})" if isinstance(got, str | int | float | bool) else ""
    return f"{key}: {message[:1].lower()}{message[1:]}{shown}"


def _is_other_branch(error: ErrorDetails) -> bool:
    """Whether a fault comes from trying a list as a number, allowed instead: the faults of the list say enough."""
    return error["type"] == "int_type" and isinstance(error["input"], list) and bool(error["input"])


def _resolve_files(campaign: Campaign, path: Path) -> Campaign:
    """Make all paths absolute, check that the files exist, and read the texts of the instructions."""
    missing: list[str] = []

    def resolve(file: Path, keys: tuple[str, ...]) -> Path:
        full = path.resolve().parent / file
        there = False
        kind = "folder" if keys[-1] == "folder" else "file"
        with suppress(OSError, ValueError):  # no file can have such a name
            there = full.is_dir() if kind == "folder" else full.is_file()
        if not there:
            missing.append(f"{quoted('.'.join(keys), 100)}: no such {kind} '{quoted(file)}' beside the campaign file")
        return full

    resolved: Campaign = map_paths(campaign, resolve)
    if missing:
        raise InputError("; ".join(missing) + "; check names and places", file=path)
    texts, consent = (
        {
            language: given.model_copy(update={"text": read_text(given.file)}) if given.file else given
            for language, given in texts.items()
        }
        for texts in (resolved.instructions, resolved.form.consent)
    )
    form = resolved.form.model_copy(update={"consent": consent})
    if resolved.page.logo is not None:
        logo_type(resolved.page.logo)
    return resolved.model_copy(update={"instructions": texts, "form": form})


def logo_type(file: Path) -> str:
    """The media type of a logo, by its content; anything but a small PNG, JPEG or SVG file is refused."""
    try:
        content = file.read_bytes() if file.stat().st_size <= MOST_LOGO_BYTES else None
    except OSError as fault:
        raise InputError(f"the logo cannot be read ({fault.strerror}); check its rights", file=file) from fault
    if content is None:
        raise InputError(f"the logo has more than {MOST_LOGO_BYTES:,} bytes; take a smaller picture", file=file)
    for start, kind in _PICTURES.items():
        if content.startswith(start):
            return kind
    if _SVG.match(content) and b"<!ENTITY" not in content:
        return "image/svg+xml"
    raise InputError("the logo is neither PNG nor JPEG nor SVG; convert it to one of these", file=file)
