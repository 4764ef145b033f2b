"""A gold standard from people's scores, and how far a second run repeats it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adjudge.evidence.verdict import say_best_metric
from adjudge.metrics.results import CLUSTERED_BY, DECIDED, SEPARATED, level_title
from adjudge.reports import chart_theme
from adjudge.reports.chart_theme import Layer, channel
from adjudge.reports.charts import draw_heatmap, show_where_wide
from adjudge.reports.page import Chart, Fact, Section, Tone
from adjudge.table.wording import agreeing, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.metrics.results import CurvePoint, Gold, MetaEvaluation, MetricComparison, QualityEstimation
    from adjudge.table.results import Table


_SUBMITTED, _RANDOM = "in the order submitted", "mean of random orders"


def gold_headline(gold: Gold) -> str:
    """What the page says first."""
    if gold.correlation is None:
        scored = counted(len(gold.scores), f"{gold.level.removesuffix('s')} has", f"{gold.level} have")
        return f"{scored} a human score."
    correlation = gold.correlation
    return f"The second run repeats the first with r = {correlation.pearson:.3f} over {correlation.n:,} {gold.level}."


def gold_facts(gold: Gold) -> tuple[Fact, ...]:
    """Runs and judgments."""
    facts = []
    for run in gold.runs:
        # Runs are named after their files.
        name = run.name.rstrip("/").rpartition("/")[2]
        by = f"by {run.kept:,} of {counted(run.annotators, 'annotator')}"
        facts.append(Fact(name, counted(run.judgments, "judgment"), by))
    if gold.correlation is not None:
        low, high = gold.correlation.interval
        facts.insert(
            0, Fact("Replication", f"{gold.correlation.pearson:.3f}", f"r; 95% between {low:.3f} and {high:.3f}")
        )
    return tuple(facts)


def gold_sections(gold: Gold) -> tuple[Section, ...]:
    """The replication with its curve where there are two runs; then the scores."""
    *first, scores = gold.tables()
    shown = Section("scores", f"Scores of {gold.level}", folded=(scores,))
    if not gold.curve:
        return (Section("runs", "Runs", tables=tuple(first)), shown)
    words = (
        "How well the scores of the second run follow those of the first as more assignments come in.",
        "A single order of assignments varies by chance; the band holds 95% of random orders.",
    )
    last = gold.curve[-1]
    every = agreeing(last.assignments, "the one assignment", f"all {last.assignments} assignments")
    reached = "it is at its end" if last.pearson is None else f"r is {last.pearson:.3f}"
    item = gold.level.removesuffix("s")
    says = f"With {every}, {counted(round(last.mean), 'judgment')} per {item}, {reached}."
    chart = Chart("curve", "Correlation as the second run grows", says, draw_curve(gold.curve, item))
    return (Section("replication", "Replication", words, (chart,), tuple(first)), shown)


def draw_curve(points: Sequence[CurvePoint], item: str) -> dict[str, Any]:
    """Pearson's r against judgments per document or segment; the band holds 95% of random orders.

    Where new items join late, their mean falls now and then, so that the curve is drawn over assignments.
    """
    rises = all(before.mean <= after.mean for before, after in pairwise(points))
    x = (
        channel("judgments:Q", title=f"judgments per {item}, on average")
        if rises
        else channel("assignments:Q", title="assignments of the second run")
    )
    return chart_theme.finish(_band(points, x), _lines(points, x), height=300)


def _band(points: Sequence[CurvePoint], x: Any) -> Any:
    bands = [
        {"judgments": one.mean, "assignments": one.assignments, "low": one.random_low, "high": one.random_high}
        for one in points
        if one.random_low is not None
    ]
    return (
        Layer(bands)
        .mark("area", color=chart_theme.MUTED, opacity=0.2)
        .encode(x=x, y=channel("low:Q", title="correlation of the two runs"), y2="high:Q")
    )


def _lines(points: Sequence[CurvePoint], x: Any) -> Any:
    rows = [
        {"judgments": point.mean, "r": value, "order": name, "fewest": point.fewest, "assignments": point.assignments}
        for point in points
        for name, value in ((_SUBMITTED, point.pearson), (_RANDOM, point.random_mean))
        if value is not None
    ]
    y = channel("r:Q", title="correlation of the two runs", scale=dict(zero=False))
    return (
        Layer(rows)
        .mark("line", strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=channel(
                "order:N",
                title=None,
                legend=dict(symbolType="stroke", symbolStrokeWidth=2.5),
                scale=dict(domain=[_SUBMITTED, _RANDOM], range=[chart_theme.ACCENT, chart_theme.MUTED]),
            ),
            tooltip=[
                channel("order:N"),
                channel("assignments:Q"),
                channel("fewest:Q", title="fewest judgments"),
                channel("judgments:Q", title="mean judgments", format=".1f"),
                channel("r:Q", format=".3f"),
            ],
        )
    )


# Metrics against human scores: how well each follows them, and which is better than which.

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
        named = short_list(list(result.outliers))
        facts.append(Fact("Outlier systems", counted(len(result.outliers), "system"), named, "warning"))
    return tuple(facts)


def meta_sections(result: MetaEvaluation) -> tuple[Section, ...]:
    """One section per level; then what becomes of the metrics when the human data change."""
    tables = {table.title: table for table in result.tables()}
    sections = [_level(result, level, tables.pop(level_title(level))) for level in result.levels]
    others = tuple(tables.values())
    if others:
        says = "Every test of every pair, and what changes to the human data do."
        sections.append(Section("tests", "Tests and changes", (says,), folded=others))
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
        named = "Williams' test" if test == "williams" else test
        says = f"Numbers are p-values after Holm's correction, by {named}."
        if any(comparison.one_sided for comparison in compared):
            says += " They are one-sided, in the direction seen; two metrics count as told apart below .025."
        charts = (Chart(f"wins-{slug}", "Which metric is better than which", says, draw_metric_wins(compared, order)),)
    title = level.capitalize() if level in (SEPARATED, DECIDED) else f"{level.capitalize()} level"
    return Section(slug, title, charts=charts, tables=(table,))


def draw_metric_wins(comparisons: Sequence[MetricComparison], order: Sequence[str]) -> dict[str, Any]:
    """Blue where the row is significantly better than the column (Holm), orange where it is worse."""
    cells = [cell for comparison in comparisons for cell in _cells(comparison)]
    colours = [chart_theme.HEAT[6], chart_theme.HEAT[3], chart_theme.HEAT[0]]
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
    common = {"p": chart_theme.p_text(comparison.p_holm)}
    up, down = (_WINS, _LOSES) if comparison.told_apart else (_OPEN, _OPEN)
    known = math.isfinite(comparison.difference)
    ahead, behind = (comparison.difference, -comparison.difference) if known else (None, None)
    pairs = ((comparison.better, comparison.worse, up, ahead), (comparison.worse, comparison.better, down, behind))
    return [
        {"row": row, "column": column, "verdict": verdict, "sign": _SIGNS[verdict], "difference": by, **common}
        for row, column, verdict, by in pairs
    ]


# Quality estimation against post-edits: the weight sweep, the systems, the costs.

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def qe_headline(result: QualityEstimation) -> str:
    """Whether the weight decides who is best."""
    if not result.systems:
        return f"{counted(len(result.documents), 'document has', 'documents have')} a label from post-edits."
    if result.order_changes:
        return "The ranking of systems depends on the weight of the second post-edition."
    return "The ranking of systems is the same at every weight of the second post-edition."


def qe_facts(result: QualityEstimation) -> tuple[Fact, ...]:
    """Documents, the weight, rankings along the sweep, costs."""
    words = counted(sum(document.words for document in result.documents), "word")
    facts = [
        Fact("Documents", f"{len(result.documents):,}", words),
        Fact("Weight", f"{result.weight.weight:g}", result.weight.reason),
    ]
    if result.systems:
        tone: Tone = "warning" if result.order_changes else "plain"
        facts.append(Fact("Rankings along the sweep", f"{len(result.orders):,}", "should be one", tone))
    if result.costs is not None:
        low, high = result.costs.times
        facts.append(Fact("Post-editing costs", f"{low:.0f} to {high:.0f} times", "what direct assessment costs"))
    return tuple(facts)


def qe_sections(result: QualityEstimation) -> tuple[Section, ...]:
    """The sweep where there are systems; then the labels."""
    *tables, labels = result.tables()
    shown = Section("labels", "Labels", tables=tuple(tables) if not result.systems else (), folded=(labels,))
    if not result.systems:
        return (shown,)
    says = f"The dashed upright line is the weight that was chosen, {result.weight.weight:g}."
    chart = Chart("sweep", "Correlation of every system against the weight", says, draw_weight_sweep(result))
    words = (
        "The label of a document is its edit rate in the first post-edition plus a weight times that in the second.",
        "Nothing about translation says what the weight should be: a ranking that changes with it ranks the weight.",
    )
    first, *others = tables
    return (Section("sweep", "Weight sweep", words, (chart,), (first,), tuple(others)), shown)


def draw_weight_sweep(result: QualityEstimation) -> dict[str, Any]:
    """One line per system; the upright line is the weight that was chosen."""
    names = [system.system for system in result.systems]
    rows = [
        {"weight": weight, "r": r, "system": system.system}
        for system in result.systems
        for weight, r in zip(result.weights, system.by_weight, strict=True)
        if r is not None
    ]
    x = channel("weight:Q", title="weight of TER(PE2, PE1)")
    # Lines differ by dash as well as by colour, so that more systems than colours can be told apart.
    colours = [chart_theme.SERIES[i % len(chart_theme.SERIES)] for i in range(len(names))]
    dashes = [list(_DASHES[(i + i // len(chart_theme.SERIES)) % len(_DASHES)]) for i in range(len(names))]
    legend = dict(symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=400)
    lines = (
        Layer(rows)
        .mark("line", strokeWidth=2)
        .encode(
            x=x,
            y=channel("r:Q", title="correlation with the label", scale=dict(zero=False)),
            color=channel("system:N", title=None, legend=legend, scale=dict(domain=names, range=colours)),
            strokeDash=channel("system:N", title=None, legend=legend, scale=dict(domain=names, range=dashes)),
            tooltip=[
                channel("system:N"),
                channel("weight:Q", format="g"),
                channel("r:Q", format=".3f"),
            ],
        )
    )
    chosen = (
        Layer([{"weight": result.weight.weight}])
        .mark("rule", color=chart_theme.INK, strokeDash=[4, 4], strokeWidth=1.5)
        .encode(x=x, tooltip=[channel("weight:Q", title="chosen weight", format="g")])
    )
    return chart_theme.finish(lines, chosen, height=320)
