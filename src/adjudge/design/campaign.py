"""The campaign file: everything that a campaign is, as data. Knows nothing of how tasks are made or shown.

`docs/design.md` explains every key. `load_campaign` reads a file and names all its faults at once.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (the models are built from it)
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from adjudge.core.languages import language_code
from adjudge.design.marking import MARKED, ErrorWeights, Spans
from adjudge.design.part import Part

Protocol = Literal["ranking", "da", "pairwise", "sqm", "esa", "mqm", "postedit"]
Direction = Literal["auto", "ltr", "rtl"]
Structure = Literal["mixed", "all-systems", "pages", "pages-same-documents", "pages-all-systems"]
TextFormat = Literal["auto", "text", "tsv", "wmt-xml", "sgm"]

# Protocols in which each translation is judged by itself; those where people give the score are on a scale.
SCORED = ("da", "sqm", "esa", "mqm", "postedit")
ON_SCALE = ("da", "sqm", "esa")
# What the errors of one translation can cost, where the score follows from them.
MOST_POINTS = 1_000_000.0
PAGES = ("pages", "pages-same-documents", "pages-all-systems")


def _count_or_share(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or value < 0 or (isinstance(value, float) and value >= 1):
        raise ValueError("give a count per task (a whole number) or a share of the task (a number below 1)")
    return value


def _as_text_file(value: Any) -> Any:
    if not isinstance(value, str | dict | BaseModel):
        raise ValueError('give a file name, or a table as {file = "texts.tsv", column = "A"}')  # noqa: TRY004
    return {"file": value} if isinstance(value, str) else value


def _as_instruction(value: Any) -> Any:
    if not isinstance(value, str | dict | BaseModel):
        raise ValueError('give a text, or a table as {file = "instructions.txt"}')  # noqa: TRY004
    return {"text": value} if isinstance(value, str) else value


def _person_name(value: str) -> str:
    if value != value.strip() or not value.isprintable():
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


class Files(Part):
    """Where the texts are. Paths are relative to the campaign file."""

    testset: Path | None = None
    source: AnyTextFile | None = None
    references: dict[str, AnyTextFile] = Field(default={})
    systems: dict[str, AnyTextFile] = Field(default={})
    documents: Path | None = None
    tutorial: Path | None = None
    prefilled: Path | None = None
    format: TextFormat = "auto"
    only: tuple[str, ...] = ()
    human: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _texts_are_there(self) -> Self:
        if self.testset is None and self.source is None:
            raise ValueError("name a source file ('source'), or one file that holds all ('testset')")
        if self.testset is None and not self.systems:
            raise ValueError("name the outputs of at least one system under 'systems'")
        return self


class Design(Part):
    """How judgments are spread over tasks and people."""

    structure: Structure = "mixed"
    task_size: int = Field(default=100, ge=1)
    annotators: Annotated[int, Field(ge=1)] | tuple[PersonName, ...] = 1
    judgments: int = Field(default=1, ge=1)
    segments: int | None = Field(default=None, ge=1)
    outputs: int = Field(default=5, ge=2, le=9)
    screens_per_segment: int = Field(default=1, ge=1)
    consecutive: int = Field(default=3, ge=1)
    reference_rate: float = Field(default=0.0, ge=0, le=1)
    references_as_systems: bool = False

    @model_validator(mode="after")
    def _enough_people(self) -> Self:
        if len(set(self.annotator_names)) < len(self.annotator_names):
            raise ValueError("'annotators' names somebody twice; every name stands for another person")
        if self.judgments > len(self.annotator_names):
            raise ValueError(
                f"'judgments' = {self.judgments} different people are wanted per item, but 'annotators' are "
                f"{len(self.annotator_names)}; ask for fewer judgments or more annotators"
            )
        return self

    @property
    def annotator_names(self) -> tuple[str, ...]:
        """The people, named as in the file or numbered."""
        if isinstance(self.annotators, int):
            width = max(2, len(str(self.annotators)))
            return tuple(f"annotator-{i:0{width}d}" for i in range(1, self.annotators + 1))
        return self.annotators


class Context(Part):
    """What is shown around a segment: neighbours that are not judged, and how long a page may be."""

    before: int = Field(default=0, ge=0)
    after: int = Field(default=0, ge=0)
    max_segments: int | None = Field(default=None, ge=1)
    show: Literal["source", "reference", "both"] = "source"


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
    calibration: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _room_for_a_number(self) -> Self:
        if self.attention_text is not None and "{score}" not in self.attention_text:
            raise ValueError("'attention_text' must say which score to give: write {score} where it stands")
        return self


class Assignment(Part):
    """`fixed`: everybody has their tasks from the start. `pool`: the next free task, held for a while."""

    policy: Literal["fixed", "pool"] = "fixed"
    lease_minutes: int = Field(default=240, ge=1)


class Page(Part):
    """How the page behaves."""

    navigation: Literal["free", "back-only", "strict"] = "free"
    comments: bool = False
    html: Literal["no", "sanitised"] = "no"
    ties: bool = True
    idle_seconds: int = Field(default=120, ge=10)


class Anchor(Part):
    """A mark on the scale and its meaning."""

    at: float
    text: str


class Scale(Part):
    """The scale of scores; where left out, the protocol's own."""

    low: float = 0
    high: float = 100
    step: float = Field(default=1, gt=0)
    anchors: tuple[Anchor, ...] = ()

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"'low' = {self.low:g} must lie below 'high' = {self.high:g}")
        for anchor in self.anchors:
            if not self.low <= anchor.at <= self.high:
                raise ValueError(f"anchor at {anchor.at:g} lies outside {self.low:g} to {self.high:g}")
        return self


class Instruction(Part):
    """What annotators read first, as text here or in a file; paragraphs are separated by blank lines."""

    text: str | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.file is None):
            raise ValueError("give either 'text' or 'file'")
        return self


class Crowd(Part):
    """Where annotators of a crowd platform go when done: a code to copy, or a page to return to."""

    completion_code: str | None = None
    failure_code: str | None = None
    return_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    failure_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    pass_share: float = Field(default=0.5, ge=0, le=1)


class Links(Part):
    """How long personal links and sessions live."""

    lifetime_days: int = Field(default=90, ge=1)
    session_hours: int = Field(default=24, ge=1)


class Campaign(Part):
    """One campaign of one protocol and one language pair."""

    name: str = Field(pattern=r"^[\w][\w .-]*$", max_length=100)
    protocol: Protocol
    seed: int = Field(default=1, ge=0)
    languages: Languages
    files: Files
    design: Design = Design()
    context: Context = Context()
    controls: Controls = Controls()
    assignment: Assignment = Assignment()
    page: Page = Page()
    spans: Spans = Spans()
    scale: Scale | None = None
    instructions: dict[str, Annotated[Instruction, BeforeValidator(_as_instruction)]] = Field(default={})
    crowd: Crowd = Crowd()
    links: Links = Links()

    @model_validator(mode="after")
    def _errors_fit(self) -> Self:
        if self.protocol not in MARKED:
            for key, given in (("spans", self.spans != Spans()), ("files.prefilled", self.files.prefilled)):
                if given:
                    raise ValueError(f"'{key}' is for marking errors ({', '.join(MARKED)}); remove it")
        elif self.protocol != "mqm" and (self.spans.categories is not None or self.spans.weights != ErrorWeights()):
            raise ValueError(f"protocol '{self.protocol}' has no categories and no weights; remove them from [spans]")
        if self.protocol in (*MARKED, "postedit") and self.page.html != "no":
            raise ValueError(f"page.html = '{self.page.html}' cannot be had where texts are marked or edited")
        return self

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.scale is not None and self.protocol not in ON_SCALE:
            raise ValueError(f"'scale' has no meaning for protocol '{self.protocol}', which has no scores; remove it")
        if self.design.structure != "mixed" and self.protocol not in SCORED:
            raise ValueError(
                f"design.structure '{self.design.structure}' is for scores ({', '.join(SCORED)}); "
                f"for protocol '{self.protocol}' leave it out"
            )
        if self.controls.attention_text is not None and self.protocol not in ON_SCALE:
            raise ValueError(f"controls.attention_text asks for a score; it is for {', '.join(ON_SCALE)} only")
        return self

    @property
    def score_scale(self) -> Scale:
        """The scale in force: the file's, or the protocol's own."""
        return self.scale or SCALES.get(self.protocol, Scale())


SCALES = {
    "da": Scale(anchors=(Anchor(at=0, text="0%"), Anchor(at=50, text="50%"), Anchor(at=100, text="100%"))),
    "sqm": Scale(
        low=0,
        high=6,
        anchors=(
            Anchor(at=0, text="no meaning kept"),
            Anchor(at=2, text="some meaning kept"),
            Anchor(at=4, text="most meaning kept, few errors"),
            Anchor(at=6, text="perfect meaning and grammar"),
        ),
    ),
    "esa": Scale(
        anchors=(
            Anchor(at=0, text="nothing of the meaning"),
            Anchor(at=33, text="some of the meaning"),
            Anchor(at=66, text="most of the meaning"),
            Anchor(at=100, text="perfect"),
        ),
    ),
}
