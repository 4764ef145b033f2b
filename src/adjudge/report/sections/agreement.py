"""Agreement of the annotators, with each other and with themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adjudge.core.wording import counted
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Section

if TYPE_CHECKING:
    from adjudge.results.agree import Agreement, Coefficients
    from adjudge.results.report import PairResults

# Landis and Koch (1977): customary words for kappa, without theory behind them.
_WORDS = (
    (0.0, "poor"),
    (0.2, "slight"),
    (0.4, "fair"),
    (0.6, "moderate"),
    (0.8, "substantial"),
    (1.0, "almost perfect"),
)

_NAMES = {"inter": "between annotators", "intra": "within an annotator"}
FEWEST_PAIRS = 30


def name_agreement(kappa: float) -> str:
    """The customary word for a chance-corrected coefficient."""
    return next(word for limit, word in _WORDS if kappa <= limit + 1e-12)


def show_coefficient(value: float) -> str:
    """Two digits, and no sign before zero."""
    figures = f"{value:.2f}"
    return "0.00" if figures == "-0.00" else figures


def choose_coefficient(agreement: Agreement, coefficients: Coefficients) -> tuple[str, float]:
    """The coefficient that is shown first: kappa for preferences, alpha for scores."""
    return ("kappa", coefficients.kappa) if agreement.kind == "preferences" else ("alpha", coefficients.alpha)


def agreement_section(results: PairResults) -> Section | None:
    """Shown where anyone judged the same thing twice."""
    agreement = results.agreement
    if agreement is None:
        return None
    words = [*agreement_words(agreement)]
    words.append("Coefficients are 1 for full agreement and 0 for what chance alone would give.")
    charts = []
    if agreement.by_length:
        says = "Longer source texts are harder to judge alike where the points fall to the right."
        charts.append(Chart("length", "Agreement by length of the source", says, draw_agreement_by_length(agreement)))
    first, *others = agreement.tables()
    return Section("agreement", "Agreement", tuple(words), tuple(charts), (first,), tuple(others), agreement.notes)


def agreement_words(agreement: Agreement) -> tuple[str, str]:
    """How far annotators agree with each other, and with themselves."""
    return _sentence(agreement, "inter"), _sentence(agreement, "intra")


def _sentence(agreement: Agreement, kind: str) -> str:
    coefficients = (agreement.inter if kind == "inter" else agreement.intra)["all"]
    if not coefficients.pairs:
        return "No two annotators judged the same thing." if kind == "inter" else "Nobody judged the same thing twice."
    who = "Two annotators of the same thing" if kind == "inter" else "Annotators who saw the same thing again"
    name, value = choose_coefficient(agreement, coefficients)
    if math.isnan(value):
        return f"{who}: {name} cannot be computed from {counted(coefficients.pairs, 'pair')} of judgments."
    if math.isnan(coefficients.observed):
        return f"{who}: {name} {show_coefficient(value)} ({name_agreement(value)})."
    share = f"{100 * coefficients.observed:.0f}% of {counted(coefficients.pairs, 'case')}"
    return f"{who} agree in {share}: {name} {show_coefficient(value)} ({name_agreement(value)})."


def draw_agreement_by_length(agreement: Agreement) -> dict[str, Any]:
    """S (P(E) = 1/3) by length, points sized by the pairs behind them; lengths with few pairs are left out."""
    rows = [
        {"length": length_row.length, "kind": name, "s": numbers["all"].get("s"), "pairs": numbers["all"].get("pairs")}
        for length_row in agreement.by_length or ()
        for name, numbers in ((_NAMES["inter"], length_row.inter), (_NAMES["intra"], length_row.intra))
        if (numbers["all"].get("pairs") or 0) >= FEWEST_PAIRS
    ]
    base = Layer(rows).encode(
        x=channel("length:Q", title="length of the source", scale=dict(zero=False)),
        y=channel("s:Q", title="agreement (S)"),
        color=channel(
            "kind:N", title=None, scale=dict(domain=list(_NAMES.values()), range=[theme.ACCENT, theme.HUMAN])
        ),
    )
    # Single lengths are noisy: a smooth line through them shows the tendency.
    lines = base.transform(loess="s", on="length", groupby=["kind"], bandwidth=0.7).mark("line", strokeWidth=2.5)
    points = base.mark("point", filled=True, opacity=0.55).encode(
        size=channel("pairs:Q", legend=None, scale=dict(range=[20, 160])),
        tooltip=[
            channel("length:Q"),
            channel("kind:N", title="agreement"),
            channel("s:Q", format=".3f"),
            channel("pairs:Q"),
        ],
    )
    return theme.finish(lines, points, height=260)
