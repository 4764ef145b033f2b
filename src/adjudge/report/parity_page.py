"""The page about human parity: the verdict on every system, and the change between two test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge._version import __version__
from adjudge.core.wording import agreeing, counted, measured, short_list
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.headline import FEW_PEOPLE
from adjudge.report.page import Chart, Fact, PairPage, ReportPage, Section, Term

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.results.parity import Parity, Verdict

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

ROW_HEIGHT = 34


def build_parity_page(results: Mapping[str, Parity], *, title: str) -> ReportPage:
    """The page data of one or several language pairs."""
    pages = tuple(_page(name, result, f"pair-{i}") for i, (name, result) in enumerate(results.items(), start=1))
    return ReportPage(title=title, pairs=pages, overview=None, guide=GUIDE, version=__version__)


def _page(name: str, parity: Parity, slug: str) -> PairPage:
    what = "judgments" if parity.parts[0].human_mean_score is None else "segments"
    says = f"Share of {what} in which each system is at least as good as {parity.human}, with its 95% interval."
    chart = Chart("shares", "Parity shares", says, parity_chart(parity))
    tables = parity.tables()
    return PairPage.about(
        parity,
        (Section("parity", f"Against {parity.human}", charts=(chart,), tables=tables[:1], folded=tables[1:]),),
        name=name,
        slug=slug,
        headline=_headline(parity),
        words=_words(parity),
        facts=_facts(parity),
    )


def _headline(parity: Parity) -> str:
    """The verdict that matters most; `_words` gives the others. Where one or two people judged, it is about them."""
    by_verdict = _by_verdict(parity)
    people = FEW_PEOPLE.get(parity.annotators or 0, "")
    if set(by_verdict) == {"below the human"} and len(parity.systems) > 1:
        opening, statement = "All systems", f" are below {parity.human}."
    else:
        opening, statement = _sentence(*next(iter(by_verdict.items())), parity)
    return f"{people}: {opening.lower()}{statement}" if people else f"{opening}{statement}"


def _by_verdict(parity: Parity) -> dict[Verdict, list[str]]:
    order: tuple[Verdict, ...] = ("above the human", "at parity", "not told apart", "below the human")
    systems = {verdict: [system.system for system in parity.systems if system.verdict == verdict] for verdict in order}
    return {verdict: names for verdict, names in systems.items() if names}


def _sentence(verdict: Verdict, names: list[str], parity: Parity) -> tuple[str, str]:
    """What opens the sentence with a capital letter that may be lowered, if not a system's name, and the rest."""
    is_ = agreeing(len(names), "is", "are")
    if verdict == "at parity":
        contrasts = (system.contrast for system in parity.systems)
        margin = next(contrast.margin for contrast in contrasts if contrast and contrast.margin is not None)
        apart = f"less than {measured(margin, 'point')} apart"
        return "", f"{short_list(names)} {is_} at parity with {parity.human}: {apart}."
    if verdict == "not told apart":
        return "The data", f" cannot tell {short_list(names)} from {parity.human}, which is no proof of parity."
    return "", f"{short_list(names)} {is_} {verdict.removesuffix('the human')}{parity.human}."


def _words(parity: Parity) -> tuple[str, ...]:
    later = list(_by_verdict(parity).items())[1:]
    others = tuple("".join(_sentence(verdict, names, parity)) for verdict, names in later)
    if parity.change is None:
        return others
    drawn = f"by resampling {parity.change.units} {parity.change.unit}"
    return others + tuple(
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


def parity_chart(parity: Parity) -> dict[str, Any]:
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
        scale=dict(domain=list(sets), range=[theme.MUTED, theme.ACCENT][-len(sets) :]),
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
    return theme.finish(bars, points, height=ROW_HEIGHT * max(len(parity.systems), 2))
