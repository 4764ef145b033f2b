"""What the mixed model says of the spread of scores: variance components, effects that it leaves out, helpers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from adjudge.table.results import UNWRITTEN

TASTE = "annotator:system"
"""The effect of annotators' tastes."""


def taste_for(system: str) -> str:
    """The effect of what annotators' tastes for one system vary more than those for others."""
    return f"{TASTE} ({system})"


@dataclass(frozen=True)
class VarianceComponent:
    """One source of variation: its standard deviation in the unit of the scores, with an optional interval."""

    effect: str
    sd: float
    low: float | None
    high: float | None
    levels: int
    meaning: str
    at_zero: bool = False
    """Whether the estimate is at its lower limit: the data show no such variation."""
    folded: tuple[str, ...] = field(default=(), metadata=UNWRITTEN)
    """The merged effects, if there are several."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The merged effects, the narrowest last."""
        return self.folded or (self.effect,)

    @property
    def of_tastes(self) -> bool:
        """Whether the tastes of annotators for systems are in it."""
        return TASTE in self.parts


class Cause(StrEnum):
    """Why an effect is not modelled separately."""

    NOT_NAMED = "the data do not name its levels"
    ONE_LEVEL = "it has one level only"
    STRICTNESS = "tastes are not told from strictness"
    SYSTEMS = "each system has one level, so it is not told from systems"
    RESIDUAL = "nearly every score has its own level"
    NO_SCREEN = "people judged too few systems of one text, or it is another effect by definition"
    FOLDED = "it holds the same scores together as another effect"

    @property
    def confounded(self) -> bool:
        """Whether standard errors fail to include this effect."""
        return self in (Cause.STRICTNESS, Cause.SYSTEMS)


@dataclass(frozen=True)
class LeftOut:
    """An effect that is not modelled separately, and the reason."""

    effect: str
    reason: str
    cause: Cause = field(metadata=UNWRITTEN)


@dataclass(frozen=True)
class Helper:
    """A metric, or a judge that is a model, whose scores of all outputs helped human scores."""

    name: str
    slope: float
    """How much higher human scores are per standard deviation of the helper's scores, the other helpers held equal."""
    gain: float
    """The helper alone makes differences of systems as precise as this many times the judgments would; 1 where the
    interval includes 1."""
    gain_low: float | None
    gain_high: float | None
    """Its 95% interval; None where too few documents were judged to tell."""
    scored: int
    """Judgments of outputs that have a score by the helper."""
    unscored: int
    """Judgments of outputs that have none."""
