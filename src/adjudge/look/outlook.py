"""What open claims still need, how likely they are settled within the plan, and the advice that follows.

None of this spends level: advice is advice, and going on is always allowed.
"""

from __future__ import annotations

from bisect import bisect_left
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from adjudge.evidence.verdict import advise
from adjudge.look.decide import State, bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.results.look import LookClaim

_TOO_MANY = 50
"""Beyond this many times the plan, the number of judgments needed is not shown."""


def needed_judgments(state: State, index: int) -> int | None:
    """Judgments more until the look at which the claim would be settled, if the difference is as estimated."""
    z, now, last = abs(float(state.now.z[index])), state.now.fraction, _bound_at(state, index, 1.0)

    def reached(fraction: float) -> bool:
        return bool(z * np.sqrt(growth(state, index, fraction)) >= _bound_at(state, index, fraction))

    if not reached(1.0):
        beyond = _smallest(lambda fraction: z * np.sqrt(growth(state, index, fraction)) >= last, now, _TOO_MANY)
        return None if beyond is None else max(1, ceil(beyond * state.plan.planned) - state.judgments)
    ahead = [number / state.plan.looks for number in range(1, state.plan.looks) if number / state.plan.looks > now]
    ahead.append(1.0)
    return max(1, ceil(ahead[bisect_left(ahead, True, key=reached)] * state.plan.planned) - state.judgments)


def chance_within_plan(state: State, index: int) -> float | None:
    """The chance to cross the last boundary within the plan under the trend so far (conditional power)."""
    from scipy.special import ndtr

    fraction = state.now.fraction
    if fraction >= 1:
        return None
    limit = _bound_at(state, index, 1.0)
    share = 1 / growth(state, index, 1.0)
    # With a share t of the last look's information in, the score there is Z sqrt(t) plus the drift Z / sqrt(t) over
    # what is left, with variance 1 - t.
    return float(ndtr((abs(float(state.now.z[index])) / np.sqrt(share) - limit) / np.sqrt(max(1 - share, 1e-9))))


def _smallest(reached: Callable[[float], bool], low: float, high: float) -> float | None:
    """The smallest number above `low` that is enough, to a thousandth; None where even `high` is not."""
    if not reached(high):
        return None
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def growth(state: State, index: int, fraction: float) -> float:
    """How many times the present information there is at a fraction of the plan, if the same people go on."""
    variance = float(state.now.se[index]) ** 2
    lasting = min(state.lasting, 0.99 * variance) if variance > 0 else 0.0
    passing = 1.0 if not variance > 0 else (variance - lasting) / variance
    return 1 / (1 - passing + passing * state.now.fraction / fraction)


def _bound_at(state: State, index: int, fraction: float) -> float:
    """The boundary of a comparison at a look to come."""
    return bound(state.plan, state.seen, index, float(state.settled.level[index]), ahead=fraction)


def advice_on(state: State, claims: tuple[LookClaim, ...]) -> tuple[bool, str]:
    """Whether to stop, and one sentence that says what to do."""
    plan = state.plan
    top = plan.goal.size if plan.goal.kind == "top" else None
    return advise(claims, top=top, planned=plan.planned, judgments=state.judgments, ended=state.ended)
