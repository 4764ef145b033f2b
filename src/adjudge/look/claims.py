"""The claims of a look in words and numbers: estimates, intervals, what is still needed, and the advice."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from adjudge.look.decide import LookPlan, Observed, Settled, bound, information_of
from adjudge.look.final import as_path, final_estimate
from adjudge.results.look import LookClaim

if TYPE_CHECKING:
    from collections.abc import Sequence

HARDLY = 0.1
"""Below this chance to be settled within the plan, a claim is called hardly decidable. Advice only."""
_TOO_MANY = 50
"""So many times the plan is no number that anybody needs."""
_FINAL_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class State:
    """All that is known at a look. Comparisons are pairs of systems, by their number."""

    plan: LookPlan
    systems: tuple[str, ...]
    pairs: Sequence[tuple[int, int]]
    seen: list[Observed]
    settled: Settled
    judgments: int
    top: tuple[str, ...] = ()
    """The systems that are settled as the top, where that is the goal."""
    top_at: int = 0
    """The look at which they were settled."""

    @property
    def now(self) -> Observed:
        """The present look."""
        return self.seen[-1]

    @property
    def ended(self) -> bool:
        """Whether the plan is used up."""
        return self.now.fraction >= 1


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
    half = _half_width(float(now.se[index]), float(now.df[index]), limit)
    return LookClaim(
        claim=f"{state.systems[better]} is better than {state.systems[worse]}",
        systems=(state.systems[better], state.systems[worse]),
        estimate=estimate,
        interval=(estimate - half, estimate + half),
        verdict="settled" if is_settled else "open",
        needed=None if is_settled else _needed(state, index),
        settled_at=int(settled.look[index]) or None,
        chance=None if is_settled else _chance(state, index),
        z=sign * float(now.z[index]),
        bound=limit,
    )


def _half_width(se: float, df: float, limit: float) -> float:
    """The boundary in the unit of the difference: the quantile of t with the probability of the normal boundary."""
    from scipy.special import ndtr, stdtrit

    tail = float(ndtr(-limit))
    quantile = limit if np.isinf(df) else -float(stdtrit(df, tail)) if tail > 0 else np.inf
    return se * quantile


def _needed(state: State, index: int) -> int | None:
    """Judgments more until the look at which the claim would be settled, if the difference is as estimated."""
    z, now = abs(float(state.now.z[index])), state.now.fraction

    def reached(fraction: float) -> bool:
        return bool(z * np.sqrt(fraction / now) >= _bound_at(state, index, fraction))

    if z * z * _TOO_MANY <= _bound_at(state, index, 1.0) ** 2 * state.judgments / state.plan.planned:
        return None
    if not reached(1.0):
        return ceil(state.judgments * ((_bound_at(state, index, 1.0) / z) ** 2 - 1))
    ahead = [number / state.plan.looks for number in range(1, state.plan.looks) if number / state.plan.looks > now]
    ahead.append(1.0)
    return max(1, ceil(ahead[bisect_left(ahead, True, key=reached)] * state.plan.planned) - state.judgments)


def _chance(state: State, index: int) -> float | None:
    """The chance to cross the last boundary within the plan under the trend so far (conditional power)."""
    from scipy.special import ndtr

    fraction = state.now.fraction
    if fraction >= 1:
        return None
    limit = _bound_at(state, index, 1.0)
    # The score at the end is Z sqrt(t) plus the drift Z / sqrt(t) over what is left, with variance 1 - t.
    return float(ndtr((abs(float(state.now.z[index])) / np.sqrt(fraction) - limit) / np.sqrt(1 - fraction)))


def _bound_at(state: State, index: int, fraction: float) -> float:
    """The boundary of a comparison at a look to come."""
    return bound(state.plan, state.seen, index, float(state.settled.level[index]), ahead=fraction)


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
    rest = set(range(len(state.systems))) - set(members)
    if len(members) != size or any((member, other) not in better for member in members for other in rest):
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
        claim=_in_words(members),
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
        claim=f"{better} is better than {worse}",
        systems=(better, worse),
        estimate=None if claim.estimate is None else -claim.estimate,
        interval=(None if high is None else -high, None if low is None else -low),
        verdict="open",
        settled_at=None,
        z=None if claim.z is None else -claim.z,
        needed=None,
        chance=None,
    )


def _in_words(members: tuple[str, ...]) -> str:
    if len(members) == 1:
        return f"{members[0]} is the best system"
    return f"the top {len(members)} are {', '.join(members)}"


def with_final_estimates(state: State, claims: tuple[LookClaim, ...]) -> tuple[LookClaim, ...]:
    """After stopping: the claims with estimates that account for the looks."""
    index_of = {frozenset((state.systems[i], state.systems[j])): k for k, (i, j) in enumerate(state.pairs)}
    return tuple(
        claim if len(claim.systems) != 2 else _with_final(state, claim, index_of[frozenset(claim.systems)])
        for claim in claims
    )


def _with_final(state: State, claim: LookClaim, index: int) -> LookClaim:
    from scipy.special import stdtrit

    looks = state.seen[: claim.settled_at or len(state.seen)]
    last = looks[-1]
    se = float(last.se[index])
    if not se > 0:
        return claim
    df = float(last.df[index])
    # Errors from few annotators are wider than the normal distribution says.
    wider = 1.0 if np.isinf(df) else float(stdtrit(df, 1 - _FINAL_LEVEL / 2)) / 1.959963984540054
    information = np.array(information_of(looks, index))
    information *= 1 / (se * wider) ** 2 / information[-1]
    level = float(state.settled.level[index])
    bounds = [bound(state.plan, looks[:number], index, level) for number in range(1, len(looks))]
    sign = 1.0 if claim.systems[0] == state.systems[state.pairs[index][0]] else -1.0
    path = as_path(information.tolist(), bounds, sign * float(last.difference[index]) / (se * wider))
    found = final_estimate(path, level=_FINAL_LEVEL)
    return replace(claim, unbiased=found.estimate, final_interval=found.interval)


def advice_on(state: State, claims: tuple[LookClaim, ...]) -> tuple[bool, str]:
    """Whether to stop, and one sentence that says what to do."""
    top = state.plan.goal.kind == "top"
    waiting = [claim for claim in (claims[:1] if top else claims) if claim.verdict == "open"]
    what = _goal_in_words(state.plan, len(claims))
    if not waiting:
        return True, f"Stop: {what} settled."
    if state.ended:
        rest = "it stays open" if top else f"{len(waiting)} of {_pairs(len(claims))} stay open"
        return True, f"Stop: the planned judgments are in; {rest}."
    if all(claim.chance is not None and claim.chance < HARDLY for claim in waiting):
        return False, f"{_open(top, waiting)}; the chance to settle more within the plan is below {HARDLY:.0%}."
    needed = [claim.needed for claim in waiting]
    left = state.plan.planned - state.judgments
    beyond = sum(number is None or number > left for number in needed)
    within = [number for number in needed if number is not None and number <= left]
    if not within:
        return False, f"Go on: {_open(top, waiting)}; more judgments than the {left:,} left would be needed."
    more = f", {beyond} of them beyond the plan" if beyond and not top else ""
    return False, f"Go on: {_open(top, waiting)}, about {max(within):,} judgments{more}."


def _open(top: bool, waiting: Sequence[LookClaim]) -> str:
    if top:
        return f"{waiting[0].claim} is not settled yet".replace(" is the best system is", " as the best system is")
    return f"{_pairs(len(waiting))} open"


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count} pairs"


def _goal_in_words(plan: LookPlan, claims: int) -> str:
    if plan.goal.kind == "top":
        return "the best system is" if plan.goal.size == 1 else f"the top {plan.goal.size} are"
    return "the pair is" if claims == 1 else f"all {claims} pairs are"
