"""The part of the campaign file about errors: what may be marked, how it is called, and when the page asks back."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from adjudge.core.spans import SEVERITIES, MarkRules
from adjudge.design.part import Part

Severity = Literal["neutral", "minor", "major", "critical"]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^/]+$")]

MARKED = ("esa",)
ESA_SEVERITIES: tuple[Severity, ...] = ("minor", "major")


class Spans(Part):
    """What annotators mark. `snap`: marks end at words, or at characters where the script writes no spaces (`auto`).

    `source`: the source can be marked too. `missing`: there is a mark for what was left out. The page asks back at a
    score below `warn_below` without any error, and at one above `warn_above` with a major error.
    """

    severities: tuple[Severity, ...] | None = Field(default=None, min_length=1)
    source: bool = False
    missing: bool = True
    snap: Literal["auto", "words", "characters"] = "auto"
    warn_below: float = 50
    warn_above: float = 90

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if self.severities is not None and len(set(self.severities)) < len(self.severities):
            raise ValueError("'severities' names one twice; name each once")
        return self

    def rules(self, protocol: str) -> MarkRules:  # noqa: ARG002
        """Which marks are allowed; severities from the mildest."""
        chosen = self.severities or ESA_SEVERITIES
        return MarkRules(
            severities=tuple(one for one in SEVERITIES if one in chosen), source=self.source, missing=self.missing
        )
