"""Every annotator: how well they tell degraded from genuine outputs, against their pace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.check import Checked


def annotators(checked: Checked) -> dict[str, Any]:
    """One point per annotator, sized by their judgments; those who are not kept stand out by colour and shape."""
    import altair as alt

    rows = [
        {
            "annotator": one.annotator, "lead": one.control_difference, "seconds": one.seconds,
            "judgments": one.judgments, "kept": "kept" if one.passed else "not kept", "why": "; ".join(one.reasons),
        }
        for one in checked.annotators
        if one.control_difference is not None and one.seconds is not None
    ]  # fmt: skip
    scale = alt.Scale(domain=["kept", "not kept"], range=[theme.ACCENT, theme.WARN])
    points = (
        alt.Chart(theme.values(rows))
        .mark_point(filled=True, opacity=0.85)
        .encode(
            x=alt.X("seconds:Q", title="seconds per judgment (median)", scale=alt.Scale(zero=True)),
            y=alt.Y("lead:Q", title="genuine above degraded (points)"),
            color=alt.Color("kept:N", title=None, scale=scale),
            shape=alt.Shape(
                "kept:N", title=None, scale=alt.Scale(domain=["kept", "not kept"], range=["circle", "cross"])
            ),
            size=alt.Size("judgments:Q", legend=None, scale=alt.Scale(range=[40, 240])),
            tooltip=[
                alt.Tooltip("annotator:N"),
                alt.Tooltip("judgments:Q"),
                alt.Tooltip("seconds:Q", format=".1f"),
                alt.Tooltip("lead:Q", format=".1f"),
                alt.Tooltip("why:N", title="why not kept"),
            ],
        )
    )
    return theme.finish(points, height=300)
