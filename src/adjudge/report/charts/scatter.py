"""Points with a fitted line and names that do not cover each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from adjudge.results.paper_figures import Scatter

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
    return theme.finish(*layers, height=HEIGHT)


def make_axes(rows: Sequence[Mapping[str, Any]], x: str, y: str) -> tuple[Any, Any]:
    """Both axes with their titles, and room around the points for names."""
    scales = [dict(domain=find_domain(rows, axis), nice=False, zero=False) for axis in ("x", "y")]
    # Numbers above a thousand are wide: few of them stand beside each other on half a page.
    return channel("x:Q", title=x, scale=scales[0], axis=dict(tickCount=5)), channel("y:Q", title=y, scale=scales[1])


def draw_names(base: Any, x: Any, y: Any) -> list[Any]:
    """Names with a rim in the colour of the page, over thin lines that lead to their points (see `with_places`)."""
    placed = base.calculate("at_x", _of_width("x")).calculate("at_y", _of_width("y"))
    leaders = placed.mark("rule", color=theme.MUTED, strokeWidth=0.75).encode(x=x, y=y, x2="at_x:Q", y2="at_y:Q")
    at = placed.encode(x=channel("at_x:Q", title=x["title"]), y=channel("at_y:Q", title=y["title"]), text="label:N")
    rim = at.mark("text", fontSize=FONT_SIZE, baseline="middle", stroke=theme.PAPER, strokeWidth=4, color=theme.PAPER)
    return [leaders, rim, at.mark("text", fontSize=FONT_SIZE, baseline="middle", color=theme.INK)]


def _of_width(axis: str) -> str:
    """The place of a name for the widest of `WIDTHS` that the plot reaches."""
    chosen = f"datum.{axis}_{WIDTHS[0]}"
    for width in WIDTHS[1:]:
        chosen = f"width >= {width} ? datum.{axis}_{width} : ({chosen})"
    return chosen


def place_names(rows: Sequence[Mapping[str, Any]], height: float) -> list[dict[str, Any]]:
    """Rows with `name`, `x` and `y`, and where each name stands in plots of every one of `WIDTHS`."""
    labels = theme.shorten([str(row["name"]) for row in rows], LONGEST)
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
        .mark("line", color=theme.MUTED, strokeDash=[6, 4], strokeWidth=1.5, clip=True)
        .encode(x=x, y=y, tooltip=[channel("name:N", title=" ")])
    )


def _points(figure: Scatter, base: Any) -> Any:
    groups = list(dict.fromkeys(point.group for point in figure.points))
    colours = [theme.SERIES[i % len(theme.SERIES)] for i in range(len(groups))]
    shapes = [_SHAPES[(i // len(theme.SERIES)) % len(_SHAPES)] for i in range(len(groups))]
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
    for i in _crowded_first(at):
        centres[i] = _nearest_free(i, at, sizes, centres, (width, height))
    return [(float(x), float(y)) for x, y in centres]


def _crowded_first(at: NDArray[np.float64]) -> list[int]:
    """Points with near neighbours have the least choice."""
    apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    near = np.sort(apart, axis=1)[:, 1:4].sum(1) if len(at) > 1 else np.zeros(len(at))
    return [int(i) for i in np.argsort(near, kind="stable")]


def _nearest_free(
    i: int,
    at: NDArray[np.float64],
    sizes: NDArray[np.float64],
    centres: NDArray[np.float64],
    plot: tuple[float, float],
) -> NDArray[np.float64]:
    """Of a grid of centres inside the plot, the nearest free one; the least covered where none is free."""
    half = sizes[i] / 2
    steps = [np.arange(half[k], max(plot[k] - half[k], half[k]) + _STEP, _STEP) for k in (0, 1)]
    grid = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
    beside = _beside(at[i], half, plot)
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


def _beside(point: NDArray[np.float64], half: NDArray[np.float64], plot: tuple[float, float]) -> NDArray[np.float64]:
    """To the right, to the left, above and below the point, where that lies inside the plot."""
    gap = half + RADIUS + 1
    centres = point + np.array([(gap[0], 0), (-gap[0], 0), (0, -gap[1]), (0, gap[1])])
    inside = ((centres >= half) & (centres <= np.array(plot) - half)).all(1)
    beside: NDArray[np.float64] = centres[inside]
    return beside
