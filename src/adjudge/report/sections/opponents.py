"""How the comparisons were spread: times judged, and who met whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.opponents import opponents
from adjudge.report.charts.times_judged import times_judged
from adjudge.report.page import Chart, Section
from adjudge.report.sections.audits import WITH_OPPONENTS, audit_tables, is_relative

if TYPE_CHECKING:
    from adjudge.results.report import PairResults


def opponents_section(results: PairResults) -> Section | None:
    """Shown for relative judgments, where an unequal spread can bend a ranking."""
    ranking = results.ranking
    if not is_relative(ranking):
        return None
    most = max(ranking.systems, key=lambda one: one.n)
    least = min(ranking.systems, key=lambda one: one.n)
    words = (
        (
            f"{most.system} was compared most often ({most.n:,} times), {least.system} least often ({least.n:,}). "
            "Shares of wins are fair only where everybody met everybody alike; Bradley-Terry takes the opponents' "
            "strength into account."
        ),
    )
    charts = (
        Chart("times", "Score against times judged", "Points on a slope: the sampling may favour some systems.",
              times_judged(ranking, unit=ranking.unit)),
        Chart("opponents", "Comparisons of every pair",
              "Darker pairs were compared more often than the average pair; one shade throughout is an even spread.",
              opponents(ranking)),
    )  # fmt: skip
    first, *rest = audit_tables(results, *WITH_OPPONENTS) or (None,)
    tables = () if first is None else (first,)
    return Section("opponents", "Who met whom", words, charts, tables, tuple(one for one in rest if one is not None))
