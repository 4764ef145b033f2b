"""How places change from one ranking to another: one line per system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROW_HEIGHT = 26


def places(orders: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Places in every order among the systems that all orders hold; systems that move stand out by colour."""
    import altair as alt

    names = list(orders)
    common = [name for name in orders[names[0]] if all(name in order for order in orders.values())]
    positions = {name: _places(order, common) for name, order in orders.items()}
    moved = {system: len({positions[name][system] for name in names}) > 1 for system in common}
    rows = [
        {"system": system, "ranking": name, "place": positions[name][system], "moved": "yes" if moved[system] else "no"}
        for system in common
        for name in names
    ]
    base = alt.Chart(theme.values(rows)).encode(
        x=alt.X(
            "ranking:N",
            sort=names,
            title=None,
            scale=alt.Scale(type="point", padding=0.9),
            axis=alt.Axis(labelAngle=-35, labelLimit=150),
        ),
        y=alt.Y(
            "place:Q",
            scale=alt.Scale(domain=[0.5, len(common) + 0.5], reverse=True, nice=False, zero=False),
            title=None,
            axis=None,
        ),
        detail="system:N",
        color=alt.Color(
            "moved:N", scale=alt.Scale(domain=["yes", "no"], range=[theme.ACCENT, theme.MUTED]), legend=None
        ),
    )
    lines = base.mark_line(strokeWidth=2, opacity=0.6)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        tooltip=[alt.Tooltip("system:N"), alt.Tooltip("ranking:N"), alt.Tooltip("place:Q")]
    )
    first = base.transform_filter(alt.datum.ranking == names[0])
    labels = first.mark_text(dx=-10, fontSize=12, limit=100, align="right").encode(text="system:N")
    return theme.finish(alt.layer(lines, points, labels), height=ROW_HEIGHT * max(len(common), 4))


def _places(order: Sequence[str], common: Sequence[str]) -> dict[str, int]:
    return {name: i + 1 for i, name in enumerate(shared for shared in order if shared in common)}
