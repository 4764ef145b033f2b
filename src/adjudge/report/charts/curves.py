"""Lines over a common axis, and bars in rows: one chart for every panel of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.paper_figures import Bars, Curve, Curves, Mark

CURVES_HEIGHT = 320
ROW_HEIGHT, BAR_HEIGHT = 18, 13
DASHES = ((1, 0), (6, 3), (2, 2), (9, 3, 2, 3))


def draw_curves(figure: Curves, panel: str) -> dict[str, Any]:
    """The lines of one panel, with bands and marks; lines differ by colour and by dash."""
    curves = [curve for curve in figure.curves if curve.panel == panel]
    # All panels share their scales, so that they can be compared.
    ends = [value for curve in figure.curves for point in curve.points for value in (point.y, point.low, point.high)]
    known = [value for value in ends if value is not None]
    low, high = (0.0, 1.0) if figure.share else (min(known), max(known))
    y = channel("y:Q", title=figure.y, axis=dict(format=".0%" if figure.share else ".2~f"),
              scale=dict(domain=[low, high], nice=not figure.share, zero=False))  # fmt: skip
    x = (
        channel("x:O", title=figure.x, axis=dict(labelAngle=0, format="~g"))
        if figure.ordinal
        else channel("x:Q", title=figure.x, scale=dict(zero=False, nice=False))
    )
    layers = [_band(curves, x, y), _lines(figure, curves, x, y), *(_mark(mark, figure) for mark in figure.marks)]
    return theme.finish(*(layer for layer in layers if layer is not None), height=CURVES_HEIGHT)


def _band(curves: Sequence[Curve], x: Any, y: Any) -> Any:
    rows = [
        {"x": point.x, "y": point.low, "high": point.high, "name": curve.name}
        for curve in curves
        for point in curve.points
        if point.low is not None
    ]
    if not rows:
        return None
    band = Layer(rows).mark("area", color=theme.MUTED, opacity=0.2)
    return band.encode(x=x, y=y, y2="high:Q", detail="name:N")


def _lines(figure: Curves, curves: Sequence[Curve], x: Any, y: Any) -> Any:
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
        legend = dict(symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=400, columns=1, labelLimit=220)
    return (
        Layer(rows)
        .mark("line", strokeWidth=2, point=dict(filled=True, size=40) if figure.ordinal else False)
        .encode(
            x=x,
            y=y,
            order="position:Q",
            color=channel("name:N", title=None, legend=legend, scale=dict(domain=names, range=colours)),
            strokeDash=channel("name:N", title=None, legend=legend, scale=dict(domain=names, range=dashes)),
            tooltip=[
                channel("name:N", title=" "),
                channel("x:O" if figure.ordinal else "x:Q", title=figure.x, format=".3~f"),
                channel("y:Q", title=figure.y, format=".1%" if figure.share else ".3f"),
            ],
        )
    )


def _mark(mark: Mark, figure: Curves) -> Any:
    title = figure.x if mark.axis == "x" else figure.y
    base = Layer([{mark.axis: mark.value, "name": mark.name}])
    value = channel(f"{mark.axis}:Q", title=title)
    rule = base.mark("rule", color=theme.INK, strokeDash=[4, 4], strokeWidth=1.2)
    return rule.encode(**{mark.axis: value}, tooltip=[channel("name:N", title=" "), value])


def _mark_across(mark: Mark, number: str) -> Any:
    """A line across all bars at a value."""
    rule = Layer([{"value": mark.value, "name": mark.name}])
    return rule.mark("rule", color=theme.INK, strokeDash=[4, 4]).encode(
        x="value:Q", tooltip=[channel("name:N", title=" "), channel("value:Q", format=number)]
    )


def draw_bars(figure: Bars, panel: str) -> dict[str, Any]:
    """The bars of one panel with their numbers; the series of a row lie beside each other."""
    bars = [bar for bar in figure.bars if bar.panel == panel]
    rows = [{"row": bar.row, "series": bar.series, "value": bar.value} for bar in bars]
    order, series = (list(dict.fromkeys(names)) for names in zip(*((bar.row, bar.series) for bar in bars), strict=True))
    highest = max(bar.value for bar in figure.bars)
    number = f".{figure.decimals}f"
    base = Layer(rows).encode(
        y=channel("row:N", sort=order, title=None),
        yOffset=channel("series:N", sort=series),
        x=channel(
            "value:Q",
            title=figure.x,
            scale=dict(domain=[0, 1.12 * highest], nice=False),
            axis=dict(tickCount=6, labelFlush=False),
        ),
    )
    legend = dict(columns=1, labelLimit=220) if len(series) > 1 else None
    colours = [theme.MUTED, theme.ACCENT] if len(series) > 1 else [theme.ACCENT]
    boxes = base.mark("bar", height=BAR_HEIGHT, cornerRadiusEnd=2).encode(
        color=channel("series:N", title=None, legend=legend, scale=dict(domain=series, range=colours)),
        tooltip=[
            channel("row:N", title=" "),
            channel("series:N", title="  "),
            channel("value:Q", title=figure.x, format=number),
        ],
    )
    numbers = base.mark("text", align="left", dx=4, fontSize=11).encode(text=channel("value:Q", format=number))
    layers = [boxes, numbers, *([_mark_across(figure.mark, number)] if figure.mark is not None else [])]
    return theme.finish(*layers, height=max(ROW_HEIGHT * len(bars) + 8 * len(order), 60))
