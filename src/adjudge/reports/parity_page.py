"""The page about human parity: the verdict on every system, and the change between two test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.evidence.verdict_human import NOT_TOLD_APART
from adjudge.reports import drawing
from adjudge.reports.drawing import Drawing, Frame, Names, Numbers
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


def draw_parity_shares(parity: Parity) -> Drawing:
    """One point per system and version, with its interval over documents."""
    sets = {"after" if parity.change else "test set": parity.parts[0]}
    if parity.change is not None:
        sets = {"before": parity.change.before[0], **sets}
    # Shapes tell the versions apart for those who do not see the colours.
    looks = dict(zip(sets, ((drawing.MUTED, "diamond"), (drawing.ACCENT, "circle"))[-len(sets) :], strict=True))
    order = [one.system for one in sorted(parity.systems, key=lambda one: (-one.parity_share, one.system))]
    ends = [end for part in sets.values() for one in part.systems for end in (one.parity_share, *one.interval)]
    scale = Numbers.around(ends, "at least as good as the human", zero=True, percent=True)
    legend = [(name, *looks[name]) for name in sets] if len(sets) > 1 else []
    frame = Frame(scale, Names(tuple(order)), ROW_HEIGHT * len(order), legend=legend)
    for i, (name, part) in enumerate(sets.items()):
        for one in part.systems:
            if one.system not in order:
                continue
            y, (low, high) = frame.y(one.system) + (8 * (2 * i - 1) if len(sets) > 1 else 0), one.interval
            facts = {"system": one.system, **({"set": name} if len(sets) > 1 else {}),
                     "share": f"{one.parity_share:.1%}", "interval": f"{low:.1%} to {high:.1%}"}  # fmt: skip
            colour, shape = looks[name]
            with frame.mark(facts, one.system):
                frame.line([(frame.x(low), y), (frame.x(high), y)], colour, 2.5)
                frame.point(frame.x(one.parity_share), y, shape, 5, fill=colour)
    return frame.finish()
