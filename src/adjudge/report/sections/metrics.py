"""Metrics against human scores: how well each follows them, and which is better than which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.metric_wins import metric_wins
from adjudge.report.page import Chart, Fact, Section
from adjudge.report.words import counted, listed

if TYPE_CHECKING:
    from adjudge.results.meta import MetaEvaluation
    from adjudge.results.table import Table

# The test that a level's clusters are made by.
_TESTS = {"system": "williams", "segment": "permutation of tie-calibrated accuracy by item"}


def meta_headline(result: MetaEvaluation) -> str:
    """Which metrics lead, at the finest level that there is."""
    level = "segment" if "segment" in result.clusters else "system"
    if len(result.metrics) == 1:
        ((name, levels),) = result.metrics.items()
        return f"{name} against {levels[level].n:,} human scores of {level}s."
    first = result.clusters[level][0]
    if len(first) == len(result.metrics) and len(first) > 1:
        return f"The data cannot tell the metrics apart at {level} level."
    what = "is" if len(first) == 1 else "are"
    return f"{listed(list(first))} {what} best at {level} level."


def meta_facts(result: MetaEvaluation) -> tuple[Fact, ...]:
    """How many metrics, how many clusters, which systems stand out."""
    levels = result.levels
    facts = [Fact("Metrics", f"{len(result.metrics):,}", f"at {listed(list(levels))} level")]
    facts += [
        Fact(f"Clusters, {name}", f"{len(found):,}", "separated after Holm") for name, found in result.clusters.items()
    ]
    if result.outliers:
        facts.append(
            Fact("Outlier systems", counted(len(result.outliers), "system"), listed(list(result.outliers)), "warning")
        )
    return tuple(facts)


def meta_sections(result: MetaEvaluation) -> tuple[Section, ...]:
    """One section per level; then what becomes of the metrics when the human data change."""
    tables = {table.title: table for table in result.tables()}
    found = [_level(result, level, tables.pop(f"Metrics at {level} level")) for level in result.levels]
    rest = tuple(tables.values())
    if rest:
        found.append(
            Section(
                "tests",
                "Tests and changes",
                ("Every test of every pair, and what changes to the human data do.",),
                folded=rest,
            )
        )
    return tuple(found)


def _level(result: MetaEvaluation, level: str, table: Table) -> Section:
    order = [str(row[0]) for row in table.rows]
    test = _TESTS.get(level)
    compared = [one for one in result.comparisons if one.level == level and one.test == test]
    charts: tuple[Chart, ...] = ()
    if compared and test is not None:
        if level in result.clusters:
            order = [name for cluster in result.clusters[level] for name in cluster]
        says = f"Numbers are p-values after Holm's correction, by {_in_words(test)}."
        if any(one.one_sided for one in compared):
            says += " They are one-sided, in the direction seen; two metrics count as told apart below .025."
        charts = (Chart(f"wins-{level}", "Which metric is better than which", says, metric_wins(compared, order)),)
    slug = level.replace(" ", "-")
    return Section(slug, f"{level.capitalize()} level", charts=charts, tables=(table,))


def _in_words(test: str) -> str:
    return "Williams' test" if test == "williams" else test
