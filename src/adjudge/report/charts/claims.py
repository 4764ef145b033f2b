"""Every claim "the row is better than the column": does it hold, is it fragile, or do the data leave it open?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.charts.heatmap import p_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.audit.claims import Claims

ROW_HEIGHT = 30
_VERDICTS = ("holds", "fragile", "not supported")
_COLOURS = (theme.HEAT[6], theme.HEAT[1], theme.HEAT[3])
# The verdict stands in the cell, too, for those who do not see the colours.
_SIGNS = {"holds": "✓", "fragile": "!", "not supported": ""}


def claims(made: Claims, order: Sequence[str]) -> dict[str, Any]:
    """One cell per pair, above the diagonal where the claims follow the order of the ranking."""
    import altair as alt

    cells = [
        {
            "row": one.systems[0], "column": one.systems[1], "verdict": one.verdict, "sign": _SIGNS[one.verdict],
            "estimate": one.estimate, "p": p_shown(one.p_holm), "broken": "; ".join(one.broken_by[:4]),
        }
        for one in made.claims
        if one.kind == "better"
    ]  # fmt: skip
    base = alt.Chart(theme.values(cells)).encode(
        x=alt.X("column:N", sort=list(order), title="than", axis=theme.column_axis(len(order))),
        y=alt.Y("row:N", sort=list(order), title=None),
    )
    boxes = base.mark_rect(stroke=theme.PAPER, strokeWidth=2, cornerRadius=3).encode(
        color=alt.Color("verdict:N", title=None, scale=alt.Scale(domain=list(_VERDICTS), range=list(_COLOURS))),
        tooltip=[
            alt.Tooltip("row:N", title="better"),
            alt.Tooltip("column:N", title="worse"),
            alt.Tooltip("verdict:N"),
            alt.Tooltip("estimate:Q", title=f"by {made.unit}", format=".2f"),
            alt.Tooltip("p:N", title="p (Holm)"),
            alt.Tooltip("broken:N", title="broken by"),
        ],
    )
    signs = base.mark_text(fontSize=13, fontWeight="bold").encode(text="sign:N")
    return theme.finish(alt.layer(boxes, signs), height=ROW_HEIGHT * max(len(order), 2))
