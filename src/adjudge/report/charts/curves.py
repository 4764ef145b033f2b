"""Lines over a common axis, and bars in rows: one chart for every panel of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.paper_figures import Bars, Curve, Curves, Mark

CURVES_HEIGHT = 320
ROW_HEIGHT, BAR_HEIGHT = 18, 13
DASHES = ((1, 0), (6, 3), (2, 2), (9, 3, 2, 3))


def curves_chart(figure: Curves, panel: str) -> dict[str, Any]:
    """The lines of one panel, with bands and marks; lines differ by colour and by dash."""
    import altair as alt

    curves = [curve for curve in figure.curves if curve.panel == panel]
    # All panels share their scales, so that they can be compared.
    ends = [value for curve in figure.curves for point in curve.points for value in (point.y, point.low, point.high)]
    known = [value for value in ends if value is not None]
    low, high = (0.0, 1.0) if figure.share else (min(known), max(known))
    y = alt.Y("y:Q", title=figure.y, axis=alt.Axis(format=".0%" if figure.share else ".2~f"),
              scale=alt.Scale(domain=[low, high], nice=not figure.share, zero=False))  # fmt: skip
    x = (
        alt.X("x:O", title=figure.x, axis=alt.Axis(labelAngle=0, format="~g"))
        if figure.ordinal
        else alt.X("x:Q", title=figure.x, scale=alt.Scale(zero=False, nice=False))
    )
    layers = [_band(curves, x, y), _lines(figure, curves, x, y), *(_mark(mark, figure) for mark in figure.marks)]
    return theme.finish(alt.layer(*(layer for layer in layers if layer is not None)), height=CURVES_HEIGHT)


def _band(curves: Sequence[Curve], x: Any, y: Any) -> Any:
    import altair as alt

    rows = [
        {"x": point.x, "y": point.low, "high": point.high, "name": curve.name}
        for curve in curves
        for point in curve.points
        if point.low is not None
    ]
    if not rows:
        return None
    band = alt.Chart(theme.values(rows)).mark_area(color=theme.MUTED, opacity=0.2)
    return band.encode(x=x, y=y, y2="high:Q", detail="name:N")


def _lines(figure: Curves, curves: Sequence[Curve], x: Any, y: Any) -> Any:
    import altair as alt

    names = list(dict.fromkeys(curve.name for curve in figure.curves))
    rows = [
        {"x": point.x, "y": point.y, "name": curve.name, "position": i}
        for curve in curves
        for i, point in enumerate(curve.points)
    ]
    colours = [theme.SERIES[i % len(theme.SERIES)] for i in range(len(names))]
    dashes = [list(DASHES[(i + i // len(theme.SERIES)) % len(DASHES)]) for i in range(len(names))]
    legend: Any = None
    if len(names) > 1:
        # One below the other: a legend that changes its shape with the width is cut off where it grows.
        legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=400, columns=1, labelLimit=220)
    return (
        alt.Chart(theme.values(rows))
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(filled=True, size=40) if figure.ordinal else False)
        .encode(
            x=x,
            y=y,
            order="position:Q",
            color=alt.Color("name:N", title=None, legend=legend, scale=alt.Scale(domain=names, range=colours)),
            strokeDash=alt.StrokeDash("name:N", title=None, legend=legend, scale=alt.Scale(domain=names, range=dashes)),
            tooltip=[
                alt.Tooltip("name:N", title=" "),
                alt.Tooltip("x:O" if figure.ordinal else "x:Q", title=figure.x, format=".3~f"),
                alt.Tooltip("y:Q", title=figure.y, format=".1%" if figure.share else ".3f"),
            ],
        )
    )


def _mark(mark: Mark, figure: Curves) -> Any:
    import altair as alt

    title = figure.x if mark.axis == "x" else figure.y
    base = alt.Chart(theme.values([{mark.axis: mark.value, "name": mark.name}]))
    channel = alt.X("x:Q", title=title) if mark.axis == "x" else alt.Y("y:Q", title=title)
    return base.mark_rule(color=theme.INK, strokeDash=[4, 4], strokeWidth=1.2).encode(
        channel, tooltip=[alt.Tooltip("name:N", title=" "), alt.Tooltip(f"{mark.axis}:Q", title=title)]
    )


def _mark_across(mark: Mark, number: str) -> Any:
    """A line across all bars at a value."""
    import altair as alt

    rule = alt.Chart(theme.values([{"value": mark.value, "name": mark.name}]))
    return rule.mark_rule(color=theme.INK, strokeDash=[4, 4]).encode(
        x="value:Q", tooltip=[alt.Tooltip("name:N", title=" "), alt.Tooltip("value:Q", format=number)]
    )


def bars_chart(figure: Bars, panel: str) -> dict[str, Any]:
    """The bars of one panel with their numbers; the series of a row lie beside each other."""
    import altair as alt

    bars = [bar for bar in figure.bars if bar.panel == panel]
    rows = [{"row": bar.row, "series": bar.series, "value": bar.value} for bar in bars]
    order, series = (list(dict.fromkeys(names)) for names in zip(*((bar.row, bar.series) for bar in bars), strict=True))
    highest = max(bar.value for bar in figure.bars)
    number = f".{figure.decimals}f"
    base = alt.Chart(theme.values(rows)).encode(
        y=alt.Y("row:N", sort=order, title=None),
        yOffset=alt.YOffset("series:N", sort=series),
        x=alt.X(
            "value:Q",
            title=figure.x,
            scale=alt.Scale(domain=[0, 1.12 * highest], nice=False),
            axis=alt.Axis(tickCount=6, labelFlush=False),
        ),
    )
    legend = alt.Legend(columns=1, labelLimit=220) if len(series) > 1 else None
    colours = [theme.MUTED, theme.ACCENT] if len(series) > 1 else [theme.ACCENT]
    boxes = base.mark_bar(height=BAR_HEIGHT, cornerRadiusEnd=2).encode(
        color=alt.Color("series:N", title=None, legend=legend, scale=alt.Scale(domain=series, range=colours)),
        tooltip=[
            alt.Tooltip("row:N", title=" "),
            alt.Tooltip("series:N", title="  "),
            alt.Tooltip("value:Q", title=figure.x, format=number),
        ],
    )
    numbers = base.mark_text(align="left", dx=4, fontSize=11).encode(text=alt.Text("value:Q", format=number))
    layers = [boxes, numbers, *([_mark_across(figure.mark, number)] if figure.mark is not None else [])]
    return theme.finish(alt.layer(*layers), height=max(ROW_HEIGHT * len(bars) + 8 * len(order), 60))
