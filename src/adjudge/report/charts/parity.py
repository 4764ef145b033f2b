"""Parity shares of systems, before and after where there are two versions of a test set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.parity import Parity

ROW_HEIGHT = 34


def parity_shares(parity: Parity) -> dict[str, Any]:
    """One point per system and version, with its interval over documents."""
    import altair as alt

    sets = {"after" if parity.change else "test set": parity.parts[0]}
    if parity.change is not None:
        sets = {"before": parity.change.before[0], **sets}
    rows = [
        {"system": one.system, "set": name, "share": one.parity_share, "low": one.interval[0], "high": one.interval[1]}
        for name, part in sets.items()
        for one in part.systems
    ]
    colour = alt.Color(
        "set:N",
        scale=alt.Scale(domain=list(sets), range=[theme.MUTED, theme.ACCENT][-len(sets) :]),
        title=None,
        legend=alt.Legend() if len(sets) > 1 else None,
    )
    order = [one.system for one in sorted(parity.systems, key=lambda one: (-one.parity_share, one.system))]
    base = alt.Chart(theme.values(rows)).encode(
        y=alt.Y("system:N", title=None, sort=order), yOffset=alt.YOffset("set:N", sort=list(sets)), color=colour
    )
    bars = base.mark_rule(strokeWidth=2.5).encode(
        x=alt.X("low:Q", title="at least as good as the human", axis=alt.Axis(format=".0%")), x2="high:Q"
    )
    # Shapes tell the versions apart for those who do not see the colours.
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x="share:Q",
        shape=alt.Shape("set:N", scale=alt.Scale(domain=list(sets), range=["diamond", "circle"][-len(sets) :])),
        tooltip=[alt.Tooltip("system:N"), alt.Tooltip("set:N"), alt.Tooltip("share:Q", format=".1%")],
    )
    return theme.finish(alt.layer(bars, points), height=ROW_HEIGHT * max(len(parity.systems), 2))
