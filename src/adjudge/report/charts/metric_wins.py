"""Which metric beats which: one cell per pair, told by its corrected p-value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.charts.heatmap import p_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.meta import MetricComparison

ROW_HEIGHT = 30
_WINS, _OPEN, _LOSES = "better", "not told apart", "worse"
_SIGNS = {_WINS: "+", _OPEN: "", _LOSES: "−"}


def metric_wins(comparisons: Sequence[MetricComparison], order: Sequence[str]) -> dict[str, Any]:
    """Blue where the row is significantly better than the column (Holm), orange where it is worse."""
    import altair as alt

    cells = [cell for one in comparisons for cell in _cells(one)]
    base = alt.Chart(theme.values(cells)).encode(
        x=alt.X("column:N", sort=list(order), title="against", axis=theme.column_axis(len(order))),
        y=alt.Y("row:N", sort=list(order), title=None),
    )
    colours = [theme.HEAT[6], theme.HEAT[3], theme.HEAT[0]]
    boxes = base.mark_rect(stroke=theme.PAPER, strokeWidth=2, cornerRadius=3).encode(
        color=alt.Color("verdict:N", title="the row is", scale=alt.Scale(domain=[_WINS, _OPEN, _LOSES], range=colours)),
        tooltip=[
            alt.Tooltip("row:N", title="metric"),
            alt.Tooltip("column:N", title="against"),
            alt.Tooltip("difference:Q", format="+.3f"),
            alt.Tooltip("p:N", title="p (Holm)"),
        ],
    )
    # Where numbers do not fit, signs say what the colours say.
    wide = f"width / {max(len(order), 1)} > 40"
    numbers = base.mark_text(fontSize=11, opacity=alt.expr(f"{wide} ? 1 : 0")).encode(text=alt.Text("p:N"))
    signs = base.mark_text(fontSize=12, opacity=alt.expr(f"{wide} ? 0 : 1")).encode(text=alt.Text("sign:N"))
    return theme.finish(alt.layer(boxes, numbers, signs), height=ROW_HEIGHT * max(len(order), 2))


def _cells(one: MetricComparison) -> list[dict[str, Any]]:
    common = {"p": p_shown(one.p_holm)}
    up, down = (_WINS, _LOSES) if one.told_apart else (_OPEN, _OPEN)
    known = math.isfinite(one.difference)
    ahead, behind = (one.difference, -one.difference) if known else (None, None)
    return [
        {"row": one.better, "column": one.worse, "verdict": up, "sign": _SIGNS[up], "difference": ahead, **common},
        {"row": one.worse, "column": one.better, "verdict": down, "sign": _SIGNS[down], "difference": behind, **common},
    ]
