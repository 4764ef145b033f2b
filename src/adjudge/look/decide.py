"""Which comparisons are settled at a look: boundaries for each, the level shared and handed on.

Group sequential Holm: each open pair has the boundary of its share of the level; a settled pair hands its share on, and
the boundaries of the others are computed anew for the present and later looks. Y. Ye, A. Li, L. Liu, B. Yao (2013): A
group sequential Holm procedure with multiple primary endpoints. Statistics in Medicine 32, 1112-1124; W. Maurer,
F. Bretz (2013): Multiple testing in group sequential trials using graphical approaches. Statistics in
Biopharmaceutical Research 5, 311-320.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.core.maths import normal_quantile
from adjudge.look.boundaries import (
    SPENDING,
    Spending,
    boundaries,
    few_people_power,
    mixture_bound,
    mixture_share,
    spent,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.look.goals import Goal

    Flags = NDArray[np.bool_]

Mode = Spending | Literal["anytime"]
DEFAULT_MODE: Mode = "kim-demets"
MODES: tuple[Mode, ...] = (*SPENDING, "anytime")


@dataclass(frozen=True)
class LookPlan:
    """What was decided before the first look."""

    planned: int
    """Judgments in all."""
    looks: int
    goal: Goal
    spending: Mode = DEFAULT_MODE
    level: float = 0.05

    def spent(self, fraction: float) -> float:
        """The level spent when this fraction of the plan is in; all of it where anytime bounds are used."""
        return self.level if self.spending == "anytime" else 2 * spent(self.spending, self.level / 2, fraction)


@dataclass(frozen=True, eq=False)
class Observed:
    """The statistics of all comparisons at one look. `fraction` is the share of the plan that is spent by then."""

    fraction: float
    difference: Floats
    se: Floats
    """NaN where it is not known; then information is taken to grow with the judgments."""
    df: Floats
    z: Floats


@dataclass(frozen=True, eq=False)
class Settled:
    """The state of all comparisons after a look."""

    sign: NDArray[np.int64]
    """1 where the first system is settled as better, -1 for the second, 0 where open."""
    look: NDArray[np.int64]
    """The look at which a comparison was settled; 0 where open."""
    level: Floats
    """The one-sided level at which each comparison is tested, or was settled."""

    @classmethod
    def none(cls, comparisons: int) -> Settled:
        """Nothing is settled before the first look."""
        zeros = np.zeros(comparisons, dtype=np.int64)
        return cls(zeros, zeros.copy(), np.zeros(comparisons))


@dataclass(frozen=True, eq=False)
class State:
    """All that is known at a look. Comparisons are pairs of systems, by their number."""

    plan: LookPlan
    systems: tuple[str, ...]
    pairs: Sequence[tuple[int, int]]
    seen: list[Observed]
    settled: Settled
    judgments: int
    lasting: float = 0.0
    """The part of the variance of a difference that more judgments by the same people do not reduce."""
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


def settle(plan: LookPlan, seen: list[Observed], before: Settled, tested: Flags, systems: int) -> Settled:
    """What is settled after the last of the looks in `seen`.

    Args:
        plan: the plan.
        seen: all looks so far, the present one last.
        before: what was settled before it.
        tested: the comparisons that belong to the goal.
        systems: how many systems there are.
    """
    sign, look, level = before.sign.copy(), before.look.copy(), before.level.copy()
    while True:
        open_ = tested & (sign == 0)
        level[open_] = one_sided(plan, int(open_.sum()), systems)
        crossed = open_ & _beyond(plan, seen, open_, level)
        sign[crossed] = np.sign(seen[-1].z[crossed]).astype(np.int64)
        look[crossed] = len(seen)
        # Only a family of pairs hands its level on.
        if not crossed.any() or plan.goal.kind != "pairs":
            return Settled(sign, look, level)


def one_sided(plan: LookPlan, open_pairs: int, systems: int) -> float:
    """The one-sided level at which each open comparison is tested."""
    if plan.goal.kind == "pairs":
        return plan.level / 2 / max(open_pairs, 1)
    return plan.goal.one_sided_level(plan.level, systems)


def _beyond(plan: LookPlan, seen: list[Observed], open_: Flags, level: Floats) -> Flags:
    """Which open comparisons lie beyond their boundary. No boundary lies inside that of the level spent so far."""
    z = np.abs(seen[-1].z)
    beyond = np.zeros(len(z), dtype=bool)
    for index in np.flatnonzero(open_):
        share = float(level[index])
        least = share if plan.spending == "anytime" else spent(plan.spending, share, seen[-1].fraction)
        if least > 0 and z[index] >= -normal_quantile(least):
            beyond[index] = z[index] >= bound(plan, seen, int(index), share)
    return beyond


def bound(plan: LookPlan, seen: list[Observed], index: int, level: float, *, ahead: float | None = None) -> float:
    """The boundary of one comparison at the last look, or at one more look when a fraction `ahead` is in."""
    fractions = [observed.fraction for observed in seen]
    information = information_of(seen, index)
    if ahead is not None and fractions[-1] < ahead:
        information = [*information, information[-1] * ahead / fractions[-1]]
        fractions = [*fractions, ahead]
    if plan.spending == "anytime":
        planned = information[0] / fractions[0]
        return mixture_bound(information[-1] / planned, 2 * level, mixture_share(plan.level))
    power = few_people_power(float(seen[-1].df[index]), spent(plan.spending, level, fractions[-1]))
    # Rounded down, so that equal cases share their work; a smaller correlation only widens the boundary.
    ratios = tuple(np.floor((np.array(information) / information[-1]) ** power * 2000) / 2000)
    return _boundary(plan.spending, ratios, tuple(fractions), level)


def information_of(seen: list[Observed], index: int) -> list[float]:
    """1 / se^2 at every look, or the fraction of the plan where a standard error is not known."""
    errors = np.array([observed.se[index] for observed in seen])
    if np.isfinite(errors).all() and (errors > 0).all():
        values: list[float] = (1 / errors**2).tolist()
        return values
    return [observed.fraction for observed in seen]


@lru_cache(maxsize=20_000)
def _boundary(spending: Spending, ratios: tuple[float, ...], fractions: tuple[float, ...], level: float) -> float:
    return boundaries(ratios, [spent(spending, level, fraction) for fraction in fractions])[-1]
