"""A gold standard from people's scores, and how far a second run repeats it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from adjudge.evidence.verdict import say_best_metric
from adjudge.metrics.results import CLUSTERED_BY, DECIDED, SEPARATED, level_title
from adjudge.reports import drawing
from adjudge.reports.charts import series_styles
from adjudge.reports.drawing import Drawing, Frame, HeatCell, Names, Numbers, draw_cells
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


def draw_curve(points: Sequence[CurvePoint], item: str) -> Drawing:
    """Pearson's r against judgments per document or segment; the band holds 95% of random orders.

    Where new items join late, their mean falls now and then, so that the curve is drawn over assignments.
    """
    rises = all(before.mean <= after.mean for before, after in pairwise(points))
    title = f"judgments per {item}, on average" if rises else "assignments of the second run"
    at = {id(point): point.mean if rises else float(point.assignments) for point in points}
    known = [v for p in points for v in (p.pearson, p.random_mean, p.random_low, p.random_high) if v is not None]
    legend = [(_SUBMITTED, drawing.ACCENT, "line"), (_RANDOM, drawing.MUTED, "line")]
    scale = Numbers.around(known, "correlation of the two runs")
    frame = Frame(Numbers.around(list(at.values()), title, room=0.01), scale, 280, legend=legend)
    band = [(frame.x(at[id(p)]), p.random_low, p.random_high) for p in points]
    upper = [(x, frame.y(high)) for x, low, high in band if low is not None and high is not None]
    lower = [(x, frame.y(low)) for x, low, high in band if low is not None and high is not None]
    frame.area([*upper, *reversed(lower)], drawing.MUTED, 0.2)
    random = [(frame.x(at[id(p)]), frame.y(p.random_mean)) for p in points if p.random_mean is not None]
    frame.line(random, drawing.MUTED, 2.0)
    submitted = [(p, frame.x(at[id(p)]), frame.y(p.pearson)) for p in points if p.pearson is not None]
    frame.line([(x, y) for _, x, y in submitted], drawing.ACCENT, 2.0)
    for point, x, y in submitted:
        facts = {"assignments": f"{point.assignments:,}", "fewest judgments": f"{point.fewest:,}",
                 "mean judgments": f"{point.mean:.1f}", "r": f"{point.pearson:.3f}"}  # fmt: skip
        with frame.mark(facts):
            frame.point(x, y, "circle", 2.5, fill=drawing.ACCENT)
    return frame.finish()


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


def draw_metric_wins(comparisons: Sequence[MetricComparison], order: Sequence[str]) -> Drawing:
    """Blue where the row is significantly better than the column (Holm), orange where it is worse."""
    cells = [cell for comparison in comparisons for cell in _cells(comparison)]
    legend = [(f"the row is {verdict}" if not i else verdict, colour, "square")
              for i, (verdict, colour) in enumerate(_COLOURS.items())]  # fmt: skip
    names = tuple(order)
    axes = Names(names, systems=False), Names(names, "against", systems=False)
    return draw_cells(*axes, cells, legend=legend, letters=11)


_COLOURS = {_WINS: drawing.HEAT[6], _OPEN: drawing.HEAT[3], _LOSES: drawing.HEAT[0]}


def _cells(comparison: MetricComparison) -> list[HeatCell]:
    p = drawing.p_text(comparison.p_holm)
    up, down = (_WINS, _LOSES) if comparison.told_apart else (_OPEN, _OPEN)
    known = math.isfinite(comparison.difference)
    ahead, behind = (f"{by:+.3f}" if known else "" for by in (comparison.difference, -comparison.difference))
    pairs = ((comparison.better, comparison.worse, up, ahead), (comparison.worse, comparison.better, down, behind))
    # Where numbers do not fit, signs say what the colours say.
    return [
        HeatCell(row, column, _COLOURS[verdict], p, {"metric": row, "against": column, "the row is": verdict,
                 "difference": by, "p (Holm)": p}, _SIGNS[verdict])
        for row, column, verdict, by in pairs
    ]  # fmt: skip


# Quality estimation against post-edits: the weight sweep, the systems, the costs.


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


def draw_weight_sweep(result: QualityEstimation) -> Drawing:
    """One line per system; the upright line is the weight that was chosen."""
    styles = series_styles([system.system for system in result.systems])
    legend = [(name, colour, f"line{dash}") for name, (colour, dash) in styles.items()]
    known = [r for system in result.systems for r in system.by_weight if r is not None]
    x = Numbers.around([*result.weights, result.weight.weight], "weight of TER(PE2, PE1)", room=0.01)
    frame = Frame(x, Numbers.around(known, "correlation with the label"), 300, legend=legend)
    for system in result.systems:
        pairs = zip(result.weights, system.by_weight, strict=True)
        points = [(weight, r) for weight, r in pairs if r is not None]
        colour, dash = styles[system.system]
        ends = " to ".join(f"{r:.3f} at {weight:g}" for weight, r in (points[0], points[-1])) if points else ""
        with frame.mark({"system": system.system, "correlation": ends}, system.system):
            frame.line([(frame.x(weight), frame.y(r)) for weight, r in points], colour, 2.0, dash=dash)
    chosen = frame.x(result.weight.weight)
    with frame.mark({"chosen weight": f"{result.weight.weight:g}"}):
        frame.line([(chosen, frame.top), (chosen, frame.bottom)], drawing.INK, 1.5, dash="4 4")
    return frame.finish()
