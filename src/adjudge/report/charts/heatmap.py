"""Every pair of systems: how often the row's system was better than the column's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.results.table import p_value, show

if TYPE_CHECKING:
    from adjudge.results.rank import PairComparison, Ranking

STEPS = (0.25, 0.35, 0.45, 0.55, 0.65, 0.75)
ROW_HEIGHT = 30


def heatmap(ranking: Ranking) -> dict[str, Any]:
    """Share of the pair's decided comparisons that the row's system won; a dot marks pairs told apart (Holm)."""
    import altair as alt

    level = ranking.lines.level
    cells = [cell for one in ranking.comparisons for cell in _cells(one, level)]
    order = list(ranking.order)
    base = alt.Chart(theme.values(cells)).encode(
        x=alt.X("column:N", sort=order, title="against", axis=theme.column_axis(len(order))),
        y=alt.Y("row:N", sort=order, title=None),
    )
    boxes = base.mark_rect(stroke=theme.PAPER, strokeWidth=2, cornerRadius=3).encode(
        color=alt.Color(
            "share:Q",
            title="share won",
            scale=alt.Scale(type="threshold", domain=list(STEPS), range=list(theme.HEAT)),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("row:N", title="system"),
            alt.Tooltip("column:N", title="against"),
            alt.Tooltip("share:Q", title="share won", format=".1%"),
            alt.Tooltip("wins:Q"),
            alt.Tooltip("ties:Q"),
            alt.Tooltip("losses:Q"),
            alt.Tooltip("p:N", title="p (Holm)"),
        ],
    )
    # Numbers are shown where a cell is wide enough for them.
    wide = f"width / {max(len(order), 1)} > 34 ? 1 : 0"
    numbers = base.mark_text(fontSize=12, opacity=alt.expr(wide)).encode(text=alt.Text("label:N"))
    return theme.finish(alt.layer(boxes, numbers), height=ROW_HEIGHT * max(len(order), 2))


def _cells(one: PairComparison, level: float) -> list[dict[str, Any]]:
    wins, losses = one.numbers.get("wins") or 0, one.numbers.get("losses") or 0
    decided = wins + losses
    if not decided:
        return []
    apart = one.p_holm is not None and one.p_holm < level
    common = {"ties": one.numbers.get("ties"), "p": p_shown(one.p_holm)}

    def cell(row: str, column: str, won: float, lost: float) -> dict[str, Any]:
        share = won / decided
        label = _percent(share) + ("•" if apart else "")
        return {"row": row, "column": column, "share": share, "wins": won, "losses": lost, "label": label, **common}

    return [cell(one.better, one.worse, wins, losses), cell(one.worse, one.better, losses, wins)]


def _percent(share: float) -> str:
    """Whole percents; 0 and 100 only where it is exactly so."""
    if 0 < share < 0.005:
        return "<1"
    return ">99" if 0.995 <= share < 1 else f"{100 * share:.0f}"


def p_shown(p: float | None) -> str:
    """A p-value as tables show it."""
    return show(p, p_value())
