"""Charts as SVG: a canvas with axes, marks that say what they show, and the look that all charts share.

Colours are CSS variables, so that one drawing is light, dark or printed. Where it leaves the page, `paint` puts the
light colours in. Everything that comes from data is escaped here, whatever it holds.
"""

from __future__ import annotations

import math
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from adjudge.table.results import p_value, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Point = tuple[float, float]


INK, MUTED, GRID = "var(--ink)", "var(--muted)", "var(--line)"
ACCENT, HUMAN, WARN, PAPER = "var(--accent)", "var(--human)", "var(--warn)", "var(--paper)"
# From orange (the row loses) over neutral to blue (the row wins): told apart by colour-blind readers, too.
HEAT = tuple(f"var(--heat-{i})" for i in range(7))
SERIES = (ACCENT, HUMAN, WARN, MUTED)
# Lines differ by dash as well as by colour, so that more of them than there are colours can be told apart.
DASHES = ("", "6 3", "2 2", "9 3 2 3")

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

# Renderers of files know no "system-ui"; these have the minus sign and most scripts.
STATIC_FONT = "'Noto Sans', 'DejaVu Sans', sans-serif"
WIDTH = 480.0
"""Of most charts, in pixels: half a page on a screen, and letters that stay readable on a phone."""
SIZE, SMALL = 13, 11
"""Of letters, in pixels."""
_LONGEST_NAME = 165.0
"""Room for names beside a chart, in pixels."""
_SLANT = 35
_LEAST_COMMON = 6
"""Fewer characters that all names share are not worth two marks of omission."""
_LEAST_OWN = 3
"""A single digit says less of a system than the beginning of its name."""
_NARROW, _BROAD = frozenset("iljftrI.,:;'|!()[]-/ 1"), frozenset("mwMW@%…—")
_RIGHT_TO_LEFT = ("R", "AL")
_ISOLATED = "\u2068{}\u2069"


@dataclass(frozen=True)
class Drawing:
    """A finished chart. `rows` are what its marks say, in words and formatted numbers."""

    width: float
    height: float
    body: str
    rows: tuple[Mapping[str, str], ...] = ()

    def to_svg(self, name: str = "chart", title: str = "", says: str = "") -> str:
        """The SVG element, with a title and a description for those who cannot see it."""
        named = f'role="img" aria-labelledby="{name}-title {name}-desc"' if title else 'role="img"'
        words = f'<title id="{name}-title">{_text(title)}</title><desc id="{name}-desc">{_text(says)}</desc>'
        size = f'viewBox="0 0 {_number(self.width)} {_number(self.height)}" width="{_number(self.width)}"'
        height = f'height="{_number(self.height)}"'
        look = f'font-size="{SIZE}" fill="{INK}"'
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {height} {named} {look}>'
        return f"{svg}{words if title else ''}{self.body}</svg>"


def paint(drawing: Drawing, title: str = "", says: str = "") -> str:
    """The drawing as an SVG file of its own: light colours on white, with fonts that renderers know."""
    svg = drawing.to_svg("chart", title, says)
    for name, colour in LIGHT.items():
        svg = svg.replace(f"var(--{name})", colour)
    head, rest = svg.split(">", 1)
    return f'{head} font-family="{STATIC_FONT}"><rect width="100%" height="100%" fill="#ffffff"/>{rest}'


# Names: how much room they take, and how they are cut.


def measure(text: str, size: float = SIZE) -> float:
    """About how wide a text is, in pixels: fonts differ, so this is on the safe side for most."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in _NARROW:
        return 0.38
    if letter in _BROAD:
        return 0.95
    return 0.72 if letter.isupper() else 0.6


def fit_names(names: Sequence[str], room: float, size: float = SIZE) -> list[str]:
    """The names, cut so that each takes at most so many pixels and the most of them stay different."""
    shown, longest = list(names), max(map(len, names), default=0)
    while longest > _LEAST_OWN and max((measure(name, size) for name in shown), default=0.0) > room:
        longest -= 1
        cut = shorten(names, longest)
        # A name that fits stays whole, unless all are cut at the same beginning.
        shown = [
            n if measure(n, size) <= room and not c.startswith("…") else c for n, c in zip(names, cut, strict=True)
        ]
    return shown


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


def p_text(p: float | None) -> str:
    """A p-value as tables show it."""
    return show(p, p_value())


def _text(text: str) -> str:
    """Escaped. Control characters, which XML forbids, are shown as the sign for what is unknown."""
    return escape("".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text))


def _isolated(text: str) -> str:
    """A text whose right-to-left letters do not turn what stands beside it."""
    turned = any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in text)
    return _ISOLATED.format(_text(text)) if turned else _text(text)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _attributes(options: Mapping[str, Any]) -> str:
    """Attributes in SVG: `stroke_width` is `stroke-width`; what is None or empty is left out."""
    shown = {key.replace("_", "-"): value for key, value in options.items() if value not in (None, "")}
    return "".join(f' {key}="{_number(v) if isinstance(v, float) else _text(str(v))}"' for key, v in shown.items())


# Axes: numbers, or names.


@dataclass(frozen=True)
class Numbers:
    """An axis of numbers from `low` to `high`."""

    low: float
    high: float
    title: str = ""
    log: bool = False
    percent: bool = False
    at: tuple[float, ...] = ()
    """Where numbers stand; default: at round ones."""

    @classmethod
    def around(cls, values: Sequence[float], title: str = "", *, zero: bool = False, room: float = 0.04,
               **options: Any) -> Numbers:  # fmt: skip
        """An axis that holds all values with some room; from zero where asked."""
        known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        space = room * (high - low or abs(high) or 1.0)
        return cls(low if zero and low == 0 else low - space, high if zero and high == 0 else high + space, title,
                   **options)  # fmt: skip

    def place(self, value: float, start: float, end: float) -> float:
        """Where a value stands between two ends in pixels."""
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return start + (value - low) / ((high - low) or 1.0) * (end - start)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Round numbers and how they are written."""
        if self.log:
            return self._log_ticks(most)
        step = _round_step((self.high - self.low) / max(most, 1), whole=bool(self.at))
        if self.at:
            kept = self.at[:: max(1, math.ceil(len(self.at) / max(most, 1)))]
            return [(value, f"{value:g}") for value in kept]
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        shown = step * (100 if self.percent else 1)
        digits = max(0, -math.floor(math.log10(shown) + 1e-9))
        digits += abs(round(shown, digits) - shown) > 1e-9 * shown  # a step of 0.25 needs one digit more than 0.2
        # Far from zero i * step is not exact, so a number can fall outside the axis.
        inside = (i * step for i in range(first, last + 1)
                  if self.low - 1e-9 * step <= i * step <= self.high + 1e-9 * step)  # fmt: skip
        return [(value, self._write(value, digits)) for value in inside]

    def _write(self, value: float, digits: int) -> str:
        value = value + 0.0 if abs(value) > 1e-12 else 0.0
        written = f"{100 * value:.{digits}f}%" if self.percent else f"{value:,.{digits}f}"
        return written.replace("-", "−")

    def _log_ticks(self, most: int) -> list[tuple[float, str]]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for steps in ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
            values = [step * 10.0**power for power in powers for step in steps]
            shown = [value for value in values if self.low <= value <= self.high]
            if len(shown) <= most:
                return [(value, f"{value:,.10g}") for value in shown]
        return [(value, f"{value:,.10g}") for value in shown]


def _round_step(least: float, *, whole: bool = False) -> float:
    """The next of 1, 2, 5, 10, 20, ... that is not below."""
    power = 10.0 ** math.floor(math.log10(least or 1.0))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least * (1 - 1e-9))
    return max(1.0, step) if whole else step


@dataclass(frozen=True)
class Names:
    """An axis of names at equal distances, the first at the top or at the left."""

    names: tuple[str, ...]
    title: str = ""
    systems: bool = True
    """Whether the names are of systems, which a reader can follow through all charts."""

    def place(self, value: float | str, start: float, end: float) -> float:
        """The middle of a name's place; numbers count names from 0."""
        index = self.names.index(value) if isinstance(value, str) else value
        return start + (index + 0.5) * (end - start) / max(len(self.names), 1)


Axis = Numbers | Names


@dataclass
class Canvas:
    """A growing drawing: marks in pixels, and what they say."""

    width: float
    height: float
    parts: list[str] = field(default_factory=list)
    rows: list[Mapping[str, str]] = field(default_factory=list)

    def finish(self) -> Drawing:
        """The drawing as it is now."""
        return Drawing(self.width, self.height, "".join(self.parts), tuple(self.rows))

    @contextmanager
    def mark(self, facts: Mapping[str, str], name: str | None = None) -> Iterator[None]:
        """What is drawn inside says these facts when pointed at, and belongs to a system where one is named."""
        self.rows.append(facts)
        said = "\n".join(
            f"{label.strip()}: {value}" if label.strip() else value for label, value in facts.items() if value
        )
        self.parts.append(f"<g{_attributes({'data-name': name})}><title>{_text(said)}</title>")
        yield
        self.parts.append("</g>")

    @contextmanager
    def about(self, name: str | None, **shared: Any) -> Iterator[None]:
        """What is drawn inside belongs to a system, where one is named, and shares these attributes."""
        self.parts.append(f"<g{_attributes({'data-name': name, **shared})}>")
        yield
        self.parts.append("</g>")

    def line(self, points: Sequence[Point], colour: str, width: float = 1.0, **options: Any) -> None:
        """A line through points; `dash` as in SVG."""
        dash = options.pop("dash", None)
        look = {"stroke": colour, "stroke_width": width, "stroke_dasharray": dash, **options}
        if len(points) == 2:
            (x1, y1), (x2, y2) = points
            self.parts.append(f"<line{_attributes(dict(x1=x1, y1=y1, x2=x2, y2=y2, **look))}/>")
        else:
            at = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
            self.parts.append(f'<polyline points="{at}" fill="none"{_attributes(look)}/>')

    def area(self, points: Sequence[Point], colour: str, opacity: float) -> None:
        """A filled shape."""
        at = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self.parts.append(f'<polygon points="{at}"{_attributes(dict(fill=colour, fill_opacity=str(opacity)))}/>')

    def box(self, left: float, top: float, width: float, height: float, fill: str, **options: Any) -> None:
        """A rectangle."""
        sides = dict(x=float(left), y=float(top), width=float(width), height=float(height), fill=fill)
        self.parts.append(f"<rect{_attributes({**sides, **options})}/>")

    def point(self, x: float, y: float, shape: str = "circle", size: float = 5.0, **look: Any) -> None:
        """A circle, diamond, square, triangle or cross."""
        if shape == "circle":
            self.parts.append(f"<circle{_attributes(dict(cx=float(x), cy=float(y), r=float(size), **look))}/>")
            return
        corners = [(x + dx * size, y + dy * size) for dx, dy in _SHAPES[shape]]
        at = " ".join(f"{_number(a)},{_number(b)}" for a, b in corners)
        self.parts.append(f'<polygon points="{at}"{_attributes(look)}/>')

    def text(self, x: float, y: float, words: str, *, anchor: str = "start", size: float = SIZE, turn: float = 0,
             **look: Any) -> None:  # fmt: skip
        """Words at a point: their start, middle or end."""
        at = {"x": float(x), "y": float(y), "text_anchor": "" if anchor == "start" else anchor,
              "font_size": "" if size == SIZE else _number(size)}  # fmt: skip
        turned = {"transform": f"rotate({turn:g} {_number(x)} {_number(y)})"} if turn else {}
        self.parts.append(f"<text{_attributes({**at, **turned, **look})}>{_isolated(words)}</text>")

    def legend(self, entries: Sequence[tuple[str, str, str]], left: float, top: float) -> float:
        """Entries of label, colour, and shape or `line`; returns where the legend ends."""
        x, y = left, top
        for whole, colour, shape in entries:
            (label,) = fit_names([whole], self.width - left - 30)
            room = 22 + measure(label, 12) + 14
            if x > left and x + room > self.width:
                x, y = left, y + 20
            if shape.startswith("line"):
                self.line([(x, y + 8), (x + 18, y + 8)], colour, 2.5, dash=shape[4:])
            else:
                self.point(x + 9, y + 8, shape, 5, fill=colour)
            self.text(x + 23, y + 12, label, size=12)
            x += room
        return y + 26 if entries else top


_SHAPES = {
    "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0, -1.1), (1.1, 0.9), (-1.1, 0.9)),
    "cross": ((-1.1, -0.7), (-0.7, -1.1), (0, -0.4), (0.7, -1.1), (1.1, -0.7), (0.4, 0), (1.1, 0.7), (0.7, 1.1),
              (0, 0.4), (-0.7, 1.1), (-1.1, 0.7), (-0.4, 0)),
}  # fmt: skip
SHAPES = ("circle", "triangle", "square", "diamond")


class Frame(Canvas):
    """A canvas with two axes: `x` and `y` turn values into pixels."""

    def __init__(self, x: Axis, y: Axis, height: float, *, legend: Sequence[tuple[str, str, str]] = (),
                 right: float = 16.0, width: float = WIDTH, above: bool = False) -> None:  # fmt: skip
        """Draw the axes.

        Args:
            x: the axis below, or `above`.
            y: the axis at the left.
            height: of the plot without axes, in pixels.
            legend: entries as for `Canvas.legend`.
            right: room beside the plot, in pixels.
            width: of the whole drawing.
            above: whether the axis of columns stands above the plot.
        """
        super().__init__(width, 0.0)
        self.axes = x, y
        self.left, self.right = self._left_room(y, above), width - right
        top = self.legend(legend, 0, 0)
        if isinstance(y, Numbers) and y.title:
            self.text(0, top + 11, fit_names([y.title], width, 12)[0], size=12, fill=MUTED)
            top += 20
        self.top = top + (self._column_room(x) if above and isinstance(x, Names) else 6.0)
        self.bottom = self.top + height
        self._draw_y(y)
        below = self._draw_columns(x) if above and isinstance(x, Names) else self._draw_x(x)
        self.height = self.bottom + below

    def x(self, value: float | str) -> float:
        """Pixels from the left."""
        return self.axes[0].place(value, self.left, self.right)  # type: ignore[arg-type]

    def y(self, value: float | str) -> float:
        """Pixels from the top: numbers grow upwards, names are listed downwards."""
        ends = (self.top, self.bottom) if isinstance(self.axes[1], Names) else (self.bottom, self.top)
        return self.axes[1].place(value, *ends)  # type: ignore[arg-type]

    def _left_room(self, y: Axis, above: bool) -> float:
        if isinstance(y, Names):
            self.shown = fit_names(y.names, _LONGEST_NAME)
            return _room_beside(y, self.axes[0].title if above else "")
        return max((measure(written, 12) for _, written in y.ticks(6)), default=0.0) + 10

    def _draw_y(self, y: Axis) -> None:
        if isinstance(y, Names):
            for i, (name, shown) in enumerate(zip(y.names, self.shown, strict=True)):
                self._name(self.left - 8, self.y(i) + 4.5, name, shown, y.systems)
            return
        for value, written in y.ticks(6):
            self.line([(self.left, self.y(value)), (self.right, self.y(value))], GRID)
            self.text(self.left - 6, self.y(value) + 4, written, anchor="end", size=12)

    def _name(self, x: float, y: float, name: str, shown: str, system: bool, **look: Any) -> None:
        """A name on an axis; pointed at, it says itself in full."""
        with self.about(name if system else None):
            if name != shown:
                self.parts.append(f"<title>{_text(name)}</title>")
            self.text(x, y, shown, **{"anchor": "end", **look})

    def _draw_x(self, x: Axis) -> float:
        if isinstance(x, Names):
            return self._draw_names_below(x)
        ticks = x.ticks(max(2, int((self.right - self.left) / 62)))
        for value, written in ticks:
            self.line([(self.x(value), self.top), (self.x(value), self.bottom)], GRID)
            self.text(self.x(value), self.bottom + 17, written, anchor="middle", size=12)
        if x.title:
            room = self.width
            (title,) = fit_names([x.title], room, 12)
            half = measure(title, 12) / 2
            middle = min(max((self.left + self.right) / 2, half), self.width - half)
            self.text(middle, self.bottom + 36, title, anchor="middle", size=12, fill=MUTED)
        return 44.0 if x.title else 24.0

    def _draw_names_below(self, x: Names) -> float:
        room = (self.right - self.left) / max(len(x.names), 1)
        slanted = any(measure(name, 12) > room - 6 for name in x.names)
        shown = fit_names(x.names, 130 if slanted else room, 12)
        for i, (name, cut) in enumerate(zip(x.names, shown, strict=True)):
            look = dict(anchor="end", turn=-_SLANT) if slanted else dict(anchor="middle")
            self._name(self.x(i) + (4 if slanted else 0), self.bottom + 16, name, cut, x.systems, size=12, **look)
        deep = max(measure(name, 12) for name in shown) * math.sin(math.radians(_SLANT)) if slanted else 0.0
        if x.title:
            self.text(
                (self.left + self.right) / 2, self.bottom + deep + 36, x.title, anchor="middle", size=12, fill=MUTED
            )
        return deep + (44.0 if x.title else 26.0)

    def _column_room(self, x: Names) -> float:
        steep = -90 if len(x.names) > 12 else -50
        self.columns = fit_names(x.names, 120, 12)
        deep = max((measure(name, 12) for name in self.columns), default=0.0) * math.sin(math.radians(-steep))
        return deep + 14 + (18 if x.title else 0)

    def _draw_columns(self, x: Names) -> float:
        steep = -90 if len(x.names) > 12 else -50
        for i, (name, cut) in enumerate(zip(x.names, self.columns, strict=True)):
            place = self.x(i) + (4 if steep == -90 else 0)
            self._name(place, self.top - 6, name, cut, x.systems, anchor="start", turn=steep, size=12)
        if x.title:
            # Slanted names of the last columns lean out of the plot to the right, so the title stands at the left.
            self.text(self.left - 8, self.top - 8, x.title, anchor="end", size=12, fill=MUTED)
        return 4.0


def draw_cells(rows: Names, columns: Names, cells: Sequence[HeatCell], *, legend: Sequence[tuple[str, str, str]] = (),
               row_height: float = 28.0, letters: float = 12.0) -> Drawing:  # fmt: skip
    """Coloured cells in rows and columns; texts that do not fit give way to the shorter sign."""
    beside = _room_beside(rows, columns.title)
    lean = max((measure(name, 12) for name in fit_names(columns.names, 120, 12)), default=0.0) * 0.65
    right = min(lean, 80.0) if len(columns.names) <= 12 else 8.0
    across = max(26.0, (WIDTH - beside - right) / max(len(columns.names), 1))
    width = beside + right + across * len(columns.names)
    frame = Frame(
        columns, rows, row_height * max(len(rows.names), 1), legend=legend, right=right, width=width, above=True
    )
    widest = max((measure(cell.text, 1.0) for cell in cells), default=0.0)
    size = min(letters, (across - 4) / widest) if widest else letters
    letters = size if size >= 8 else 11.0
    by_row: dict[str, list[HeatCell]] = {}
    for cell in cells:
        by_row.setdefault(cell.row, []).append(cell)
    # Matrices are most of a page. What all cells share stands with their rows, whose origin is the line of letters, and
    # a cell is a thick stroke, the shortest way to draw a box.
    shared = {"text_anchor": "middle", "font_size": _number(letters), "stroke_width": _number(row_height - 2)}
    for name in rows.names:
        line = frame.y(name) + 0.36 * letters
        with frame.about(name if rows.systems else None, transform=f"translate(0 {_number(line)})", **shared):
            for cell in by_row.get(name, ()):
                _draw_cell(frame, cell, across, 0.36 * letters, whole=size >= 8)
    return frame.finish()


def _room_beside(rows: Names, corner: str) -> float:
    """What the names of rows need, and the title of the columns where it stands above them."""
    names = [measure(name) for name in fit_names(rows.names, _LONGEST_NAME)]
    return max(*names, measure(corner, 12), 0.0) + 12


@dataclass(frozen=True)
class HeatCell:
    """A cell of a matrix: its place, colour, text, the sign that stands where the text does not fit, and its facts."""

    row: str
    column: str
    colour: str
    text: str
    facts: Mapping[str, str]
    sign: str = ""


def _draw_cell(frame: Frame, cell: HeatCell, across: float, above: float, *, whole: bool) -> None:
    """One cell of a row; `above` is how far its middle is above the line of letters."""
    left = frame.x(cell.column) - across / 2 + 1
    shown = cell.text if whole else cell.sign
    with frame.mark(cell.facts):
        frame.parts.append(
            f'<path d="M{_number(left)}-{_number(above)}h{_number(across - 2)}" stroke="{cell.colour}"/>'
        )
        if shown:
            frame.parts.append(f'<text x="{_number(frame.x(cell.column))}">{_isolated(shown)}</text>')
