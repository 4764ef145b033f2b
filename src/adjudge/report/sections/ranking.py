"""The ranking: scores with intervals, possible ranks, clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.charts.ranking import behind, forest, ranges
from adjudge.report.page import Chart, Section
from adjudge.report.words import counted, machines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.rank import Ranking, VarianceComponent
    from adjudge.results.report import PairResults

ROW_HEIGHT = 30


def ranking_section(results: PairResults) -> Section:
    """Always there: a report without a ranking is none."""
    ranking = results.ranking
    charts = (
        scores_chart(ranking),
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


def scores_chart(ranking: Ranking) -> Chart:
    """Scores with intervals, or distances from the first where the method gives intervals of differences."""
    if _has_gaps(ranking):
        says = f"Bars that reach {ranking.order[0]}'s line leave open who is better."
        return Chart("forest", "Distance from the first", says, behind(ranking, unit="points"))
    says = f"{ranking.order[0]} has the highest score, {ranking.order[-1]} the lowest."
    title = "Scores and intervals" if _has_intervals(ranking) else "Scores"
    return Chart("forest", title, says, forest(ranking, unit=ranking.unit))


def _has_intervals(ranking: Ranking) -> bool:
    return any("low" in system.numbers for system in ranking.systems)


def _has_gaps(ranking: Ranking) -> bool:
    """Whether the method gives intervals of differences, which say more than intervals of scores."""
    return any("low" in comparison.numbers for comparison in ranking.comparisons)


def spread_section(results: PairResults) -> Section | None:
    """Where the spread of scores comes from, by methods that model it."""
    ranking = results.ranking
    if not ranking.components:
        return None
    largest = max(ranking.components, key=lambda component: component.sd if component.effect != "residual" else -1.0)
    size = f"standard deviation {largest.sd:.1f}"
    words = (
        f"After single scores' own noise, {largest.effect} matters most: {largest.meaning} ({size}).",
        "A ranking that ignores these sources takes them for differences between systems.",
    )
    chart = Chart(
        "spread",
        "Where the spread of scores comes from",
        "Thin lines are intervals.",
        components_chart(ranking.components),
    )
    return Section("spread", "Sources of spread", words, (chart,), ranking.tables()[1:])


def components_chart(components: Sequence[VarianceComponent]) -> dict[str, Any]:
    """One bar per effect, in the order of the model; a thin line is the interval."""
    import altair as alt

    rows = [
        {
            "effect": component.effect,
            "sd": component.sd,
            "low": component.low,
            "high": component.high,
            "meaning": component.meaning,
        }
        for component in components
    ]
    base = alt.Chart(theme.values(rows)).encode(
        y=alt.Y("effect:N", sort=[component.effect for component in components], title=None),
        tooltip=[
            alt.Tooltip("effect:N"),
            alt.Tooltip("sd:Q", format=".2f"),
            alt.Tooltip("low:Q", title="from", format=".2f"),
            alt.Tooltip("high:Q", title="to", format=".2f"),
            alt.Tooltip("meaning:N"),
        ],
    )
    bars = base.mark_bar(height=14, cornerRadius=3, fill=theme.ACCENT, opacity=0.45).encode(
        x=alt.X("sd:Q", title="standard deviation")
    )
    known = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    intervals = known.mark_rule(strokeWidth=2, stroke=theme.ACCENT).encode(x="low:Q", x2="high:Q")
    return theme.finish(alt.layer(bars, intervals), height=ROW_HEIGHT * len(components))
