"""The ranking: scores with intervals, possible ranks, clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.forest import forest
from adjudge.report.charts.ranges import ranges
from adjudge.report.page import Chart, Section
from adjudge.report.words import counted, machines

if TYPE_CHECKING:
    from adjudge.core.ranking import Ranking
    from adjudge.report.results import PairResults

# What the scores of a method are, for the axis of a chart.
UNITS = {
    "bradley-terry": "strength (log-odds of winning)",
    "expected-wins": "expected share of wins",
    "trueskill": "skill",
    "rank-points": "rank points",
    "mfas": "place in the order",
    "raw": "mean score",
    "zscore": "mean z-score",
    "mixed": "effect in points",
    "mixed-rank": "effect in ranks",
}


def unit_of(ranking: Ranking) -> str:
    """What a method's score is; ratios are shares."""
    return UNITS.get(ranking.method, f"share by {ranking.method}")


def ranking_section(results: PairResults) -> Section:
    """Always there: a report without a ranking is none."""
    ranking = results.ranking
    humans = len(ranking.systems) - len(machines(ranking))
    also = f" and {counted(humans, 'human translation')}" if humans else ""
    what = f"{counted(len(machines(ranking)), 'system')}{also} ranked by {ranking.method}"
    has_intervals = any("low" in one.numbers for one in ranking.systems)
    if has_intervals:
        share = f"{100 * (1 - ranking.lines.level):g}"
        what += f". A bar is the range in which the true value lies in {share} of 100 such campaigns"
    bands = "; shaded bands are clusters: between two bands the data draw a line, within a band they do not."
    charts = [
        Chart(
            "forest",
            "Scores and intervals" if has_intervals else "Scores",
            f"{ranking.order[0]} has the highest score, {ranking.order[-1]} the lowest.",
            forest(ranking, unit=unit_of(ranking)),
        ),
        Chart(
            "ranges",
            "Ranks that the data leave possible",
            "A long bar means that the data say little about the system's place.",
            ranges(ranking),
        ),
    ]
    return Section("ranking", "Ranking", (what + bands,), tuple(charts), ranking.tables(), notes=ranking.notes)
