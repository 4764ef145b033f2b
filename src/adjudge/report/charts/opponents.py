"""Who met whom how often: a ranking by wins is fair only where everybody met everybody alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.rank import Ranking

ROW_HEIGHT = 28
_SHADES = (theme.HEAT[3], theme.HEAT[4], theme.HEAT[5], theme.HEAT[6])


def opponents(ranking: Ranking) -> dict[str, Any]:
    """The number of comparisons of every pair, darker where it is larger than the average pair's."""
    import altair as alt

    met = {
        (one.better, one.worse): sum(int(one.numbers.get(name) or 0) for name in ("wins", "ties", "losses"))
        for one in ranking.comparisons
    }
    mean = sum(met.values()) / max(len(met), 1)
    cells = [
        {"row": a, "column": b, "comparisons": count, "ratio": count / mean if mean else 0}
        for (one, other), count in met.items()
        for a, b in ((one, other), (other, one))
    ]
    order = list(ranking.order)
    base = alt.Chart(theme.values(cells)).encode(
        x=alt.X("column:N", sort=order, title="met", axis=theme.column_axis(len(order))),
        y=alt.Y("row:N", sort=order, title=None),
    )
    boxes = base.mark_rect(stroke=theme.PAPER, strokeWidth=2, cornerRadius=3).encode(
        color=alt.Color(
            "ratio:Q", scale=alt.Scale(type="threshold", domain=[0.5, 1.25, 2], range=list(_SHADES)), legend=None
        ),
        tooltip=[
            alt.Tooltip("row:N", title="system"),
            alt.Tooltip("column:N", title="met"),
            alt.Tooltip("comparisons:Q"),
            alt.Tooltip("ratio:Q", title="against the average pair", format=".2f"),
        ],
    )
    wide = f"width / {max(len(order), 1)} > 34 ? 1 : 0"
    numbers = base.mark_text(fontSize=11, opacity=alt.expr(wide)).encode(text="comparisons:Q")
    return theme.finish(alt.layer(boxes, numbers), height=ROW_HEIGHT * max(len(order), 2))
