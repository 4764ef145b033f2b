"""Systems in rank order with their scores and intervals; shaded bands are clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.evidence.verdict_facts import told_apart
from adjudge.reports import chart_theme
from adjudge.reports.chart_theme import Layer, Rows, Spec, channel, condition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.papers.figures import Bars, Curve, Curves, Mark, Scatter
    from adjudge.planning.settings import Plan
    from adjudge.ranking.ranking import RankedSystem, Ranking


FOREST_ROW = 28
LONGEST_IN_TITLE = 28
"""Characters of a name below an axis, which has no room for more on a phone."""
RANGE_ROW = 24


def draw_scores(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """Score and interval of every system; human translations stand out by shape and colour."""
    undecided = find_undecided(ranking, find_first_system(ranking))
    rows = [_row(system, undecided) for system in ranking.systems]
    return _forest(rows, list(ranking.order), dict(zero=False, nice=False, padding=12), unit)


def _forest(rows: list[dict[str, Any]], order: list[str], x: Any, unit: str) -> dict[str, Any]:
    y = channel("system:N", sort=order, title=None, scale=dict(paddingInner=0, paddingOuter=0))
    base = Layer(rows).encode(y=y)
    bands = base.transform(filter="datum.cluster % 2 == 1").mark("rect", fill=chart_theme.INK, opacity=0.05)
    bars = base.mark("rule", strokeWidth=2.5, strokeCap="round").encode(
        x=channel("low:Q", scale=x, title=unit), x2="high:Q", color=_colour()
    )
    hollow = condition("datum.first == 'undecided'", dict(value=chart_theme.PAPER), _colour())
    points = base.mark("point", size=90, opacity=1, strokeWidth=2).encode(
        x=channel("score:Q", scale=x, title=unit),
        stroke=_colour(),
        fill=hollow,
        shape=channel("made by:N", scale=dict(domain=["system", "human"], range=["circle", "diamond"]), legend=None),
        tooltip=[
            channel("system:N"),
            channel("score:Q", format=".3f"),
            channel("low:Q", title="interval from", format=".3f"),
            channel("high:Q", title="to", format=".3f"),
            channel("ranks:N", title="possible ranks"),
            channel("first:N", title="against the first"),
        ],
    )
    return chart_theme.finish(bands, bars, points, height=FOREST_ROW * max(len(order), 2))


def draw_gaps(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """How far every system lies behind the first, with the interval of that difference."""
    first = ranking.systems[0]
    shown = chart_theme.shorten(ranking.order, LONGEST_IN_TITLE)[0]
    gaps = {comparison.worse: comparison for comparison in ranking.comparisons if comparison.better == first.system}
    undecided = find_undecided(ranking, first.system)
    rows = [{**_row(first, undecided), "score": 0.0, "low": 0.0, "high": 0.0}]
    for system in ranking.systems[1:]:
        gap = gaps[system.system]
        low, high = gap.numbers.get("low"), gap.numbers.get("high")
        if gap.difference is not None and low is not None and high is not None:
            rows.append({**_row(system, undecided), "score": -gap.difference, "low": -high, "high": -low})
    return _forest(rows, list(ranking.order), dict(nice=False, padding=12), f"{unit} against {shown}")


def _colour() -> dict[str, Any]:
    scale = dict(domain=["system", "human"], range=[chart_theme.ACCENT, chart_theme.HUMAN])
    return channel("made by:N", scale=scale, legend=None)


def find_undecided(ranking: Ranking, name: str) -> set[str]:
    """The systems that are not told apart from this one, by the rule of the headline."""
    apart = {system for pair in told_apart(ranking) if name in pair for system in pair}
    return set(ranking.order) - apart - {name}


def find_first_system(ranking: Ranking) -> str:
    """The first system that is no human translation, which the headline is about."""
    return next((system.system for system in ranking.systems if not system.human), ranking.order[0])


def _row(system: RankedSystem, undecided: set[str]) -> dict[str, Any]:
    low, high = system.rank_set
    # Where there is no interval, or an end is not known, the bar ends at the score.
    ends = {name: system.score if (end := system.numbers.get(name)) is None else end for name in ("low", "high")}
    return {
        "system": system.system,
        "score": system.score,
        **ends,
        "cluster": system.cluster,
        "ranks": f"{low}" if low == high else f"{low} to {high}",
        "made by": "human" if system.human else "system",
        "first": "undecided" if system.system in undecided else "decided",
    }


def draw_rank_ranges(ranking: Ranking) -> dict[str, Any]:
    """One bar per system from the best to the worst possible rank, with a point at the rank itself."""
    order = list(ranking.order)
    count = len(order)
    rows = [
        {
            "system": system.system, "rank": system.rank, "from": system.rank_set[0], "to": system.rank_set[1],
            "left": system.rank_set[0] - 0.32, "right": system.rank_set[1] + 0.32,
            "made by": "human" if system.human else "system",
        }
        for system in ranking.systems
    ]  # fmt: skip
    scale = dict(domain=[0.5, count + 0.5], nice=False, zero=False)
    axis = dict(values=list(range(1, count + 1)), format="d", grid=True)
    tooltip = [
        channel("system:N"),
        channel("rank:Q"),
        channel("from:Q", title="best possible rank"),
        channel("to:Q", title="worst possible rank"),
    ]
    base = Layer(rows).encode(y=channel("system:N", sort=order, title=None), tooltip=tooltip)
    bars = base.mark("bar", height=14, cornerRadius=7, opacity=0.35).encode(
        x=channel("left:Q", scale=scale, axis=axis, title="rank"), x2="right:Q", color=_colour()
    )
    points = base.mark("point", filled=True, size=80, opacity=1).encode(
        x=channel("rank:Q", scale=scale, axis=axis, title="rank"), color=_colour()
    )
    return chart_theme.finish(bars, points, height=RANGE_ROW * max(count, 2))


# How ranks change from one ranking to another: one line per system.

ROW_HEIGHT = 26


def draw_places(
    orders: Mapping[str, Sequence[str]], *, clusters: Mapping[str, Sequence[Sequence[str]]] | None = None
) -> dict[str, Any]:
    """Places in every order; systems that move stand out by colour, bars mark the ends of clusters.

    A system that some ranking lacks keeps its place empty there, so that the others move only where they truly do.

    Args:
        orders: the systems of every ranking, the best first; names stand beside the first ranking.
        clusters: of every ranking, in its order; default: no bars.
    """
    names = list(orders)
    systems = list(dict.fromkeys(system for order in orders.values() for system in order))
    positions = {name: _positions(order, systems) for name, order in orders.items()}
    rows = _rows(positions, systems)
    x = channel(
        "ranking:N",
        sort=names,
        title=None,
        scale=dict(type="point", padding=0.4),
        axis=chart_theme.slanted_axis(names),
    )
    y = channel(
        "place:Q",
        scale=dict(domain=[0.5, len(systems) + 0.5], reverse=True, nice=False, zero=False),
        title=None,
        axis=chart_theme.axis_of_names(systems),
    )
    colour = channel(
        "moved:N", scale=dict(domain=["yes", "no"], range=[chart_theme.ACCENT, chart_theme.MUTED]), legend=None
    )
    base = Layer(rows).encode(x=x, y=y, detail="system:N", color=colour)
    lines = base.mark("line", strokeWidth=2, opacity=0.6)
    points = base.mark("point", filled=True, size=60, opacity=1).encode(
        tooltip=[channel("system:N"), channel("ranking:N"), channel("place:Q")]
    )
    layers = [lines, points, *_ends(positions, clusters or {}, x, y)]
    return chart_theme.finish(*layers, height=ROW_HEIGHT * max(len(systems), 4))


def _positions(order: Sequence[str], systems: Sequence[str]) -> dict[str, int]:
    """The places that a ranking fills: all but those of the systems it lacks, in their order in the first ranking."""
    empty = {i for i, system in enumerate(systems, start=1) if system not in order}
    free = [i for i in range(1, len(systems) + 1) if i not in empty]
    return dict(zip(order, free, strict=True))


def _rows(positions: Mapping[str, Mapping[str, int]], systems: Sequence[str]) -> list[dict[str, Any]]:
    held = {system: {places[system] for places in positions.values() if system in places} for system in systems}
    return [
        {"system": name, "ranking": ranking, "place": filled[name], "moved": "yes" if len(held[name]) > 1 else "no"}
        for name in systems
        for ranking, filled in positions.items()
        if name in filled
    ]


def _ends(
    positions: Mapping[str, Mapping[str, int]], clusters: Mapping[str, Sequence[Sequence[str]]], x: Any, y: Any
) -> list[Any]:
    """A bar below the last system of every cluster but the last."""
    rows = [
        {"ranking": name, "place": max(positions[name][system] for system in cluster) + 0.5, "says": "end of a cluster"}
        for name, groups in clusters.items()
        for cluster in list(groups)[:-1]
    ]
    if not rows:
        return []
    bars = Layer(rows).mark("tick", color=chart_theme.INK, thickness=2.5, size=26, orient="horizontal")
    return [bars.encode(x=x, y=y, tooltip=[channel("says:N", title=" "), channel("ranking:N", title="  ")])]


# Lines over a common axis, and bars in rows: one chart for every panel of a figure.

CURVES_HEIGHT = 320
ROW_HEIGHT_CURVES, BAR_HEIGHT = 18, 13
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
    return chart_theme.finish(*(layer for layer in layers if layer is not None), height=CURVES_HEIGHT)


def _band(curves: Sequence[Curve], x: Any, y: Any) -> Any:
    rows = [
        {"x": point.x, "y": point.low, "high": point.high, "name": curve.name}
        for curve in curves
        for point in curve.points
        if point.low is not None
    ]
    if not rows:
        return None
    band = Layer(rows).mark("area", color=chart_theme.MUTED, opacity=0.2)
    return band.encode(x=x, y=y, y2="high:Q", detail="name:N")


def _lines(figure: Curves, curves: Sequence[Curve], x: Any, y: Any) -> Any:
    names = list(dict.fromkeys(curve.name for curve in figure.curves))
    rows = [
        {"x": point.x, "y": point.y, "name": curve.name, "position": i}
        for curve in curves
        for i, point in enumerate(curve.points)
    ]
    colours = [chart_theme.SERIES[i % len(chart_theme.SERIES)] for i in range(len(names))]
    dashes = [list(DASHES[(i + i // len(chart_theme.SERIES)) % len(DASHES)]) for i in range(len(names))]
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
    rule = base.mark("rule", color=chart_theme.INK, strokeDash=[4, 4], strokeWidth=1.2)
    return rule.encode(**{mark.axis: value}, tooltip=[channel("name:N", title=" "), value])


def _mark_across(mark: Mark, number: str) -> Any:
    """A line across all bars at a value."""
    rule = Layer([{"value": mark.value, "name": mark.name}])
    return rule.mark("rule", color=chart_theme.INK, strokeDash=[4, 4]).encode(
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
    colours = [chart_theme.MUTED, chart_theme.ACCENT] if len(series) > 1 else [chart_theme.ACCENT]
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
    return chart_theme.finish(*layers, height=max(ROW_HEIGHT_CURVES * len(bars) + 8 * len(order), 60))


# The smallest difference that each design can find, against the work it takes.


def draw_plan(plan: Plan) -> dict[str, Any]:
    """The difference detected with the requested power, by judgments; a line at the difference asked for."""
    rows = [
        {
            "design": point.structure,
            "per item": str(point.judgments_per_item),
            "judgments": point.judgments,
            "detectable": point.detectable,
            "power": point.power,
        }
        for point in plan.curve
    ]
    structures = list(dict.fromkeys(point.structure for point in plan.curve))
    colours = [chart_theme.ACCENT, chart_theme.HUMAN, chart_theme.WARN, chart_theme.MUTED][: len(structures)]
    # On a logarithmic scale, numbers stand closer the larger they are.
    apart = dict(labelOverlap="greedy", labelSeparation=8)
    x = channel("judgments:Q", title="judgments", scale=dict(type="log", nice=False), axis=apart)
    base = Layer(rows).encode(
        x=x,
        y=channel("detectable:Q", title=f"points found with power {plan.power:.0%}", scale=dict(zero=True)),
        color=channel("design:N", title=None, scale=dict(domain=structures, range=colours)),
    )
    symbol = dict(symbolType="stroke", symbolStrokeWidth=2, symbolStrokeColor=chart_theme.INK)
    tooltip = [
        channel("design:N"),
        channel("per item:N"),
        channel("judgments:Q", format=","),
        channel("detectable:Q", format=".2f"),
        channel("power:Q", format=".0%"),
    ]
    dash = channel("per item:N", title="judgments per item", legend=symbol)
    lines = base.mark("line", strokeWidth=2, opacity=0.8).encode(strokeDash=dash)
    points = base.mark("point", filled=True, size=45).encode(tooltip=tooltip)
    wanted = Layer([{"y": plan.difference}]).mark("rule", color=chart_theme.INK, strokeDash=[2, 4])
    return chart_theme.finish(lines, points, wanted.encode(y="y:Q"), height=300)


def write_plan_chart(plan: Plan, path: Path) -> None:
    """Write the chart: PNG where the name ends so, SVG otherwise."""
    import vl_convert

    from adjudge.table.files import atomic_path, write_text

    svg = vl_convert.vegalite_to_svg(chart_theme.paint(draw_plan(plan)))
    if path.suffix == ".png":
        with atomic_path(path) as temporary:
            temporary.write_bytes(vl_convert.svg_to_png(svg, scale=chart_theme.PNG_SCALE))
    else:
        write_text(path, svg)


# Points with a fitted line and names that do not cover each other.

HEIGHT = 460
# Plots for which names are placed, in pixels. A plot between two of them is drawn with the places of the narrower one:
# being wider only moves names apart.
WIDTHS = (230, 330, 450, 600, 780)
LONGEST = 20
_PADDING = 0.07
_SHAPES = ("circle", "triangle-up", "square", "diamond")
_LINE = "a*x+b"
FONT_SIZE = 11
# Of a character (a little wider than most fonts have them), a line, and a point with its border, in pixels.
CHARACTER, LINE, RADIUS = 6.4, 13.0, 6.0
_STEP = 4.0
# Names to the side of a point are read more easily than those above or below it.
_ASIDE = 0.3


def draw_scatter(figure: Scatter) -> dict[str, Any]:
    """One point per system; groups differ by colour and shape."""
    rows: list[dict[str, Any]] = [
        {"name": point.name, "group": point.group, "x": point.x, "y": point.y} for point in figure.points
    ]
    x, y = make_axes(rows, figure.x, figure.y)
    base = Layer(place_names(rows, HEIGHT) if figure.named else rows)
    layers = [_line(figure, find_domain(rows, "x"), x, y)]
    if figure.named:
        layers += draw_names(base, x, y)
    layers.append(_points(figure, base.encode(x=x, y=y)))
    return chart_theme.finish(*layers, height=HEIGHT)


def make_axes(rows: Sequence[Mapping[str, Any]], x: str, y: str) -> tuple[Any, Any]:
    """Make both axes with their titles, and leave room around the points for names."""
    scales = [dict(domain=find_domain(rows, axis), nice=False, zero=False) for axis in ("x", "y")]
    # Numbers above a thousand are wide: few of them stand beside each other on half a page.
    return channel("x:Q", title=x, scale=scales[0], axis=dict(tickCount=5)), channel("y:Q", title=y, scale=scales[1])


def draw_names(base: Any, x: Any, y: Any) -> list[Any]:
    """Names with a rim in the colour of the page, over thin lines that lead to their points (see `place_names`)."""
    placed = base.calculate("at_x", _place_by_width("x")).calculate("at_y", _place_by_width("y"))
    leaders = placed.mark("rule", color=chart_theme.MUTED, strokeWidth=0.75).encode(x=x, y=y, x2="at_x:Q", y2="at_y:Q")
    at = placed.encode(x=channel("at_x:Q", title=x["title"]), y=channel("at_y:Q", title=y["title"]), text="label:N")
    rim = at.mark(
        "text", fontSize=FONT_SIZE, baseline="middle", stroke=chart_theme.PAPER, strokeWidth=4, color=chart_theme.PAPER
    )
    return [leaders, rim, at.mark("text", fontSize=FONT_SIZE, baseline="middle", color=chart_theme.INK)]


def _place_by_width(axis: str) -> str:
    """The place of a name for the widest of `WIDTHS` that the plot reaches."""
    chosen = f"datum.{axis}_{WIDTHS[0]}"
    for width in WIDTHS[1:]:
        chosen = f"width >= {width} ? datum.{axis}_{width} : ({chosen})"
    return chosen


def place_names(rows: Sequence[Mapping[str, Any]], height: float) -> list[dict[str, Any]]:
    """Rows with `name`, `x` and `y`, and where each name stands in plots of every one of `WIDTHS`."""
    labels = chart_theme.shorten([str(row["name"]) for row in rows], LONGEST)
    placed = [{**row, "label": label} for row, label in zip(rows, labels, strict=True)]
    x_domain, y_domain = (find_domain(rows, axis) for axis in ("x", "y"))
    for width in WIDTHS:
        points = [(_share(row["x"], x_domain) * width, height - _share(row["y"], y_domain) * height) for row in rows]
        centres = place_labels(points, labels, width=width, height=height)
        for row, (across, down) in zip(placed, centres, strict=True):
            row[f"x_{width}"] = round(_value(across / width, x_domain), 6)
            row[f"y_{width}"] = round(_value(1 - down / height, y_domain), 6)
    return placed


def find_domain(rows: Sequence[Mapping[str, Any]], axis: str) -> list[float]:
    """The ends of an axis, with room beyond the points."""
    low, high = (end(float(row[axis]) for row in rows) for end in (min, max))
    room = _PADDING * (high - low or 1.0)
    return [low - room, high + room]


def _share(value: float, domain: list[float]) -> float:
    return (value - domain[0]) / (domain[1] - domain[0])


def _value(share: float, domain: list[float]) -> float:
    return domain[0] + share * (domain[1] - domain[0])


def _line(figure: Scatter, domain: list[float], x: Any, y: Any) -> Any:
    ends = [{"x": at, "y": figure.line.intercept + figure.line.slope * at, "name": _LINE} for at in domain]
    return (
        Layer(ends)
        .mark("line", color=chart_theme.MUTED, strokeDash=[6, 4], strokeWidth=1.5, clip=True)
        .encode(x=x, y=y, tooltip=[channel("name:N", title=" ")])
    )


def _points(figure: Scatter, base: Any) -> Any:
    groups = list(dict.fromkeys(point.group for point in figure.points))
    colours = [chart_theme.SERIES[i % len(chart_theme.SERIES)] for i in range(len(groups))]
    shapes = [_SHAPES[(i // len(chart_theme.SERIES)) % len(_SHAPES)] for i in range(len(groups))]
    legend = dict(columns=4, labelLimit=75) if len(groups) > 1 else None
    return base.mark("point", filled=True, size=60, opacity=0.9).encode(
        color=channel("group:N", title=None, legend=legend, scale=dict(domain=groups, range=colours)),
        shape=channel("group:N", title=None, legend=legend, scale=dict(domain=groups, range=shapes)),
        tooltip=[
            channel("name:N", title=" "),
            channel("group:N", title="  "),
            channel("x:Q", title=figure.x, format=".3~f"),
            channel("y:Q", title=figure.y, format=".3~f"),
        ],
    )


def place_labels(
    points: Sequence[tuple[float, float]], names: Sequence[str], *, width: float, height: float
) -> list[tuple[float, float]]:
    """The centre of every name: as near to its point as it can be without covering another name or a point.

    A chart that is drawn wider than `width` moves all centres apart, so that names stay free of each other.

    Args:
        points: in pixels, from the left and from the top.
        names: of the points.
        width: of the plot in pixels.
        height: of the plot in pixels.
    """
    at = np.array(points, dtype=float).reshape(-1, 2)
    sizes = np.array([(CHARACTER * len(name) + 4, LINE) for name in names], dtype=float).reshape(-1, 2)
    centres = np.full(at.shape, np.nan)
    for i in _order_crowded_first(at):
        centres[i] = _find_nearest_free(i, at, sizes, centres, (width, height))
    return [(float(x), float(y)) for x, y in centres]


def _order_crowded_first(at: NDArray[np.float64]) -> list[int]:
    """Order points so that those with near neighbours come first: they have the least choice."""
    apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    near = np.sort(apart, axis=1)[:, 1:4].sum(1) if len(at) > 1 else np.zeros(len(at))
    return [int(i) for i in np.argsort(near, kind="stable")]


def _find_nearest_free(
    i: int,
    at: NDArray[np.float64],
    sizes: NDArray[np.float64],
    centres: NDArray[np.float64],
    plot: tuple[float, float],
) -> NDArray[np.float64]:
    """Find the nearest free centre of a grid inside the plot; the least covered one where none is free."""
    half = sizes[i] / 2
    steps = [np.arange(half[k], max(plot[k] - half[k], half[k]) + _STEP, _STEP) for k in (0, 1)]
    grid = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
    beside = _list_places_beside(at[i], half, plot)
    grid = np.concatenate([beside, grid])
    on_points = (np.abs(grid[:, None] - at) < half + RADIUS).all(-1).sum(1)
    placed = ~np.isnan(centres[:, 0])
    on_names = (np.abs(grid[:, None] - centres[placed]) < half + sizes[placed] / 2).all(-1).sum(1)
    gap = np.maximum(np.abs(grid - at[i]) - half, 0)
    away = np.hypot(gap[:, 0], gap[:, 1]) + _ASIDE * np.abs(grid[:, 1] - at[i, 1])
    # Ties go to the first candidate, which stands to the right of the point.
    best = np.lexsort((np.round(away, 6), on_points + on_names))[0]
    nearest: NDArray[np.float64] = grid[best]
    return nearest


def _list_places_beside(
    point: NDArray[np.float64], half: NDArray[np.float64], plot: tuple[float, float]
) -> NDArray[np.float64]:
    """List the centres to the right, to the left, above and below the point that lie inside the plot."""
    gap = half + RADIUS + 1
    centres = point + np.array([(gap[0], 0), (-gap[0], 0), (0, -gap[1]), (0, gap[1])])
    inside = ((centres >= half) & (centres <= np.array(plot) - half)).all(1)
    beside: NDArray[np.float64] = centres[inside]
    return beside


# Coloured cells in rows and columns, with numbers where there is room for them.

ROW_HEIGHT_HEATMAP = 30


def draw_heatmap(
    cells: Rows,
    columns: Sequence[str],
    *texts: tuple[Spec, Spec],
    colour: Spec,
    tooltip: Sequence[Spec],
    rows: Sequence[str] | None = None,
    title: str | None = None,
    row_height: int = ROW_HEIGHT_HEATMAP,
    gap: float = 2,
    radius: int = 3,
) -> dict[str, Any]:
    """A chart of cells, each with its `row` and `column`.

    Args:
        cells: the data; a pair without a cell stays blank.
        columns: names, the first at the left.
        *texts: what stands in the cells: the look of a text, and the channel with its content.
        colour: the channel of the colours.
        tooltip: what is shown of the cell that is pointed at.
        rows: names, the first at the top; the same as the columns by default.
        title: above the columns.
        row_height: in pixels.
        gap: between two cells, in pixels.
        radius: of their corners.
    """
    rows = columns if rows is None else rows
    base = Layer(cells).encode(
        x=channel("column:N", sort=list(columns), title=title, axis=chart_theme.column_axis(len(columns))),
        y=channel("row:N", sort=list(rows), title=None),
    )
    boxes = base.mark("rect", stroke=chart_theme.PAPER, strokeWidth=gap, cornerRadius=radius)
    shown = [base.mark("text", **look).encode(text=content) for look, content in texts]
    layers = (boxes.encode(color=colour, tooltip=list(tooltip)), *shown)
    return chart_theme.finish(*layers, height=row_height * max(len(rows), 2))


def show_where_wide(columns: Sequence[str], pixels: int, size: int, *, narrow: bool = False) -> Spec:
    """The look of texts of this size that are shown only where a cell is wider than so many pixels, or narrower."""
    shown = "0 : 1" if narrow else "1 : 0"
    return {"fontSize": size, "opacity": {"expr": f"width / {max(len(columns), 1)} > {pixels} ? {shown}"}}


def draw_matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[float | None]],
    *,
    steps: Sequence[float],
    what: str,
    cell_format: str,
    row_height: int = 26,
) -> dict[str, Any]:
    """A heat map of numbers. Empty cells stay blank.

    Args:
        rows: names, the first at the top.
        columns: names, the first at the left.
        cells: one sequence per row.
        steps: the values between the colours: six from orange over neutral to blue, three from neutral to blue.
        what: what a cell is, for its tooltip.
        cell_format: the format of cells, as d3 writes it.
        row_height: of a cell, in pixels.
    """
    values = [
        {"row": row, "column": column, "value": value}
        for row, line in zip(rows, cells, strict=True)
        for column, value in zip(columns, line, strict=True)
        if value is not None
    ]
    colours = dict(type="threshold", domain=list(steps), range=list(chart_theme.HEAT[-len(steps) - 1 :]))
    return draw_heatmap(
        values,
        columns,
        (show_where_wide(columns, 34, 11), channel("value:Q", format=cell_format)),
        colour=channel("value:Q", scale=colours, legend=None),
        tooltip=[
            channel("row:N", title=" "),
            channel("column:N", title="  "),
            channel("value:Q", title=what, format=cell_format),
        ],
        rows=rows,
        row_height=row_height,
        gap=1.5,
        radius=2,
    )
