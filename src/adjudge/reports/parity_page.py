"""The page about human parity: the verdict on every system, and the change between two test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.evidence.verdict_human import NOT_TOLD_APART
from adjudge.reports import chart_theme
from adjudge.reports.chart_theme import Layer, channel
from adjudge.reports.page import Chart, Fact, PairPage, ReportPage, Section, explain
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.evidence.parity_results import Parity


GUIDE = explain(
    {
        "Parity share": "How often a system was judged at least as good as the human. Its interval says what other "
        "documents could show.",
        **dict([NOT_TOLD_APART]),
        "Change beyond untouched segments": "Correcting the source should change the verdict on corrected segments. If "
        "untouched segments change as much, something else did it.",
    }
)

ROW_HEIGHT = 34


def build_parity_page(results: Mapping[str, Parity], *, title: str) -> ReportPage:
    """The page data of one or several language pairs."""
    pages = tuple(_page(name, result, f"pair-{i}") for i, (name, result) in enumerate(results.items(), start=1))
    return ReportPage(title=title, pairs=pages, guide=GUIDE)


def _page(name: str, parity: Parity, slug: str) -> PairPage:
    what = "judgments" if parity.parts[0].human_mean_score is None else "segments"
    says = f"Share of {what} in which each system is at least as good as {parity.human}, with its 95% interval."
    chart = Chart("shares", "Parity shares", says, draw_parity_shares(parity))
    tables = parity.tables()
    headline, *further = parity.first_lines
    return PairPage.about(
        parity,
        (Section("parity", f"Against {parity.human}", charts=(chart,), tables=tables[:1], folded=tables[1:]),),
        name=name,
        slug=slug,
        headline=headline,
        words=(*further, *_changes(parity)),
        facts=_facts(parity),
    )


def _changes(parity: Parity) -> tuple[str, ...]:
    if parity.change is None:
        return ()
    drawn = f"by resampling {parity.change.units} {parity.change.unit}"
    return tuple(
        f"{change.system}: {100 * change.difference:+.1f} points of parity from before to after "
        f"(95% {100 * change.interval[0]:+.1f} to {100 * change.interval[1]:+.1f}, {drawn})."
        for change in parity.change.changes
        if change.part == "all" and change.measure == "parity_share"
    )


def _facts(parity: Parity) -> tuple[Fact, ...]:
    part = parity.parts[0]
    facts = [
        Fact("Human", parity.human, f"against {counted(len(part.systems), 'system')}"),
        Fact("Judgments", f"{part.judgments:,}", f"per system, on {counted(part.segments, 'segment')}"),
    ]
    if parity.mean_kappa is not None:
        facts.append(Fact("Agreement", f"{parity.mean_kappa[0]:.2f}", "mean kappa of two annotators"))
    return tuple(facts)


def draw_parity_shares(parity: Parity) -> dict[str, Any]:
    """One point per system and version, with its interval over documents."""
    sets = {"after" if parity.change else "test set": parity.parts[0]}
    if parity.change is not None:
        sets = {"before": parity.change.before[0], **sets}
    rows = [
        {
            "system": system.system,
            "set": name,
            "share": system.parity_share,
            "low": system.interval[0],
            "high": system.interval[1],
        }
        for name, part in sets.items()
        for system in part.systems
    ]
    colour = channel(
        "set:N",
        scale=dict(domain=list(sets), range=[chart_theme.MUTED, chart_theme.ACCENT][-len(sets) :]),
        title=None,
        legend={} if len(sets) > 1 else None,
    )
    order = [
        system.system for system in sorted(parity.systems, key=lambda system: (-system.parity_share, system.system))
    ]
    base = Layer(rows).encode(
        y=channel("system:N", title=None, sort=order), yOffset=channel("set:N", sort=list(sets)), color=colour
    )
    bars = base.mark("rule", strokeWidth=2.5).encode(
        x=channel("low:Q", title="at least as good as the human", axis=dict(format=".0%")), x2="high:Q"
    )
    # Shapes tell the versions apart for those who do not see the colours.
    points = base.mark("point", filled=True, size=80, opacity=1).encode(
        x="share:Q",
        shape=channel("set:N", scale=dict(domain=list(sets), range=["diamond", "circle"][-len(sets) :])),
        tooltip=[channel("system:N"), channel("set:N"), channel("share:Q", format=".1%")],
    )
    return chart_theme.finish(bars, points, height=ROW_HEIGHT * max(len(parity.systems), 2))
