"""Every pair of systems: who beat whom, how often, and whether chance could have done it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.evidence.verdict import say_apart_in_table, told_apart
from adjudge.report.charts import theme
from adjudge.report.charts.heatmap import draw_heatmap, show_where_wide
from adjudge.report.charts.vega import channel
from adjudge.report.page import Chart, Section
from adjudge.report.sections.audits import audit_tables

if TYPE_CHECKING:
    from adjudge.results.rank import PairComparison, Ranking
    from adjudge.results.report import PairResults

STEPS = (0.25, 0.35, 0.45, 0.55, 0.65, 0.75)
# What a cell of the chart is, by the kind of judgments.
_CELL = {
    "relative": "A cell is the percentage of comparisons that the row's system won against the column's, ties left "
    "out; a dot marks pairs that all judgments together tell apart.",
    "scores": "A cell is the row's score minus the column's; a dot marks pairs that are told apart.",
}
# How sure it is that the row's system is worse, or better, than the column's.
_EVIDENCE = ("worse", "perhaps worse", "open", "perhaps better", "better")
_COLOURS = (theme.HEAT[0], theme.HEAT[2], theme.HEAT[3], theme.HEAT[4], theme.HEAT[6])


def pairs_section(results: PairResults) -> Section:
    """A heat map, of wins where the method counts them, and the table of pairs."""
    ranking = results.ranking
    told = say_apart_in_table(len(told_apart(ranking)), len(ranking.comparisons))
    return Section(
        "pairs",
        "Pairs of systems",
        (told, _CELL[ranking.kind]),
        (pairs_chart(ranking),),
        folded=(ranking.comparison_table(), *audit_tables(results, "discrepancies", "sole_winners")),
    )


def pairs_chart(ranking: Ranking) -> Chart:
    """Who beats whom where systems were compared, differences of scores otherwise."""
    if ranking.kind == "relative":
        says = "Blue: the row's system wins more often; orange: it loses more often."
        return Chart("pairs", "Who beats whom", says, draw_wins(ranking))
    says = "Blue: the row's system is better; orange: worse; weak colours: told apart only without Holm's correction."
    return Chart("pairs", "Differences", says, draw_differences(ranking, unit=ranking.unit))


def draw_wins(ranking: Ranking) -> dict[str, Any]:
    """Share of the pair's decided comparisons that the row's system won; a dot marks pairs told apart (Holm)."""
    level = ranking.lines.level
    cells = [cell for comparison in ranking.comparisons for cell in _share_cells(comparison, level)]
    return draw_heatmap(
        cells,
        ranking.order,
        (show_where_wide(ranking.order, 34, 12), channel("label:N")),
        (show_where_wide(ranking.order, 34, 10, narrow=True), channel("dot:N")),
        title="against",
        colour=channel(
            "share:Q",
            title="share won",
            scale=dict(type="threshold", domain=list(STEPS), range=list(theme.HEAT)),
            legend=None,
        ),
        tooltip=[
            channel("row:N", title="system"),
            channel("column:N", title="against"),
            channel("share:Q", title="share won", format=".1%"),
            channel("wins:Q"),
            channel("ties:Q"),
            channel("losses:Q"),
            channel("p:N", title="p (Holm)"),
        ],
    )


def _share_cells(comparison: PairComparison, level: float) -> list[dict[str, Any]]:
    wins, losses = comparison.numbers.get("wins") or 0, comparison.numbers.get("losses") or 0
    decided = wins + losses
    if not decided:
        return []
    apart = comparison.p_holm is not None and comparison.p_holm < level
    common: dict[str, Any] = {"ties": comparison.numbers.get("ties"), "p": theme.p_text(comparison.p_holm)}
    common["dot"] = "•" if apart else ""

    def cell(row: str, column: str, won: float, lost: float) -> dict[str, Any]:
        share = won / decided
        label = _percent(share) + common["dot"]
        return {"row": row, "column": column, "share": share, "wins": won, "losses": lost, "label": label, **common}

    return [
        cell(comparison.better, comparison.worse, wins, losses),
        cell(comparison.worse, comparison.better, losses, wins),
    ]


def _percent(share: float) -> str:
    """Whole percents; 0 and 100 only where it is exactly so."""
    if 0 < share < 0.005:
        return "<1"
    return ">99" if 0.995 <= share < 1 else f"{100 * share:.0f}"


def draw_differences(ranking: Ranking, *, unit: str) -> dict[str, Any]:
    """Row minus column; strong colours are told apart after Holm's correction, weak ones only before it."""
    cells = [cell for comparison in ranking.comparisons for cell in _difference_cells(comparison, ranking.lines.level)]
    return draw_heatmap(
        cells,
        ranking.order,
        (show_where_wide(ranking.order, 40, 11), channel("label:N")),
        # Where cells are too narrow for numbers, dots alone mark the pairs that are told apart.
        (show_where_wide(ranking.order, 40, 10, narrow=True), channel("dot:N")),
        title="against",
        colour=channel("evidence:N", legend=None, scale=dict(domain=list(_EVIDENCE), range=list(_COLOURS))),
        tooltip=[
            channel("row:N", title="system"),
            channel("column:N", title="against"),
            channel("difference:Q", title=unit, format="+.2f"),
            channel("p:N", title="p (Holm)"),
            channel("evidence:N"),
        ],
    )


def _difference_cells(comparison: PairComparison, level: float) -> list[dict[str, Any]]:
    if comparison.difference is None:
        return []
    step = (
        2
        if comparison.p_holm is not None and comparison.p_holm < level
        else 1
        if comparison.p is not None and comparison.p < level
        else 0
    )
    common = {"p": theme.p_text(comparison.p_holm), "dot": "•" if step == len(_EVIDENCE) // 2 else ""}

    def cell(row: str, column: str, difference: float, evidence: str) -> dict[str, Any]:
        shown = (f"{difference:+.1f}" if abs(difference) >= 1 else f"{difference:+.2f}") + common["dot"]
        return {"row": row, "column": column, "difference": difference, "label": shown, "evidence": evidence, **common}

    return [
        cell(comparison.better, comparison.worse, comparison.difference, _EVIDENCE[2 + step]),
        cell(comparison.worse, comparison.better, -comparison.difference, _EVIDENCE[2 - step]),
    ]
