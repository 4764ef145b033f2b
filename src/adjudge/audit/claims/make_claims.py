"""From estimates and trials to claims: which are supported, which of those hold, and in which words."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.claims.trials import TrialOutcome, try_claim
from adjudge.evidence.verdict import claim_best, claim_better
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.results.audit.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from adjudge.audit.claims.trials import Trial
    from adjudge.results.audit.claims import Verdict


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the primary estimator says of all pairs: differences, intervals and two-sided p, by system index."""

    systems: tuple[str, ...]
    human: NDArray[np.bool_]
    scores: NDArray[np.float64]
    difference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    two_sided: NDArray[np.float64]

    @property
    def order(self) -> list[int]:
        """The systems, the best first."""
        return sorted(range(len(self.systems)), key=lambda i: (-self.scores[i], self.systems[i]))

    def pairs(self) -> list[tuple[int, int]]:
        """Every pair, the better system first."""
        order = self.order
        return [(order[a], order[b]) for a in range(len(order)) for b in range(a + 1, len(order))]

    def adjusted(self) -> dict[tuple[int, int], float]:
        """p-values of all pairs adjusted by Holm."""
        pairs = self.pairs()
        values = holm(np.array([self.two_sided[pair] for pair in pairs]))
        return dict(zip(pairs, values, strict=True))


def better_claims(evidence: Evidence, level: float, trials: Callable[[], list[Trial]]) -> tuple[Claim, ...]:
    """Every "A is better than B" and "A is the best"; `trials` are made only if some claim is supported."""
    adjusted = evidence.adjusted()
    supported = [pair for pair, p in adjusted.items() if p < level]
    tried = trials() if supported else []
    claims = {pair: _better(evidence, pair, p, level, tried) for pair, p in adjusted.items()}
    return (_best(evidence, claims), *sorted(claims.values(), key=_strength))


def _strength(claim: Claim) -> tuple[int, float]:
    position = {"holds": 0, "fragile": 1, "not supported": 2}[claim.verdict]
    return position, -(claim.estimate or 0.0)


def verdict(*, supported: bool, broken: tuple[str, ...]) -> Verdict:
    """Supported and unbroken claims hold; supported and broken ones are fragile."""
    if not supported:
        return "not supported"
    return "fragile" if broken else "holds"


def _better(evidence: Evidence, pair: tuple[int, int], p: float, level: float, trials: list[Trial]) -> Claim:
    better, worse = pair
    supported = bool(p < level)
    tried = (
        try_claim(trials, pair, lambda trial: trial.keeps_better(better, worse, level)) if supported else TrialOutcome()
    )
    return Claim(
        claim=claim_better(evidence.systems[better], evidence.systems[worse]),
        kind="better",
        systems=(evidence.systems[better], evidence.systems[worse]),
        estimate=float(evidence.difference[pair]),
        interval=(float(evidence.low[pair]), float(evidence.high[pair])),
        p_holm=None if np.isnan(p) else above_zero(p),
        survives=tried.survives,
        broken_by=tried.broken_by,
        verdict=verdict(supported=supported, broken=tried.broken_by),
        fails=tried.fails,
        p=None if np.isnan(evidence.two_sided[pair]) else above_zero(evidence.two_sided[pair]),
    )


def above_zero(p: float) -> float:
    """A p-value is never 0: what is too small for a number is the smallest number."""
    return max(float(p), sys.float_info.min)


def _best(evidence: Evidence, claims: dict[tuple[int, int], Claim]) -> Claim:
    """That A is the best stands on A being better than every other system."""
    first = evidence.order[0]
    parts = [claim for (better, _), claim in claims.items() if better == first]
    weakest = min(parts, key=lambda claim: claim.estimate or 0.0)
    supported = all(claim.verdict != "not supported" for claim in parts)
    tried = parts if supported else []
    broken = tuple(dict.fromkeys(name for claim in tried for name in claim.broken_by))
    common = set.intersection(*({*claim.survives} for claim in tried)) if tried else set()
    survives = tuple(name for name in parts[0].survives if name in common)
    return Claim(
        claim=claim_best(evidence.systems[first]),
        kind="best",
        systems=(evidence.systems[first],),
        estimate=weakest.estimate,
        interval=weakest.interval,
        p_holm=max((claim.p_holm for claim in parts if claim.p_holm is not None), default=None),
        survives=survives,
        broken_by=broken,
        verdict=verdict(supported=supported, broken=broken),
        fails=tuple(dict.fromkeys(name for claim in tried for name in claim.fails)),
        p=max((claim.p for claim in parts if claim.p is not None), default=None),
    )
