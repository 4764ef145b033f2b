"""Looks at a growing campaign whose claims stay true. `look` is the main function.

    from adjudge.look import look

    verdict = look(judgments, planned=5000, looks=5, goal="best", history="looks.json")
    verdict.stop, verdict.advice

`boundaries` computes how far a statistic must go at each look, `decide` shares the level among the comparisons and
has the bounds for looks at any time, `claims` the estimates after stopping, `live` the state between two planned
looks, `history` the file of looks taken.
`docs/look.md` says what is promised and how it was checked.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.core.errors import DataError, UsageError, unknown_choice
from adjudge.core.rng import DEFAULT_SEED
from adjudge.core.wording import agreeing
from adjudge.evidence.verdict import say_for_whom
from adjudge.look.claims import claims_of, settled_top, tested_pairs, with_final_estimates
from adjudge.look.decide import DEFAULT_MODE, MODES, LookPlan, Mode, Observed, Settled, State, settle
from adjudge.look.estimates import Differences, count_judgments, differences_of
from adjudge.look.goals import Goal, parse_goal
from adjudge.look.history import (
    History,
    LookRecord,
    check_continues,
    observed_of,
    read_history,
    settled_of,
    sketch_of,
    write_history,
)
from adjudge.look.outlook import advice_on
from adjudge.results.look import Look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.results.look import LookClaim
    from adjudge.results.rank import Ranking

__all__ = ["MODES", "Goal", "LookPlan", "look", "parse_goal"]


def look(
    judgments: Judgments,
    *,
    planned: int,
    looks: int,
    goal: str = "pairs",
    between: Sequence[tuple[str, str]] = (),
    spending: Mode = DEFAULT_MODE,
    level: float = 0.05,
    history: Path | str | None = None,
    final: bool = False,
    method: str | None = None,
    seed: int = DEFAULT_SEED,
    ranking: Ranking | None = None,
) -> Look:
    """Look at the judgments so far: which claims are settled for good, which are open, and whether to stop.

    `judgments` are all judgments so far, of one language pair, and `ranking` is the ranking of these very judgments,
    where it is at hand already. `adjudge.shell.evidence.LookSettings` explains the other parameters.
    """
    from adjudge.rank import RankSettings, rank

    plan = _plan(planned, looks, parse_goal(goal, tuple(between)), spending, level)
    count = _count(judgments, plan)
    ranking = ranking or rank(judgments, method=method, settings=RankSettings(seed=seed))
    differences = differences_of(ranking)
    plan.goal.check(differences.systems)
    path = None if history is None else Path(history)
    past = _past(path, plan, differences.systems, judgments, count)
    fraction = 1.0 if final or count >= planned else count / planned
    repeated = bool(past.records) and past.records[-1].data == judgments.fingerprint
    if repeated:
        state = _repeated(plan, differences, past)
    else:
        now = Observed(fraction, differences.difference, differences.se, differences.df, differences.z)
        seen = _assumed(plan, now) if path is None else [observed_of(record) for record in past.records]
        state = _taken(plan, differences, [*seen, now], past, count)
    if path is not None and not repeated:
        record = _record(state, differences, judgments)
        write_history(path, History(past.plan, (*past.records, record)))
    return _result(state, judgments, ranking, _notes(plan, state, path, repeated=repeated))


def _plan(planned: int, looks: int, goal: Goal, spending: Mode, level: float) -> LookPlan:
    if planned < 1:
        raise UsageError(f"--planned is {planned}; give the judgments planned in all, before the first look")
    if looks < 1:
        raise UsageError(f"--looks is {looks}; give how many looks are planned, at least 1")
    if not 0 < level < 1:
        raise UsageError(f"--level is {level:g}, it must lie between 0 and 1; the usual value is 0.05")
    if spending not in MODES:
        raise unknown_choice("spending", spending, MODES)
    return LookPlan(planned, looks, goal, spending, level)


def _count(judgments: Judgments, plan: LookPlan) -> int:
    count = count_judgments(judgments)
    if count > plan.planned:
        planned = f"{plan.planned:,} {agreeing(plan.planned, 'was', 'were')} planned"
        raise DataError(
            f"the data hold {count:,} judgments, {planned}; a plan cannot be extended during a campaign, "
            "use the first ones only"
        )
    return count


def _past(path: Path | None, plan: LookPlan, systems: tuple[str, ...], judgments: Judgments, count: int) -> History:
    described = _described(plan, systems)
    past = None if path is None else read_history(path)
    if past is None:
        return History(described)
    check_continues(past, described, judgments, count)
    last = past.records[-1] if past.records else None
    if last is not None and last.fraction >= 1 and last.data != judgments.fingerprint:
        raise DataError(f"look {last.look} was the final one, the level is spent; plan a new campaign for more")
    return past


def _described(plan: LookPlan, systems: tuple[str, ...]) -> dict[str, Any]:
    return {
        "planned": plan.planned,
        "looks": plan.looks,
        "goal": str(plan.goal),
        "between": [" / ".join(pair) for pair in plan.goal.between],
        "spending": plan.spending,
        "level": plan.level,
        "systems": list(systems),
    }


def _taken(plan: LookPlan, differences: Differences, seen: list[Observed], past: History, count: int) -> State:
    """A new look, after those in the history."""
    before = settled_of(past.records[-1]) if past.records else Settled.none(len(differences.z))
    tested = tested_pairs(plan, differences.systems, differences.pairs)
    settled = settle(plan, seen, before, tested, len(differences.systems))
    state = State(plan, differences.systems, differences.pairs, seen, settled, count, differences.lasting)
    return _with_top(state, past.records[-1] if past.records else None)


def _repeated(plan: LookPlan, differences: Differences, past: History) -> State:
    """The last look of the history once more: nothing is spent on it."""
    last = past.records[-1]
    seen = [observed_of(record) for record in past.records]
    state = State(
        plan, differences.systems, differences.pairs, seen, settled_of(last), last.judgments, differences.lasting
    )
    return _with_top(state, last)


def _with_top(state: State, last: LookRecord | None) -> State:
    """What was settled as the top stays settled."""
    if state.plan.goal.kind != "top":
        return state
    if last is not None and last.top:
        return replace(state, top=tuple(last.top), top_at=last.top_at)
    top = settled_top(state)
    return replace(state, top=top, top_at=len(state.seen) if top else 0)


def _assumed(plan: LookPlan, now: Observed) -> list[Observed]:
    """The planned looks before this one, as if taken: with the information that their share of the plan brings."""
    fractions = [number / plan.looks for number in range(1, plan.looks) if (number + 0.25) / plan.looks < now.fraction]
    if plan.spending == "anytime":
        fractions = []
    zeros = np.zeros(len(now.z))
    return [
        Observed(fraction, zeros, now.se * np.sqrt(now.fraction / fraction), now.df, zeros) for fraction in fractions
    ]


def _record(state: State, differences: Differences, judgments: Judgments) -> LookRecord:
    def plain(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
        return [float(value) if np.isfinite(value) else None for value in values]

    return LookRecord(
        look=len(state.seen),
        judgments=state.judgments,
        fraction=state.now.fraction,
        data=judgments.fingerprint,
        sketch=sketch_of(judgments),
        difference=differences.difference.tolist(),
        se=plain(differences.se),
        df=plain(differences.df),
        z=differences.z.tolist(),
        sign=state.settled.sign.tolist(),
        settled_at=state.settled.look.tolist(),
        level=state.settled.level.tolist(),
        top=list(state.top),
        top_at=state.top_at,
    )


def _notes(plan: LookPlan, state: State, path: Path | None, *, repeated: bool) -> tuple[str, ...]:
    notes = []
    number, fraction = len(state.seen), state.now.fraction
    if path is None and plan.spending != "anytime" and number > 1:
        notes.append("no history was given: the planned looks before this one are assumed to have been made")
    if repeated:
        notes.append(f"these are the judgments of look {number}, which is shown again; nothing was spent")
    elif plan.spending != "anytime" and path is not None and not state.ended:
        wanted = number / plan.looks
        if abs(fraction - wanted) > 0.25 / plan.looks:
            notes.append(
                f"look {number} was planned at {min(wanted, 1.0):.0%} of the judgments and came at {fraction:.0%}; "
                "it spends level all the same"
            )
    return tuple(notes)


def _whose_verdict(judgments: Judgments, claims: Sequence[LookClaim]) -> str:
    """With one or two people nothing is known of others: what is settled is settled for them."""
    if not any(claim.verdict == "settled" for claim in claims):
        return ""
    people = judgments.table["annotator"]
    return say_for_whom(people.drop_nulls().n_unique(), all_named=not people.null_count())


def _result(state: State, judgments: Judgments, ranking: Ranking, notes: tuple[str, ...]) -> Look:
    plan = state.plan
    claims = claims_of(state)
    stop, advice = advice_on(state, claims)
    advice += _whose_verdict(judgments, claims)
    return Look(
        settings={
            "planned": plan.planned,
            "looks": plan.looks,
            "goal": str(plan.goal),
            "between": ", ".join(" / ".join(pair) for pair in plan.goal.between) or None,
            "spending": plan.spending,
            "level": plan.level,
            "look": len(state.seen),
            "method": ranking.method,
            "seed": ranking.settings.get("seed"),
        },
        data=judgments.fingerprint,
        set_aside=ranking.set_aside,
        notes=ranking.notes + notes,
        look=len(state.seen),
        looks=plan.looks,
        judgments=state.judgments,
        planned=plan.planned,
        information=min(1.0, state.judgments / plan.planned),
        level=plan.spent(state.now.fraction),
        goal=str(plan.goal),
        claims=with_final_estimates(state, claims) if stop else claims,
        stop=stop,
        advice=advice,
    )
