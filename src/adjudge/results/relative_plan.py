"""The result of planning relative judgments: how many blocks each number of annotators needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adjudge.core.wording import counted
from adjudge.results.result import Result
from adjudge.results.table import Table, number, percent, text


@dataclass(frozen=True)
class RelativePoint:
    """So many people with so many blocks each, and what they can find."""

    annotators: int
    blocks_each: int
    blocks: int
    comparisons: int
    se: float
    """The standard error of the difference of two strengths."""
    power: float
    detectable: float
    suffices: bool
    hours_each: float


@dataclass(frozen=True)
class RelativeCheck:
    """The recommended design simulated and ranked: the share of true differences found, and of false claims."""

    draws: int
    found: float
    any_claim: float


@dataclass(frozen=True, kw_only=True)
class RelativePlan(Result):
    """What every number of annotators needs; strengths and differences are log-odds."""

    verb: ClassVar[str] = "plan"

    protocol: str
    difference: float
    power: float
    level: float
    comparisons: int
    points: tuple[RelativePoint, ...]
    spread: dict[str, float]
    """What was assumed: tastes and segments (standard deviations), dispersion within blocks, share of ties."""
    checked: RelativeCheck | None = None

    @property
    def recommended(self) -> RelativePoint | None:
        """The least work in all that suffices; None where nothing does."""
        return min((point for point in self.points if point.suffices), key=lambda point: point.blocks, default=None)

    def tables(self) -> tuple[Table, ...]:
        """What each number of people needs, what was assumed, and the simulated check."""
        assumed = Table("Assumed", (text("what"), number("value", 2)), tuple(self.spread.items()))
        if self.checked is None:
            return self._needs(), assumed
        rows = (
            ("true differences found", self.checked.found),
            ("campaigns of equal systems with a claim", self.checked.any_claim),
        )
        title = f"The recommended design, simulated {counted(self.checked.draws, 'time')}"
        return self._needs(), assumed, Table(title, (text("what"), percent("share")), rows)

    def _needs(self) -> Table:
        rows = tuple(
            (
                point.annotators,
                "yes" if point.suffices else "no",
                point.blocks_each,
                point.blocks,
                point.comparisons,
                point.hours_each,
                point.se,
                point.power,
                point.detectable,
            )
            for point in self.points
        )
        columns = (
            number("annotators", 0),
            text("suffices"),
            number("blocks each", 0),
            number("blocks", 0),
            number("comparisons", 0),
            number("hours each", 1),
            number("se", 3, help="standard error of the difference of two strengths"),
            percent("power", 0),
            number("detectable", 2, help="difference detected with the requested power"),
        )
        note = (
            f"To find a difference of {self.difference:g} log-odds with power {self.power:.0%}, "
            f"{counted(self.comparisons, 'comparison')} at level {self.level:g}. "
            "More people buy more than more blocks of the same people."
        )
        return Table("What each number of annotators needs", columns, rows, note)
