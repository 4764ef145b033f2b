"""Every pair of systems: the difference of their scores, coloured by how well the data establish it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.charts.heatmap import ROW_HEIGHT, p_shown

if TYPE_CHECKING:
    from adjudge.results.rank import PairComparison, Ranking

# How sure it is that the row's system is worse, or better, than the column's.
_EVIDENCE = ("worse", "perhaps worse", "open", "perhaps better", "better")
_COLOURS = (theme.HEAT[0], theme.HEAT[2], theme.HEAT[3], theme.HEAT[4], theme.HEAT[6])


def differences(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """Row minus column; strong colours are told apart after Holm's correction, weak ones only before it."""
    import altair as alt

    order = list(ranking.order)
    cells = [cell for one in ranking.comparisons for cell in _cells(one, ranking.lines.level)]
    base = alt.Chart(theme.values(cells)).encode(
        x=alt.X("column:N", sort=order, title="against", axis=theme.column_axis(len(order))),
        y=alt.Y("row:N", sort=order, title=None),
    )
    boxes = base.mark_rect(stroke=theme.PAPER, strokeWidth=2, cornerRadius=3).encode(
        color=alt.Color("evidence:N", legend=None, scale=alt.Scale(domain=list(_EVIDENCE), range=list(_COLOURS))),
        tooltip=[
            alt.Tooltip("row:N", title="system"),
            alt.Tooltip("column:N", title="against"),
            alt.Tooltip("difference:Q", title=unit, format="+.2f"),
            alt.Tooltip("p:N", title="p (Holm)"),
            alt.Tooltip("evidence:N"),
        ],
    )
    wide = f"width / {max(len(order), 1)} > 40 ? 1 : 0"
    numbers = base.mark_text(fontSize=11, opacity=alt.expr(wide)).encode(text="label:N")
    return theme.finish(alt.layer(boxes, numbers), height=ROW_HEIGHT * max(len(order), 2))


def _cells(one: PairComparison, level: float) -> list[dict[str, Any]]:
    if one.difference is None:
        return []
    step = 2 if one.p_holm is not None and one.p_holm < level else 1 if one.p is not None and one.p < level else 0
    common = {"p": p_shown(one.p_holm)}

    def cell(row: str, column: str, difference: float, evidence: str) -> dict[str, Any]:
        shown = f"{difference:+.1f}" if abs(difference) >= 1 else f"{difference:+.2f}"
        return {"row": row, "column": column, "difference": difference, "label": shown, "evidence": evidence, **common}

    return [
        cell(one.better, one.worse, one.difference, _EVIDENCE[2 + step]),
        cell(one.worse, one.better, -one.difference, _EVIDENCE[2 - step]),
    ]
