"""The result of looking at rankings as a tournament: cycles, the cheapest order, and what every ranking contradicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.core.wording import counted
from adjudge.results.result import Result, to_plain
from adjudge.results.table import Span, Table, number, span, tabulate, text

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Violation:
    """A lead that an order contradicts: `better` won so many more of their comparisons, but stands below `worse`."""

    better: str
    worse: str
    weight: int


@dataclass(frozen=True)
class Movable:
    """A system that has different ranks in different cheapest orders."""

    system: str
    highest: int
    lowest: int


@dataclass(frozen=True)
class CheapestOrder:
    """The order that contradicts the fewest judgments."""

    order: tuple[str, ...]
    cost: int
    optimal: bool
    lower_bound: int
    violated: tuple[Violation, ...]
    optima: int
    """How many orders are cheapest; at least so many where `optima_complete` is false."""
    optima_complete: bool
    movable: tuple[Movable, ...]
    movable_complete: bool = True
    """False where systems may take more ranks than those listed; every rank listed is taken in some cheapest order."""


@dataclass(frozen=True, kw_only=True)
class Tournament(Result):
    """Is there an order that contradicts no pair, and what does each ranking contradict?"""

    verb: ClassVar[str] = "tournament"

    systems: tuple[str, ...]
    acyclic: bool
    cycles: tuple[tuple[str, ...], ...]
    """Groups of systems in which leads run in circles."""
    mfas: CheapestOrder
    orders: Mapping[str, tuple[str, ...]]
    violations: Mapping[str, int]
    spearman: Mapping[str, Mapping[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: cycles as their number and members."""
        plain = super().to_dict()
        return {**plain, "cycles": {"number": len(self.cycles), "members": to_plain(self.cycles)}}

    def tables(self) -> tuple[Table, ...]:
        """The cheapest order, what it contradicts, and the cost of every ranking."""
        movable = {system.system: Span(system.highest, system.lowest) for system in self.mfas.movable}
        words = "The tournament has no cycle." if self.acyclic else f"Systems in cycles: {self._cycle_words()}."
        order = Table(
            "The order that contradicts the fewest judgments",
            (number("rank", 0), text("system"), span("ranks in optimal orders")),
            tuple((i, name, movable.get(name, Span(i, i))) for i, name in enumerate(self.mfas.order, start=1)),
            f"{self._proof_words()} {words}",
        )
        columns = {"better": text("better"), "worse": text("worse"), "weight": number("weight", 0)}
        violated = tabulate("Leads that it contradicts", self.mfas.violated, columns)
        costs = Table(
            "What every ranking contradicts",
            (text("ranking"), number("cost", 0), number("Spearman with the optimal order", 2)),
            tuple((name, cost, self.spearman["mfas"].get(name)) for name, cost in self.violations.items()),
        )
        return (order, violated, costs) if self.mfas.violated else (order, costs)

    def _proof_words(self) -> str:
        mfas = self.mfas
        if not mfas.optimal:
            return f"It costs {mfas.cost}; the proved lower bound is {mfas.lower_bound}."
        cheapest = f"It costs {mfas.cost}, which is proved to be the minimum"
        if mfas.optima_complete and mfas.optima == 1:
            return f"{cheapest}; no other order costs as little."
        at_least = "" if mfas.optima_complete else "at least "
        movable = f"{counted(len(mfas.movable), 'system')} can move" + ("" if mfas.movable_complete else " or more")
        return f"{cheapest}; {at_least}{mfas.optima:,} orders have this cost, and {movable} between them."

    def _cycle_words(self) -> str:
        return "; ".join(", ".join(members) for members in self.cycles)
