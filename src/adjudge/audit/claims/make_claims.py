"""From estimates and trials to claims: which are supported, which of those hold, and in which words."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.claims.trials import TrialOutcome, try_claim
from adjudge.evidence.verdict import claim_best, claim_better, claim_parity
from adjudge.rank.contrasts import equivalence
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.results.audit.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.audit.claims.trials import Trial
    from adjudge.rank.contrasts import Equivalence
    from adjudge.ranking.estimate import Estimate
    from adjudge.results.audit.claims import Verdict

Pair = tuple[int, int]


def better_claims(estimate: Estimate, level: float, trials: Callable[[], list[Trial]]) -> tuple[Claim, ...]:
    """Every "A is better than B" and "A is the best"; `trials` are made only if some claim is supported."""
    adjusted = estimate.adjusted()
    supported = [pair for pair, p in adjusted.items() if p < level]
    tried = trials() if supported else []
    low, high = estimate.interval(level)
    claims = {
        pair: replace(
            _better(estimate, pair, p, level, tried if p < level else None),
            interval=(float(low[pair]), float(high[pair])),
        )
        for pair, p in adjusted.items()
    }
    return (_best(estimate, claims), *sorted(claims.values(), key=_strength))


def _strength(claim: Claim) -> tuple[int, float]:
    position = {"holds": 0, "fragile": 1, "not supported": 2}[claim.verdict]
    return position, -(claim.estimate or 0.0)


def verdict(*, supported: bool, broken: tuple[str, ...]) -> Verdict:
    """Supported and unbroken claims hold; supported and broken ones are fragile."""
    if not supported:
        return "not supported"
    return "fragile" if broken else "holds"


def _better(estimate: Estimate, pair: Pair, p: float, level: float, trials: list[Trial] | None) -> Claim:
    """One claim without its interval; `trials` is None where it is not supported."""
    better, worse = pair
    alone = estimate.contrasts.two_sided[pair]
    tried = TrialOutcome()
    if trials is not None:
        tried = try_claim(trials, pair, lambda trial: trial.keeps_better(better, worse, level))
    return Claim(
        claim=claim_better(estimate.systems[better], estimate.systems[worse]),
        kind="better",
        systems=(estimate.systems[better], estimate.systems[worse]),
        estimate=float(estimate.difference[pair]),
        interval=None,
        p_holm=None if np.isnan(p) else above_zero(p),
        survives=tried.survives,
        broken_by=tried.broken_by,
        verdict=verdict(supported=trials is not None, broken=tried.broken_by),
        fails=tried.fails,
        p=None if np.isnan(alone) else above_zero(alone),
    )


def above_zero(p: float) -> float:
    """A p-value is never 0: what is too small for a number is the smallest number."""
    return max(float(p), sys.float_info.min)


def _best(estimate: Estimate, claims: dict[Pair, Claim]) -> Claim:
    """That A is the best stands on A being better than every other system."""
    first = estimate.order[0]
    parts = [claim for (better, _), claim in claims.items() if better == first]
    weakest = min(parts, key=lambda claim: claim.estimate or 0.0)
    supported = all(claim.verdict != "not supported" for claim in parts)
    tried = parts if supported else []
    broken = tuple(dict.fromkeys(name for claim in tried for name in claim.broken_by))
    common = set.intersection(*({*claim.survives} for claim in tried)) if tried else set()
    survives = tuple(name for name in parts[0].survives if name in common)
    return Claim(
        claim=claim_best(estimate.systems[first]),
        kind="best",
        systems=(estimate.systems[first],),
        estimate=weakest.estimate,
        interval=weakest.interval,
        p_holm=max((claim.p_holm for claim in parts if claim.p_holm is not None), default=None),
        survives=survives,
        broken_by=broken,
        verdict=verdict(supported=supported, broken=broken),
        fails=tuple(dict.fromkeys(name for claim in tried for name in claim.fails)),
        p=max((claim.p for claim in parts if claim.p is not None), default=None),
    )


def parity_claims(
    estimate: Estimate, margin: float, level: float, trials: Callable[[], list[Trial]]
) -> tuple[Claim, ...]:
    """One claim for every system and every human translation.

    Args:
        estimate: what all claims rest on, in points.
        margin: in points.
        level: of the tests, which Holm corrects together.
        trials: made only if some claim is supported.
    """
    humans = np.flatnonzero(estimate.human)
    pairs = [(int(system), int(human)) for human in humans for system in np.flatnonzero(~estimate.human)]
    tests = [equivalence(estimate.contrasts, *pair, margin=margin, level=level) for pair in pairs]
    corrected = holm(np.array([test.p for test in tests]))
    apart = {pair for pair, p in estimate.adjusted().items() if p < level and estimate.difference[pair] > margin}
    supported = [pair for pair, p in zip(pairs, corrected, strict=True) if p < level and not {pair, pair[::-1]} & apart]
    outcomes = _outcomes(trials() if supported else [], supported, pairs, margin, level)
    return tuple(
        _parity(estimate, pair, test, float(p), outcomes.get(pair))
        for pair, test, p in zip(pairs, tests, corrected, strict=True)
    )


def _outcomes(
    trials: list[Trial], supported: list[Pair], pairs: list[Pair], margin: float, level: float
) -> dict[Pair, TrialOutcome]:
    """Which trials each supported claim survives, and which break it."""
    outcomes = {}
    # Where only the order counts, nothing is said of equivalence.
    tested = {trial: trial.equivalence(pairs, margin) for trial in trials if trial.se is not None}
    for pair in supported:
        standing = {trial: p[pair] < level for trial, p in tested.items() if pair in p}
        outcomes[pair] = try_claim(list(tested), pair, standing.__getitem__)
    return outcomes


def _parity(estimate: Estimate, pair: Pair, test: Equivalence, p: float, tried: TrialOutcome | None) -> Claim:
    system, human = (estimate.systems[index] for index in pair)
    survives, broken, fails = tried or TrialOutcome()
    return Claim(
        claim=claim_parity(system, human),
        kind="parity",
        systems=(system, human),
        estimate=test.difference,
        interval=(test.low, test.high),
        p_holm=above_zero(p),
        survives=survives,
        broken_by=broken,
        verdict=verdict(supported=tried is not None, broken=broken),
        fails=fails,
        p=above_zero(test.p),
    )
