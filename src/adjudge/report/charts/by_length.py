"""Agreement against the length of the source text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.agree import Agreement

_NAMES = {"inter": "between annotators", "intra": "within an annotator"}
FEWEST_PAIRS = 30


def by_length(agreement: Agreement) -> dict[str, Any]:
    """S (P(E) = 1/3) by length, points sized by the pairs behind them; lengths with few pairs are left out."""
    import altair as alt

    rows = [
        {"length": one.length, "kind": name, "s": numbers["all"].get("s"), "pairs": numbers["all"].get("pairs")}
        for one in agreement.by_length or ()
        for name, numbers in ((_NAMES["inter"], one.inter), (_NAMES["intra"], one.intra))
        if (numbers["all"].get("pairs") or 0) >= FEWEST_PAIRS
    ]
    base = alt.Chart(theme.values(rows)).encode(
        x=alt.X("length:Q", title="length of the source", scale=alt.Scale(zero=False)),
        y=alt.Y("s:Q", title="agreement (S)"),
        color=alt.Color(
            "kind:N", title=None, scale=alt.Scale(domain=list(_NAMES.values()), range=[theme.ACCENT, theme.HUMAN])
        ),
    )
    # Single lengths are noisy: a smooth line through them shows the tendency.
    lines = base.transform_loess("length", "s", groupby=["kind"], bandwidth=0.7).mark_line(strokeWidth=2.5)
    points = base.mark_point(filled=True, opacity=0.55).encode(
        size=alt.Size("pairs:Q", legend=None, scale=alt.Scale(range=[20, 160])),
        tooltip=[
            alt.Tooltip("length:Q"),
            alt.Tooltip("kind:N", title="agreement"),
            alt.Tooltip("s:Q", format=".3f"),
            alt.Tooltip("pairs:Q"),
        ],
    )
    return theme.finish(alt.layer(lines, points), height=260)
