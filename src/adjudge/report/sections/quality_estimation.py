"""Quality estimation against post-edits: the weight sweep, the systems, the costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.weight_sweep import weight_sweep
from adjudge.report.page import Chart, Fact, Section

if TYPE_CHECKING:
    from adjudge.report.page import Tone
    from adjudge.results.qe import QualityEstimation


def qe_headline(result: QualityEstimation) -> str:
    """Whether the weight decides who is best."""
    if not result.systems:
        return f"{len(result.documents):,} documents have a label from their post-edits."
    if result.order_changes:
        return "The ranking of systems depends on the weight of the second post-edition."
    return "The ranking of systems is the same at every weight of the second post-edition."


def qe_facts(result: QualityEstimation) -> tuple[Fact, ...]:
    """Documents, the weight, rankings along the sweep, costs."""
    facts = [
        Fact("Documents", f"{len(result.documents):,}", f"{sum(one.words for one in result.documents):,} words"),
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
    chart = Chart("sweep", "Correlation of every system against the weight", says, weight_sweep(result))
    words = (
        "The label of a document is its edit rate in the first post-edition plus a weight times that in the second.",
        "Nothing about translation says what the weight should be: a ranking that changes with it ranks the weight.",
    )
    first, *rest = tables
    return (Section("sweep", "Weight sweep", words, (chart,), (first,), tuple(rest)), shown)
