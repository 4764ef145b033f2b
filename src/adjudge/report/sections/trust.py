"""Audits of how far the ranking's own test and order can be trusted: A/A test, reliability, influence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adjudge.core.wording import counted, listed, short_list
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.audit.trust import AATest, Influence, Reliability

LEVEL = 0.05

ROW_HEIGHT = 34
_UNITS = {"annotator": "annotator", "document": "document", "segment": "source segment"}


def aa_section(aa: AATest) -> Section:
    """Which tests call a system different from itself, and how often: for other pages, and for other people."""
    words = [
        "Every system was split at random into two halves, which a test then compared.",
        "The halves are equally good: a test at .05 should call them different in 5% of the cases.",
        *_error_rate_words(aa, "on these data"),
    ]
    charts = [
        Chart(
            "aa",
            "How often a system is called different from itself",
            "The dashed line marks 5%, the rate of a correct test.",
            _aa_chart(aa),
        )
    ]
    if aa.by_annotator is not None:
        words += [
            "The halves above are pages that the same people judged.",
            "Where whole annotators are split instead, a test must allow for tastes: some people like a system more.",
            *_error_rate_words(aa.by_annotator, "with other people"),
        ]
        charts.append(
            Chart(
                "aa-annotators",
                "The same with halves of the annotators",
                "A test above the dashed line takes the tastes of a few people for the quality of systems.",
                _aa_chart(aa.by_annotator),
            )
        )
    return Section("aa", "Which tests can be trusted", tuple(words), tuple(charts), folded=aa.tables())


def _error_rate_words(aa: AATest, where: str) -> list[str]:
    too_often = [name for name, rate in aa.rates.items() if rate.interval[0] > LEVEL]
    too_seldom = [name for name, rate in aa.rates.items() if rate.interval[1] < LEVEL]
    as_promised = [name for name, rate in aa.rates.items() if rate.interval[0] <= LEVEL <= rate.interval[1]]
    words = []
    if too_often:
        words.append(f"Too often {where}: {short_list(too_often)}. What these tests call significant need not be.")
    if as_promised:
        widest = max(aa.rates[name].interval[1] for name in as_promised)
        words.append(f"Consistent with 5%: {short_list(as_promised)} (up to {100 * widest:.0f}% cannot be excluded).")
    if too_seldom:
        words.append(
            f"Less often than 5%: {short_list(too_seldom)}. That is on the safe side, and may miss differences."
        )
    return words


def _aa_chart(aa: AATest) -> dict[str, Any]:
    rows = [(name, rate.rate_05, *rate.interval) for name, rate in aa.rates.items()]
    return rates_chart(rows, title="false alarms at .05", number=".0%", target=LEVEL)


def reliability_section(reliability: Reliability) -> Section:
    """Whether one half of the annotators orders the systems as the other half does."""
    halves = f"The {reliability.annotators:,} annotators were split at random into two halves"
    # A method that has an order of fewer than two systems, such as those without the reference, has no agreement.
    known = {name: agreed for name, agreed in reliability.methods.items() if not math.isnan(agreed.tau)}
    words = [f"{halves}, and each half ranked the systems."]
    if not known:
        return Section("reliability", "Would others agree?", (*words, "No method orders the systems in both halves."))
    method, best = max(known.items(), key=lambda item: item[1].tau)
    words += [
        f"The two orders agree best by {method}: Kendall's tau {best.tau:.2f} (1: the same order, 0: no relation).",
        "Bars that overlap mean that other people might well have favoured another method.",
    ]
    rows = [(name, agreed.tau, agreed.low, agreed.high) for name, agreed in known.items()]
    chart = Chart(
        "reliability",
        "Agreement of two halves of the annotators",
        "Bars hold 95% of the random splits.",
        rates_chart(rows, title="Kendall's tau", number=".2f"),
    )
    return Section("reliability", "Would others agree?", tuple(words), (chart,), folded=reliability.tables())


def influence_section(influence: Influence) -> Section:
    """Which annotator or document moves the ranking most."""
    kinds = {kind: sum(row.unit == kind for row in influence.rows) for kind in _UNITS}
    units = [counted(number, _UNITS[kind]) for kind, number in kinds.items() if number]
    words: tuple[str, ...] = ()
    if influence.rows:
        turn = f"was left out{' in turn' if len(influence.rows) > 1 else ''}"
        words = (f"Each of {listed(units)} {turn}: which of them moves the ranking most?",)
        most = influence.rows[0]
        shift = f"moves by {most.shift:+.1f} ({abs(most.in_se):.1f} standard errors)"
        without = "them" if most.unit == "annotator" else "it"
        words += (f"The largest shift comes from {most.unit} {most.name}: without {without}, {most.system} {shift}.",)
    return Section("influence", "Who moves the ranking", words, tables=influence.tables())


def rates_chart(
    rows: Sequence[tuple[str, float, float, float]], *, title: str, number: str, target: float | None = None
) -> dict[str, Any]:
    """Name, estimate, low and high; an interval above the target stands out, one below is grey, a line marks it.

    What has no estimate is not drawn.
    """
    rows = [row for row in rows if not math.isnan(row[1])]
    data = [
        {"name": name, "estimate": estimate, "low": low, "high": high, "stands": _stands(low, high, target)}
        for name, estimate, low, high in rows
    ]
    # Ends of the axis that are moved inwards would run into their neighbours.
    axis = dict(format=number, tickCount=10, labelFlush=False, labelOverlap=True)
    colours = dict(domain=["at", "above", "below"], range=[theme.ACCENT, theme.WARN, theme.MUTED])
    colour = channel("stands:N", legend=None, scale=colours)
    base = Layer(data).encode(
        y=channel("name:N", sort=[row[0] for row in rows], title=None),
        color=colour,
        tooltip=[
            channel("name:N", title=" "),
            channel("estimate:Q", title=title, format=number),
            channel("low:Q", title="from", format=number),
            channel("high:Q", title="to", format=number),
        ],
    )
    scale = dict(zero=True, nice=True)
    bars = base.mark("rule", strokeWidth=3, strokeCap="round").encode(
        x=channel("low:Q", title=title, axis=axis, scale=scale), x2="high:Q"
    )
    points = base.mark("point", filled=True, size=110, opacity=1).encode(
        x=channel("estimate:Q", axis=axis, scale=scale)
    )
    layers = [bars, points]
    if target is not None:
        mark = Layer([{"target": target}]).mark("rule", strokeDash=[4, 4], stroke=theme.INK)
        layers.insert(0, mark.encode(x=channel("target:Q", axis=axis, scale=scale)))
    return theme.finish(*layers, height=ROW_HEIGHT * max(len(rows), 2))


def _stands(low: float, high: float, target: float | None) -> str:
    """Where an interval lies: a test that errs too seldom is cautious, one that errs too often misleads."""
    if target is None or low <= target <= high:
        return "at"
    return "above" if low > target else "below"
