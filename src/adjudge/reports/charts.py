"""The charts of reports: rankings, places, curves, bars, points with names, matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.evidence.verdict import say_apart_from
from adjudge.evidence.verdict_facts import told_apart
from adjudge.reports import drawing
from adjudge.reports.drawing import Drawing, Frame, HeatCell, Names, Numbers, draw_cells, measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from adjudge.papers.figures import Bars, Curve, Curves, Mark, Scatter
    from adjudge.planning.settings import Plan
    from adjudge.ranking.ranking import RankedSystem, Ranking


FOREST_ROW = 27
LONGEST_IN_TITLE = 28
"""Characters of a name below an axis, which has no room for more on a phone."""


# Systems in rank order with their scores and intervals; shaded bands are clusters.


@dataclass(frozen=True)
class Forest:
    """The picture of a ranking, which pages and notebooks draw and terminals sketch: one row for each system."""

    ranking: Ranking
    title: str
    unit: str
    rows: tuple[tuple[RankedSystem, float, float, float], ...]
    """System, score or distance, and the ends of its interval."""
    against: str
    """The system with which the others are compared."""

    @property
    def undecided(self) -> set[str]:
        """Systems that are not told apart from that one; their points are hollow."""
        return find_undecided(self.ranking, self.against)

    @property
    def scale(self) -> Numbers:
        """The axis."""
        return Numbers.around([end for _, *ends in self.rows for end in ends], self.unit)


def make_forest(ranking: Ranking) -> Forest:
    """Distances from the first with intervals; scores where the method gives no intervals of differences."""
    if has_gaps(ranking):
        return _forest_of_gaps(ranking)
    rows = []
    for system in ranking.systems:
        if system.score is not None:
            # Where there is no interval, or an end is not known, the bar ends at the score.
            low, high = (system.numbers.get(name) for name in ("low", "high"))
            ends = system.score if low is None else low, system.score if high is None else high
            rows.append((system, system.score, *ends))
    title = "Scores and intervals" if any("low" in system.numbers for system in ranking.systems) else "Scores"
    return Forest(ranking, title, ranking.unit, tuple(rows), find_first_system(ranking))


def has_gaps(ranking: Ranking) -> bool:
    """Whether the method gives intervals of differences, which say more than intervals of scores."""
    return any("low" in comparison.numbers for comparison in ranking.comparisons)


def _forest_of_gaps(ranking: Ranking) -> Forest:
    first = ranking.systems[0]
    shown = drawing.shorten(ranking.order, LONGEST_IN_TITLE)[0]
    gaps = {comparison.worse: comparison for comparison in ranking.comparisons if comparison.better == first.system}
    rows = [(first, 0.0, 0.0, 0.0)]
    for system in ranking.systems[1:]:
        gap = gaps[system.system]
        low, high = gap.numbers.get("low"), gap.numbers.get("high")
        if gap.difference is not None and low is not None and high is not None:
            rows.append((system, -gap.difference, -high, -low))
    unit = f"{ranking.difference_unit or ranking.unit} against {shown}"
    return Forest(ranking, "Distance from the first", unit, tuple(rows), first.system)


def draw_forest(forest: Forest) -> Drawing:
    """Bars and points in rows, letters at the right: systems that share one are not separated."""
    ranking, undecided = forest.ranking, forest.undecided
    letters = [system.letters or "" for system in ranking.systems]
    beside = max(map(measure, letters), default=0.0)
    room = beside + 22 if beside else 16
    frame = Frame(forest.scale, Names(ranking.order), FOREST_ROW * len(ranking.systems), right=room)
    for i, system in enumerate(ranking.systems):
        if system.cluster % 2:
            frame.box(0, frame.y(i) - FOREST_ROW / 2, frame.width, FOREST_ROW, drawing.INK, fill_opacity="0.05")
        if system.letters:
            frame.text(frame.right + 12, frame.y(i) + 4.5, system.letters, fill=drawing.MUTED)
    for system, score, low, high in forest.rows:
        colour = drawing.HUMAN if system.human else drawing.ACCENT
        y, hollow = frame.y(system.system), system.system in undecided
        with frame.mark(_say_place(forest, system, score, (low, high), hollow=hollow), system.system):
            if high > low:
                frame.line([(frame.x(low), y), (frame.x(high), y)], colour, 2.5, stroke_linecap="round")
            fill = drawing.PAPER if hollow else colour
            shape = "diamond" if system.human else "circle"
            frame.point(frame.x(score), y, shape, 5, fill=fill, stroke=colour, stroke_width=2.0)
    return frame.finish()


SKETCH_WIDTH = 100
LEAST_SKETCH = 20
"""Characters between the names and the letters; a narrower screen shows no sketch."""
# Points by whether the system is human and whether it is told apart from the first.
_POINTS = {(False, True): "●", (False, False): "○", (True, True): "◆", (True, False): "◇"}


def sketch_forest(forest: Forest, width: int = SKETCH_WIDTH) -> list[str]:
    """The same picture in characters, at most so many wide."""
    ranking, undecided, rows = forest.ranking, forest.undecided, {row[0].system: row for row in forest.rows}
    names = drawing.shorten(ranking.order, LONGEST_IN_TITLE)
    shown = [f"{name} (human)" if system.human else name for name, system in zip(names, ranking.systems, strict=True)]
    beside = max(map(len, shown), default=0)
    across = min(width, SKETCH_WIDTH) - beside - 4 - max(len(system.letters or "") for system in ranking.systems)
    if across < LEAST_SKETCH or len(rows) < 2:
        return []
    lines = [f"{forest.title} ({forest.unit})"]
    for i, (name, system) in enumerate(zip(shown, ranking.systems, strict=True)):
        if i and ranking.systems[i - 1].cluster != system.cluster:
            lines.append(f"{'':{beside}}  {'┄' * across}")
        point = _POINTS[system.human, system.system not in undecided]
        bar = _sketch_bar(forest.scale, rows[system.system][1:], point, across) if system.system in rows else ""
        lines.append(f"{name:{beside}}  {bar:{across}}  {system.letters or ''}".rstrip())
    hollow = [say_apart_from(forest.against, len(undecided), len(rows) - 1)] if undecided else []
    return [*lines, f"{'':{beside}}  {_sketch_axis(forest.scale, across)}".rstrip(), *hollow]


def _sketch_bar(scale: Numbers, ends: tuple[float, float, float], point: str, across: int) -> str:
    at, low, high = (round(scale.place(end, 0, across - 1)) for end in ends)
    bar = ["─" if low <= i <= high and high > low else " " for i in range(across)]
    bar[at] = point
    return "".join(bar)


def _sketch_axis(scale: Numbers, across: int) -> str:
    axis = ""
    for value, written in scale.ticks(max(2, across // 12)):
        start = min(round(scale.place(value, 0, across - 1)) - len(written) // 2, across - len(written))
        if start >= len(axis) + bool(axis):
            axis = f"{axis:{start}}{written}"
    return axis


def _say_place(
    forest: Forest, system: RankedSystem, score: float, ends: tuple[float, float], *, hollow: bool
) -> dict[str, str]:
    itself = system.system == forest.against
    return {
        "system": f"{system.system} (human)" if system.human else system.system,
        forest.unit: f"{score:.3f}",
        "interval": f"{ends[0]:.3f} to {ends[1]:.3f}" if ends[1] > ends[0] else "",
        "possible ranks": _say_ranks(system),
        "letters": system.letters or "",
        f"from {forest.against}": "" if itself else "not separated" if hollow else "separated",
    }


def _say_ranks(system: RankedSystem) -> str:
    low, high = system.rank_set
    return f"{low}" if low == high else f"{low} to {high}"


def find_undecided(ranking: Ranking, name: str) -> set[str]:
    """The systems that are not told apart from this one, by the rule of the headline."""
    apart = {system for pair in told_apart(ranking) if name in pair for system in pair}
    return set(ranking.order) - apart - {name}


def find_first_system(ranking: Ranking) -> str:
    """The first system that is no human translation, which the headline is about."""
    return next((system.system for system in ranking.systems if not system.human), ranking.order[0])


def draw_rank_ranges(ranking: Ranking) -> Drawing:
    """One bar per system from the best to the worst possible rank, with a point at the rank itself."""
    count = len(ranking.systems)
    scale = Numbers(0.5, count + 0.5, "rank", at=tuple(float(i) for i in range(1, count + 1)))
    frame = Frame(scale, Names(ranking.order), 24 * count)
    for system in ranking.systems:
        colour = drawing.HUMAN if system.human else drawing.ACCENT
        low, high = (float(end) for end in system.rank_set)
        y = frame.y(system.system)
        facts = {"system": system.system, "rank": f"{system.rank}", "possible ranks": _say_ranks(system)}
        with frame.mark(facts, system.system):
            left = frame.x(low - 0.32)
            frame.box(left, y - 7, frame.x(high + 0.32) - left, 14, colour, rx="7", fill_opacity="0.35")
            frame.point(frame.x(float(system.rank)), y, "diamond" if system.human else "circle", 4.5, fill=colour)
    return frame.finish()


# How ranks change from one ranking to another: one line per system.


def are_same_order(orders: Sequence[Sequence[str]]) -> bool:
    """Whether all orders agree on the systems that they share with the first."""
    first = orders[0]
    return all([s for s in first if s in {*order}] == [s for s in order if s in {*first}] for order in orders[1:])


def draw_places(
    orders: Mapping[str, Sequence[str]], *, clusters: Mapping[str, Sequence[Sequence[str]]] | None = None
) -> Drawing:
    """Places in every order; systems that move stand out by colour, bars mark the ends of clusters.

    A system that some ranking lacks keeps its place empty there, so that the others move only where they truly do.

    Args:
        orders: the systems of every ranking, the best first; names stand beside the first ranking.
        clusters: of every ranking, in its order; default: no bars.
    """
    systems = list(dict.fromkeys(system for order in orders.values() for system in order))
    positions = {name: _positions(order, systems) for name, order in orders.items()}
    frame = Frame(Names(tuple(orders), systems=False), Names(tuple(systems)), 25 * max(len(systems), 2))
    for system in systems:
        places = {name: filled[system] for name, filled in positions.items() if system in filled}
        moved = len(set(places.values())) > 1
        colour = drawing.ACCENT if moved else drawing.MUTED
        points = [(frame.x(name), frame.y(place - 1)) for name, place in places.items()]
        facts = {"system": system, **{name: f"{place}" for name, place in places.items()}}
        with frame.mark({**facts, "moves": "yes" if moved else "no"}, system):
            frame.line(points, colour, 2.0, stroke_opacity="0.6")
            for x, y in points:
                frame.point(x, y, "circle", 4, fill=colour)
    for name, groups in (clusters or {}).items():
        for cluster in list(groups)[:-1]:
            y = frame.y(max(positions[name][system] for system in cluster) - 0.5)
            frame.line([(frame.x(name) - 12, y), (frame.x(name) + 12, y)], drawing.INK, 2.5)
    return frame.finish()


def _positions(order: Sequence[str], systems: Sequence[str]) -> dict[str, int]:
    """The places that a ranking fills: all but those of the systems it lacks, in their order in the first ranking."""
    empty = {i for i, system in enumerate(systems, start=1) if system not in order}
    free = [i for i in range(1, len(systems) + 1) if i not in empty]
    return dict(zip(order, free, strict=True))


# Lines over a common axis, and bars in rows: one chart for every panel of a figure.

CURVES_HEIGHT = 280
BAR_HEIGHT = 13


def draw_curves(figure: Curves, panel: str) -> Drawing:
    """The lines of one panel, with bands and marks; lines differ by colour and by dash."""
    curves = [curve for curve in figure.curves if curve.panel == panel]
    # All panels share their scales, so that they can be compared.
    points = [point for curve in figure.curves for point in curve.points]
    known = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
    low, high = (0.0, 1.0) if figure.share else (min(known), max(known))
    y = Numbers(low, high, figure.y, percent=True) if figure.share else Numbers.around(known, figure.y)
    values = sorted({point.x for point in points})
    x = Numbers.around(values, figure.x, room=0.01)
    if figure.ordinal:
        x = Numbers(-0.5, len(values) - 0.5, figure.x, at=())
    names = list(dict.fromkeys(curve.name for curve in figure.curves))
    styles = series_styles(names)
    legend = [(name, colour, f"line{dash}") for name, (colour, dash) in styles.items()] if len(names) > 1 else []
    across: Any = Names(tuple(f"{value:g}" for value in values), figure.x, systems=False) if figure.ordinal else x
    frame = Frame(across, y, CURVES_HEIGHT, legend=legend)
    for curve in curves:
        _draw_curve(frame, curve, styles[curve.name], figure)
    for mark in figure.marks:
        _draw_mark(frame, mark, values if figure.ordinal else None)
    return frame.finish()


def series_styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The colour and the dash of each of several lines."""
    colours, dashes = drawing.SERIES, drawing.DASHES
    return {
        name: (colours[i % len(colours)], dashes[(i + i // len(colours)) % len(dashes)]) for i, name in enumerate(names)
    }


def _draw_curve(frame: Frame, curve: Curve, style: tuple[str, str], figure: Curves) -> None:
    def at(x: float) -> float:
        return frame.x(f"{x:g}") if figure.ordinal else frame.x(x)

    band = [point for point in curve.points if point.low is not None and point.high is not None]
    if band:
        upper = [(at(point.x), frame.y(float(point.high or 0.0))) for point in band]
        lower = [(at(point.x), frame.y(float(point.low or 0.0))) for point in reversed(band)]
        frame.area([*upper, *lower], drawing.MUTED, 0.2)
    shown = ".1%" if figure.share else ".3f"
    ends = (
        [f"{point.y:{shown}} at {point.x:g}" for point in (curve.points[0], curve.points[-1])] if curve.points else []
    )
    with frame.mark({" ": curve.name, figure.y: " to ".join(ends)}, curve.name):
        points = [(at(point.x), frame.y(point.y)) for point in curve.points]
        frame.line(points, style[0], 2.0, dash=style[1])
        for x, y in points if figure.ordinal else []:
            frame.point(x, y, "circle", 3.5, fill=style[0])


def _draw_mark(frame: Frame, mark: Mark, values: Sequence[float] | None) -> None:
    """A line across the chart at a value."""
    with frame.mark({" ": mark.name, "at": f"{mark.value:g}"}):
        if mark.axis == "x":
            place = frame.x(f"{mark.value:g}") if values and mark.value in values else frame.x(mark.value)
            ends = [(place, frame.top), (place, frame.bottom)]
        else:
            ends = [(frame.left, frame.y(mark.value)), (frame.right, frame.y(mark.value))]
        frame.line(ends, drawing.INK, 1.2, dash="4 4")


def draw_bars(figure: Bars, panel: str) -> Drawing:
    """The bars of one panel with their numbers; the series of a row lie beside each other."""
    bars = [bar for bar in figure.bars if bar.panel == panel]
    rows = list(dict.fromkeys(bar.row for bar in bars))
    highest = max(bar.value for bar in figure.bars)
    values = {row: {bar.series: bar.value for bar in bars if bar.row == row} for row in rows}
    return draw_row_bars(
        values,
        Numbers(0.0, 1.12 * highest, figure.x),
        number=f".{figure.decimals}f",
        colours=(drawing.MUTED, drawing.ACCENT),
        mark=figure.mark,
    )


def draw_row_bars(
    values: Mapping[str, Mapping[str, float]],
    scale: Numbers,
    *,
    number: str,
    colours: Sequence[str],
    mark: Mark | None = None,
    systems: bool = False,
) -> Drawing:
    """Bars in rows with their numbers; the series of a row lie below each other, in their colours."""
    series = list(dict.fromkeys(name for row in values.values() for name in row))
    chosen = dict(zip(series, colours if len(series) > 1 else [drawing.ACCENT], strict=False))
    legend = [(name, colour, "square") for name, colour in chosen.items()] if len(series) > 1 else []
    deep = BAR_HEIGHT * len(series) + 11
    frame = Frame(scale, Names(tuple(values), systems=systems), deep * len(values), legend=legend, right=44)
    for row, bars in values.items():
        for i, (name, value) in enumerate(bars.items()):
            top = frame.y(row) - deep / 2 + 5 + BAR_HEIGHT * i
            facts = {" ": row, **({"  ": name} if len(series) > 1 else {}), scale.title: f"{value:{number}}"}
            with frame.mark(facts, row if systems else None):
                frame.box(frame.x(0.0), top, max(frame.x(value) - frame.x(0.0), 0.0), BAR_HEIGHT - 1,
                          chosen.get(name, drawing.ACCENT), rx="2")  # fmt: skip
                frame.text(frame.x(value) + 5, top + BAR_HEIGHT - 3, f"{value:{number}}", size=drawing.SMALL)
    if mark is not None:
        _draw_mark(frame, mark, None)
    return frame.finish()


# The smallest difference that each design can find, against the work it takes.


def draw_plan(plan: Plan) -> Drawing:
    """The difference detected with the requested power, by judgments; a line at the difference asked for."""
    lines: dict[tuple[str, int], list[Any]] = {}
    for point in plan.curve:
        lines.setdefault((point.structure, point.judgments_per_item), []).append(point)
    structures, per_item = (list(dict.fromkeys(key[i] for key in lines)) for i in (0, 1))
    colours = dict(zip(structures, drawing.SERIES, strict=False))
    dashes = {number: drawing.DASHES[i % len(drawing.DASHES)] for i, number in enumerate(per_item)}
    legend = [(str(name), colours[name], "circle") for name in structures]
    legend += [(f"{number} per item", drawing.INK, f"line{dashes[number]}") for number in per_item]
    judgments = [float(point.judgments) for point in plan.curve]
    x = Numbers(min(judgments) / 1.05, max(judgments) * 1.05, "judgments", log=True)
    found = [*(point.detectable for point in plan.curve), plan.difference]
    frame = Frame(x, Numbers.around(found, f"points found with power {plan.power:.0%}", zero=True), 280, legend=legend)
    for (structure, number), points in lines.items():
        frame.line([(frame.x(p.judgments), frame.y(p.detectable)) for p in points], colours[structure], 2.0,
                   dash=dashes[number], stroke_opacity="0.8")  # fmt: skip
        for point in points:
            facts = {"design": point.structure, "per item": f"{number}", "judgments": f"{point.judgments:,}",
                     "detectable": f"{point.detectable:.2f}", "power": f"{point.power:.0%}"}  # fmt: skip
            with frame.mark(facts):
                frame.point(frame.x(point.judgments), frame.y(point.detectable), "circle", 4, fill=colours[structure])
    asked = frame.y(plan.difference)
    frame.line([(frame.left, asked), (frame.right, asked)], drawing.INK, 1.0, dash="2 4")
    return frame.finish()


# Points with a fitted line and names that do not cover each other.

HEIGHT = 400
LONGEST = 20
_PADDING = 0.07
_LINE = "a*x+b"
FONT_SIZE = 11
# Of a character (a little wider than most fonts have them), a line, and a point with its border, in pixels.
CHARACTER, LINE, RADIUS = 6.4, 13.0, 6.0
_STEP = 4.0
# Names to the side of a point are read more easily than those above or below it.
_ASIDE = 0.3


def draw_scatter(figure: Scatter) -> Drawing:
    """One point per system; groups differ by colour and shape."""
    groups = list(dict.fromkeys(point.group for point in figure.points))
    colours = [drawing.SERIES[i % len(drawing.SERIES)] for i in range(len(groups))]
    shapes = [drawing.SHAPES[(i // len(drawing.SERIES)) % len(drawing.SHAPES)] for i in range(len(groups))]
    looks = {group: (colour, shape) for group, colour, shape in zip(groups, colours, shapes, strict=True)}
    legend = [(group, *looks[group]) for group in groups] if len(groups) > 1 else []
    x, y = (_padded([getattr(point, axis) for point in figure.points], getattr(figure, axis)) for axis in ("x", "y"))
    frame = Frame(x, y, HEIGHT, legend=legend)
    _draw_line(frame, figure, x, y)
    points = [(point.name, point.x, point.y) for point in figure.points]
    if figure.named:
        draw_names(frame, points)
    for point in figure.points:
        facts = {" ": point.name, "  ": point.group, figure.x: f"{point.x:.4g}", figure.y: f"{point.y:.4g}"}
        with frame.mark(facts, point.name):
            colour, shape = looks[point.group]
            frame.point(frame.x(point.x), frame.y(point.y), shape, 4.5, fill=colour)
    return frame.finish()


def draw_named_points(
    points: Sequence[tuple[str, float, float]], x: str, y: str, colours: Mapping[str, str], *, height: float = 320,
    named: bool = True,
) -> Drawing:  # fmt: skip
    """Points with their names beside them, in colours of their own."""
    axes = (_padded([point[1] for point in points], x), _padded([point[2] for point in points], y))
    frame = Frame(*axes, height)
    if named:
        draw_names(frame, points)
    for name, across, up in points:
        with frame.mark({" ": name, x: f"{across:,.4g}", y: f"{up:.3f}"}, name):
            frame.point(frame.x(across), frame.y(up), "circle", 4.5, fill=colours.get(name, drawing.ACCENT))
    return frame.finish()


def _padded(values: Sequence[float], title: str) -> Numbers:
    """An axis with room around the points for names."""
    return Numbers.around(values, title, room=_PADDING)


def draw_names(frame: Frame, points: Sequence[tuple[str, float, float]]) -> None:
    """Names with a rim in the colour of the page, over thin lines that lead to their points."""
    labels = drawing.shorten([name for name, _, _ in points], LONGEST)
    at = [(frame.x(x) - frame.left, frame.y(y) - frame.top) for _, x, y in points]
    centres = place_labels(at, labels, width=frame.right - frame.left, height=frame.bottom - frame.top)
    for (x, y), (centre_x, centre_y), label, (name, _, _) in zip(at, centres, labels, points, strict=True):
        ends = [(frame.left + x, frame.top + y), (frame.left + centre_x, frame.top + centre_y)]
        frame.line(ends, drawing.MUTED, 0.8)
        look: dict[str, Any] = dict(anchor="middle", size=FONT_SIZE, stroke=drawing.PAPER, stroke_width="3",
                                    paint_order="stroke")  # fmt: skip
        with frame.about(name):
            frame.text(ends[1][0], ends[1][1] + 4, label, **look)


def _draw_line(frame: Frame, figure: Scatter, x: Numbers, y: Numbers) -> None:
    """The fitted line, as far as it lies inside the plot."""
    slope, intercept = figure.line.slope, figure.line.intercept
    ends = [x.low, x.high]
    if slope:
        crossings = sorted((end - intercept) / slope for end in (y.low, y.high))
        ends = [max(x.low, crossings[0]), min(x.high, crossings[1])]
    if ends[0] < ends[1]:
        with frame.mark({" ": _LINE}):
            points = [(frame.x(at), frame.y(intercept + slope * at)) for at in ends]
            frame.line(points, drawing.MUTED, 1.5, dash="6 4")


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


def draw_matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[float | None]],
    *,
    steps: Sequence[float],
    what: str,
    number: str,
    row_height: float = 26,
    systems: bool = False,
) -> Drawing:
    """A heat map of numbers. Empty cells stay blank.

    Args:
        rows: names, the first at the top.
        columns: names, the first at the left.
        cells: one sequence per row.
        steps: the values between the colours: six from orange over neutral to blue, three from neutral to blue.
        what: what a cell is, for its tooltip.
        number: the format of cells.
        row_height: of a cell, in pixels.
        systems: whether the rows are systems; columns mostly are.
    """
    colours = drawing.HEAT[-len(steps) - 1 :]
    made = [
        HeatCell(row, column, colours[sum(value >= step for step in steps)], f"{value:{number}}",
                 {" ": row, "  ": column, what: f"{value:{number}}"})
        for row, line in zip(rows, cells, strict=True)
        for column, value in zip(columns, line, strict=True)
        if value is not None
    ]  # fmt: skip
    return draw_cells(
        Names(tuple(rows), systems=systems), Names(tuple(columns)), made, row_height=row_height, letters=11
    )
