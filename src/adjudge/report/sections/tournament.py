"""The tournament: do leads run in circles, and what does each ranking contradict?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.costs import costs
from adjudge.report.page import Chart, Section
from adjudge.report.words import counted, listed

if TYPE_CHECKING:
    from adjudge.results.report import PairResults
    from adjudge.results.tournament import Tournament


def tournament_section(results: PairResults) -> Section | None:
    """Shown for relative judgments."""
    found = results.tournament
    if found is None:
        return None
    says = "A ranking contradicts a judgment that puts the lower of two systems first, net of those that agree."
    chart = Chart("costs", "What every ranking contradicts", says, costs(found))
    first, *rest = found.tables()
    words = (_cycles(found), _cheapest(found))
    return Section("tournament", "Tournament", words, (chart,), (first,), tuple(rest), found.notes)


def _cycles(found: Tournament) -> str:
    if found.acyclic:
        return "There is no circle: some order agrees with every pair's own winner."
    groups = "; ".join(listed(members) for members in found.cycles)
    return f"Winners run in circles (A beats B, B beats C, C beats A) among {groups}: no order can please every pair."


def _cheapest(found: Tournament) -> str:
    best = found.mfas
    proof = "no order does better" if best.optimal else f"no order does better than {best.lower_bound:,}"
    sentence = f"The order with the fewest contradictions has {best.cost:,}; {proof}."
    if best.optima > 1:
        least = "" if best.optima_complete else "at least "
        movable = counted(len(best.movable), "system")
        sentence += f" {least.capitalize()}{best.optima:,} orders are as good, and {movable} can move between them."
    return sentence
