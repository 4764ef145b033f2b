"""Boundaries for looks at a growing campaign: group sequential ones, and confidence sequences.

Group sequential boundaries are found by numerical integration over independent increments.

The statistics Z_1, Z_2, ... of one difference at looks with information I_1 < I_2 < ... have the canonical joint
distribution: Z_k is normal with mean theta sqrt(I_k) and variance 1, and Z_k sqrt(I_k) - Z_(k-1) sqrt(I_(k-1)) is
independent of what came before. So the probability to cross a boundary first at look k follows from the density of
Z_(k-1) among the paths that have not crossed, one look after the other.

P. Armitage, C. K. McPherson, B. C. Rowe (1969): Repeated significance tests on accumulating data. JRSS A 132, 235-244.
C. Jennison, B. W. Turnbull (2000): Group sequential methods with applications to clinical trials. Chapman & Hall;
chapter 19 has the recursion and the grid. K. K. G. Lan, D. L. DeMets (1983): Discrete sequential boundaries for
clinical trials. Biometrika 70, 659-663, has the spending of the level.

Those who look whenever they like get confidence sequences, which hold at all times at once. With the normal mixture
(Robbins 1970), for every nu > 0,

    P(exists k: |d_k - delta| >= se_k^2 sqrt((I_k + nu) ln((I_k + nu) / (nu a^2)))) <= a

for Gaussian increments, and asymptotically for averages (I. Waudby-Smith et al. 2024: Time-uniform central limit theory
and asymptotic confidence sequences. Annals of Statistics 52, 2613-2640). nu is chosen so that the interval is narrowest
at the planned information; there it is about 1.55 times as wide as an interval for one look.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.table.maths import Floats, normal_quantile, student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.evidence.look_claims import Goal

    Flags = NDArray[np.bool_]


Spending = Literal["kim-demets", "obrien-fleming", "pocock"]
SPENDING: tuple[Spending, ...] = ("kim-demets", "obrien-fleming", "pocock")

_EXPONENT = 3.0
_GRID = 18
"""The parameter r of Jennison and Turnbull's grid: the error of a probability is far below 1e-6."""
_SMALLEST_STEP = 0.004
"""Looks closer together than this share of the information are taken as that far apart, which widens the boundary."""
_NOTHING = 1e-14
"""A level below this is not spent at a look: no statistic could cross its boundary."""
_FARTHEST = 38.0
_FEWEST_DEGREES = 1.05
"""With fewer degrees of freedom, looks are taken as unrelated."""
_LARGEST_POWER = 1e4
LEAST_PEOPLE = 3
"""With fewer people, how much people differ in what they think of a system is as good as unknown."""


def spent(spending: Spending, level: float, fraction: float) -> float:
    """The one-sided level spent when this fraction of the plan is in.

    The O'Brien-Fleming and Pocock types are those of Lan and DeMets (1983); the third power of the fraction lies
    between them (K. Kim, D. L. DeMets 1987: Design and analysis of group sequential tests based on the type I error
    spending rate function. Biometrika 74, 149-154).
    """
    from scipy.special import ndtr

    if fraction <= 0:
        return 0.0
    if fraction >= 1:
        return level
    if spending == "kim-demets":
        return float(level * fraction**_EXPONENT)
    if spending == "pocock":
        return float(level * np.log1p((math.e - 1) * fraction))
    return float(2 * ndtr(normal_quantile(level / 2) / np.sqrt(fraction)))


def few_people_power(df: float, tail: float) -> float:
    """The power to which ratios of information are raised where standard errors are estimated with few people.

    The same few people tell the standard error at every look, and it moves between looks as the difference itself
    does. So t, turned into the normal quantile z of its p-value, moves more between two looks than with a known error,
    and crosses a boundary more often. Near a boundary its variance per step is larger by the factor given here: with
    density f of t and phi of z, and with the error s given t, for which (df + t^2) s^2 follows chi^2 with df + 1,

        (f(t) / phi(z))^2 (1 + t^2 / df) E(1 / s^2 | t),   E(1 / s^2 | t) = (df + t^2) / (df - 1).

    Ratios of information raised to this power move as much. `tests/evidence/test_few_people.py` has the simulation.
    """
    from scipy.special import gammaln

    if np.isinf(df) or tail <= 0:
        return 1.0
    if df <= _FEWEST_DEGREES:
        return _LARGEST_POWER
    t, z = float(student_quantile(tail, df)), float(-normal_quantile(tail))
    squared = 1 + t * t / df
    # The logarithm of f(t) / phi(z), since both may be too small for numbers.
    ratio = gammaln((df + 1) / 2) - gammaln(df / 2) - np.log(df / 2) / 2 - (df + 1) / 2 * np.log(squared) + z * z / 2
    power = float(np.exp(min(2 * ratio, 50.0))) * squared * squared * df / (df - 1)
    return min(max(power, 1.0), _LARGEST_POWER)


def boundaries(information: Sequence[float], levels: Sequence[float]) -> list[float]:
    """The upper boundary of Z at each look.

    Args:
        information: that of each look.
        levels: the one-sided level spent until each look; the last entries may be those of looks to come.

    Returns:
        One boundary per look; infinite where nothing is spent.
    """
    steps = _usable(information)
    density: _Density | None = None
    crossed_at: list[float] = []
    before = 0.0
    for k, level in enumerate(levels):
        increment = level - before
        path = _Step(steps[k], steps[k - 1] if k else 0.0)
        bound = _solve(density, path, increment) if increment > _NOTHING else np.inf
        before = before if np.isinf(bound) else level
        crossed_at.append(bound)
        if k + 1 < len(levels):
            density = _advance(density, path, -np.inf, bound)
    return crossed_at


def crossing(
    information: Sequence[float] | Floats, upper: Sequence[float], lower: Sequence[float], *, drift: float = 0.0
) -> tuple[Floats, Floats]:
    """The probabilities to cross the upper and the lower boundary first at each look, under a true difference."""
    steps = np.asarray(information, dtype=float)
    density: _Density | None = None
    above, below = np.zeros(len(steps)), np.zeros(len(steps))
    for k, total in enumerate(steps):
        path = _Step(float(total), float(steps[k - 1]) if k else 0.0)
        above[k] = _beyond(density, path, upper[k], drift)
        mirrored = None if density is None else _Density(-density.points, density.mass)
        below[k] = _beyond(mirrored, path, -lower[k], -drift)
        if k + 1 < len(steps):
            density = _advance(density, path, lower[k], upper[k], drift)
    return above, below


@dataclass(frozen=True)
class _Step:
    """The information after a look and before it."""

    total: float
    before: float

    @property
    def spread(self) -> float:
        """The standard deviation of the score that the step adds."""
        return float(np.sqrt(self.total - self.before))


@dataclass(frozen=True, eq=False)
class _Density:
    """Points of Z at a look, and the probability at each among the paths that have not crossed."""

    points: Floats
    mass: Floats


def _usable(information: Sequence[float]) -> list[float]:
    """Increasing information, in units of the last look; steps that are too small are enlarged backwards."""
    values = np.maximum(np.asarray(information, dtype=float) / information[-1], 1e-6)
    for k in range(len(values) - 2, -1, -1):
        values[k] = min(values[k], (1 - _SMALLEST_STEP) * values[k + 1])
    usable: list[float] = values.tolist()
    return usable


def _beyond(density: _Density | None, step: _Step, bound: float, drift: float = 0.0) -> float:
    """The probability that the next Z lies above the bound, with those paths that have not crossed before."""
    from scipy.special import ndtr

    if np.isinf(bound):
        return 0.0 if bound > 0 else float(1.0 if density is None else density.mass.sum())
    if density is None:
        return float(ndtr(drift * np.sqrt(step.total) - bound))
    start = density.points * np.sqrt(step.before) + drift * (step.total - step.before)
    return float(density.mass @ ndtr((start - bound * np.sqrt(step.total)) / step.spread))


def _solve(density: _Density | None, step: _Step, increment: float) -> float:
    from scipy.optimize import brentq

    if density is None:
        return float(-normal_quantile(increment))
    if _beyond(density, step, -_FARTHEST) <= increment:
        return -_FARTHEST
    return float(brentq(lambda bound: _beyond(density, step, bound) - increment, -_FARTHEST, _FARTHEST, xtol=1e-10))


def _advance(density: _Density | None, step: _Step, lower: float, upper: float, drift: float = 0.0) -> _Density:
    points, weights = _grid(drift * np.sqrt(step.total), lower, upper)
    if density is None:
        height = np.exp(-0.5 * (points - drift * np.sqrt(step.total)) ** 2)
        return _Density(points, weights * height / np.sqrt(2 * np.pi))
    start = density.points * np.sqrt(step.before) + drift * (step.total - step.before)
    height = np.exp(-0.5 * ((points[:, None] * np.sqrt(step.total) - start) / step.spread) ** 2) @ density.mass
    return _Density(points, weights * height * np.sqrt(step.total) / (step.spread * np.sqrt(2 * np.pi)))


def _grid(centre: float, lower: float, upper: float) -> tuple[Floats, Floats]:
    """Points and Simpson weights between the bounds (Jennison and Turnbull 2000, section 19.2.1)."""
    knots = centre + _knots()
    low, high = max(lower, float(knots[0])), min(upper, float(knots[-1]))
    if low >= high:
        return np.array([centre]), np.array([0.0])
    knots = np.concatenate([[low], knots[(knots > low) & (knots < high)], [high]])
    width = np.diff(knots)
    points, weights = np.empty(2 * len(knots) - 1), np.zeros(2 * len(knots) - 1)
    points[::2], points[1::2] = knots, (knots[:-1] + knots[1:]) / 2
    weights[1::2] = 4 * width / 6
    weights[:-1:2] += width / 6
    weights[2::2] += width / 6
    return points, weights


@cache
def _knots() -> Floats:
    """The points around 0, close to each other where most of the probability is."""
    i = np.arange(1, 6 * _GRID)
    tail = 4 * np.log(_GRID / np.minimum(i, 6 * _GRID - i)[np.minimum(i, 6 * _GRID - i) < _GRID])
    inner = -3 + 3 * (np.arange(_GRID, 5 * _GRID + 1) - _GRID) / (2 * _GRID)
    half = len(tail) // 2
    return np.concatenate([-3 - tail[:half], inner, 3 + tail[half:]])


def mixture_bound(fraction: float, level: float, share: float) -> float:
    """How many standard errors the interval reaches to either side.

    Args:
        fraction: information so far, as a fraction of the planned one.
        level: the two-sided level.
        share: nu as a fraction of the planned information, from `mixture_share`.
    """
    ratio = share / fraction
    return float(np.sqrt((1 + ratio) * (np.log1p(1 / ratio) - 2 * np.log(level))))


@lru_cache(maxsize=64)
def mixture_share(level: float) -> float:
    """The share of the planned information at which nu makes the interval narrowest when all judgments are in."""
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(lambda log: mixture_bound(1.0, level, float(np.exp(log))), bounds=(-10, 3), method="bounded")
    return float(np.exp(best.x))


# Which comparisons are settled at a look: boundaries for each, the level shared and handed on.
#
# Group sequential Holm: each open pair has the boundary of its share of the level; a settled pair hands its share on,
# and the boundaries of the others are computed anew for the present and later looks. Y. Ye, A. Li, L. Liu, B. Yao
# (2013): A group sequential Holm procedure with multiple primary endpoints. Statistics in Medicine 32, 1112-1124; W.
# Maurer, F. Bretz (2013): Multiple testing in group sequential trials using graphical approaches. Statistics in
# Biopharmaceutical Research 5, 311-320.


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
    lasting: float = 0.0
    """The part of the variance of a difference that stays when the same people judge more: their tastes."""
    people: int | None = None
    """How many people had judged; None where it is not known."""
    leaning: Floats | None = None
    """z also where two readings of the scores point the same way but do not agree yet; None: they are z."""

    @property
    def trend(self) -> Floats:
        """What comparisons tend to: what is said of judgments to come goes by it, and nothing is settled by it."""
        return self.z if self.leaning is None else self.leaning

    @property
    def tells_of_others(self) -> bool:
        """Whether enough people had judged to say anything of others; where not, a look settles and spends nothing."""
        return self.people is None or self.people >= LEAST_PEOPLE


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
    """Sorted by name."""
    seen: list[Observed]
    settled: Settled
    judgments: int
    top: tuple[str, ...] = ()
    """The systems that are settled as the top, where that is the goal."""
    top_at: int = 0
    """The look at which they were settled."""

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The two systems of every comparison, by their number."""
        return list(combinations(range(len(self.systems)), 2))

    @property
    def better(self) -> set[tuple[int, int]]:
        """The settled pairs, the better system first."""
        signs = zip(self.pairs, self.settled.sign, strict=True)
        return {pair if sign > 0 else pair[::-1] for pair, sign in signs if sign}

    def crossing(self, members: Sequence[str]) -> Flags:
        """Which pairs lie between these systems and the others."""
        pairs = combinations(self.systems, 2)
        return np.array([(one in members) != (other in members) for one, other in pairs], dtype=bool)

    @property
    def now(self) -> Observed:
        """The present look."""
        return self.seen[-1]

    @property
    def ended(self) -> bool:
        """Whether the plan is used up."""
        return self.now.fraction >= 1

    @property
    def level_spent(self) -> float:
        """The level spent by all looks so far, of all claims together."""
        spending = (self.plan.spent(observed.fraction) for observed in self.seen if observed.tells_of_others)
        return max(spending, default=0.0)


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
        crossed = open_ & _cross_bounds(plan, seen, open_, level)
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


def _cross_bounds(plan: LookPlan, seen: list[Observed], open_: Flags, level: Floats) -> Flags:
    """Which open comparisons lie beyond their boundary. No boundary lies inside that of the level spent so far."""
    z = np.abs(seen[-1].z)
    beyond = np.zeros(len(z), dtype=bool)
    if not seen[-1].tells_of_others:
        return beyond
    for index in np.flatnonzero(open_):
        share = float(level[index])
        least = share if plan.spending == "anytime" else spent(plan.spending, share, seen[-1].fraction)
        if least > 0 and z[index] >= -normal_quantile(least):
            beyond[index] = z[index] >= bound(plan, seen, int(index), share)
    return beyond


def bound(plan: LookPlan, seen: list[Observed], index: int, level: float, *, ahead: float | None = None) -> float:
    """The boundary of one comparison at the last look, or at one more look when a fraction `ahead` is in.

    Looks at too few people are as if they had not been taken: the boundary is infinite there, and later ones do not
    depend on them.
    """
    if not seen[-1].tells_of_others:
        return np.inf
    seen = [observed for observed in seen if observed.tells_of_others]
    fractions = [observed.fraction for observed in seen]
    information = information_of(seen, index)
    if ahead is not None and fractions[-1] < ahead:
        information = [*information, information[-1] * ahead / fractions[-1]]
        fractions = [*fractions, ahead]
    if plan.spending == "anytime":
        planned = information[0] / fractions[0]
        return mixture_bound(information[-1] / planned, 2 * level, mixture_share(plan.level))
    power = few_people_power(float(seen[-1].df[index]), spent(plan.spending, level, fractions[-1]))
    # Rounded down, so that equal cases share their work; a smaller correlation only widens the boundary. An error that
    # came out too small at an early look, with few people, would be information that was lost since.
    shares = np.minimum(np.array(information) / information[-1], 1.0)
    ratios = tuple(np.floor(shares**power * 2000) / 2000)
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
