"""A gold standard from people's scores, and how far a second run repeats it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.curve import curve
from adjudge.report.page import Chart, Fact, Section

if TYPE_CHECKING:
    from adjudge.results.gold import Gold


def gold_headline(gold: Gold) -> str:
    """What the page says first."""
    if gold.correlation is None:
        return f"{len(gold.scores):,} {gold.level} have a human score."
    found = gold.correlation
    return f"The second run repeats the first with r = {found.pearson:.3f} over {found.n:,} {gold.level}."


def gold_facts(gold: Gold) -> tuple[Fact, ...]:
    """Runs and judgments."""
    facts = [
        Fact(_short(run.name), f"{run.judgments:,} judgments", f"by {run.kept:,} of {run.annotators:,} annotators")
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
        "One order of assignments wiggles by luck; the band holds 95% of random orders.",
    )
    last = gold.curve[-1]
    says = f"With all {last.assignments} assignments, {last.mean:.0f} judgments per document, it is at its end."
    if last.pearson is not None:
        says = (
            f"With all {last.assignments} assignments, {last.mean:.0f} judgments per document, r is {last.pearson:.3f}."
        )
    chart = Chart("curve", "Correlation as the second run grows", says, curve(gold.curve))
    return (Section("replication", "Replication", words, (chart,), tuple(first)), shown)
