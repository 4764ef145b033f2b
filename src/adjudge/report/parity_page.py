"""The page about human parity: the verdict on every system, and the change between two test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge._version import __version__
from adjudge.report.charts.parity import parity_shares
from adjudge.report.page import Chart, Fact, PairPage, ReportPage, Section, Term
from adjudge.report.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.parity import Parity

GUIDE = (
    Term(
        "Parity share",
        "How often a system was judged at least as good as the human. Its interval says what other documents could "
        "show.",
    ),
    Term(
        "Not told apart",
        "The data do not show a difference between system and human. That is not the same as showing that there is "
        "none.",
    ),
    Term(
        "Change beyond untouched segments",
        "Correcting the source should change the verdict on corrected segments. If untouched segments change as much, "
        "something else did it.",
    ),
)


def build_parity_page(results: Mapping[str, Parity], *, title: str) -> ReportPage:
    """The page data of one or several language pairs."""
    pages = tuple(_page(name, one, f"pair-{i}") for i, (name, one) in enumerate(results.items(), start=1))
    return ReportPage(title=title, pairs=pages, overview=None, guide=GUIDE, version=__version__)


def _page(name: str, parity: Parity, slug: str) -> PairPage:
    says = f"Share of judgments in which each system is at least as good as {parity.human}."
    chart = Chart("shares", "Parity shares", says, parity_shares(parity))
    tables = parity.tables()
    return PairPage(
        name=name,
        slug=slug,
        headline=_headline(parity),
        words=_words(parity),
        facts=_facts(parity),
        sections=(Section("parity", f"Against {parity.human}", charts=(chart,), tables=tables[:1], folded=tables[1:]),),
        notes=parity.notes,
        set_aside=parity.set_aside,
        signatures=(parity.signature,),
    )


def _headline(parity: Parity) -> str:
    below = [one.system for one in parity.systems if one.verdict == "below the human"]
    if len(below) == len(parity.systems):
        return f"All systems are below {parity.human}"
    open_ = [one.system for one in parity.systems if one.verdict != "below the human"]
    return f"Not shown to be below {parity.human}: {listed(open_)}"


def _words(parity: Parity) -> tuple[str, ...]:
    if parity.change is None:
        return ()
    return tuple(
        f"{one.system}: {100 * one.difference:+.1f} points of parity from before to after "
        f"(95% {100 * one.interval[0]:+.1f} to {100 * one.interval[1]:+.1f})."
        for one in parity.change.changes
        if one.part == "all" and one.measure == "parity_share"
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
