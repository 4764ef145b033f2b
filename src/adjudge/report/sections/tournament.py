"""The tournament: are there cycles of leads, and what does each ranking contradict?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.core.wording import counted, short_list
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Section

if TYPE_CHECKING:
    from adjudge.results.report import PairResults
    from adjudge.results.tournament import Tournament

ROW_HEIGHT = 28
CHEAPEST = "fewest possible"


def tournament_section(results: PairResults) -> Section | None:
    """Shown for relative judgments."""
    return None if results.tournament is None else section_of(results.tournament)


def section_of(tournament: Tournament) -> Section:
    """The section about a tournament."""
    says = "A ranking contradicts a judgment that puts the lower of two systems first, net of those that agree."
    chart = Chart("costs", "What every ranking contradicts", says, draw_costs(tournament))
    first, *others = tournament.tables()
    words = (_cycles(tournament), _cheapest(tournament))
    return Section("tournament", "Tournament", words, (chart,), (first,), tuple(others), tournament.notes)


def _cycles(tournament: Tournament) -> str:
    if tournament.acyclic:
        return "There is no cycle: some order agrees with the winner of every pair."
    groups = "; ".join(short_list(members) for members in tournament.cycles)
    return f"There are cycles (A beats B, B beats C, C beats A) among {groups}: no order agrees with every pair."


def _cheapest(tournament: Tournament) -> str:
    best = tournament.mfas
    proof = "no order does better" if best.optimal else f"no order does better than {best.lower_bound:,}"
    sentence = f"The order with the fewest contradictions has {best.cost:,}; {proof}."
    if best.optima > 1:
        least = "" if best.optima_complete else "at least "
        movable = counted(len(best.movable), "system")
        sentence += f" {least.capitalize()}{best.optima:,} orders are as good, and {movable} can move between them."
    return sentence


def draw_costs(tournament: Tournament) -> dict[str, Any]:
    """One bar per ranking, the cheapest possible order first."""
    contradictions = {CHEAPEST: tournament.mfas.cost, **{k: v for k, v in tournament.violations.items() if k != "mfas"}}
    order = sorted(contradictions, key=lambda name: (contradictions[name], name != CHEAPEST))
    rows = [
        {"ranking": name, "cost": contradictions[name], "kind": "best" if name == CHEAPEST else "other"}
        for name in order
    ]
    base = Layer(rows).encode(y=channel("ranking:N", sort=order, title=None))
    bars = base.mark("bar", height=14, cornerRadius=3).encode(
        x=channel("cost:Q", title="contradicted judgments", axis=dict(tickMinStep=1, format="d")),
        color=channel("kind:N", legend=None, scale=dict(domain=["best", "other"], range=[theme.ACCENT, theme.MUTED])),
        tooltip=[channel("ranking:N"), channel("cost:Q")],
    )
    numbers = base.mark("text", align="left", dx=5, fontSize=12).encode(x="cost:Q", text="cost:Q")
    return theme.finish(bars, numbers, height=ROW_HEIGHT * max(len(rows), 2))
