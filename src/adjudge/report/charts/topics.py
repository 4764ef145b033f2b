"""The mix of topics of a test set beside that of a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.topics import Topics

ROW_HEIGHT = 36


def topic_shares(topics: Topics) -> dict[str, Any]:
    """Two bars per topic: its share of the documents on either side."""
    import altair as alt

    sides = ("test set", "corpus")
    rows = [
        {"topic": one.label, "side": side, "share": share}
        for one in topics.topics
        for side, share in zip(sides, (one.share_test, one.share_reference), strict=True)
    ]
    chart = (
        alt.Chart(theme.values(rows))
        .mark_bar()
        .encode(
            y=alt.Y("topic:N", sort=[one.label for one in topics.topics], title=None),
            yOffset=alt.YOffset("side:N", sort=list(sides)),
            x=alt.X("share:Q", title="share of documents", axis=alt.Axis(format=".0%")),
            color=alt.Color(
                "side:N", scale=alt.Scale(domain=list(sides), range=[theme.ACCENT, theme.MUTED]), title=None
            ),
            tooltip=[alt.Tooltip("topic:N"), alt.Tooltip("side:N"), alt.Tooltip("share:Q", format=".1%")],
        )
    )
    return theme.finish(chart, height=ROW_HEIGHT * max(len(topics.topics), 2))
