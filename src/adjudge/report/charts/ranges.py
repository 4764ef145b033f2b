"""Which ranks the data leave possible for every system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.rank import Ranking

ROW_HEIGHT = 24


def ranges(ranking: Ranking) -> dict[str, Any]:
    """One bar per system from the best to the worst possible rank, with a point at the rank itself."""
    import altair as alt

    order = list(ranking.order)
    count = len(order)
    rows = [
        {
            "system": one.system, "rank": one.rank, "from": one.rank_set[0], "to": one.rank_set[1],
            "left": one.rank_set[0] - 0.32, "right": one.rank_set[1] + 0.32,
            "made by": "human" if one.human else "system",
        }
        for one in ranking.systems
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
    return theme.finish(alt.layer(bars, points), height=ROW_HEIGHT * max(count, 2))
