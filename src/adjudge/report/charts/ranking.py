"""Systems in rank order with their scores and intervals; shaded bands are clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.evidence.verdict import told_apart
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel, condition

if TYPE_CHECKING:
    from adjudge.results.rank import RankedSystem, Ranking

FOREST_ROW = 28
LONGEST_IN_TITLE = 28
"""Characters of a name below an axis, which has no room for more on a phone."""
RANGE_ROW = 24


def draw_scores(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """Score and interval of every system; human translations stand out by shape and colour."""
    undecided = find_undecided(ranking, find_first_system(ranking))
    rows = [_row(system, undecided) for system in ranking.systems]
    return _forest(rows, list(ranking.order), dict(zero=False, nice=False, padding=12), unit)


def _forest(rows: list[dict[str, Any]], order: list[str], x: Any, unit: str) -> dict[str, Any]:
    data = rows
    y = channel("system:N", sort=order, title=None, scale=dict(paddingInner=0, paddingOuter=0))
    base = Layer(data).encode(y=y)
    bands = base.transform(filter="datum.cluster % 2 == 1").mark("rect", fill=theme.INK, opacity=0.05)
    bars = base.mark("rule", strokeWidth=2.5, strokeCap="round").encode(
        x=channel("low:Q", scale=x, title=unit), x2="high:Q", color=_colour()
    )
    hollow = condition("datum.first == 'undecided'", dict(value=theme.PAPER), _colour())
    points = base.mark("point", size=90, opacity=1, strokeWidth=2).encode(
        x=channel("score:Q", scale=x, title=unit),
        stroke=_colour(),
        fill=hollow,
        shape=channel("made by:N", scale=dict(domain=["system", "human"], range=["circle", "diamond"]), legend=None),
        tooltip=[
            channel("system:N"),
            channel("score:Q", format=".3f"),
            channel("low:Q", title="interval from", format=".3f"),
            channel("high:Q", title="to", format=".3f"),
            channel("ranks:N", title="possible ranks"),
            channel("first:N", title="against the first"),
        ],
    )
    return theme.finish(bands, bars, points, height=FOREST_ROW * max(len(order), 2))


def draw_gaps(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """How far every system lies behind the first, with the interval of that difference."""
    first = ranking.systems[0]
    shown = theme.shorten(ranking.order, LONGEST_IN_TITLE)[0]
    gaps = {comparison.worse: comparison for comparison in ranking.comparisons if comparison.better == first.system}
    undecided = find_undecided(ranking, first.system)
    rows = [{**_row(first, undecided), "score": 0.0, "low": 0.0, "high": 0.0}]
    for system in ranking.systems[1:]:
        gap = gaps[system.system]
        low, high = gap.numbers.get("low"), gap.numbers.get("high")
        if gap.difference is not None and low is not None and high is not None:
            rows.append({**_row(system, undecided), "score": -gap.difference, "low": -high, "high": -low})
    return _forest(rows, list(ranking.order), dict(nice=False, padding=12), f"{unit} against {shown}")


def _colour() -> dict[str, Any]:
    scale = dict(domain=["system", "human"], range=[theme.ACCENT, theme.HUMAN])
    return channel("made by:N", scale=scale, legend=None)


def find_undecided(ranking: Ranking, name: str) -> set[str]:
    """The systems that are not told apart from this one, by the rule of the headline."""
    apart = {system for pair in told_apart(ranking) if name in pair for system in pair}
    return set(ranking.order) - apart - {name}


def find_first_system(ranking: Ranking) -> str:
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


def draw_rank_ranges(ranking: Ranking) -> dict[str, Any]:
    """One bar per system from the best to the worst possible rank, with a point at the rank itself."""
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
    scale = dict(domain=[0.5, count + 0.5], nice=False, zero=False)
    axis = dict(values=list(range(1, count + 1)), format="d", grid=True)
    colour = channel(
        "made by:N", scale=dict(domain=["system", "human"], range=[theme.ACCENT, theme.HUMAN]), legend=None
    )
    tooltip = [
        channel("system:N"),
        channel("rank:Q"),
        channel("from:Q", title="best possible rank"),
        channel("to:Q", title="worst possible rank"),
    ]
    base = Layer(rows).encode(y=channel("system:N", sort=order, title=None), tooltip=tooltip)
    bars = base.mark("bar", height=14, cornerRadius=7, opacity=0.35).encode(
        x=channel("left:Q", scale=scale, axis=axis, title="rank"), x2="right:Q", color=colour
    )
    points = base.mark("point", filled=True, size=80, opacity=1).encode(
        x=channel("rank:Q", scale=scale, axis=axis, title="rank"), color=colour
    )
    return theme.finish(bars, points, height=RANGE_ROW * max(count, 2))
