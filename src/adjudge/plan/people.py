"""More people or more judgments? And how far a pilot can be trusted.

Tastes average out over people only: the variance of a difference never falls below 2 taste^2 / people, however much
each of them judges. A pilot knows the variances, and tastes most of all, only roughly; what that means for the size of
the campaign is found by drawing pilots like it from its own variances (a parametric bootstrap).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import student_below, student_quantile
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.core.wording import counted
from adjudge.plan.precision import measure
from adjudge.plan.settings import variances_like
from adjudge.rank.mixed import prepare
from adjudge.rank.mixed.effects import identify
from adjudge.results.plan import PeopleChoice, PilotDoubt
from adjudge.results.rank import TASTE

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.plan.layout import Layout
    from adjudge.plan.settings import PlanSettings, Variances
    from adjudge.rank.mixed import MixedDesign

PILOTS = 24
TOLD = 4
"""After so many pilots it is told again how many are done."""
MOST_PEOPLE = 10_000
_STREAM = 3004
_QUANTILES = (0.05, 0.95)


def pilot_variances(
    design: MixedDesign,
    *,
    pilots: int = PILOTS,
    seed: int = DEFAULT_SEED,
    progress: Callable[[str], None] = lambda _: None,
) -> Variances:
    """The variances of real judgments, in points, and those that pilots of the same design might have shown instead.

    Args:
        design: the real judgments.
        pilots: how many to draw.
        seed: of the pilots.
        progress: is told what is being done.
    """
    progress(f"estimating the spread of {counted(len(design), 'judgment')}")
    alone = replace(design.with_model("mixed-points"), linking=None)
    alone.check()
    prepared = prepare(alone)
    model = prepared.fit()
    sd = {component.effect: component.sd for component in model.components}
    drawn = []
    for number in range(pilots):
        if number % TOLD == 0:
            progress(f"drawing judgments like them, {number} of {pilots} times done")
        rng = generator(seed, _STREAM, number)
        score = sd["residual"] * rng.standard_normal(len(alone))
        for effect in identify(alone).kept:
            score += sd[effect.name] * rng.standard_normal(effect.levels)[effect.codes]
        drawn.append(variances_like(prepared.fit(score)))
    return replace(variances_like(model), resampled=tuple(drawn), judgments=len(alone))


def pilot_doubt(layout: Layout, settings: PlanSettings, variances: Variances, per_item: int) -> PilotDoubt | None:
    """Estimate how many times the size of a design may be needed, and its power, given the doubt of the pilot."""
    if not variances.resampled:
        return None
    level = settings.level / settings.tests
    known = measure(layout, settings, variances, per_item).detectable(settings.power, level)
    drawn = [measure(layout, settings, other, per_item) for other in variances.resampled]
    # Draws deviate from the pilot as the pilot does from the truth, so the truth lies on the opposite side.
    times = [(known / precision.detectable(settings.power, level)) ** 2 for precision in drawn]
    power = [precision.power(settings.difference, level) for precision in drawn]
    low, high = np.quantile(times, _QUANTILES)
    weak, strong = np.quantile(power, _QUANTILES)
    return PilotDoubt(
        pilots=len(drawn),
        judgments=variances.judgments,
        times=(float(low), float(high)),
        power=(float(weak), float(strong)),
    )


def people_or_judgments(
    layout: Layout, settings: PlanSettings, variances: Variances, per_item: int
) -> tuple[PeopleChoice, ...]:
    """A design as it is, with twice the people for the same work, and with twice the work by the same people."""
    people = settings.annotators
    variants = [(people, per_item), (2 * people, per_item), (people, 2 * per_item)]
    level = settings.level / settings.tests
    choices = []
    for count, each in variants:
        # Every task needs a person, and a second judgment of a task needs another person.
        if count <= layout.tasks * each and each <= count:
            precision = measure(layout, replace(settings, annotators=count), variances, each)
            work = layout.tasks * each * settings.task_size
            detectable = precision.detectable(settings.power, level)
            choices.append(PeopleChoice(count, each, work, precision.typical, detectable))
    return tuple(choices)


def fewest_people(settings: PlanSettings, variances: Variances) -> int | None:
    """The least number of people who could find the difference if each judged without end; None beyond all measure."""
    level = settings.level / settings.tests
    people = np.unique(np.geomspace(2, MOST_PEOPLE, 2000).astype(np.int64))
    df = (people - 1) * (settings.systems - 1)
    reach = student_quantile(level / 2, df) + student_below(settings.power, df)
    detectable = variances.sd[TASTE] * np.sqrt(2 / people) * reach
    enough = np.flatnonzero(detectable <= settings.difference)
    return int(people[enough[0]]) if len(enough) else None
