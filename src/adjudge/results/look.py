"""The result of a look at a growing campaign: what is settled, what is open, and whether to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from adjudge.results.result import Result
from adjudge.results.table import Table, number, percent, text

Verdict = Literal["settled", "open"]


@dataclass(frozen=True)
class LookClaim:
    """A statement about systems, and whether it is settled for good."""

    claim: str
    systems: tuple[str, ...]
    """The system that is better first; of a top, its members."""
    estimate: float | None
    """The difference; of a top, that of its weakest lead."""
    interval: tuple[float | None, float | None]
    """The repeated confidence interval of the difference, at the claim's share of the level."""
    verdict: Verdict
    needed: int | None
    """Judgments more until the claim would be settled if the difference is as estimated; None where nobody can say."""
    settled_at: int | None = None
    """The look at which it was settled."""
    chance: float | None = None
    """The chance that it is settled within the plan if the difference is as estimated."""
    z: float | None = None
    bound: float | None = None
    """What z must reach at this look."""
    unbiased: float | None = None
    """After stopping: the median-unbiased estimate of the difference."""
    final_interval: tuple[float, float] | None = None
    """After stopping: the 95% interval by stage-wise ordering, for this claim by itself."""


@dataclass(frozen=True, kw_only=True)
class Look(Result):
    """One look: how much of the plan is in, how much of the level is spent, and the state of all claims."""

    verb: ClassVar[str] = "look"

    look: int
    looks: int
    """Looks that were planned."""
    judgments: int
    planned: int
    information: float
    """The fraction of the plan that is in."""
    level: float
    """The level spent so far, of all claims together."""
    goal: str
    claims: tuple[LookClaim, ...]
    stop: bool
    advice: str

    @property
    def settled(self) -> tuple[LookClaim, ...]:
        """The claims that are settled for good."""
        return tuple(claim for claim in self.claims if claim.verdict == "settled")

    @property
    def open(self) -> tuple[LookClaim, ...]:
        """The claims that are open."""
        return tuple(claim for claim in self.claims if claim.verdict == "open")

    def tables(self) -> tuple[Table, ...]:
        """The claims, the settled ones first; after stopping, the final estimates."""
        note = (
            f"Look {self.look} ({self.looks} planned): {self.judgments:,} of {self.planned:,} judgments "
            f"({self.information:.0%}), {self.level:.4f} of the level spent. {self.advice}"
        )
        rows = tuple(
            (
                claim.claim,
                claim.verdict,
                claim.estimate,
                _span(claim.interval),
                claim.needed,
                claim.chance,
                claim.settled_at,
            )
            for claim in (*self.settled, *self.open)
        )
        columns = (
            text("claim"),
            text("verdict"),
            number("difference", 2),
            text("interval", help="holds at all looks together, at the claim's share of the level"),
            number("needed", 0, help="judgments more, if the difference is as estimated"),
            percent("chance", 0, help="chance to be settled within the plan, if the difference is as estimated"),
            number("settled at look", 0),
        )
        tables = [Table(f"Look {self.look}", columns, rows, note)]
        if any(claim.unbiased is not None for claim in self.claims):
            tables.append(self._final())
        return tuple(tables)

    def _final(self) -> Table:
        rows = tuple(
            (claim.claim, claim.unbiased, _span(claim.final_interval))
            for claim in self.claims
            if claim.final_interval is not None
        )
        columns = (text("claim"), number("median-unbiased", 2), text("95% interval"))
        note = "Differences that stopped a campaign look too large; these estimates account for the looks."
        return Table("After stopping", columns, rows, note)


def _span(interval: tuple[float | None, float | None] | None) -> str:
    if interval is None or interval[0] is None or interval[1] is None:
        return ""
    return f"{interval[0]:.2f} to {interval[1]:.2f}"
