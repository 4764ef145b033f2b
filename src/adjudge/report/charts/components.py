"""Where the spread of scores comes from: standard deviations with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.components import VarianceComponent

ROW_HEIGHT = 30


def components(found: Sequence[VarianceComponent]) -> dict[str, Any]:
    """One bar per effect, in the order of the model; a thin line is the interval."""
    import altair as alt

    rows = [
        {"effect": one.effect, "sd": one.sd, "low": one.low, "high": one.high, "meaning": one.meaning} for one in found
    ]
    base = alt.Chart(theme.values(rows)).encode(
        y=alt.Y("effect:N", sort=[one.effect for one in found], title=None),
        tooltip=[
            alt.Tooltip("effect:N"),
            alt.Tooltip("sd:Q", format=".2f"),
            alt.Tooltip("low:Q", title="from", format=".2f"),
            alt.Tooltip("high:Q", title="to", format=".2f"),
            alt.Tooltip("meaning:N"),
        ],
    )
    bars = base.mark_bar(height=14, cornerRadius=3, fill=theme.ACCENT, opacity=0.45).encode(
        x=alt.X("sd:Q", title="standard deviation")
    )
    known = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    intervals = known.mark_rule(strokeWidth=2, stroke=theme.ACCENT).encode(x="low:Q", x2="high:Q")
    return theme.finish(alt.layer(bars, intervals), height=ROW_HEIGHT * len(found))
