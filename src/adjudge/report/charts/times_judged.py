"""Score against how often a system was judged: the two should have nothing to do with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.rank import Ranking


def times_judged(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """One point per system, its name beside it. Human translations, far above, would hide the rest."""
    import altair as alt

    rows = [{"system": one.system, "score": one.score, "n": one.n} for one in ranking.systems if not one.human]
    base = alt.Chart(theme.values(rows)).encode(
        x=alt.X("n:Q", title="comparisons", scale=alt.Scale(zero=False, nice=False, padding=36)),
        y=alt.Y("score:Q", title=unit, scale=alt.Scale(zero=False, nice=False, padding=20)),
    )
    points = base.mark_point(filled=True, size=80, opacity=1, color=theme.ACCENT).encode(
        tooltip=[
            alt.Tooltip("system:N"),
            alt.Tooltip("n:Q", title="comparisons"),
            alt.Tooltip("score:Q", format=".3f"),
        ],
    )
    names = base.mark_text(dy=-11, fontSize=11, color=theme.MUTED, limit=90).encode(text="system:N")
    return theme.finish(alt.layer(points, names), height=280)
