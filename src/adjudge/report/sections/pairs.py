"""Every pair of systems: who beat whom, how often, and whether chance could have done it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.differences import differences
from adjudge.report.charts.heatmap import heatmap
from adjudge.report.page import Chart, Section
from adjudge.report.sections.audits import audit_tables, is_relative
from adjudge.report.words import pairs_told_apart

if TYPE_CHECKING:
    from adjudge.results.report import PairResults


def pairs_section(results: PairResults) -> Section:
    """A heat map, of wins where the method counts them, and the table of pairs."""
    ranking = results.ranking
    told, pairs = pairs_told_apart(ranking)
    words = [f"{told:,} of {pairs:,} pairs are told apart after Holm's correction for asking {pairs:,} questions."]
    charts = []
    if is_relative(ranking):
        words.append(
            "A cell is the percentage of comparisons that the row's system won against the column's, ties left out; "
            "a dot marks pairs that all judgments together tell apart."
        )
        says = "Blue: the row's system wins more often; orange: it loses more often."
        charts.append(Chart("pairs", "Who beats whom", says, heatmap(ranking)))
    else:
        words.append("A cell is the row's score minus the column's.")
        says = "Blue: the row's system is better; orange: worse; pale: told apart only without Holm's correction."
        charts.append(Chart("pairs", "Differences", says, differences(ranking, unit=ranking.unit)))
    return Section(
        "pairs",
        "Pairs of systems",
        tuple(words),
        tuple(charts),
        folded=(ranking.comparison_table(), *audit_tables(results, "discrepancies", "sole_winners")),
    )
