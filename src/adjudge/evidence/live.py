"""The state at any time: sets of ranks that hold at all times together, and what more judgments would buy.

Between planned looks no verdict is given. What can be shown as often as anybody likes are confidence sequences of all
differences (see `boundaries`), shared among the pairs by Holm's procedure: a true pair of equals is called different at
any time with at most the level, because it would have to cross the bound of its share at some time. The set of ranks
of a system follows: one below every system that is better, one above every system that is worse.

The bounds depend on the information that the plan will bring. It is reckoned once, the first time that the state is
asked for, and must be handed in again later: bounds that are chosen anew each time would not hold together.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.evidence import look_claims
from adjudge.evidence.boundaries import LookPlan, Observed, Settled, State, bound, one_sided, settle
from adjudge.evidence.look import History, observed_of, settled_of
from adjudge.table.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.ranking.ranking import Ranking
    from adjudge.table.judgments import Judgments

    Start = tuple[float, tuple[float | None, ...]]

MORE = 1000
"""What is asked for when nothing else is said: what a thousand more judgments would buy."""
_STEPS = 200
"""Judgments needed are rounded to this share of the plan."""


def live(
    judgments: Judgments,
    *,
    planned: int,
    level: float = 0.05,
    plan: LookPlan | None = None,
    history: History | None = None,
    start: Start | None = None,
    more: int = MORE,
    ranking: Ranking | None = None,
    seed: int = DEFAULT_SEED,
) -> look_claims.LiveState:
    """The state of a campaign at any time.

    Args:
        judgments: all judgments so far, of one language pair.
        planned: judgments planned in all, controls not counted.
        level: the chance that anything shown is wrong at any time.
        plan: the planned looks, for what more judgments would settle; default: looks at any time.
        history: the looks that were taken.
        start: what the first state of this campaign had as `start`.
        more: so many judgments more are looked ahead.
        ranking: the ranking of these very judgments, where it is at hand already.
        seed: of methods that use chance.
    """
    from adjudge.ranking.methods import RankSettings, rank

    ranking = ranking or rank(judgments, settings=RankSettings(seed=seed))
    count = look_claims.count_judgments(judgments)
    people = look_claims.people_behind(ranking, look_claims.count_people(judgments))
    state = _state(ranking, count, people, LookPlan(planned, _STEPS, look_claims.Goal(), "anytime", level), start)
    claims = look_claims.claims_of(state)
    stop, advice = look_claims.advice_on(state, claims)
    ahead = min(more, planned - count)
    first = state.seen[0]
    enough = state.now.tells_of_others
    return look_claims.LiveState(
        settings={"planned": planned, "level": level, "spending": "anytime", "method": ranking.method, "seed": seed},
        data=judgments.fingerprint,
        set_aside=ranking.set_aside,
        notes=ranking.notes,
        judgments=count,
        people=people,
        planned=planned,
        level=level,
        systems=_systems(state, ranking),
        claims=claims,
        outlook=None if ahead < 1 or not enough else _outlook(state, plan or state.plan, history, ahead),
        stop=stop,
        advice=advice,
        start=(first.fraction, tuple(float(se) if np.isfinite(se) else None for se in first.se)) if enough else None,
    )


def _state(ranking: Ranking, count: int, people: int | None, plan: LookPlan, start: Start | None) -> State:
    """The comparisons now, with bounds by the information at the start."""
    systems = tuple(sorted(entry.system for entry in ranking.systems))
    now = look_claims.observe(ranking, count / plan.planned, people)
    seen = [now]
    if start is not None and len(start[1]) == len(now.z) and start[0] < now.fraction:
        errors = np.array([np.nan if se is None else se for se in start[1]])
        seen = [replace(now, fraction=start[0], se=errors), now]
    settled = settle(plan, seen, Settled.none(len(now.z)), np.ones(len(now.z), dtype=bool), len(systems))
    return State(plan, systems, seen, settled, count)


def _systems(state: State, ranking: Ranking) -> tuple[look_claims.LiveSystem, ...]:
    above = Counter(state.systems[worse] for _, worse in state.better)
    below = Counter(state.systems[better] for better, _ in state.better)
    return tuple(
        look_claims.LiveSystem(
            entry.system, entry.score, 1 + above[entry.system], len(state.systems) - below[entry.system]
        )
        for entry in ranking.systems
    )


def _outlook(state: State, plan: LookPlan, history: History | None, more: int) -> look_claims.Outlook:
    """What a look after so many judgments more would settle of the plan's goal."""
    records = () if history is None else history.records
    waiting = _open_comparisons(state, plan, records[-1].sign if records else None)
    seen = state.seen if plan is state.plan else [observed_of(record) for record in records]
    if records:
        level = settled_of(records[-1]).level
    else:
        level = np.full(len(state.pairs), one_sided(plan, max(len(waiting), 1), len(state.systems)))
    then = min(1.0, (state.judgments + more) / state.plan.planned)
    chances = [_chance(state, index, plan, seen, level=float(level[index]), then=then) for index in waiting]
    every = range(len(state.pairs))
    return look_claims.Outlook(
        more=more,
        open=len(waiting),
        expected=float(sum(chances)),
        chance=min(chances, default=1.0) if plan.goal.kind == "top" else None,
        half_width=float(np.mean([_half(state, index, state.now.fraction) for index in every])),
        half_width_then=float(np.mean([_half(state, index, then) for index in every])),
    )


def _open_comparisons(state: State, plan: LookPlan, settled: Sequence[int] | None) -> list[int]:
    """The comparisons of the goal that are open: all pairs, or those between the leaders and the rest."""
    sign = state.settled.sign if settled is None else np.array(settled)
    tested = look_claims.tested_pairs(plan.goal, state.systems) & (sign == 0)
    if plan.goal.kind == "top":
        tested &= state.crossing(look_claims.leading(state, plan.goal.size))
    return [int(index) for index in np.flatnonzero(tested)]


def _chance(state: State, index: int, plan: LookPlan, seen: list[Observed], *, level: float, then: float) -> float:
    """The chance that a comparison is settled at a look when the fraction `then` is in (conditional power)."""
    from scipy.special import ndtr

    times = look_claims.growth(state, index, then)
    if times <= 1:
        return 0.0
    z = abs(float(state.now.trend[index])) * np.sqrt(times)
    future = replace(state.now, fraction=then, se=state.now.se / np.sqrt(times), z=state.now.z * np.sqrt(times))
    limit = bound(plan, [*seen, future], index, level)
    return float(ndtr((z - limit) / np.sqrt(1 - 1 / times)))


def _half(state: State, index: int, fraction: float) -> float:
    """Half of an interval that holds at all times, now or later."""
    times = look_claims.growth(state, index, fraction)
    level = float(state.settled.level[index])
    limit = bound(state.plan, state.seen, index, level, ahead=fraction)
    return look_claims.half_width(float(state.now.se[index]) / float(np.sqrt(times)), float(state.now.df[index]), limit)
