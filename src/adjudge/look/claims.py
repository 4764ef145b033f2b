"""The claims of a look in words and numbers: estimates, intervals, and after stopping the final estimates.

After stopping, the plain estimate is too large, because a campaign stops when it looks large. Outcomes are ordered by
stage: an upper crossing is the more extreme the earlier it came, then outcomes of one look by their Z, then lower
crossings, the earliest last. The interval holds the true differences under which the outcome is not in a tail of that
order; the median-unbiased estimate has half of the order on either side (C. Jennison, B. W. Turnbull 2000: Group
sequential methods, sections 8.4 and 8.5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import NORMAL_95, normal_quantile, student_below, student_quantile
from adjudge.evidence.verdict import claim_better, claim_top
from adjudge.look.boundaries import crossing
from adjudge.look.decide import LookPlan, Observed, State, bound, information_of
from adjudge.look.outlook import chance_within_plan, needed_judgments
from adjudge.results.look import LookClaim

if TYPE_CHECKING:
    from collections.abc import Sequence

_FINAL_LEVEL = 0.05
_WIDE = 12.0
"""Differences are at first searched within so many standard errors of the plain estimate."""
_PRECISION = 1e-6
"""In standard errors."""
_MOST_SECANTS = 12


def claims_of(state: State) -> tuple[LookClaim, ...]:
    """The claims of the goal, the clearest first."""
    if state.plan.goal.kind == "pairs":
        indices = tested_pairs(state.plan, state.systems, state.pairs)
        claims = [_pair_claim(state, int(index)) for index in np.flatnonzero(indices)]
        return tuple(sorted(claims, key=lambda claim: -abs(claim.z or 0.0)))
    return _top_claims(state)


def tested_pairs(
    plan: LookPlan, systems: tuple[str, ...], pairs: Sequence[tuple[int, int]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which pairs of systems belong to the goal."""
    if not plan.goal.between:
        return np.ones(len(pairs), dtype=bool)
    named = {frozenset(pair) for pair in plan.goal.between}
    return np.array([frozenset((systems[i], systems[j])) in named for i, j in pairs], dtype=bool)


def _pair_claim(state: State, index: int) -> LookClaim:
    now, settled = state.now, state.settled
    first, second = state.pairs[index]
    sign = int(settled.sign[index]) or (1 if now.difference[index] >= 0 else -1)
    better, worse = (first, second) if sign > 0 else (second, first)
    is_settled = settled.sign[index] != 0
    limit = bound(state.plan, state.seen, index, float(settled.level[index]))
    estimate = sign * float(now.difference[index])
    half = half_width(float(now.se[index]), float(now.df[index]), limit)
    return LookClaim(
        claim=claim_better(state.systems[better], state.systems[worse]),
        systems=(state.systems[better], state.systems[worse]),
        estimate=estimate,
        interval=(estimate - half, estimate + half),
        verdict="settled" if is_settled else "open",
        needed=None if is_settled else needed_judgments(state, index),
        settled_at=int(settled.look[index]) or None,
        chance=None if is_settled else chance_within_plan(state, index),
        z=sign * float(now.z[index]),
        bound=limit,
    )


def half_width(se: float, df: float, limit: float) -> float:
    """The boundary in the unit of the difference: the quantile of t with the probability of the normal boundary."""
    from scipy.special import ndtr

    tail = float(ndtr(-limit))
    quantile = limit if np.isinf(df) else float(student_quantile(tail, df)) if tail > 0 else np.inf
    return se * quantile


def leading(systems: tuple[str, ...], pairs: Sequence[tuple[int, int]], now: Observed, size: int) -> tuple[str, ...]:
    """The systems with the largest estimates, the best first."""
    effect = np.zeros(len(systems))
    for (first, second), difference in zip(pairs, now.difference, strict=True):
        effect[first] += difference
        effect[second] -= difference
    order = sorted(range(len(systems)), key=lambda number: (-effect[number], systems[number]))
    return tuple(systems[number] for number in order[:size])


def settled_top(state: State) -> tuple[str, ...]:
    """The systems each of which is settled as better than all of the rest, where they are as many as the goal asks."""
    size = state.plan.goal.size
    wins = np.zeros(len(state.systems), dtype=np.int64)
    better: set[tuple[int, int]] = set()
    for (first, second), sign in zip(state.pairs, state.settled.sign, strict=True):
        if sign:
            better.add((first, second) if sign > 0 else (second, first))
    for winner, _ in better:
        wins[winner] += 1
    members = [number for number in range(len(state.systems)) if wins[number] >= len(state.systems) - size]
    others = set(range(len(state.systems))) - set(members)
    if len(members) != size or any((member, other) not in better for member in members for other in others):
        return ()
    in_order = leading(state.systems, state.pairs, state.now, len(state.systems))
    return tuple(name for name in in_order if state.systems.index(name) in members)


def _top_claims(state: State) -> tuple[LookClaim, ...]:
    members = state.top or leading(state.systems, state.pairs, state.now, state.plan.goal.size)
    links = [index for index, pair in enumerate(state.pairs) if _crosses(state, pair, members)]
    claims = {index: _toward(_pair_claim(state, index), members) for index in links}
    open_links = [claim for claim in claims.values() if claim.verdict == "open"]
    weakest = min(claims.values(), key=lambda claim: claim.z or 0.0)
    needed = [claim.needed for claim in open_links]
    chances = [claim.chance for claim in open_links if claim.chance is not None]
    main = replace(
        weakest,
        claim=claim_top(members),
        systems=members,
        verdict="settled" if state.top else "open",
        needed=None if state.top or None in needed else max((number or 0 for number in needed), default=None),
        chance=None if state.top else min(chances, default=None),
        settled_at=state.top_at or None,
    )
    return (main,) if state.top else (main, *open_links)


def _crosses(state: State, pair: tuple[int, int], members: tuple[str, ...]) -> bool:
    return (state.systems[pair[0]] in members) != (state.systems[pair[1]] in members)


def _toward(claim: LookClaim, members: tuple[str, ...]) -> LookClaim:
    """The claim turned so that the member of the top is said to be better; what points the other way is open."""
    if claim.systems[0] in members:
        return claim
    worse, better = claim.systems
    low, high = claim.interval
    return replace(
        claim,
        claim=claim_better(better, worse),
        systems=(better, worse),
        estimate=None if claim.estimate is None else -claim.estimate,
        interval=(None if high is None else -high, None if low is None else -low),
        verdict="open",
        settled_at=None,
        z=None if claim.z is None else -claim.z,
        needed=None,
        chance=None,
    )


def with_final_estimates(state: State, claims: tuple[LookClaim, ...]) -> tuple[LookClaim, ...]:
    """After stopping: the claims with estimates that account for the looks."""
    index_of = {frozenset((state.systems[i], state.systems[j])): k for k, (i, j) in enumerate(state.pairs)}
    return tuple(
        claim if len(claim.systems) != 2 else _with_final(state, claim, index_of[frozenset(claim.systems)])
        for claim in claims
    )


def _with_final(state: State, claim: LookClaim, index: int) -> LookClaim:
    looks = state.seen[: claim.settled_at or len(state.seen)]
    last = looks[-1]
    se = float(last.se[index])
    if not se > 0:
        return claim
    df = float(last.df[index])
    # Errors from few annotators are wider than the normal distribution says.
    wider = 1.0 if np.isinf(df) else float(student_below(1 - _FINAL_LEVEL / 2, df)) / NORMAL_95
    information = np.array(information_of(looks, index))
    information *= 1 / (se * wider) ** 2 / information[-1]
    level = float(state.settled.level[index])
    bounds = [bound(state.plan, looks[:number], index, level) for number in range(1, len(looks))]
    sign = 1.0 if claim.systems[0] == state.systems[state.pairs[index][0]] else -1.0
    path = as_path(information.tolist(), bounds, sign * float(last.difference[index]) / (se * wider))
    final = final_estimate(path, level=_FINAL_LEVEL)
    return replace(claim, unbiased=final.estimate, final_interval=final.interval)


@dataclass(frozen=True)
class Path:
    """What one difference went through until it was settled or judging ended.

    `bounds` are those of the looks before the last one, whose Z is `z`.
    """

    information: tuple[float, ...]
    bounds: tuple[float, ...]
    z: float


@dataclass(frozen=True)
class FinalEstimate:
    """The median-unbiased estimate and the interval by stage-wise ordering."""

    estimate: float
    interval: tuple[float, float]


def final_estimate(path: Path, *, level: float = 0.05) -> FinalEstimate:
    """The estimate of a difference after stopping, with its interval of confidence 1 - level."""
    if path.z < 0:
        turned = final_estimate(Path(path.information, path.bounds, -path.z), level=level)
        return FinalEstimate(-turned.estimate, (-turned.interval[1], -turned.interval[0]))
    low, middle, high = (_difference_at(path, tail) for tail in (level / 2, 0.5, 1 - level / 2))
    return FinalEstimate(middle, (low, high))


def at_least_as_extreme(path: Path, difference: float) -> float:
    """The probability, under a true difference, of an outcome at or above this one in the order by stage."""
    upper = [*path.bounds, path.z]
    lower = [*(-bound for bound in path.bounds), -np.inf]
    above, _ = crossing(path.information, upper, lower, drift=difference)
    return float(above.sum())


def _difference_at(path: Path, tail: float) -> float:
    """The true difference under which the outcome has this probability, which grows with the difference."""
    from scipy.optimize import brentq

    se = 1 / np.sqrt(path.information[-1])
    plain = path.z * se
    near = _by_secants(path, tail, plain, se)
    if near is not None:
        return near

    def off(true: float) -> float:
        return at_least_as_extreme(path, true) - tail

    # An early crossing says less than its standard error alone, so the search is as wide as the first look's error.
    width = _WIDE * max(se, 1 / np.sqrt(path.information[0]))
    low, high = plain - width, plain + width
    # A statistic that was small at the first look and is huge at the next one points at a difference far below it.
    while off(low) > 0:
        low -= width
    while off(high) < 0:
        high += width
    return float(brentq(off, low, high, xtol=_PRECISION * se))


def _by_secants(path: Path, tail: float, plain: float, se: float) -> float | None:
    """The same by secants: the normal quantile of the probability is nearly a line. None where they lead nowhere."""
    wanted = float(normal_quantile(tail))

    def off(true: float) -> float:
        return float(normal_quantile(at_least_as_extreme(path, true))) - wanted

    before, here = plain, plain + wanted * se if wanted else plain + se
    off_before, off_here = off(before), off(here)
    for _ in range(_MOST_SECANTS):
        if not np.isfinite(off_before) or not np.isfinite(off_here) or off_before == off_here:
            return None
        step = off_here * (here - before) / (off_here - off_before)
        before, off_before = here, off_here
        here -= step
        if abs(step) < _PRECISION * se:
            return here
        off_here = off(here)
    return None


def as_path(information: Sequence[float], bounds: Sequence[float], z: float) -> Path:
    """The path with information that only grows, as the recursion needs it."""
    values = np.asarray(information, dtype=float).copy()
    for k in range(len(values) - 2, -1, -1):
        values[k] = min(values[k], 0.996 * values[k + 1])
    return Path(tuple(values.tolist()), tuple(bounds), z)
