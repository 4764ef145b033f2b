"""How all charts look. Colours are CSS variables, so that a page is light, dark or printed without redrawing.

Where a chart leaves the page (SVG, PNG), `paint` puts the light colours in.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adjudge.table.results import p_value, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# Charts as specifications in Vega-Lite, built as plain dictionaries.
#
# A chart consists of layers drawn over each other. Each has rows of data, a mark, and channels that show fields of the
# rows. This is the small part of Vega-Lite's grammar that the charts of a report need. Altair, which knows all of it,
# takes longer to be imported than all charts of a report take to be made; a test compares every specification with the
# schema.

Rows = list[dict[str, Any]]
Spec = dict[str, Any]

_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
_SECOND = ("x2", "y2")
"""Channels for the other end of a mark, which has the type of the first end."""


@dataclass(frozen=True)
class Layer:
    """Rows with a mark and channels. Methods return a changed copy, so that layers can share a beginning."""

    rows: Rows
    drawn_as: Spec = field(default_factory=dict)
    channels: Spec = field(default_factory=dict)
    transforms: tuple[Spec, ...] = ()

    def mark(self, kind: str, **options: Any) -> Layer:
        """Drawn as `point`, `line`, `bar`, `rule`, `rect`, `text`, `area` or `tick`."""
        return replace(self, drawn_as={"type": kind, **options})

    def encode(self, **channels: Any) -> Layer:
        """Add channels such as `x` or `color`: a field (`"score:Q"`, or `channel` with options) or a constant."""
        added = {name: _checked(name, shown) for name, shown in channels.items()}
        return replace(self, channels={**self.channels, **added})

    def transform(self, **operation: Any) -> Layer:
        """Change the rows before they are drawn, such as `filter="datum.score > 0"`."""
        return replace(self, transforms=(*self.transforms, operation))

    def calculate(self, name: str, formula: str) -> Layer:
        """Add a field that is computed from others, in Vega's own language."""
        return self.transform(**{"calculate": formula, "as": name})

    def with_rows(self, rows: Rows) -> Layer:
        """The same layer of other rows."""
        return replace(self, rows=rows)


def channel(shorthand: str, **options: Any) -> Spec:
    """A field in a channel: its name and type (`"score:Q"`: quantitative; N nominal, O ordinal), and its options."""
    name, _, kind = shorthand.rpartition(":")
    return {"field": name, **options, "type": _TYPES[kind]}


def condition(test: str, then: Mapping[str, Any], otherwise: Mapping[str, Any]) -> Spec:
    """A channel with a constant where rows pass a test, and otherwise a field or another constant."""
    return {"condition": {"test": test, **then}, **otherwise}


def _checked(name: str, shown: Any) -> Any:
    if isinstance(shown, str):
        shown = channel(shown)
    return {key: value for key, value in shown.items() if key != "type"} if name in _SECOND else shown


def make_specification(layers: Sequence[Layer]) -> Spec:
    """The specification of a chart. Rows that layers share stand in it once."""
    numbers: dict[int, int] = {}
    for layer in layers:
        numbers.setdefault(id(layer.rows), len(numbers) + 1)
    names = [f"data-{numbers[id(layer.rows)]}" for layer in layers]
    datasets = {name: layer.rows for name, layer in zip(names, layers, strict=True)}
    units = [{"data": {"name": name}, **_unit(layer)} for name, layer in zip(names, layers, strict=True)]
    return {**(units[0] if len(units) == 1 else {"layer": units}), "datasets": datasets}


def _unit(layer: Layer) -> Spec:
    unit: Spec = {"mark": layer.drawn_as, "encoding": layer.channels}
    return {**unit, "transform": list(layer.transforms)} if layer.transforms else unit


INK, MUTED, GRID = "var(--ink)", "var(--muted)", "var(--line)"
ACCENT, HUMAN, WARN, BAND, PAPER = "var(--accent)", "var(--human)", "var(--warn)", "var(--band)", "var(--paper)"
# From orange (the row loses) over neutral to blue (the row wins): told apart by colour-blind readers, too.
HEAT = tuple(f"var(--heat-{i})" for i in range(7))
SERIES = (ACCENT, HUMAN, WARN, MUTED)

LIGHT = {
    "ink": "#1c2430", "muted": "#566173", "line": "#dde2e9", "accent": "#1665a8", "human": "#b4540a",
    "warn": "#a3283d", "band": "#f2f5f8", "paper": "#ffffff",
    "heat-0": "#eea35b", "heat-1": "#f7c592", "heat-2": "#fce2c7", "heat-3": "#eef1f4", "heat-4": "#d3e5f5",
    "heat-5": "#a3cdee", "heat-6": "#6bb0e0",
}  # fmt: skip
DARK = {
    "ink": "#e6eaf0", "muted": "#a3afbf", "line": "#2f3947", "accent": "#6db5f0", "human": "#f0a050",
    "warn": "#f28b9b", "band": "#1b222c", "paper": "#12171e",
    "heat-0": "#94581a", "heat-1": "#6e4417", "heat-2": "#482f17", "heat-3": "#262e39", "heat-4": "#17334b",
    "heat-5": "#1c4b72", "heat-6": "#22649b",
}  # fmt: skip

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
# Renderers of files know no "system-ui"; these two have the minus sign and most scripts.
STATIC_FONT = "'Noto Sans', 'DejaVu Sans', sans-serif"
PNG_SCALE = 2.0
"""Pixels per point of a chart, so that it is sharp on dense screens."""
CONFIG: dict[str, Any] = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": MUTED, "gridColor": GRID, "domain": False, "tickColor": GRID,
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 190, "titlePadding": 8,
    },
    "legend": {
        "labelColor": INK, "titleColor": MUTED, "labelFontSize": 12, "titleFontSize": 12, "orient": "top",
        "titleFontWeight": "normal", "symbolStrokeWidth": 0, "labelLimit": 300,
    },
    "text": {"color": INK, "fontSize": 12},
}  # fmt: skip
STATIC_WIDTH = 640
# Characters of a name that fit beside a chart and above a matrix, on wide pages and on phones.
_LENGTHS = {"y": (24, 15), "x": (17, 17)}
_SLANTED = 28
_LEAST_COMMON = 6
"""Fewer characters that all names share are not worth two marks of omission."""
_LEAST_OWN = 3
"""A single digit says less of a system than the beginning of its name."""
_PHONE = "containerSize()[0] < 500"


def finish(*layers: Layer, height: int) -> dict[str, Any]:
    """A chart of these layers that fills the width it is given, in the look of all charts."""
    spec = {**make_specification(layers), "width": "container", "height": height}
    rows = [row for rows in spec["datasets"].values() for row in rows]
    for layer in spec.get("layer", [spec]):
        for name, lengths in _LENGTHS.items():
            channel = layer["encoding"].get(name, {})
            if channel.get("type") == "nominal" and channel.get("axis", {}) is not None:
                _shorten_names(
                    channel, {str(row[channel["field"]]) for row in rows if channel["field"] in row}, *lengths
                )
    spec["config"] = CONFIG
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def _shorten_names(channel: dict[str, Any], names: set[str], longest: int, on_phones: int) -> None:
    """Cut long names so that the most of them stay different."""
    wide, narrow = (_shortened_label(sorted(names), length) for length in (longest, on_phones))
    shortened = wide if wide == narrow else f"{_PHONE} ? ({narrow}) : ({wide})"
    channel.setdefault("axis", {}).setdefault("labelExpr", shortened)


def _shortened_label(names: Sequence[str], longest: int) -> str:
    """The label of an axis in the charts' own language: as it is where it is short, else looked up."""
    cut = {name: short for name, short in zip(names, shorten(names, longest), strict=True) if name != short}
    if not cut:
        return "datum.label"
    long, short = json.dumps(list(cut)), json.dumps(list(cut.values()))
    return f"indexof({long}, datum.label) < 0 ? datum.label : {short}[indexof({long}, datum.label)]"


def shorten(names: Sequence[str], longest: int) -> list[str]:
    """Names of at most so many characters, cut so that the most of them stay different.

    What all names begin or end with is cut first, where that is enough to tell them apart; else the end or the middle.
    """
    ways = [_without_common(names, longest)] if max(map(len, names), default=0) > longest else []
    ways += [[_shortened(name, longest, tail) for name in names] for tail in (0, longest // 2 - 1)]
    return max(ways, key=lambda way: len(set(way)))


def _without_common(names: Sequence[str], longest: int) -> list[str]:
    """The names without the words that all begin and end with."""
    start = _at_word(_beginning(names))
    end = _at_word(_beginning([name[len(start) :][::-1] for name in names]))
    inner = [name[len(start) : len(name) - len(end)] for name in names]
    if len(start) + len(end) < _LEAST_COMMON or min(map(len, inner)) < _LEAST_OWN:
        return [_shortened(name, longest, 0) for name in names]
    marks = ("…" if start else "", "…" if end else "")
    return [_shortened(f"{marks[0]}{name}{marks[1]}", longest, 0) for name in inner]


def _beginning(names: Sequence[str]) -> str:
    """What all names begin with."""
    first, last = min(names), max(names)
    return next((first[:i] for i, letter in enumerate(first) if letter != last[i : i + 1]), first)


def _at_word(common: str) -> str:
    """What names have in common, up to the last sign between two words."""
    return common[: max(common.rfind(sign) for sign in " ._-/:,|") + 1]


def _shortened(name: str, longest: int, tail: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - tail - 1]}…{name[len(name) - tail :]}"


def axis_of_names(names: Sequence[str]) -> Any:
    """An axis of numbers from 1 that shows a name at each, shortened where it is long."""
    wide, narrow = (f"{json.dumps(shorten(names, length))}[datum.value - 1]" for length in _LENGTHS["y"])
    numbers = list(range(1, len(names) + 1))
    return dict(values=numbers, labelExpr=f"{_PHONE} ? {narrow} : {wide}", grid=False, ticks=False)


def slanted_axis(names: Sequence[str]) -> Any:
    """An axis below a chart with names that slant, so that more of each is seen than upright names would show."""
    wide, narrow = (_shortened_label(names, length) for length in (_SLANTED, _LENGTHS["x"][1]))
    return dict(labelAngle=-35, labelLimit=220, labelExpr=f"{_PHONE} ? ({narrow}) : ({wide})")


def column_axis(count: int) -> Any:
    """The axis above a matrix: slanted names, upright and small where there are many or the page is narrow."""
    size = dict(expr=f"max(7, min(12, 0.8 * width / {max(count, 1)}))")
    return dict(labelAngle=-50 if count <= 12 else -90, labelLimit=140, orient="top", labelFontSize=size)


def paint(spec: Mapping[str, Any], *, width: int = STATIC_WIDTH) -> dict[str, Any]:
    """The specification with light colours and a fixed width, for files that leave the page."""
    text = json.dumps(spec).replace(json.dumps(FONT), json.dumps(STATIC_FONT))
    for name, colour in LIGHT.items():
        text = text.replace(f"var(--{name})", colour)
    painted: dict[str, Any] = json.loads(text)
    return painted | {"width": width, "background": "#ffffff", "padding": 12}


def p_text(p: float | None) -> str:
    """A p-value as tables show it."""
    return show(p, p_value())
