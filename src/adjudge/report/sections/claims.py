"""The claims: every statement of the ranking with the audits it survives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.evidence.verdict import (
    SIGNS_OF_CLAIMS,
    count_claims_on_page,
    decide_by_ranking,
    order_systems,
    say_breaks,
    say_parity_claim,
    say_rule,
)
from adjudge.report.charts import theme
from adjudge.report.charts.heatmap import draw_heatmap
from adjudge.report.charts.vega import channel
from adjudge.report.page import Chart, Section
from adjudge.results.audit.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.evidence.verdict import Decisions
    from adjudge.results.report import PairResults

_VERDICTS = ("holds", "fragile", "not supported")
_COLOURS = (theme.HEAT[6], theme.HEAT[1], theme.HEAT[3])
# The cell also says the verdict in words, for readers who do not see the colours.
_SIGNS = {"holds": "✓", "fragile": "!", "not supported": ""}


def claims_of(results: PairResults) -> Claims | None:
    """The claims that were audited, where they were."""
    claims = None if results.audit is None else results.audit.sections.get("claims")
    return claims if isinstance(claims, Claims) else None


def decide(results: PairResults) -> Decisions:
    """What the ranking and its audits decide."""
    claims = claims_of(results)
    annotators = results.counts.annotators or None if claims is None else claims.annotators
    return decide_by_ranking(results.ranking, claims, annotators)


def claims_section(results: PairResults) -> Section | None:
    """Shown where claims were audited."""
    claims = claims_of(results)
    return None if claims is None else _section(claims, results.ranking.order)


def claims_alone(claims: Claims) -> Section:
    """The section where no ranking stands beside it."""
    return _section(claims, order_systems(claims))


def _section(claims: Claims, systems: Sequence[str]) -> Section:
    parity = [claim for claim in claims.claims if claim.kind == "parity" and claim.verdict != "not supported"]
    words = (
        count_claims_on_page(claims.counted("holds"), claims.counted("fragile"), claims.pairs),
        *_rule(claims),
        *(say_parity_claim(claim.claim, fragile=claim.verdict == "fragile") for claim in parity),
    )
    if not any(claim.verdict != "not supported" for claim in claims.claims):
        return Section("claims", "What can be claimed", words)
    order = [name for name in systems if any(name in claim.systems for claim in claims.claims)]
    title = "Is the row better than the column?"
    chart = Chart("claims", title, SIGNS_OF_CLAIMS, claims_chart(claims, order))
    return Section("claims", "What can be claimed", words, (chart,), folded=claims.tables())


def _rule(claims: Claims) -> tuple[str, ...]:
    if not claims.audits:
        return ()
    fragile = [claim for claim in claims.claims if claim.kind == "better" and claim.verdict == "fragile"]
    return say_rule(claims.audits), *say_breaks(fragile, claims.annotators)


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
    return draw_heatmap(
        cells,
        order,
        (dict(fontSize=13, fontWeight="bold"), channel("sign:N")),
        title="than",
        colour=channel("verdict:N", title=None, scale=dict(domain=list(_VERDICTS), range=list(_COLOURS))),
        tooltip=[
            channel("row:N", title="better"),
            channel("column:N", title="worse"),
            channel("verdict:N"),
            channel("estimate:Q", title=f"by {claims.unit}", format=".2f"),
            channel("p:N", title="p (Holm)"),
            channel("broken:N", title="broken by"),
        ],
    )
