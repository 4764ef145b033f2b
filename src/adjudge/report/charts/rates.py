"""Estimates by name with their intervals: rates of an A/A test, reliability by method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

ROW_HEIGHT = 34


def rates(
    rows: Sequence[tuple[str, float, float, float]], *, title: str, number: str, target: float | None = None
) -> dict[str, Any]:
    """Name, estimate, low and high; an interval that misses the target stands out, and a line marks the target."""
    import altair as alt

    data = [
        {"name": name, "estimate": estimate, "low": low, "high": high, "right": _right(low, high, target)}
        for name, estimate, low, high in rows
    ]
    axis = alt.Axis(format=number)
    colour = alt.Color("right:N", legend=None, scale=alt.Scale(domain=["yes", "no"], range=[theme.ACCENT, theme.WARN]))
    base = alt.Chart(theme.values(data)).encode(
        y=alt.Y("name:N", sort=[row[0] for row in rows], title=None),
        color=colour,
        tooltip=[
            alt.Tooltip("name:N", title=" "),
            alt.Tooltip("estimate:Q", title=title, format=number),
            alt.Tooltip("low:Q", title="from", format=number),
            alt.Tooltip("high:Q", title="to", format=number),
        ],
    )
    scale = alt.Scale(zero=True, nice=True)
    bars = base.mark_rule(strokeWidth=3, strokeCap="round").encode(
        x=alt.X("low:Q", title=title, axis=axis, scale=scale), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=110, opacity=1).encode(x=alt.X("estimate:Q", axis=axis, scale=scale))
    layers = [bars, points]
    if target is not None:
        mark = alt.Chart(theme.values([{"target": target}])).mark_rule(strokeDash=[4, 4], stroke=theme.INK)
        layers.insert(0, mark.encode(x=alt.X("target:Q", axis=axis, scale=scale)))
    return theme.finish(alt.layer(*layers), height=ROW_HEIGHT * max(len(rows), 2))


def _right(low: float, high: float, target: float | None) -> str:
    return "yes" if target is None or low <= target <= high else "no"
