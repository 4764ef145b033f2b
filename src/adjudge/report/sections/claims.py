"""The claims: every statement of the ranking with the audits it survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.report.charts.claims import claims
from adjudge.report.page import Chart, Section
from adjudge.report.words import counted, listed
from adjudge.results.audit.claims import Claims

if TYPE_CHECKING:
    from adjudge.results.report import PairResults


def claims_of(results: PairResults) -> Claims | None:
    """The claims that were audited, where they were."""
    made = None if results.audit is None else results.audit.sections.get("claims")
    return made if isinstance(made, Claims) else None


def claims_section(results: PairResults) -> Section | None:
    """Shown where claims were audited."""
    made = claims_of(results)
    if made is None:
        return None
    parity = [one for one in made.claims if one.kind == "parity" and one.verdict != "not supported"]
    words = (_summary(made), *_rule(made), *(f"{one.claim}: {_PARITY[one.verdict]}." for one in parity))
    if not any(one.verdict != "not supported" for one in made.claims):
        return Section("claims", "What can be claimed", words)
    order = [name for name in results.ranking.order if any(name in one.systems for one in made.claims)]
    says = "✓ holds, ! fragile, blank: the data cannot decide."
    chart = Chart("claims", "Is the row better than the column?", says, claims(made, order))
    return Section("claims", "What can be claimed", words, (chart,), folded=made.tables())


def _summary(made: Claims) -> str:
    pairs = sum(one.kind == "better" for one in made.claims)
    holds, fragile = made.counted("holds"), made.counted("fragile")
    shares = f"Differences that hold: {holds:,} of {counted(pairs, 'pair')} of systems"
    return f"{shares}. Fragile: {fragile:,}. Left open by the data: {pairs - holds - fragile:,}."


def _rule(made: Claims) -> tuple[str, ...]:
    if not made.audits:
        return ()
    audits = listed(made.audits)
    return (f"A claim holds if it survives every audit ({audits}), and is fragile if some audit overturns it.",)


_PARITY = {
    "holds": "the difference lies within the margin, in every audit",
    "fragile": "the difference lies within the margin, but not in every audit",
}
