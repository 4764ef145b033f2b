"""How the order changes with the method: one line per system through its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.ranking import Ranking

ROW_HEIGHT = 26


def methods(rankings: Sequence[Ranking]) -> dict[str, Any]:
    """Ranks by every method, the first ranking's names at the left; systems that move stand out."""
    import altair as alt

    names = [one.method for one in rankings]
    common = [name for name in rankings[0].order if all(name in one.order for one in rankings)]
    places = {
        one.method: {name: i + 1 for i, name in enumerate(n for n in one.order if n in common)} for one in rankings
    }
    moved = {name: len({places[method][name] for method in names}) > 1 for name in common}
    rows = [
        {"system": name, "method": method, "place": places[method][name], "moved": "yes" if moved[name] else "no"}
        for name in common
        for method in names
    ]
    scale = alt.Scale(domain=[0.5, len(common) + 0.5], reverse=True, nice=False, zero=False)
    base = alt.Chart(theme.values(rows)).encode(
        x=alt.X(
            "method:N",
            sort=names,
            title=None,
            scale=alt.Scale(type="point", padding=0.9),
            axis=alt.Axis(labelAngle=-35, orient="bottom", labelLimit=120),
        ),
        y=alt.Y("place:Q", scale=scale, title=None, axis=None),
        detail="system:N",
        color=alt.Color(
            "moved:N", scale=alt.Scale(domain=["yes", "no"], range=[theme.ACCENT, theme.MUTED]), legend=None
        ),
    )
    lines = base.mark_line(strokeWidth=2, opacity=0.6)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        tooltip=[alt.Tooltip("system:N"), alt.Tooltip("method:N"), alt.Tooltip("place:Q")]
    )
    labels = base.transform_filter(alt.datum.method == names[0]).mark_text(
        dx=-10, fontSize=12, limit=100, align="right", color=theme.INK
    )
    return theme.finish(
        alt.layer(lines, points, labels.encode(text="system:N")), height=ROW_HEIGHT * max(len(common), 4)
    )
