"""The truth behind simulated judgments, and how far a ranking recovered it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from adjudge.core.wording import counted
from adjudge.results.result import Result
from adjudge.results.table import Table, number, tabulate, text

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


@dataclass(frozen=True)
class TrueSystem:
    """One simulated system: its true quality, in the unit of the truth, and its true rank."""

    system: str
    human: bool
    quality: float
    rank: int


@dataclass(frozen=True, kw_only=True)
class Truth(Result):
    """The truth behind simulated judgments. `systems` are in true order, the best first."""

    verb: ClassVar[str] = "simulate"

    protocol: str
    unit: str
    systems: tuple[TrueSystem, ...]
    careless: tuple[str, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the systems in true order, the best first."""
        return tuple(system.system for system in self.systems)

    def tables(self) -> tuple[Table, ...]:
        """The systems in true order."""
        columns = {
            "rank": number("true rank", 0), "system": text("system"), "quality": number("quality", help=self.unit)
        }  # fmt: skip
        who = ", ".join(self.careless) or "nobody"
        note = f"Quality in {self.unit}. Careless annotators: {who}."
        return (tabulate("The truth", self.systems, columns, note),)


@dataclass(frozen=True)
class Simulated:
    """Simulated judgments with the truth they were drawn from, and a source text for every segment."""

    judgments: Judgments
    truth: Truth
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line about what was simulated."""
        held = f"{counted(len(self.judgments), 'judgment')} of {counted(len(self.judgments.systems), 'system')}"
        return f"Simulated: {held}; see .judgments, .truth and .sources"

    __repr__ = __str__


@dataclass(frozen=True)
class Recovery:
    """A ranking compared with the truth, over the systems that both have.

    `wrong_claims` are pairs in different clusters whose order contradicts the truth.
    """

    systems: int
    kendall: float | None
    pairs: int
    misordered: tuple[tuple[str, str], ...]
    wrong_claims: tuple[tuple[str, str], ...]
    best_found: bool
    rank_sets_covering: int
