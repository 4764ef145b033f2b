"""A gold standard from people's scores, and how far a second run repeats it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adjudge.core.wording import agreeing, counted
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Fact, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.gold import CurvePoint, Gold

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
    facts = [
        Fact(
            _short(run.name),
            counted(run.judgments, "judgment"),
            f"by {run.kept:,} of {counted(run.annotators, 'annotator')}",
        )
        for run in gold.runs
    ]
    if gold.correlation is not None:
        low, high = gold.correlation.interval
        facts.insert(
            0, Fact("Replication", f"{gold.correlation.pearson:.3f}", f"r; 95% between {low:.3f} and {high:.3f}")
        )
    return tuple(facts)


def _short(name: str) -> str:
    """The last part of a path: runs are named after their files."""
    return name.rstrip("/").rpartition("/")[2]


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
    return theme.finish(_band(points, x), _lines(points, x), height=300)


def _band(points: Sequence[CurvePoint], x: Any) -> Any:
    bands = [
        {
            "judgments": point.mean,
            "assignments": point.assignments,
            "low": point.random_low,
            "high": point.random_high,
        }
        for point in points
        if point.random_low is not None
    ]
    return (
        Layer(bands)
        .mark("area", color=theme.MUTED, opacity=0.2)
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
                scale=dict(domain=[_SUBMITTED, _RANDOM], range=[theme.ACCENT, theme.MUTED]),
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
