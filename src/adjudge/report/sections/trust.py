"""Audits of how far the ranking's own test and order can be trusted: A/A test, reliability, influence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.rates import rates
from adjudge.report.page import Chart, Section
from adjudge.report.words import listed

if TYPE_CHECKING:
    from adjudge.results.audit.aa import AATest
    from adjudge.results.audit.influence import Influence
    from adjudge.results.audit.reliability import Reliability

LEVEL = 0.05


def aa_section(found: AATest) -> Section:
    """Which tests call a system different from itself, and how often."""
    too_often = [name for name, one in found.rates.items() if one.interval[0] > LEVEL]
    honest = [name for name, one in found.rates.items() if one.interval[0] <= LEVEL <= one.interval[1]]
    words = [
        "Every system was split at random into two halves, which a test then compared.",
        "The halves are equally good: a test at .05 should call them different in 5% of the cases.",
    ]
    if too_often:
        words.append(f"Too often on these data: {listed(too_often)}. What these tests call significant need not be.")
    if honest:
        words.append(f"As promised: {listed(honest)}.")
    rows = [(name, one.rate_05, *one.interval) for name, one in found.rates.items()]
    chart = Chart(
        "aa",
        "How often a system is called different from itself",
        "The dashed line is where an honest test stands, at 5%.",
        rates(rows, title="false alarms at .05", number=".0%", target=LEVEL),
    )
    return Section("aa", "Which tests tell the truth", tuple(words), (chart,), folded=found.tables())


def reliability_section(found: Reliability) -> Section:
    """Whether one half of the annotators orders the systems as the other half does."""
    method, best = max(found.methods.items(), key=lambda item: item[1].tau)
    words = (
        f"The {found.annotators:,} annotators were split at random into two halves, and each half ranked the systems.",
        f"The two orders agree best by {method}: Kendall's tau {best.tau:.2f} (1: the same order, 0: no relation).",
    )
    rows = [(name, one.tau, one.low, one.high) for name, one in found.methods.items()]
    chart = Chart(
        "reliability",
        "Agreement of two halves of the annotators",
        "Bars hold 95% of the random splits.",
        rates(rows, title="Kendall's tau", number=".2f"),
    )
    return Section("reliability", "Would others agree?", words, (chart,), folded=found.tables())


def influence_section(found: Influence) -> Section:
    """Which annotator or document moves the ranking most."""
    words: tuple[str, ...] = ("Every annotator and every document was left out in turn.",)
    if found.rows:
        most = found.rows[0]
        shift = f"moves by {most.shift:+.1f} ({abs(most.in_se):.1f} standard errors)"
        words += (f"The largest shift comes from {most.unit} {most.name}: without it, {most.system} {shift}.",)
    return Section("influence", "Who moves the ranking", words, tables=found.tables())
