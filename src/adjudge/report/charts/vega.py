"""Charts as specifications in Vega-Lite, built as plain dictionaries.

A chart consists of layers drawn over each other. Each has rows of data, a mark, and channels that show fields of the
rows. This is the small part of Vega-Lite's grammar that the charts of a report need. Altair, which knows all of it,
takes longer to be imported than all charts of a report take to be made; a test compares every specification with the
schema.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        """With channels such as `x` or `color`: a field (`"score:Q"`, or `channel` with options) or a constant."""
        added = {name: _checked(name, shown) for name, shown in channels.items()}
        return replace(self, channels={**self.channels, **added})

    def transform(self, **operation: Any) -> Layer:
        """With the rows changed before they are drawn, such as `filter="datum.score > 0"`."""
        return replace(self, transforms=(*self.transforms, operation))

    def calculate(self, name: str, formula: str) -> Layer:
        """With a field that is computed from others, in Vega's own language."""
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
