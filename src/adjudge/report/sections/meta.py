"""Metrics against human scores: how well each follows them, and which is better than which."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adjudge.core.wording import counted, short_list
from adjudge.evidence.verdict import say_best_metric
from adjudge.report.charts import theme
from adjudge.report.charts.heatmap import draw_heatmap, show_where_wide
from adjudge.report.charts.vega import channel
from adjudge.report.page import Chart, Fact, Section
from adjudge.results.meta import CLUSTERED_BY, DECIDED, SEPARATED, level_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.meta import MetaEvaluation, MetricComparison
    from adjudge.results.table import Table

_WINS, _OPEN, _LOSES = "better", "not told apart", "worse"
_SIGNS = {_WINS: "+", _OPEN: "", _LOSES: "−"}


def meta_headline(result: MetaEvaluation) -> str:
    """Which metrics lead, at the finest level that there is."""
    level = next(level for level in ("segment", DECIDED, "system") if level in result.clusters)
    if len(result.metrics) == 1:
        ((name, levels),) = result.metrics.items()
        what = level if level == DECIDED else f"human scores of {level}s"
        return f"{name} against {levels[level].n:,} {what}."
    where = f"on {level}" if level == DECIDED else f"at {level} level"
    return say_best_metric(result.leaders(level), len(result.metrics), where)


def meta_facts(result: MetaEvaluation) -> tuple[Fact, ...]:
    """How many metrics, how many clusters, which systems stand out."""
    levels = result.levels
    facts = [Fact("Metrics", f"{len(result.metrics):,}", f"at {short_list(list(levels))} level")]
    facts += [
        Fact(f"Clusters, {name}", f"{len(clusters):,}", "separated after Holm")
        for name, clusters in result.clusters.items()
    ]
    if result.outliers:
        facts.append(
            Fact(
                "Outlier systems", counted(len(result.outliers), "system"), short_list(list(result.outliers)), "warning"
            )
        )
    return tuple(facts)


def meta_sections(result: MetaEvaluation) -> tuple[Section, ...]:
    """One section per level; then what becomes of the metrics when the human data change."""
    tables = {table.title: table for table in result.tables()}
    sections = [_level(result, level, tables.pop(level_title(level))) for level in result.levels]
    others = tuple(tables.values())
    if others:
        sections.append(
            Section(
                "tests",
                "Tests and changes",
                ("Every test of every pair, and what changes to the human data do.",),
                folded=others,
            )
        )
    return tuple(sections)


def _level(result: MetaEvaluation, level: str, table: Table) -> Section:
    order = [str(row[0]) for row in table.rows]
    slug = level.replace(" ", "-")
    test = CLUSTERED_BY.get(level)
    compared = [
        comparison for comparison in result.comparisons if comparison.level == level and comparison.test == test
    ]
    charts: tuple[Chart, ...] = ()
    if compared and test is not None:
        if level in result.clusters:
            order = [name for cluster in result.clusters[level] for name in cluster]
        says = f"Numbers are p-values after Holm's correction, by {_in_words(test)}."
        if any(comparison.one_sided for comparison in compared):
            says += " They are one-sided, in the direction seen; two metrics count as told apart below .025."
        charts = (Chart(f"wins-{slug}", "Which metric is better than which", says, draw_metric_wins(compared, order)),)
    title = level.capitalize() if level in (SEPARATED, DECIDED) else f"{level.capitalize()} level"
    return Section(slug, title, charts=charts, tables=(table,))


def _in_words(test: str) -> str:
    return "Williams' test" if test == "williams" else test


def draw_metric_wins(comparisons: Sequence[MetricComparison], order: Sequence[str]) -> dict[str, Any]:
    """Blue where the row is significantly better than the column (Holm), orange where it is worse."""
    cells = [cell for comparison in comparisons for cell in _cells(comparison)]
    colours = [theme.HEAT[6], theme.HEAT[3], theme.HEAT[0]]
    return draw_heatmap(
        cells,
        order,
        (show_where_wide(order, 40, 11), channel("p:N")),
        # Where numbers do not fit, signs say what the colours say.
        (show_where_wide(order, 40, 12, narrow=True), channel("sign:N")),
        title="against",
        colour=channel("verdict:N", title="the row is", scale=dict(domain=[_WINS, _OPEN, _LOSES], range=colours)),
        tooltip=[
            channel("row:N", title="metric"),
            channel("column:N", title="against"),
            channel("difference:Q", format="+.3f"),
            channel("p:N", title="p (Holm)"),
        ],
    )


def _cells(comparison: MetricComparison) -> list[dict[str, Any]]:
    common = {"p": theme.p_text(comparison.p_holm)}
    up, down = (_WINS, _LOSES) if comparison.told_apart else (_OPEN, _OPEN)
    known = math.isfinite(comparison.difference)
    ahead, behind = (comparison.difference, -comparison.difference) if known else (None, None)
    pairs = ((comparison.better, comparison.worse, up, ahead), (comparison.worse, comparison.better, down, behind))
    return [
        {"row": row, "column": column, "verdict": verdict, "sign": _SIGNS[verdict], "difference": by, **common}
        for row, column, verdict, by in pairs
    ]
