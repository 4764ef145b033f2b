"""Quality estimation against post-edits: the weight sweep, the systems, the costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.core.wording import counted
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Fact, Section

if TYPE_CHECKING:
    from adjudge.report.page import Tone
    from adjudge.results.qe import QualityEstimation

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
    facts = [
        Fact(
            "Documents",
            f"{len(result.documents):,}",
            counted(sum(document.words for document in result.documents), "word"),
        ),
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
    colours = [theme.SERIES[i % len(theme.SERIES)] for i in range(len(names))]
    dashes = [list(_DASHES[(i + i // len(theme.SERIES)) % len(_DASHES)]) for i in range(len(names))]
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
        .mark("rule", color=theme.INK, strokeDash=[4, 4], strokeWidth=1.5)
        .encode(x=x, tooltip=[channel("weight:Q", title="chosen weight", format="g")])
    )
    return theme.finish(lines, chosen, height=320)
