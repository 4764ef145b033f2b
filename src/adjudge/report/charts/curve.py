"""Correlation of two runs as the second grows: in the order of submission, and the band over random orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.gold import CurvePoint

_SUBMITTED, _RANDOM = "in the order submitted", "mean of random orders"


def curve(points: Sequence[CurvePoint]) -> dict[str, Any]:
    """Pearson's r against judgments per document; the band holds 95% of random orders."""
    import altair as alt

    x = alt.X("judgments:Q", title="judgments per document, on average")
    rows = [
        {"judgments": point.mean, "r": value, "order": name, "fewest": point.fewest, "assignments": point.assignments}
        for point in points
        for name, value in ((_SUBMITTED, point.pearson), (_RANDOM, point.random_mean))
        if value is not None
    ]
    bands = [
        {"judgments": point.mean, "low": point.random_low, "high": point.random_high}
        for point in points
        if point.random_low is not None
    ]
    y = alt.Y("r:Q", title="correlation of the two runs", scale=alt.Scale(zero=False))
    band = (
        alt.Chart(theme.values(bands))
        .mark_area(color=theme.MUTED, opacity=0.2)
        .encode(x=x, y=alt.Y("low:Q", title="correlation of the two runs"), y2="high:Q")
    )
    lines = (
        alt.Chart(theme.values(rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "order:N",
                title=None,
                legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=2.5),
                scale=alt.Scale(domain=[_SUBMITTED, _RANDOM], range=[theme.ACCENT, theme.MUTED]),
            ),
            tooltip=[
                alt.Tooltip("order:N"),
                alt.Tooltip("assignments:Q"),
                alt.Tooltip("fewest:Q", title="fewest judgments"),
                alt.Tooltip("judgments:Q", title="mean judgments", format=".1f"),
                alt.Tooltip("r:Q", format=".3f"),
            ],
        )
    )
    return theme.finish(alt.layer(band, lines), height=300)
