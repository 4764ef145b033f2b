"""How the comparisons were spread: times judged, and who met whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.core.wording import counted
from adjudge.report.charts import theme
from adjudge.report.charts.heatmap import draw_heatmap, show_where_wide
from adjudge.report.charts.scatter import draw_names, make_axes, place_names
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Section
from adjudge.report.sections.audits import audit_tables, is_relative

if TYPE_CHECKING:
    from adjudge.results.rank import Ranking
    from adjudge.results.report import PairResults

TIMES_HEIGHT = 340
_SHADES = (theme.HEAT[3], theme.HEAT[4], theme.HEAT[5], theme.HEAT[6])


def opponents_section(results: PairResults) -> Section | None:
    """Shown for relative judgments, where an unequal spread can bend a ranking."""
    ranking = results.ranking
    if not is_relative(ranking):
        return None
    most = max(ranking.systems, key=lambda system: system.n)
    least = min(ranking.systems, key=lambda system: system.n)
    words = (
        (
            f"{most.system} was compared most often ({counted(most.n, 'time')}), {least.system} least often "
            f"({least.n:,}). Win ratios are fair only if all systems met the same opponents; Bradley-Terry takes "
            "the opponents' strength into account."
        ),
    )
    charts = (
        Chart("times", "Score against times judged", "Points on a slope: the sampling may favour some systems.",
              draw_times_judged(ranking, unit=ranking.unit)),
        Chart("opponents", "Comparisons of every pair",
              "A stronger blue: compared more often than the average pair; one shade throughout is an even spread.",
              draw_meetings(ranking)),
    )  # fmt: skip
    first, *others = audit_tables(results, "sampling", "composition") or (None,)
    tables = () if first is None else (first,)
    return Section(
        "opponents", "Who met whom", words, charts, tables, tuple(table for table in others if table is not None)
    )


def draw_meetings(ranking: Ranking) -> dict[str, Any]:
    """The number of comparisons of every pair, darker where it is larger than the average pair's."""
    meetings = {
        (comparison.better, comparison.worse): sum(
            int(comparison.numbers.get(name) or 0) for name in ("wins", "ties", "losses")
        )
        for comparison in ranking.comparisons
    }
    mean = sum(meetings.values()) / max(len(meetings), 1)
    cells = [
        {"row": row, "column": column, "comparisons": count, "ratio": count / mean if mean else 0}
        for (better, worse), count in meetings.items()
        for row, column in ((better, worse), (worse, better))
    ]
    scale = dict(type="threshold", domain=[0.5, 1.25, 2], range=list(_SHADES))
    return draw_heatmap(
        cells,
        ranking.order,
        (show_where_wide(ranking.order, 34, 11), channel("comparisons:Q")),
        title="met",
        row_height=28,
        colour=channel("ratio:Q", scale=scale, legend=None),
        tooltip=[
            channel("row:N", title="system"),
            channel("column:N", title="met"),
            channel("comparisons:Q"),
            channel("ratio:Q", title="against the average pair", format=".2f"),
        ],
    )


def draw_times_judged(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """One point per system, its name beside it. Human translations, far above, would hide the rest."""
    rows = [
        {"name": system.system, "y": system.score, "x": system.n}
        for system in ranking.systems
        if not system.human and system.score is not None
    ]
    x, y = make_axes(rows, "comparisons", unit)
    base = Layer(place_names(rows, TIMES_HEIGHT))
    points = base.mark("point", filled=True, size=60, opacity=1, color=theme.ACCENT).encode(
        x=x,
        y=y,
        tooltip=[
            channel("name:N", title="system"),
            channel("x:Q", title="comparisons"),
            channel("y:Q", title="score", format=".3f"),
        ],
    )
    return theme.finish(*draw_names(base, x, y), points, height=TIMES_HEIGHT)
