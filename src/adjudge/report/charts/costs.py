"""What every ranking contradicts: the judgments that point the other way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.tournament import Tournament

ROW_HEIGHT = 28
CHEAPEST = "fewest possible"


def costs(tournament: Tournament) -> dict[str, Any]:
    """One bar per ranking, the cheapest possible order first."""
    import altair as alt

    found = {CHEAPEST: tournament.mfas.cost, **{k: v for k, v in tournament.violations.items() if k != "mfas"}}
    order = sorted(found, key=lambda name: (found[name], name != CHEAPEST))
    rows = [{"ranking": name, "cost": found[name], "kind": "best" if name == CHEAPEST else "other"} for name in order]
    base = alt.Chart(theme.values(rows)).encode(y=alt.Y("ranking:N", sort=order, title=None))
    bars = base.mark_bar(height=14, cornerRadius=3).encode(
        x=alt.X("cost:Q", title="contradicted judgments", axis=alt.Axis(tickMinStep=1, format="d")),
        color=alt.Color(
            "kind:N", legend=None, scale=alt.Scale(domain=["best", "other"], range=[theme.ACCENT, theme.MUTED])
        ),
        tooltip=[alt.Tooltip("ranking:N"), alt.Tooltip("cost:Q")],
    )
    numbers = base.mark_text(align="left", dx=5, fontSize=12).encode(x="cost:Q", text="cost:Q")
    return theme.finish(alt.layer(bars, numbers), height=ROW_HEIGHT * max(len(rows), 2))
