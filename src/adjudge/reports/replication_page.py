"""The page about a paper: its figures drawn again, its tables cell by cell, and what the data do not allow.

A tournament is drawn as an order of systems with the leads it violates: arcs from a winner up to the system above it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from adjudge.papers.figures import Bars, Curves, Matrix, PaperFigure, PlacesOfSystems, Scatter, TournamentOrder
from adjudge.papers.replicate import CellCount, ReplicatedTable, Replication, Source, State
from adjudge.reports import drawing
from adjudge.reports.charts import draw_bars, draw_curves, draw_matrix, draw_places, draw_scatter
from adjudge.reports.drawing import Drawing, Frame, Names, Numbers
from adjudge.reports.page import Chart, Fact, PairPage, ReportPage, Section, explain

if TYPE_CHECKING:
    from adjudge.papers.figures import Basis, ViolatedLead

GUIDE = explain(
    {
        "Matches": "The recomputed number, rounded to the digits that are printed, is the printed one. A half may go "
        "either way.",
        "Differs": "Both numbers are about the same data and are not the same; the note gives the reason.",
        "Follows from print": "The number is a sum or a share of other printed numbers and agrees with them. No data "
        "stand behind that.",
        "Not released": "The data behind a number were never published, so that nobody can recompute it.",
        "Other data": "The recomputed number is about other campaigns than the paper's, so it need not be the same.",
        "Published in": "Where the published number stands: in the paper, in files that its authors released, or in "
        "files that the organisers of a campaign released. They are counted apart.",
    }
)
# A table with more cells than this is shown on request.
SHORT = 16
_DEVIATIONS = (-10.0, -6.0, -2.0, 2.0, 6.0, 10.0)
_OTHER_BASES: tuple[Basis, ...] = ("other data", "simulated data")
_FACTS = {
    Source.PAPER: "Cells of the paper",
    Source.AUTHORS: "Cells of the authors' files",
    Source.ORGANISERS: "Cells of organisers' files",
}
ROW_HEIGHT = 24
_POINTS = 24


def build_replication_page(result: Replication, *, title: str) -> ReportPage:
    """The page data of one paper."""
    sections = [_figure(figure, i) for i, figure in enumerate(result.figures, start=1)]
    sections.append(Section("tables", "Cells, table by table", tables=(result.summary(),)))
    sections += [_table(table, i) for i, table in enumerate(result.replicated, start=1)]
    if result.not_recomputed:
        sections.append(Section("left-out", "What is left out", tables=(result.left_out(),)))
    first, words, facts = _headline(result), (result.paper,), _facts(result)
    page = PairPage.about(result, tuple(sections), name=title, slug="paper", headline=first, words=words, facts=facts)
    return ReportPage(title=title, pairs=(page,), guide=GUIDE)


def _headline(result: Replication) -> str:
    count = result.counts().get(Source.PAPER)
    if count is None or not count.compared:
        return "No number of the paper can be compared with the data at hand."
    return f"{count.words()} numbers of the paper that the data allow to compare come out as printed."


def _facts(result: Replication) -> tuple[Fact, ...]:
    counts = result.counts()
    facts = [Fact(label, counts[source].words(), _detail(counts[source])) for source, label in _FACTS.items()
             if source in counts]  # fmt: skip
    drawn = [figure for figure in result.figures if figure.basis == "the paper's data"]
    bases = [figure.basis for figure in result.figures]
    others = [f"{bases.count(basis)} from {basis}" for basis in _OTHER_BASES if basis in bases]
    facts.append(Fact("Figures drawn", str(len(drawn)), ", ".join(["from the paper's data", *others])))
    return tuple(facts)


def _detail(count: CellCount) -> str:
    others = count.cells - count.compared - count.from_print - count.not_released
    parts = {"follow from print": count.from_print, "not released": count.not_released, "not compared": others}
    return ", ".join(["match", *(f"{number:,} {what}" for what, number in parts.items() if number)])


def _table(table: ReplicatedTable, number: int) -> Section:
    """Cells that differ are shown; a long table is folded."""
    whole = table.as_table()
    short = len(table.cells) <= SHORT
    differing = [cell for cell in table.cells if cell.state is State.DIFFERS]
    words = [f"{cell.name}: {cell.note}." for cell in differing if cell.note and not short]
    shown, folded = ((whole,), ()) if short else ((), (whole,))
    return Section(f"table-{number}", table.heading, tuple(words), tables=shown, folded=folded)


def _figure(figure: PaperFigure, number: int) -> Section:
    notes = (figure.note,) if figure.note else ()
    basis = f"Drawn from {figure.basis}."
    drawn = figure_charts(figure)
    if len(drawn) == 1:
        chart = Chart(f"figure-{number}", figure.title, figure.says, next(iter(drawn.values())))
        return Section(f"figure-{number}", figure.number_and_page, (basis,), (chart,), notes=notes)
    charts = tuple(
        Chart(f"figure-{number}-{i}", panel, _say_panel(figure, panel), chart)
        for i, (panel, chart) in enumerate(drawn.items(), start=1)
    )
    return Section(f"figure-{number}", figure.heading, (figure.says, basis), charts, notes=notes)


def _say_panel(figure: PaperFigure, panel: str) -> str:
    """The numbers of one panel: all bars, or the ends of all lines."""
    if isinstance(figure, Bars):
        rows: dict[str, list[str]] = {}
        for bar in figure.bars:
            if bar.panel == panel:
                rows.setdefault(bar.row, []).append(f"{bar.value:.{figure.decimals}f}")
        numbers = "; ".join(f"{row} {' → '.join(values)}" for row, values in rows.items())
        return f"{figure.x}: {numbers}."
    assert isinstance(figure, Curves)
    number = ".0%" if figure.share else ".2f"
    ends = [
        f"{curve.name} {_round(curve.points[0].y):{number}} → {_round(curve.points[-1].y):{number}}"
        for curve in figure.curves
        if curve.panel == panel and curve.points
    ]
    return f"From the left to the right end: {'; '.join(ends)}."


def _round(value: float) -> float:
    """Round to two decimals, without the sign of a negative zero."""
    return round(value, 2) + 0.0


def replication_charts(result: Replication) -> dict[str, Drawing]:
    """The charts of all figures by name."""
    return {
        f"{figure.figure.lower()}{f', {name}' if name else ''}": chart
        for figure in result.figures
        for name, chart in figure_charts(figure).items()
    }


def figure_charts(figure: PaperFigure) -> dict[str, Drawing]:
    """The charts of a figure by panel; one without panels has an empty name."""
    if isinstance(figure, Scatter):
        return {"": draw_scatter(figure)}
    if isinstance(figure, Curves):
        return {panel: draw_curves(figure, panel) for panel in dict.fromkeys(curve.panel for curve in figure.curves)}
    if isinstance(figure, Bars):
        return {panel: draw_bars(figure, panel) for panel in dict.fromkeys(bar.panel for bar in figure.bars)}
    if isinstance(figure, PlacesOfSystems):
        orders = {ranking.name: ranking.order for ranking in figure.rankings}
        return {"": draw_places(orders, clusters={ranking.name: ranking.clusters for ranking in figure.rankings})}
    if isinstance(figure, TournamentOrder):
        return {"": draw_tournament(figure)}
    assert isinstance(figure, Matrix)
    return {"": _matrix(figure)}


def _matrix(figure: Matrix) -> Drawing:
    values = sorted(value for row in figure.cells for value in row if value is not None)
    if figure.middle is None:
        steps = [values[len(values) * i // 4] for i in (1, 2, 3)]
    else:
        steps = [figure.middle + deviation for deviation in _DEVIATIONS]
    return draw_matrix(
        figure.rows, figure.columns, figure.cells, steps=steps, what=figure.what, number=".0f", row_height=20
    )


def draw_tournament(figure: TournamentOrder) -> Drawing:
    """The best system at the top; wider arcs are larger leads."""
    place = {name: i for i, name in enumerate(figure.order)}
    frame = Frame(Numbers(-0.02, 1.04, at=(-1.0,)), Names(figure.order), ROW_HEIGHT * max(len(place), 2))
    longest = max((place[lead.winner] - place[lead.loser] for lead in figure.leads), default=1)
    widest = max((lead.weight for lead in figure.leads), default=1.0)
    for lead in figure.leads:
        with frame.mark({" ": f"{lead.winner} beats {lead.loser}", "lead": f"{lead.weight:g}"}):
            points = [(frame.x(reach), frame.y(at)) for reach, at in _arc(lead, place, longest)]
            frame.line(points, drawing.WARN, 0.5 + 4.5 * lead.weight / widest, stroke_opacity="0.75")
    for name in figure.order:
        with frame.mark({" ": name, "  ": _standing(name, figure)}, name):
            frame.point(frame.x(0.0), frame.y(name), "circle", 4, fill=drawing.ACCENT)
    return frame.finish()


def _standing(name: str, figure: TournamentOrder) -> str:
    beaten = [f"{lead.loser} by {lead.weight:g}" for lead in figure.leads if lead.winner == name]
    return f"beats {', '.join(beaten)} above it" if beaten else "beats nobody above it"


def _arc(lead: ViolatedLead, place: dict[str, int], longest: int) -> list[tuple[float, float]]:
    """Half an ellipse whose reach grows with the distance of the two systems."""
    low, high = place[lead.winner], place[lead.loser]
    reach = math.sqrt((low - high) / longest)
    turns = [math.pi * step / _POINTS for step in range(_POINTS + 1)]
    return [(reach * math.sin(turn), (low + high) / 2 + (low - high) / 2 * math.cos(turn)) for turn in turns]
