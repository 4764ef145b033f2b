"""Agreement of the annotators, with each other and with themselves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from adjudge.report.charts.by_length import by_length
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


def in_words(kappa: float) -> str:
    """The customary word for a chance-corrected coefficient."""
    return next(word for limit, word in _WORDS if kappa <= limit + 1e-12)


def coefficient(agreement: Agreement, one: Coefficients) -> tuple[str, float]:
    """The coefficient that is shown first: kappa for preferences, alpha for scores."""
    return ("kappa", one.kappa) if agreement.kind == "preferences" else ("alpha", one.alpha)


def agreement_section(results: PairResults) -> Section | None:
    """Shown where anybody judged the same thing twice."""
    agreement = results.agreement
    if agreement is None:
        return None
    words = [_sentence(agreement, "inter"), _sentence(agreement, "intra")]
    words.append("Coefficients are 1 for full agreement and 0 for what chance alone would give.")
    charts = []
    if agreement.by_length:
        says = "Longer source texts are harder to judge alike where the points fall to the right."
        charts.append(Chart("length", "Agreement by length of the source", says, by_length(agreement)))
    first, *rest = agreement.tables()
    return Section("agreement", "Agreement", tuple(words), tuple(charts), (first,), tuple(rest), agreement.notes)


def _sentence(agreement: Agreement, kind: str) -> str:
    one = (agreement.inter if kind == "inter" else agreement.intra)["all"]
    if not one.pairs:
        return "No two annotators judged the same thing." if kind == "inter" else "Nobody judged the same thing twice."
    who = "Two annotators of the same thing" if kind == "inter" else "Annotators who saw the same thing again"
    name, value = coefficient(agreement, one)
    if math.isnan(value):
        return f"{who}: {name} cannot be computed from {one.pairs:,} pairs of judgments."
    if math.isnan(one.observed):
        return f"{who}: {name} {value:.2f} ({in_words(value)})."
    return f"{who} agree in {100 * one.observed:.0f}% of {one.pairs:,} cases: {name} {value:.2f} ({in_words(value)})."
