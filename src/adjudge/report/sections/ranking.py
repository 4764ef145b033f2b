"""The ranking: scores with intervals, possible ranks, clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.core.wording import counted
from adjudge.evidence.verdict import lost_to_correction, say_apart_from, say_bars_apart, say_bars_off_line, told_apart
from adjudge.report.charts import theme
from adjudge.report.charts.ranking import draw_gaps, draw_rank_ranges, draw_scores, find_first_system, find_undecided
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Section
from adjudge.results.rank import TASTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.rank import Ranking, VarianceComponent
    from adjudge.results.report import PairResults

ROW_HEIGHT = 30
NO_SPREAD = 0.005
"""A standard deviation that is shown as 0.00."""
_OF_SCORES = ("single scores' own noise", "scores")


def ranking_section(results: PairResults) -> Section:
    """Every report has this section."""
    ranking = results.ranking
    first, *_ = ranking.tables()
    charts = ranking_charts(ranking)
    return Section("ranking", "Ranking", (summarise_ranking(ranking),), charts, (first,), notes=ranking.notes)


def ranking_charts(ranking: Ranking) -> tuple[Chart, ...]:
    """Scores or distances, and the ranks that are possible."""
    possible = "A long bar means that the data say little about the system's place."
    return (
        scores_chart(ranking),
        Chart("ranges", "Ranks that the data leave possible", possible, draw_rank_ranges(ranking)),
    )


def summarise_ranking(ranking: Ranking) -> str:
    """What was ranked, and what bars and bands are."""
    humans = sum(system.human for system in ranking.systems)
    also = f" and {counted(humans, 'human translation')}" if humans else ""
    what = f"{counted(len(ranking.systems) - humans, 'system')}{also} ranked by {ranking.method}"
    if _has_intervals(ranking) or _has_gaps(ranking):
        share = f"{100 * (1 - ranking.lines.level):g}"
        what += f". A bar is the range in which the true value lies in {share} of 100 such campaigns"
    return f"{what}; shaded bands are clusters: between two bands the data draw a line, within a band they do not."


def scores_chart(ranking: Ranking) -> Chart:
    """Scores with intervals, or distances from the first where the method gives intervals of differences."""
    if _has_gaps(ranking):
        unit = ranking.difference_unit or ranking.unit
        return Chart("forest", "Distance from the first", _bars(ranking), draw_gaps(ranking, unit=unit))
    title = "Scores and intervals" if _has_intervals(ranking) else "Scores"
    return Chart("forest", title, _bars(ranking), draw_scores(ranking, unit=ranking.unit))


def _bars(ranking: Ranking) -> str:
    """What bars and points say: a bar is about one system, what is decided is about all pairs."""
    first = ranking.order[0] if _has_gaps(ranking) else find_first_system(ranking)
    undecided = find_undecided(ranking, first)
    if not any(comparison.p_holm is not None for comparison in ranking.comparisons):
        return f"{ranking.order[0]} has the highest score, {ranking.order[-1]} the lowest."
    says = say_apart_from(first, len(undecided), len(ranking.systems) - 1, len(ranking.comparisons))
    by_eye = [comparison.worse for comparison in lost_to_correction(ranking) if comparison.better == first]
    if by_eye and _has_gaps(ranking):
        says += say_bars_off_line(first, by_eye)
    elif _has_intervals(ranking):
        separate = _separate_bars(ranking)
        corrected = {(comparison.better, comparison.worse) for comparison in lost_to_correction(ranking)}
        lost = sum(pair in corrected for pair in separate)
        says += say_bars_apart(lost, len(separate) - lost)
    return says


def _separate_bars(ranking: Ranking) -> list[tuple[str, str]]:
    """Undecided pairs whose bars do not reach each other."""
    ends = {system.system: (system.numbers.get("low"), system.numbers.get("high")) for system in ranking.systems}
    apart = told_apart(ranking)
    separate = []
    for comparison in ranking.comparisons:
        low, high = ends[comparison.better][0], ends[comparison.worse][1]
        pair = (comparison.better, comparison.worse)
        if low is not None and high is not None and low > high and pair not in apart:
            separate.append(pair)
    return separate


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
    relative = ranking.kind == "relative"
    noise, judged = ("the chance in single comparisons", "comparisons") if relative else _OF_SCORES
    size = f"standard deviation {_size(largest.sd)}"
    words: tuple[str, ...] = (
        f"After {noise}, {largest.effect} matters most: {largest.meaning} ({size}).",
        "A ranking that ignores these sources takes them for differences between systems.",
        *_tastes(ranking.components),
    )
    if largest.sd < NO_SPREAD:
        words = (f"Beside {noise}, nothing adds to the spread.",)
    intervals = any(component.low is not None for component in ranking.components)
    says = "Bars are standard deviations" + ("; thin lines are their intervals." if intervals else ".")
    chart = Chart("spread", f"Where the spread of {judged} comes from", says, draw_components(ranking.components))
    return Section("spread", "Sources of spread", words, (chart,), ranking.tables()[1:])


def _size(sd: float) -> str:
    """Two digits where the first may be all that is left of a small number, as in log-odds; else one."""
    return f"{sd:.1f}" if sd >= 1.5 else f"{sd:.2f}"


def _tastes(components: Sequence[VarianceComponent]) -> tuple[str, ...]:
    """What annotators' tastes mean, where the model has them."""
    taste = next((component for component in components if component.effect == TASTE), None)
    if taste is None or taste.sd <= 0:
        return ()
    return (
        f"Annotators have tastes: how much more or less one likes a system varies by {_size(taste.sd)} between people.",
        "The intervals allow for that; more annotators narrow them further than more judgments by the same people.",
    )


def draw_components(components: Sequence[VarianceComponent]) -> dict[str, Any]:
    """One bar per effect, in the order of the model; a thin line is the interval."""
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
    base = Layer(rows).encode(
        y=channel("effect:N", sort=[component.effect for component in components], title=None),
        tooltip=[
            channel("effect:N"),
            channel("sd:Q", format=".2f"),
            channel("low:Q", title="from", format=".2f"),
            channel("high:Q", title="to", format=".2f"),
            channel("meaning:N"),
        ],
    )
    bars = base.mark("bar", height=14, cornerRadius=3, fill=theme.ACCENT, opacity=0.45).encode(
        x=channel("sd:Q", title="standard deviation")
    )
    known = base.transform(filter="isValid(datum.low) && isValid(datum.high)")
    intervals = known.mark("rule", strokeWidth=2, stroke=theme.ACCENT).encode(x="low:Q", x2="high:Q")
    return theme.finish(bars, intervals, height=ROW_HEIGHT * len(components))
