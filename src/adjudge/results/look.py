"""The result of an interim look: what is settled, what is open, and whether to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from adjudge.evidence.verdict import say_outlook
from adjudge.results.result import Result
from adjudge.results.table import Table, number, percent, tabulate, text

Verdict = Literal["settled", "open"]


@dataclass(frozen=True)
class LookClaim:
    """A statement about systems, and whether it is settled."""

    claim: str
    systems: tuple[str, ...]
    """The better system first; for a top, its members."""
    estimate: float | None
    """The difference; for a top, that of its weakest lead."""
    interval: tuple[float | None, float | None]
    """The repeated confidence interval of the difference, at the claim's share of the level."""
    verdict: Verdict
    needed: int | None
    """Further judgments until the claim would be settled, if the difference is as estimated; None if unknown."""
    settled_at: int | None = None
    """The look at which it was settled."""
    chance: float | None = None
    """The probability of settling it within the plan, if the difference is as estimated."""
    z: float | None = None
    bound: float | None = None
    """The boundary of z at this look."""
    unbiased: float | None = None
    """After stopping: the median-unbiased estimate of the difference."""
    final_interval: tuple[float, float] | None = None
    """After stopping: the 95% interval by stage-wise ordering, for this claim by itself."""


@dataclass(frozen=True, kw_only=True)
class Look(Result):
    """One look: the share of the plan that is done, the level spent, and the state of all claims."""

    verb: ClassVar[str] = "look"

    look: int
    looks: int
    """Number of planned looks."""
    judgments: int
    planned: int
    information: float
    """The fraction of the planned judgments made so far."""
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
            number("needed", 0, help="further judgments needed, if the difference is as estimated"),
            percent("chance", 0, help="probability of settling it within the plan, if the difference is as estimated"),
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


@dataclass(frozen=True)
class LiveSystem:
    """A system with the ranks that it may have."""

    system: str
    score: float | None
    best: int
    worst: int


@dataclass(frozen=True)
class Outlook:
    """The projected gain of more judgments, if differences are as estimated and the same people continue."""

    more: int
    open: int
    """Comparisons of the goal that are open now."""
    expected: float
    """How many of them would be settled."""
    chance: float | None
    """For the goals best and top: the probability of settling it, by its weakest comparison."""
    half_width: float
    """The mean half-width of the intervals now."""
    half_width_then: float

    @property
    def sentence(self) -> str:
        """The outlook in one sentence."""
        return say_outlook(
            self.more,
            open_pairs=self.open,
            expected=self.expected,
            chance=self.chance,
            half_width=self.half_width,
            half_width_then=self.half_width_then,
        )


@dataclass(frozen=True, kw_only=True)
class LiveState(Result):
    """The state at any time: possible ranks and claims, valid at all times together."""

    verb: ClassVar[str] = "look"

    judgments: int
    planned: int
    level: float
    systems: tuple[LiveSystem, ...]
    """The best first."""
    claims: tuple[LookClaim, ...]
    outlook: Outlook | None
    """None if the plan is used up."""
    stop: bool
    advice: str
    start: tuple[float, tuple[float | None, ...]]
    """The fraction of the plan and the standard errors at the first time, which determine the bounds."""

    def tables(self) -> tuple[Table, ...]:
        """The systems with their possible ranks, and the claims."""
        columns = {
            "system": text("system"),
            "score": number("score", 2),
            "best": number("best rank", 0, help="holds at all times together"),
            "worst": number("worst rank", 0),
        }
        claims = tuple(
            (claim.claim, "holds" if claim.verdict == "settled" else "open", claim.estimate, _span(claim.interval))
            for claim in self.claims
        )
        heads = (text("claim"), text("state"), number("difference", 2), text("interval"))
        return (tabulate("Possible ranks", self.systems, columns), Table("Pairs", heads, claims))


def _span(interval: tuple[float | None, float | None] | None) -> str:
    if interval is None or interval[0] is None or interval[1] is None:
        return ""
    return f"{interval[0]:.2f} to {interval[1]:.2f}"
