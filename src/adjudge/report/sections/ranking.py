"""The ranking: scores with intervals, possible ranks, clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.components import components
from adjudge.report.charts.forest import behind, forest
from adjudge.report.charts.ranges import ranges
from adjudge.report.page import Chart, Section
from adjudge.report.words import counted, machines

if TYPE_CHECKING:
    from adjudge.results.rank import Ranking
    from adjudge.results.report import PairResults


def ranking_section(results: PairResults) -> Section:
    """Always there: a report without a ranking is none."""
    ranking = results.ranking
    charts = (
        _scores(ranking),
        Chart(
            "ranges",
            "Ranks that the data leave possible",
            "A long bar means that the data say little about the system's place.",
            ranges(ranking),
        ),
    )
    first, *_ = ranking.tables()
    return Section("ranking", "Ranking", (_what(ranking),), charts, (first,), notes=ranking.notes)


def _what(ranking: Ranking) -> str:
    humans = len(ranking.systems) - len(machines(ranking))
    also = f" and {counted(humans, 'human translation')}" if humans else ""
    what = f"{counted(len(machines(ranking)), 'system')}{also} ranked by {ranking.method}"
    if _has_intervals(ranking) or _has_gaps(ranking):
        share = f"{100 * (1 - ranking.lines.level):g}"
        what += f". A bar is the range in which the true value lies in {share} of 100 such campaigns"
    return f"{what}; shaded bands are clusters: between two bands the data draw a line, within a band they do not."


def _scores(ranking: Ranking) -> Chart:
    if _has_gaps(ranking):
        says = f"Bars that reach {ranking.order[0]}'s line leave open who is better."
        return Chart("forest", "Distance from the first", says, behind(ranking, unit="points"))
    says = f"{ranking.order[0]} has the highest score, {ranking.order[-1]} the lowest."
    title = "Scores and intervals" if _has_intervals(ranking) else "Scores"
    return Chart("forest", title, says, forest(ranking, unit=ranking.unit))


def _has_intervals(ranking: Ranking) -> bool:
    return any("low" in one.numbers for one in ranking.systems)


def _has_gaps(ranking: Ranking) -> bool:
    """Whether the method gives intervals of differences, which say more than intervals of scores."""
    return any("low" in one.numbers for one in ranking.comparisons)


def spread_section(results: PairResults) -> Section | None:
    """Where the spread of scores comes from, by methods that model it."""
    ranking = results.ranking
    if not ranking.components:
        return None
    largest = max(ranking.components, key=lambda one: one.sd if one.effect != "residual" else -1.0)
    size = f"standard deviation {largest.sd:.1f}"
    words = (
        f"After single scores' own noise, {largest.effect} matters most: {largest.meaning} ({size}).",
        "A ranking that ignores these sources takes them for differences between systems.",
    )
    chart = Chart(
        "spread", "Where the spread of scores comes from", "Thin lines are intervals.", components(ranking.components)
    )
    return Section("spread", "Sources of spread", words, (chart,), ranking.tables()[1:])
