"""The claims: every statement of the ranking with the audits it survives."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from adjudge.core.wording import counted, listed
from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel
from adjudge.report.page import Chart, Section
from adjudge.results.audit.claim_sentences import FEWEST_ANNOTATORS, systems_in_order
from adjudge.results.audit.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.report import PairResults

_PARITY = {
    "holds": "the difference lies within the margin, in every audit",
    "fragile": "the difference lies within the margin, but not in every audit",
}
ROW_HEIGHT = 30
_VERDICTS = ("holds", "fragile", "not supported")
_COLOURS = (theme.HEAT[6], theme.HEAT[1], theme.HEAT[3])
# The cell also says the verdict in words, for readers who do not see the colours.
_SIGNS = {"holds": "✓", "fragile": "!", "not supported": ""}


def claims_of(results: PairResults) -> Claims | None:
    """The claims that were audited, where they were."""
    claims = None if results.audit is None else results.audit.sections.get("claims")
    return claims if isinstance(claims, Claims) else None


def annotators_of(results: PairResults) -> int | None:
    """How many people judged, where they are known."""
    claims = claims_of(results)
    if claims is not None:
        return claims.annotators
    return results.counts.annotators or None


def claims_section(results: PairResults) -> Section | None:
    """Shown where claims were audited."""
    claims = claims_of(results)
    return None if claims is None else _section(claims, results.ranking.order)


def claims_alone(claims: Claims) -> Section:
    """The section where no ranking stands beside it."""
    return _section(claims, systems_in_order(claims))


def _section(claims: Claims, systems: Sequence[str]) -> Section:
    parity = [claim for claim in claims.claims if claim.kind == "parity" and claim.verdict != "not supported"]
    words = (_summary(claims), *_rule(claims), *(f"{claim.claim}: {_PARITY[claim.verdict]}." for claim in parity))
    if not any(claim.verdict != "not supported" for claim in claims.claims):
        return Section("claims", "What can be claimed", words)
    order = [name for name in systems if any(name in claim.systems for claim in claims.claims)]
    says = "✓ holds, ! fragile, blank: the data cannot decide."
    chart = Chart("claims", "Is the row better than the column?", says, claims_chart(claims, order))
    return Section("claims", "What can be claimed", words, (chart,), folded=claims.tables())


def _summary(claims: Claims) -> str:
    pairs = sum(claim.kind == "better" for claim in claims.claims)
    holds, fragile = claims.counted("holds"), claims.counted("fragile")
    shares = f"Differences that hold: {holds:,} of {counted(pairs, 'pair')} of systems"
    return f"{shares}. Fragile: {fragile:,}. Left open by the data: {pairs - holds - fragile:,}."


def _rule(claims: Claims) -> tuple[str, ...]:
    if not claims.audits:
        return ()
    rule = (
        f"A claim holds if it survives every audit ({listed(claims.audits)}), and is fragile if some audit breaks it."
    )
    return (rule, *_breaks(claims))


def _breaks(claims: Claims) -> tuple[str, ...]:
    """What makes claims fragile: what breaks how many, or that nobody else could be asked."""
    fragile = [claim for claim in claims.claims if claim.kind == "better" and claim.verdict == "fragile"]
    if not fragile:
        return ()
    if (claims.annotators or 0) < FEWEST_ANNOTATORS:
        few = "The data do not name the people who judged" if claims.annotators is None else "Too few people judged"
        return (f"{few}: no half of them can be asked again, so no claim can hold here.",)
    breaking = Counter(audit for claim in fragile for audit in claim.fails)
    return (f"What breaks fragile claims: {listed([f'{audit} ({n:,})' for audit, n in breaking.most_common()])}.",)


def claims_chart(claims: Claims, order: Sequence[str]) -> dict[str, Any]:
    """One cell per pair, above the diagonal where the claims follow the order of the ranking."""
    cells = [
        {
            "row": claim.systems[0], "column": claim.systems[1], "verdict": claim.verdict,
            "sign": _SIGNS[claim.verdict],
            "estimate": claim.estimate, "p": theme.p_text(claim.p_holm), "broken": "; ".join(claim.broken_by[:4]),
        }
        for claim in claims.claims
        if claim.kind == "better"
    ]  # fmt: skip
    base = Layer(cells).encode(
        x=channel("column:N", sort=list(order), title="than", axis=theme.column_axis(len(order))),
        y=channel("row:N", sort=list(order), title=None),
    )
    boxes = base.mark("rect", stroke=theme.PAPER, strokeWidth=2, cornerRadius=3).encode(
        color=channel("verdict:N", title=None, scale=dict(domain=list(_VERDICTS), range=list(_COLOURS))),
        tooltip=[
            channel("row:N", title="better"),
            channel("column:N", title="worse"),
            channel("verdict:N"),
            channel("estimate:Q", title=f"by {claims.unit}", format=".2f"),
            channel("p:N", title="p (Holm)"),
            channel("broken:N", title="broken by"),
        ],
    )
    signs = base.mark("text", fontSize=13, fontWeight="bold").encode(text="sign:N")
    return theme.finish(boxes, signs, height=ROW_HEIGHT * max(len(order), 2))
