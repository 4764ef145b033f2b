"""The part of the campaign file about errors: what may be marked, its names, and what the page asks to confirm."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from adjudge.core.protocols import PROTOCOLS, SEVERITIES, Severity
from adjudge.core.spans import MarkRules
from adjudge.design.campaign.parts import Part
from adjudge.formats.mqm.weights import Weights

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
    one above `warn_above` with a major error.
    """

    severities: tuple[Severity, ...] | None = Field(default=None, min_length=1)
    categories: dict[Name, tuple[Name, ...]] | None = Field(default=None, min_length=1)
    weights: ErrorWeights = ErrorWeights()
    source: bool = False
    missing: bool = True
    snap: Literal["auto", "words", "characters"] = "auto"
    warn_below: float = Field(default=50, ge=-1_000_000, le=1_000_000)
    warn_above: float = Field(default=90, ge=-1_000_000, le=1_000_000)

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        for key, names in (("severities", self.severities or ()), *(self.categories or {}).items()):
            if len(set(names)) < len(names):
                raise ValueError(f"'{key}' names one twice; name each once")
        return self

    def rules(self, protocol: str) -> MarkRules:
        """Which marks are allowed; severities from the mildest."""
        chosen = self.severities or PROTOCOLS[protocol].severities
        with_categories = PROTOCOLS[protocol].categories
        return MarkRules(
            severities=tuple(severity for severity in SEVERITIES if severity in chosen),
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
