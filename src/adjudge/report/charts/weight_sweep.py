"""Correlation of every quality-estimation system as one component of the label gains weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.qe import QualityEstimation

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def weight_sweep(result: QualityEstimation) -> dict[str, Any]:
    """One line per system; the upright line is the weight that was chosen."""
    import altair as alt

    names = [one.system for one in result.systems]
    rows = [
        {"weight": weight, "r": r, "system": one.system}
        for one in result.systems
        for weight, r in zip(result.weights, one.by_weight, strict=True)
        if r is not None
    ]
    x = alt.X("weight:Q", title="weight of TER(PE2, PE1)")
    # Lines differ by dash as well as by colour, so that more systems than colours can be told apart.
    colours = [theme.SERIES[i % len(theme.SERIES)] for i in range(len(names))]
    dashes = [list(_DASHES[(i + i // len(theme.SERIES)) % len(_DASHES)]) for i in range(len(names))]
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=400)
    lines = (
        alt.Chart(theme.values(rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("r:Q", title="correlation with the label", scale=alt.Scale(zero=False)),
            color=alt.Color("system:N", title=None, legend=legend, scale=alt.Scale(domain=names, range=colours)),
            strokeDash=alt.StrokeDash(
                "system:N", title=None, legend=legend, scale=alt.Scale(domain=names, range=dashes)
            ),
            tooltip=[
                alt.Tooltip("system:N"),
                alt.Tooltip("weight:Q", format="g"),
                alt.Tooltip("r:Q", format=".3f"),
            ],
        )
    )
    chosen = (
        alt.Chart(theme.values([{"weight": result.weight.weight}]))
        .mark_rule(color=theme.INK, strokeDash=[4, 4], strokeWidth=1.5)
        .encode(x=x, tooltip=[alt.Tooltip("weight:Q", title="chosen weight", format="g")])
    )
    return theme.finish(alt.layer(lines, chosen), height=320)
