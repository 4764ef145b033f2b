"""What people are asked: scales, criteria and marks of errors, as parts of the campaign file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from adjudge.readers.mqm import Weights
from adjudge.table import protocols
from adjudge.table.texts import MarkRules


class Part(BaseModel):
    """Unknown keys are faults, nothing is converted silently, nothing changes later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


# By language: a text. Written without languages, it is for all of them.
ByLanguage = Annotated[
    dict[str, Annotated[str, Field(min_length=1, max_length=2000)]],
    Field(min_length=1),
    BeforeValidator(lambda value: {"": value} if isinstance(value, str) else value),
]
_Text = TypeVar("_Text")


def in_language(texts: dict[str, _Text], language: str) -> _Text:
    """What there is in a language; else for all languages, else in English, else the first."""
    return next((texts[name] for name in (language, "", "en") if name in texts), next(iter(texts.values())))


# The part of the campaign file about errors: what may be marked, its names, and what the page asks to confirm.

Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^/]+$")]
Cost = Annotated[float, Field(ge=0, le=1000)]

# Of two levels, in the terms of multidimensional quality metrics.
CATEGORIES: dict[str, tuple[str, ...]] = {
    "Accuracy": ("Mistranslation", "Omission", "Addition", "Untranslated text"),
    "Fluency": ("Grammar", "Spelling", "Punctuation", "Register", "Inconsistency", "Character encoding"),
    "Terminology": ("Inappropriate for context", "Inconsistent use"),
    "Style": ("Awkward",),
    "Locale convention": ("Names", "Dates and times", "Numbers and currency", "Addresses"),
    "Other": (),
    "Source error": (),
    "Non-translation": (),
}


class ErrorWeights(Part):
    """What an error costs in the score that follows from the errors."""

    minor: Cost = Weights.minor
    punctuation: Cost = Weights.punctuation
    major: Cost = Weights.major
    critical: Cost = Weights.critical
    non_translation: Cost = Weights.non_translation

    def as_weights(self) -> Weights:
        """The same for counting."""
        return Weights(**self.model_dump())


class Spans(Part):
    """What annotators mark. `snap`: marks end at words, or at characters where the script writes no spaces (`auto`).

    `source`: the source can be marked too. `missing`: there is a mark for what was left out. `categories` are groups
    with their members. Where a score is given, the page asks to confirm one below `warn_below` without any error, and
    one above `warn_above` with a major error: if nothing is said, the middle of the scale and nine tenths of it.
    """

    severities: tuple[protocols.Severity, ...] | None = Field(default=None, min_length=1)
    categories: dict[Name, tuple[Name, ...]] | None = Field(default=None, min_length=1)
    weights: ErrorWeights = ErrorWeights()
    source: bool = False
    missing: bool = True
    snap: Literal["auto", "words", "characters"] = "auto"
    warn_below: float | None = Field(default=None, ge=-1_000_000, le=1_000_000)
    warn_above: float | None = Field(default=None, ge=-1_000_000, le=1_000_000)

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        for key, names in (("severities", self.severities or ()), *(self.categories or {}).items()):
            if len(set(names)) < len(names):
                raise ValueError(f"'{key}' names one twice; name each once")
        return self

    def rules(self, protocol: str) -> MarkRules:
        """Which marks are allowed; severities from the mildest."""
        chosen = self.severities or protocols.PROTOCOLS[protocol].severities
        with_categories = protocols.PROTOCOLS[protocol].categories
        return MarkRules(
            severities=tuple(severity for severity in protocols.SEVERITIES if severity in chosen),
            categories=tuple(self.category_names()) if with_categories else (),
            source=self.source,
            missing=self.missing,
            # Two errors of different kinds can lie in the same words.
            overlap=with_categories,
        )

    def category_names(self) -> list[str]:
        """All categories as they are stored: `group/member`, or the group alone where it has no members."""
        groups = (self.categories or CATEGORIES).items()
        return [f"{group}/{member}" if member else group for group, members in groups for member in (members or ("",))]


# What the errors of one translation can cost, where the score follows from them.
MOST_POINTS = 1_000_000.0


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


def _make_scale(anchors: dict[float, str], high: float = 100, low: float = 0) -> Scale:
    return Scale(low=low, high=high, anchors=tuple(Anchor(at=at, text=text) for at, text in anchors.items()))


def _from_one_to_five(lowest: str, middle: str, highest: str) -> Scale:
    return _make_scale({1: lowest, 3: middle, 5: highest}, high=5, low=1)


SCALES = {
    "da": _make_scale({0: "0%", 50: "50%", 100: "100%"}),
    "sqm": _make_scale(
        {
            0: "no meaning kept",
            2: "some meaning kept",
            4: "most meaning kept, few errors",
            6: "perfect meaning and grammar",
        },
        high=6,
    ),
    "esa": _make_scale(
        {0: "nothing of the meaning", 33: "some of the meaning", 66: "most of the meaning", 100: "perfect"}
    ),
    "adequacy": _from_one_to_five("no meaning kept", "some meaning kept", "all meaning kept"),
    "fluency": _from_one_to_five("not understandable", "understandable, not natural", "flawless language"),
    "xsts": _from_one_to_five("different meaning", "mostly the same meaning", "same meaning and style"),
    "acceptability": _make_scale({0: "not acceptable", 1: "acceptable"}, high=1),
    "likert": _from_one_to_five("fully disagree", "neither agree nor disagree", "fully agree"),
}
"""The scales that have a name. Those of protocols are theirs where the campaign file says nothing else."""


def _find_scale(value: Any) -> Any:
    """A scale by its name, or as it is given."""
    if isinstance(value, str) and value not in SCALES:
        raise ValueError(f"name one of the scales {', '.join(SCALES)}, or give a table as {{low = 1, high = 5}}")
    if isinstance(value, dict) and isinstance(value.get("anchors"), list):
        # What passes through here is no longer read as JSON, where an array would do.
        return {**value, "anchors": tuple(value["anchors"])}
    return SCALES[value] if isinstance(value, str) else value


AnyScale = Annotated[Scale, BeforeValidator(_find_scale)]
Scope = Literal["segment", "document"]


class Criterion(Part):
    """What a score is given for: each segment, or the document as a whole. `question` is shown beside the name."""

    of: Scope = "segment"
    question: ByLanguage | None = None
    scale: AnyScale | None = None


@dataclass(frozen=True)
class Asked:
    """A score that is asked for. Without a name it is the only one, and the protocol says what it means."""

    name: str
    of: Scope
    question: dict[str, str] | None
    scale: Scale


def list_asked(criteria: dict[str, Criterion], protocol: str, scale: Scale | None) -> tuple[Asked, ...]:
    """The scores that are asked for, those of segments first; one without a name where no criteria are named."""
    own = scale or SCALES.get(protocol, Scale())
    if not criteria:
        return (Asked("", "segment", None, own),) if protocols.PROTOCOLS[protocol].chosen else ()
    asked = [
        Asked(name, given.of, given.question, given.scale or SCALES.get(name.casefold(), own))
        for name, given in criteria.items()
    ]
    return tuple(sorted(asked, key=lambda one: one.of == "document"))
