"""An order of systems with the leads it violates: arcs from a winner up to the system that stands above it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from adjudge.results.figures import TournamentOrder, ViolatedLead

ROW_HEIGHT = 24
_POINTS = 48


def tournament_chart(figure: TournamentOrder) -> dict[str, Any]:
    """The best system at the top; wider arcs are larger leads."""
    import altair as alt

    place = {name: i + 1 for i, name in enumerate(figure.order)}
    count = len(figure.order)
    y = alt.Y(
        "place:Q",
        title=None,
        axis=theme.axis_of_names(figure.order),
        scale=alt.Scale(domain=[0.5, count + 0.5], reverse=True, nice=False, zero=False),
    )
    x = alt.X("reach:Q", axis=None, scale=alt.Scale(domain=[-0.02, 1.04], nice=False, zero=False))
    names = [{"name": name, "place": i, "reach": 0.0, "says": _standing(name, figure)} for name, i in place.items()]
    base = alt.Chart(theme.values(names)).encode(x=x, y=y)
    dots = base.mark_point(filled=True, size=40, opacity=1, color=theme.ACCENT).encode(
        tooltip=[alt.Tooltip("name:N", title=" "), alt.Tooltip("says:N", title="  ")]
    )
    layers = [dots]
    if figure.leads:
        longest = max(place[lead.winner] - place[lead.loser] for lead in figure.leads)
        rows = [row for lead in figure.leads for row in _arc(lead, place, longest)]
        widest = max(lead.weight for lead in figure.leads)
        arcs = alt.Chart(theme.values(rows)).mark_line(color=theme.WARN, opacity=0.75)
        width = alt.StrokeWidth("weight:Q", legend=None, scale=alt.Scale(domain=[0, widest], range=[0.5, 5]))
        tooltip = [alt.Tooltip("lead:N", title=" "), alt.Tooltip("weight:Q", title="lead")]
        layers.insert(0, arcs.encode(x=x, y=y, detail="lead:N", order="step:Q", strokeWidth=width, tooltip=tooltip))
    return theme.finish(alt.layer(*layers), height=ROW_HEIGHT * max(count, 4))


def _standing(name: str, figure: TournamentOrder) -> str:
    own = [f"{lead.loser} by {lead.weight:g}" for lead in figure.leads if lead.winner == name]
    return f"beats {', '.join(own)} above it" if own else "beats nobody above it"


def _arc(lead: ViolatedLead, place: dict[str, int], longest: int) -> list[dict[str, Any]]:
    """Half an ellipse whose reach grows with the distance of the two systems."""
    low, high = place[lead.winner], place[lead.loser]
    reach = math.sqrt((low - high) / longest)
    name = f"{lead.winner} beats {lead.loser}"
    return [
        {
            "lead": name,
            "weight": lead.weight,
            "step": step,
            "reach": round(reach * math.sin(math.pi * step / _POINTS), 4),
            "place": round((low + high) / 2 + (low - high) / 2 * math.cos(math.pi * step / _POINTS), 4),
        }
        for step in range(_POINTS + 1)
    ]
