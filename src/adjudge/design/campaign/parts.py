"""The parts of the campaign file: texts, design, context, controls, page, instructions, crowd and links."""

from __future__ import annotations

import math
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from adjudge.core.languages import language_code
from adjudge.core.machine_judges import PREFIX, any_judge
from adjudge.core.passing_rule import LEAST_SECONDS, PASS_SHARE
from adjudge.core.wording import agreeing

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_PEOPLE = 100_000
Direction = Literal["auto", "ltr", "rtl"]
Structure = Literal["mixed", "all-systems", "pages", "pages-same-documents", "pages-all-systems"]
Select = Literal["outputs", "spread"]
TextFormat = Literal["auto", "text", "tsv", "wmt-xml", "sgm"]
# These values also go to the page; the server's answers and the types of the page's scripts are made from them.
Shows = Literal["source", "reference", "both"]
Navigation = Literal["free", "back-only", "strict"]


class Part(BaseModel):
    """Unknown keys are faults, nothing is converted silently, nothing changes later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def is_one_line(text: str) -> bool:
    """Whether a text has no control characters, line breaks or halves of characters; joiners in names are allowed."""
    return all(unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") for character in text)


def _count_or_share(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not 0 <= value <= 1_000_000 or (isinstance(value, float) and value >= 1):
        raise ValueError("give a count per task (a whole number) or a share of the task (a number below 1)")
    return value


def _as_text_file(value: Any) -> Any:
    if not isinstance(value, str | dict | BaseModel):
        raise ValueError('give a file name, or a table as {file = "texts.tsv", column = "A"}')  # noqa: TRY004
    return {"file": value} if isinstance(value, str) else value


def _person_name(value: str) -> str:
    if value != value.strip() or not is_one_line(value):
        raise ValueError("a person's name has no line breaks or tabs in it, and no spaces around it")
    return value


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


AnyTextFile = Annotated[TextFile, BeforeValidator(_as_text_file)]


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


class Files(Texts):
    """Where everything is; `after` is the corrected version of the test set, where two are judged together."""

    tutorial: Path | None = None
    prefilled: Path | None = None
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


class Design(Part):
    """How judgments are spread over tasks and people."""

    structure: Structure = "mixed"
    task_size: int = Field(default=100, ge=1, le=1_000_000)
    annotators: Annotated[int, Field(ge=1, le=MOST_PEOPLE)] | tuple[PersonName, ...] = 1
    judgments: int = Field(default=1, ge=1, le=MOST_PEOPLE)
    segments: int | None = Field(default=None, ge=1, le=100_000_000)
    select: Select | None = None
    outputs: int = Field(default=5, ge=2, le=9)
    screens_per_segment: int = Field(default=1, ge=1, le=10_000)
    consecutive: int = Field(default=3, ge=1, le=1_000_000)
    reference_rate: float = Field(default=0.0, ge=0, le=1)
    references_as_systems: bool = False

    @model_validator(mode="after")
    def _selection_has_a_size(self) -> Self:
        if self.select is not None and self.segments is None:
            raise ValueError(f"'select' = '{self.select}' draws some of the segments; say how many in 'segments'")
        if self.select is not None and self.structure == "pages":
            raise ValueError(
                "'select' draws segments that all systems are judged on; use structure 'pages-same-documents'"
            )
        return self

    @model_validator(mode="after")
    def _enough_people(self) -> Self:
        if len(set(self.annotator_names)) < len(self.annotator_names):
            raise ValueError("'annotators' lists a name twice; every name must be a different person")
        if any_judge(self.annotator_names):
            raise ValueError(f"'annotators' has a name that begins with '{PREFIX}', as those of machines do; change it")
        if self.judgments > len(self.annotator_names):
            people = len(self.annotator_names)
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


class Page(Part):
    """How the page behaves; `logo` is a picture (PNG, JPEG or SVG) at the top of every page."""

    navigation: Navigation = "free"
    comments: bool = False
    html: Literal["no", "sanitised"] = "no"
    ties: bool = True
    idle_seconds: int = Field(default=120, ge=10, le=86_400)
    logo: Path | None = None


def _as_instruction(value: Any) -> Any:
    if not isinstance(value, str | dict | BaseModel):
        raise ValueError('give a text, or a table as {file = "instructions.txt"}')  # noqa: TRY004
    return {"text": value} if isinstance(value, str) else value


class Instruction(Part):
    """What annotators read first, as text here or in a file; paragraphs are separated by blank lines."""

    text: str | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.file is None):
            raise ValueError("give either 'text' or 'file'")
        return self


InstructionText = Annotated[Instruction, BeforeValidator(_as_instruction)]


class Crowd(Part):
    """Where annotators of a crowd platform go when done: a code to copy, or a page to return to.

    With `signing_key`, an id is believed only with its signature: HMAC-SHA-256 of the id under this key, in hexadecimal
    digits. `registrations_per_minute` limits how many new people may come in.
    """

    completion_code: str | None = None
    failure_code: str | None = None
    return_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    failure_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    pass_share: float = Field(default=PASS_SHARE, ge=0, le=1)
    least_seconds: float = Field(default=LEAST_SECONDS, ge=0, le=3600)
    signing_key: Annotated[str, Field(min_length=16, max_length=1000)] | None = None
    registrations_per_minute: int = Field(default=30, ge=1, le=100_000)


class Links(Part):
    """How long personal links and sessions live."""

    lifetime_days: int = Field(default=90, ge=1, le=3660)
    session_hours: int = Field(default=24, ge=1, le=8784)
