"""What settling a goal takes, by policy and looks: campaigns simulated by the precision of a design.

The estimate of a system after n times its share of the recommended design is its quality, the mean taste for it, which
more judgments by the same people do not change, and noise of variance other / n. A policy spreads the judgments
between two looks over the systems; a look settles what lies beyond its boundary, as `adjudge look` does. The size that
reaches the power wanted is found by bisection. Errors are taken as known here, so with few people it takes a little
more.

Qualities: the best system, or the top k, lead all others by the difference asked for; for `pairs`, neighbours in the
order lie that far apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from adjudge.adapt.policies import Adaptive
from adjudge.core.maths import divide
from adjudge.core.rng import generator
from adjudge.look.boundaries import Spending, boundaries, spent
from adjudge.look.goals import Goal, parse_goal
from adjudge.results.plan import PlanGoal

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools, Floats
    from adjudge.plan.settings import PlanSettings

CAMPAIGNS = 600
_DRAWS = 32
_UPDATES = 15
"""About how often the policy learns of the estimates in a campaign."""
_STEPS = 9
_MOST = 8.0
"""Sizes are searched up to so many times the recommended design."""
_STREAM = 3003
_TOP_SHARE = 3


@dataclass(frozen=True)
class Noise:
    """Variances of a system's estimate in the recommended design: of tastes, which lasts, and of all else."""

    taste: float
    other: float


@dataclass(frozen=True, eq=False)
class _Outcome:
    """Of every campaign, whether the goal was settled, and after which share of the plan."""

    settled: Bools
    used: Floats


def plan_goals(settings: PlanSettings, noise: Noise, judgments: int) -> tuple[PlanGoal, ...]:
    """Judgments for every goal, by the even draw and by the goal's own policy."""
    return tuple(
        _row(_Simulation(settings, noise, goal, policy, looks=looks), settings, judgments)
        for goal in goals_for(settings.systems)
        for policy, looks in (("even", 1), ("even", settings.looks), (str(goal), settings.looks))
    )


def goals_for(systems: int) -> tuple[Goal, ...]:
    """The best system, the top third, all pairs."""
    top = max(2, systems // _TOP_SHARE)
    between = (parse_goal(f"top:{top}"),) if top < systems - 1 else ()
    return (parse_goal("best"), *between, parse_goal("pairs"))


def _row(simulation: _Simulation, settings: PlanSettings, judgments: int) -> PlanGoal:
    goal, policy, looks = str(simulation.goal), simulation.policy, simulation.looks
    quality = _qualities(simulation.goal, settings)
    size = _least_size(simulation, quality, settings.power)
    if size is None:
        return PlanGoal(goal, policy, looks, None, None, None, None)
    truths = (quality, 1.5 * quality, np.zeros(settings.systems))
    expected = (ceil(judgments * size * simulation.run(size, truth).used.mean()) for truth in truths)
    return PlanGoal(goal, policy, looks, ceil(judgments * size), *expected)


def _qualities(goal: Goal, settings: PlanSettings) -> Floats:
    if goal.kind == "pairs":
        return np.arange(settings.systems, dtype=np.float64)[::-1] * settings.difference
    return np.where(np.arange(settings.systems) < goal.size, settings.difference, 0.0)


def _least_size(simulation: _Simulation, quality: Floats, power: float) -> float | None:
    """The smallest size, in units of the recommended design, that settles the goal with the power wanted."""
    low, high = 0.0, 1.0
    while simulation.run(high, quality).settled.mean() < power:
        low, high = high, 2 * high
        if high > _MOST:
            return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if simulation.run(middle, quality).settled.mean() >= power else (middle, high)
    return high


class _Simulation:
    """Campaigns of one policy with planned looks; all runs use the same chance."""

    def __init__(self, settings: PlanSettings, noise: Noise, goal: Goal, policy: str, *, looks: int) -> None:
        self.noise, self.goal, self.policy, self.looks = noise, goal, policy, looks
        self.systems, self.seed, self.floor = settings.systems, settings.seed, Adaptive().floor
        self.times = [number / looks for number in range(1, looks + 1)]
        self.pairs = self.systems * (self.systems - 1) // 2
        if goal.kind == "pairs":
            shares = [settings.level / 2 / left for left in range(1, self.pairs + 1)]
        else:
            shares = [goal.one_sided_level(settings.level, self.systems)]
        self.bounds = np.array([self._bounds(settings.spending, share) for share in shares])
        """By the number of open pairs less 1 (or alone), the boundary at every look."""

    def _bounds(self, spending: Spending, level: float) -> list[float]:
        # Tastes do not average out, so information grows more slowly than the number of judgments.
        information = [1 / (self.noise.taste + self.noise.other / time) for time in self.times]
        return boundaries(information, [spent(spending, level, time) for time in self.times])

    def run(self, size: float, quality: Floats) -> _Outcome:
        """All campaigns of a size, in units of the recommended design."""
        rng = generator(self.seed, _STREAM)
        shape = (CAMPAIGNS, self.systems)
        taste = rng.standard_normal(shape) * np.sqrt(self.noise.taste)
        amount, total = np.zeros(shape), np.zeros(shape)
        better = np.zeros((*shape, self.systems), dtype=bool)
        settled, used = np.zeros(CAMPAIGNS, dtype=bool), np.ones(CAMPAIGNS)
        updates = max(1, round(_UPDATES / self.looks))
        step = size / self.looks / updates
        for look in range(self.looks):
            for _ in range(updates):
                more = step * self.systems * self._shares(total, amount, quality, rng)
                total += rng.standard_normal(shape) * np.sqrt(more * self.noise.other)
                amount += more
            estimate = quality + taste + total / amount
            self._settle(better, estimate, self.noise.taste + self.noise.other / amount, look)
            now = ~settled & self._reached(better)
            used[now] = self.times[look]
            settled |= now
        return _Outcome(settled, used)

    def _shares(self, total: Floats, amount: Floats, quality: Floats, rng: np.random.Generator) -> Floats:
        even = np.full(total.shape, 1 / self.systems)
        if self.policy == "even" or not amount.all():
            return even
        estimate, spread = quality + total / amount, np.sqrt(self.noise.other / amount)
        if self.goal.kind == "pairs":
            share = _near_pairs(estimate, spread)
        else:
            drawn = estimate[:, None, :] + spread[:, None, :] * rng.standard_normal((len(total), _DRAWS, self.systems))
            order = np.argsort(-drawn, axis=2)[:, :, self.goal.size - 1 : self.goal.size + 1]
            share = np.stack([(order == system).mean(axis=(1, 2)) for system in range(self.systems)], axis=1)
        return np.asarray(self.floor * even + (1 - self.floor) * share)

    def _settle(self, better: Bools, estimate: Floats, variance: Floats, look: int) -> None:
        """Mark what is settled at this look; `better[c, i, j]` says that i is settled as better than j."""
        difference = estimate[:, :, None] - estimate[:, None, :]
        z = difference / np.sqrt(variance[:, :, None] + variance[:, None, :])
        if self.goal.kind != "pairs":
            better |= z >= self.bounds[0, look]
            return
        while True:
            # Holm: the level of a settled pair is shared by the others.
            left = self.pairs - better.sum(axis=(1, 2))
            bound = self.bounds[np.maximum(left, 1) - 1, look]
            new = (z >= bound[:, None, None]) & ~better & ~better.transpose(0, 2, 1)
            if not new.any():
                return
            better |= new

    def _reached(self, better: Bools) -> Bools:
        if self.goal.kind == "pairs":
            return np.asarray(better.sum(axis=(1, 2)) == self.pairs)
        member = better.sum(axis=2) >= self.systems - self.goal.size
        across = member[:, :, None] & ~member[:, None, :]
        return np.asarray((member.sum(axis=1) == self.goal.size) & (better | ~across).all(axis=(1, 2)))


def _near_pairs(estimate: Floats, spread: Floats) -> Floats:
    """Shares in proportion to the open pairs, as the policy `pairs` has them where no look has said which are open."""
    from adjudge.adapt.policies import LEAST_WEIGHT, SETTLED_ERRORS

    error = np.sqrt(spread[:, :, None] ** 2 + spread[:, None, :] ** 2)
    settled_share = np.abs(estimate[:, :, None] - estimate[:, None, :]) / error / SETTLED_ERRORS
    weight = np.where(settled_share < 1, np.clip(settled_share**2, LEAST_WEIGHT, 1.0), 0.0)
    weight[:, np.arange(estimate.shape[1]), np.arange(estimate.shape[1])] = 0.0
    total = weight.sum(axis=(1, 2))
    return divide(weight.sum(axis=2), total[:, None], otherwise=1 / estimate.shape[1])
