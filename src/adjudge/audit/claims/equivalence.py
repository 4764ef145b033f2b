"""Claims of parity: a system is no further from a human translation than a margin, by two one-sided tests.

Each human translation is compared by itself. A claim of parity never stands beside a significant difference that is
larger than the margin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.claims.trials import put_to
from adjudge.audit.claims.verdicts import above_zero, verdict
from adjudge.rank.contrasts import equivalence
from adjudge.rank.lines import holm
from adjudge.results.audit.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.audit.claims.trials import Trial
    from adjudge.audit.claims.verdicts import Evidence
    from adjudge.rank.contrasts import Contrasts, Equivalence

Pair = tuple[int, int]


def parity_claims(
    compared: Contrasts, evidence: Evidence, margin: float, level: float, trials: Callable[[], list[Trial]]
) -> tuple[Claim, ...]:
    """One claim for every system and every human translation.

    Args:
        compared: differences in points, the unit of the margin.
        evidence: what the claims of differences rest on.
        margin: in points.
        level: of the tests, which Holm corrects together.
        trials: made only if some claim is supported.
    """
    humans = np.flatnonzero(evidence.human)
    pairs = [(int(system), int(human)) for human in humans for system in np.flatnonzero(~evidence.human)]
    tests = [equivalence(compared, *pair, margin=margin, level=level) for pair in pairs]
    corrected = holm(np.array([test.p for test in tests]))
    apart = {pair for pair, p in evidence.adjusted().items() if p < level and evidence.difference[pair] > margin}
    supported = [pair for pair, p in zip(pairs, corrected, strict=True) if p < level and not {pair, pair[::-1]} & apart]
    outcomes = _outcomes(trials() if supported else [], supported, pairs, margin, level)
    return tuple(
        _claim(evidence, pair, test, float(p), outcomes.get(pair))
        for pair, test, p in zip(pairs, tests, corrected, strict=True)
    )


def _outcomes(
    trials: list[Trial], supported: list[Pair], pairs: list[Pair], margin: float, level: float
) -> dict[Pair, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Which trials each supported claim survives, and which break it."""
    outcomes = {}
    # Where only the order counts, nothing is said of equivalence.
    tested = {trial: trial.equivalence(pairs, margin) for trial in trials if trial.se is not None}
    for pair in supported:
        standing = {trial: p[pair] < level for trial, p in tested.items() if pair in p}
        outcomes[pair] = put_to(list(tested), pair, standing.__getitem__)
    return outcomes


def _claim(
    evidence: Evidence, pair: Pair, test: Equivalence, p: float, tried: tuple[tuple[str, ...], tuple[str, ...]] | None
) -> Claim:
    system, human = (evidence.systems[index] for index in pair)
    survives, broken = tried or ((), ())
    return Claim(
        claim=f"{system} is at parity with {human}",
        kind="parity",
        systems=(system, human),
        estimate=test.difference,
        interval=(test.low, test.high),
        p_holm=above_zero(p),
        survives=survives,
        broken_by=broken,
        verdict=verdict(supported=tried is not None, broken=broken),
        p=above_zero(test.p),
    )
