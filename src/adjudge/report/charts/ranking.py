"""Systems in rank order with their scores and intervals; shaded bands are clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.headline import told_apart

if TYPE_CHECKING:
    from adjudge.results.rank import RankedSystem, Ranking

FOREST_ROW = 28
LONGEST_IN_TITLE = 28
"""Characters of a name below an axis, which has no room for more on a phone."""
RANGE_ROW = 24


def forest(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """Score and interval of every system; human translations stand out by shape and colour."""
    import altair as alt

    undecided = undecided_with(ranking, first_system(ranking))
    rows = [_row(system, undecided) for system in ranking.systems]
    return _forest(rows, list(ranking.order), alt.Scale(zero=False, nice=False, padding=12), unit)


def _forest(rows: list[dict[str, Any]], order: list[str], x: Any, unit: str) -> dict[str, Any]:
    import altair as alt

    data = theme.values(rows)
    y = alt.Y("system:N", sort=order, title=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    base = alt.Chart(data).encode(y=y)
    bands = base.transform_filter("datum.cluster % 2 == 1").mark_rect(fill=theme.INK, opacity=0.05)
    bars = base.mark_rule(strokeWidth=2.5, strokeCap="round").encode(
        x=alt.X("low:Q", scale=x, title=unit), x2="high:Q", color=_colour(alt.Color)
    )
    hollow = alt.condition("datum.first == 'undecided'", alt.value(theme.PAPER), _colour(alt.Fill))
    points = base.mark_point(size=90, opacity=1, strokeWidth=2).encode(
        x=alt.X("score:Q", scale=x, title=unit),
        stroke=_colour(alt.Stroke),
        fill=hollow,
        shape=alt.Shape(
            "made by:N", scale=alt.Scale(domain=["system", "human"], range=["circle", "diamond"]), legend=None
        ),
        tooltip=[
            alt.Tooltip("system:N"),
            alt.Tooltip("score:Q", format=".3f"),
            alt.Tooltip("low:Q", title="interval from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
            alt.Tooltip("ranks:N", title="possible ranks"),
            alt.Tooltip("first:N", title="against the first"),
        ],
    )
    return theme.finish(alt.layer(bands, bars, points), height=FOREST_ROW * max(len(order), 2))


def behind(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """How far every system lies behind the first, with the interval of that difference."""
    import altair as alt

    first = ranking.systems[0]
    shown = theme.shorten(ranking.order, LONGEST_IN_TITLE)[0]
    gaps = {comparison.worse: comparison for comparison in ranking.comparisons if comparison.better == first.system}
    undecided = undecided_with(ranking, first.system)
    rows = [{**_row(first, undecided), "score": 0.0, "low": 0.0, "high": 0.0}]
    for system in ranking.systems[1:]:
        gap = gaps[system.system]
        low, high = gap.numbers.get("low"), gap.numbers.get("high")
        if gap.difference is not None and low is not None and high is not None:
            rows.append({**_row(system, undecided), "score": -gap.difference, "low": -high, "high": -low})
    return _forest(rows, list(ranking.order), alt.Scale(nice=False, padding=12), f"{unit} against {shown}")


def _colour(channel: Any) -> Any:
    import altair as alt

    scale = alt.Scale(domain=["system", "human"], range=[theme.ACCENT, theme.HUMAN])
    return channel("made by:N", scale=scale, legend=None)


def undecided_with(ranking: Ranking, name: str) -> set[str]:
    """The systems that are not told apart from this one, by the rule of the headline."""
    apart = {system for pair in told_apart(ranking) if name in pair for system in pair}
    return set(ranking.order) - apart - {name}


def first_system(ranking: Ranking) -> str:
    """The first system that is no human translation, which the headline is about."""
    return next((system.system for system in ranking.systems if not system.human), ranking.order[0])


def _row(system: RankedSystem, undecided: set[str]) -> dict[str, Any]:
    low, high = system.rank_set
    return {
        "system": system.system,
        "score": system.score,
        "low": _end(system, "low"),
        "high": _end(system, "high"),
        "cluster": system.cluster,
        "ranks": f"{low}" if low == high else f"{low} to {high}",
        "made by": "human" if system.human else "system",
        "first": "undecided" if system.system in undecided else "decided",
    }


def _end(system: RankedSystem, name: str) -> float | None:
    """An end of the interval; where there is none, or none is known, the bar ends at the score."""
    end = system.numbers.get(name)
    return system.score if end is None else end


def ranges(ranking: Ranking) -> dict[str, Any]:
    """One bar per system from the best to the worst possible rank, with a point at the rank itself."""
    import altair as alt

    order = list(ranking.order)
    count = len(order)
    rows = [
        {
            "system": system.system, "rank": system.rank, "from": system.rank_set[0], "to": system.rank_set[1],
            "left": system.rank_set[0] - 0.32, "right": system.rank_set[1] + 0.32,
            "made by": "human" if system.human else "system",
        }
        for system in ranking.systems
    ]  # fmt: skip
    scale = alt.Scale(domain=[0.5, count + 0.5], nice=False, zero=False)
    axis = alt.Axis(values=list(range(1, count + 1)), format="d", grid=True)
    colour = alt.Color(
        "made by:N", scale=alt.Scale(domain=["system", "human"], range=[theme.ACCENT, theme.HUMAN]), legend=None
    )
    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("rank:Q"),
        alt.Tooltip("from:Q", title="best possible rank"),
        alt.Tooltip("to:Q", title="worst possible rank"),
    ]
    base = alt.Chart(theme.values(rows)).encode(y=alt.Y("system:N", sort=order, title=None), tooltip=tooltip)
    bars = base.mark_bar(height=14, cornerRadius=7, opacity=0.35).encode(
        x=alt.X("left:Q", scale=scale, axis=axis, title="rank"), x2="right:Q", color=colour
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=alt.X("rank:Q", scale=scale, axis=axis, title="rank"), color=colour
    )
    return theme.finish(alt.layer(bars, points), height=RANGE_ROW * max(count, 2))
