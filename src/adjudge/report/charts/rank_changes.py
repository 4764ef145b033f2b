"""How ranks change from one ranking to another: one line per system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        axis=theme.slanted_axis(names),
    )
    y = channel(
        "place:Q",
        scale=dict(domain=[0.5, len(systems) + 0.5], reverse=True, nice=False, zero=False),
        title=None,
        axis=theme.axis_of_names(systems),
    )
    colour = channel("moved:N", scale=dict(domain=["yes", "no"], range=[theme.ACCENT, theme.MUTED]), legend=None)
    base = Layer(rows).encode(x=x, y=y, detail="system:N", color=colour)
    lines = base.mark("line", strokeWidth=2, opacity=0.6)
    points = base.mark("point", filled=True, size=60, opacity=1).encode(
        tooltip=[channel("system:N"), channel("ranking:N"), channel("place:Q")]
    )
    layers = [lines, points, *_ends(positions, clusters or {}, x, y)]
    return theme.finish(*layers, height=ROW_HEIGHT * max(len(systems), 4))


def _positions(order: Sequence[str], systems: Sequence[str]) -> dict[str, int]:
    """The places that a ranking fills: all but those of the systems it lacks, in their order in the first ranking."""
    empty = {i for i, system in enumerate(systems, start=1) if system not in order}
    free = [i for i in range(1, len(systems) + 1) if i not in empty]
    return dict(zip(order, free, strict=True))


def _rows(positions: Mapping[str, Mapping[str, int]], systems: Sequence[str]) -> list[dict[str, Any]]:
    held = {system: {places[system] for places in positions.values() if system in places} for system in systems}
    return [
        {
            "system": system,
            "ranking": name,
            "place": filled[system],
            "moved": "yes" if len(held[system]) > 1 else "no",
        }
        for system in systems
        for name, filled in positions.items()
        if system in filled
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
    bars = Layer(rows).mark("tick", color=theme.INK, thickness=2.5, size=26, orient="horizontal")
    return [bars.encode(x=x, y=y, tooltip=[channel("says:N", title=" "), channel("ranking:N", title="  ")])]
