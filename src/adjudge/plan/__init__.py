"""How many judgments, annotators and which design for the power wanted. `plan` is the main function.

Designs of many sizes are made and their precision is computed exactly; the recommended one is then simulated, ranked
and compared with the truth.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from adjudge.core.fingerprint import fingerprint
from adjudge.core.wording import agreeing, counted, measured
from adjudge.plan.goals import Noise, plan_goals
from adjudge.plan.people import fewest_people, people_or_judgments, pilot_doubt, pilot_variances
from adjudge.plan.savings import plan_selection, saving
from adjudge.plan.search import search
from adjudge.plan.settings import PlanSettings, Variances, variances_like
from adjudge.plan.simulated_check import simulate_plan
from adjudge.results.plan import Plan, PlanCheck, PlanLooks
from adjudge.results.rank import TASTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adjudge.core.arrays import Floats
    from adjudge.look.boundaries import Spending
    from adjudge.plan.layout import Layout
    from adjudge.plan.search import Search
    from adjudge.results.plan import PlanPoint

__all__ = ["PlanSettings", "Variances", "pilot_variances", "plan", "variances_like"]

FEW_PEOPLE = 5
LOOKS: tuple[tuple[int, Spending], ...] = ((3, "kim-demets"), (5, "kim-demets"), (10, "kim-demets"), (5, "pocock"))


def plan(
    settings: PlanSettings | None = None,
    *,
    variances: Variances | None = None,
    spread: Floats | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Plan:
    """Find what each design needs.

    Args:
        settings: the question, and what there is to answer it with.
        variances: how scores vary; default: of the size found in large shared tasks.
        spread: a number per segment by which segments would be chosen; default: assumed.
        progress: is told what is being tried.
    """
    asked, assumed = settings or PlanSettings(), variances or Variances()
    progress("trying designs")
    choices, tried = search(asked, assumed)
    best, per_item = choices[0], choices[0].point.judgments_per_item
    layout = _layout_of(best.point, tried)
    checked: PlanCheck | None = None
    if best.suffices and asked.draws > 0:
        progress(f"simulating {best.point.structure}")
        checked = simulate_plan(layout, asked, assumed, per_item)
    sd = dict(assumed.sd)
    unchecked = Plan(
        settings=asked.as_settings(),
        data=fingerprint(repr(sorted(sd.items()))),
        difference=asked.difference,
        power=asked.power,
        level=asked.level,
        comparisons=asked.tests,
        annotators=asked.annotators,
        choices=tuple(choices),
        curve=tuple(sorted(tried.points.values(), key=lambda p: (p.structure, p.judgments_per_item, p.judgments))),
        spread=sd,
        checked=checked,
        looks=_looks(asked, best.point.judgments) if best.suffices else (),
        goals=plan_goals(asked, _noise(asked, assumed, best.point.se), best.point.judgments) if best.suffices else (),
        selection=plan_selection(best.point.judgments, spread) if best.suffices else None,
        people=people_or_judgments(layout, asked, assumed, per_item),
        pilot=pilot_doubt(layout, asked, assumed, per_item),
    )
    return replace(unchecked, notes=tuple(_notes(unchecked, asked, fewest_people(asked, assumed))))


def _looks(settings: PlanSettings, judgments: int) -> tuple[PlanLooks, ...]:
    """Compute what looks on the way save, by the exact distribution of one comparison."""
    level = settings.level / settings.tests
    planned: list[PlanLooks] = []
    for looks, spending in LOOKS:
        row = saving(looks, spending=spending, level=level, power=settings.power)
        shares = (row.largest, row.planned, row.larger, row.none)
        planned.append(PlanLooks(looks, spending, *(ceil(judgments * share) for share in shares)))
    return tuple(planned)


def _layout_of(point: PlanPoint, tried: Search) -> Layout:
    """The layout whose precision the point tells."""
    return next(
        layout
        for (name, _), layout in tried.layouts.items()
        if name == point.structure and layout.segments == point.segments
    )


def _noise(settings: PlanSettings, variances: Variances, se: float) -> Noise:
    """Half of the variance of a difference is each system's; tastes average out over people only."""
    taste = min(variances.sd[TASTE] ** 2 / settings.annotators, 0.99 * se**2 / 2)
    return Noise(taste, se**2 / 2 - taste)


def _notes(result: Plan, settings: PlanSettings, fewest: int | None) -> Iterator[str]:
    """Note what is out of reach, whether people or judgments are short, and how far a pilot can be trusted."""
    if result.recommended is None:
        segments = counted(settings.documents * settings.segments, "segment")
        yield (
            f"no design finds {measured(settings.difference, 'point')} with power {settings.power:.0%} in "
            f"{segments}; add segments or judgments per item, or ask for less"
        )
    yield from _note_few_people(result, settings, fewest)
    yield from _note_people_or_judgments(result)
    yield from _note_missed_power(result, settings)
    if result.pilot is not None:
        low, high = result.pilot.times
        yield (
            f"the spread comes from {result.pilot.judgments:,} judgments, so the size needed is known roughly: from "
            f"{low:.1f} to {high:.1f} times that of the recommended design (90%)"
        )


def _note_few_people(result: Plan, settings: PlanSettings, fewest: int | None) -> Iterator[str]:
    """Whether there are too few people for their tastes, and too few tasks for all of them."""
    if settings.annotators > 1 and (fewest is None or fewest > settings.annotators):
        people = "any number of" if fewest is None else f"fewer than {fewest}"
        taste = result.spread[TASTE]
        yield (
            f"with tastes of {taste:.1f} points, {people} people cannot find {measured(settings.difference, 'point')}, "
            "however much each of them judges; ask more people"
        )
    if settings.annotators == 1:
        yield (
            "one annotator only: the plan is about what this person likes better; whether others agree "
            "needs other people"
        )
    elif settings.annotators < FEW_PEOPLE:
        yield f"{settings.annotators} annotators are few: the verdict will hold for them more than for others"
    busy = result.choices[0].point.tasks
    if busy < settings.annotators:
        yield (
            f"the first design has {counted(busy, 'task')}, so only {busy} of {settings.annotators} annotators "
            f"{agreeing(busy, 'judges', 'judge')}; lower --task-size, so that all take part"
        )


def _note_people_or_judgments(result: Plan) -> Iterator[str]:
    more = [choice for choice in result.people if choice.annotators > result.annotators]
    each = [choice for choice in result.people[1:] if choice.annotators == result.annotators]
    if more and each:
        buys = "more people gain more than" if more[0].detectable < each[0].detectable else "more people gain less than"
        yield (
            f"twice the people for the same {more[0].judgments:,} judgments find {more[0].detectable:.1f} points, "
            f"twice the judgments by the same people {each[0].detectable:.1f}: {buys} more judgments per person"
        )


def _note_missed_power(result: Plan, settings: PlanSettings) -> Iterator[str]:
    checked = result.checked
    if checked is not None and checked.found_interval is not None and checked.found_interval[1] < settings.power:
        yield (
            f"in simulated campaigns {checked.found:.0%} of the differences were found, below the power wanted: people "
            "use the scale differently and its ends cut scores off; plan for a smaller difference"
        )
