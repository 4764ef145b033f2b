"""The campaign file: everything that a campaign is, as data. Knows nothing of how tasks are made or shown.

`docs/design.md` explains every key. `load_campaign` reads a file and names all its faults at once.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from adjudge.core.protocols import MARKED, ON_SCALE, ONE_BY_ONE, PROTOCOLS, CollectedProtocol
from adjudge.design.campaign.errors import ErrorWeights, Spans
from adjudge.design.campaign.parts import (
    Adaptive,
    Assignment,
    Context,
    Controls,
    Crowd,
    Design,
    Files,
    InstructionText,
    Languages,
    Links,
    Looks,
    Page,
    Part,
    PersonName,
)

# What the errors of one translation can cost, where the score follows from them.
MOST_POINTS = 1_000_000.0
PAGES = ("pages", "pages-same-documents", "pages-all-systems")


class Anchor(Part):
    """A mark on the scale and its meaning."""

    at: float
    text: str


class Scale(Part):
    """The scale of scores; default: the protocol's own."""

    low: float = Field(default=0, ge=-MOST_POINTS, le=MOST_POINTS)
    high: float = Field(default=100, ge=-MOST_POINTS, le=MOST_POINTS)
    step: float = Field(default=1, gt=0, le=MOST_POINTS)
    anchors: tuple[Anchor, ...] = Field(default=(), max_length=1000)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"'low' = {self.low:g} must lie below 'high' = {self.high:g}")
        if self.step > self.high - self.low:
            raise ValueError(f"'step' = {self.step:g} is longer than the scale; choose a smaller one")
        if (self.high - self.low) / self.step > MOST_POINTS:
            raise ValueError(
                f"'step' = {self.step:g} cuts the scale into more than a million steps; choose a larger one"
            )
        for anchor in self.anchors:
            if not self.low <= anchor.at <= self.high:
                raise ValueError(f"anchor at {anchor.at:g} lies outside {self.low:g} to {self.high:g}")
        return self


class Campaign(Part):
    """One campaign of one protocol and one language pair."""

    name: Annotated[PersonName, Field(max_length=100)]
    protocol: CollectedProtocol
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
    scale: Scale | None = None
    instructions: dict[str, InstructionText] = Field(default={})
    crowd: Crowd = Crowd()
    links: Links = Links()

    @model_validator(mode="after")
    def _errors_fit(self) -> Self:
        protocol = PROTOCOLS[self.protocol]
        if not protocol.marked:
            for key, given in (("spans", self.spans != Spans()), ("files.prefilled", self.files.prefilled)):
                if given:
                    raise ValueError(f"'{key}' is for marking errors ({', '.join(MARKED)}); remove it")
        elif not protocol.categories and (self.spans.categories is not None or self.spans.weights != ErrorWeights()):
            raise ValueError(f"protocol '{self.protocol}' has no categories and no weights; remove them from [spans]")
        if protocol.in_text and self.page.html != "no":
            raise ValueError(f"page.html = '{self.page.html}' cannot be used if texts are marked or edited")
        return self

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.scale is not None and not PROTOCOLS[self.protocol].on_scale:
            raise ValueError(f"'scale' has no meaning for protocol '{self.protocol}', which has no scores; remove it")
        if self.design.structure != "mixed" and PROTOCOLS[self.protocol].relative:
            raise ValueError(
                f"design.structure '{self.design.structure}' is for scores ({', '.join(ONE_BY_ONE)}); "
                f"for protocol '{self.protocol}' leave it out"
            )
        if self.controls.attention_text is not None and not PROTOCOLS[self.protocol].on_scale:
            raise ValueError(f"controls.attention_text asks for a score; it is for {', '.join(ON_SCALE)} only")
        return self

    @model_validator(mode="after")
    def _drawing_fits(self) -> Self:
        if self.adaptive is None:
            return self
        if self.assignment.policy != "pool":
            raise ValueError("'adaptive' draws tasks from the pool; set assignment.policy = \"pool\", or remove it")
        if PROTOCOLS[self.protocol].edited:
            raise ValueError(f"'adaptive' needs judgments that are scores or ranks, not '{self.protocol}'; remove it")
        return self

    @model_validator(mode="after")
    def _selection_fits(self) -> Self:
        if self.design.select is not None and PROTOCOLS[self.protocol].relative:
            raise ValueError(
                f"design.select is for scores ({', '.join(ONE_BY_ONE)}): rankings and pairs cannot be weighted; "
                f"leave it out for protocol '{self.protocol}'"
            )
        if (self.design.select == "spread") != (self.files.spread is not None):
            raise ValueError(
                'design.select = "spread" and files.spread, a number per segment, belong together; give both or neither'
            )
        return self

    @model_validator(mode="after")
    def _versions_fit(self) -> Self:
        if self.files.after is None:
            return self
        refused = {
            'assignment.policy = "pool"': self.assignment.policy == "pool",
            "design.select": self.design.select is not None,
            "controls.calibration": bool(self.controls.calibration),
            "files.prefilled": self.files.prefilled is not None,
            "design.segments of structure 'pages'": self.design.structure == "pages"
            and self.design.segments is not None,
        }
        for key, given in refused.items():
            if given:
                raise ValueError(f"{key} cannot be used with two versions of a test set (files.after); remove it")
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
