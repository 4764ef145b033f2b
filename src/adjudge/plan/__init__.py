"""How many judgments, annotators and which design for the power wanted. `plan` is the main function.

Designs of many sizes are made and their precision is computed exactly; the recommended one is then simulated, ranked
and compared with the truth.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from adjudge.core.fingerprint import fingerprint
from adjudge.look.savings import saving
from adjudge.plan.check import simulate_plan
from adjudge.plan.search import search
from adjudge.plan.settings import PlanSettings, Variances, variances_like
from adjudge.results.plan import Plan, PlanCheck, PlanLooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.look.boundaries import Spending

LOOKS: tuple[tuple[int, Spending], ...] = ((3, "kim-demets"), (5, "kim-demets"), (10, "kim-demets"), (5, "pocock"))

__all__ = ["PlanSettings", "Variances", "plan", "variances_like"]


def plan(
    settings: PlanSettings | None = None,
    *,
    variances: Variances | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Plan:
    """Find what each design needs.

    Args:
        settings: the question, and what there is to answer it with.
        variances: how scores vary; of the size found in large shared tasks where left out.
        progress: is told what is being tried.
    """
    asked, assumed = settings or PlanSettings(), variances or Variances()
    choices, tried = search(asked, assumed, progress)
    best = choices[0]
    checked: PlanCheck | None = None
    if best.suffices and asked.draws > 0:
        progress(f"simulating {best.point.structure}")
        layout = next(
            layout
            for (name, _), layout in tried.layouts.items()
            if name == best.point.structure and layout.segments == best.point.segments
        )
        checked = simulate_plan(layout, asked, assumed, best.point.judgments_per_item)
    spread = dict(assumed.sd)
    return Plan(
        settings=asked.as_settings(),
        data=fingerprint(repr(sorted(spread.items()))),
        notes=tuple(_notes(asked, best.suffices, checked)),
        difference=asked.difference,
        power=asked.power,
        level=asked.level,
        comparisons=asked.tests,
        annotators=asked.annotators,
        choices=tuple(choices),
        curve=tuple(sorted(tried.points.values(), key=lambda p: (p.structure, p.judgments_per_item, p.judgments))),
        spread=spread,
        checked=checked,
        looks=_looks(asked, best.point.judgments) if best.suffices else (),
    )


def _looks(settings: PlanSettings, judgments: int) -> tuple[PlanLooks, ...]:
    """What looks on the way save, by the exact distribution of one comparison."""
    level = settings.level / settings.tests
    rows = [
        (spending, saving(looks, spending=spending, level=level, power=settings.power)) for looks, spending in LOOKS
    ]
    return tuple(
        PlanLooks(
            looks=row.looks,
            spending=spending,
            largest=ceil(judgments * row.largest),
            expected=ceil(judgments * row.planned),
            expected_larger=ceil(judgments * row.larger),
            expected_none=ceil(judgments * row.none),
        )
        for spending, row in rows
    )


def _notes(settings: PlanSettings, suffices: bool, checked: PlanCheck | None) -> list[str]:
    notes: list[str] = []
    if not suffices:
        notes.append(
            f"no design finds {settings.difference:g} points with power {settings.power:.0%} in "
            f"{settings.documents * settings.segments} segments; add segments or judgments per item, or ask for less"
        )
    if settings.annotators < 5:
        notes.append(f"{settings.annotators} annotators are few: the verdict will hold for them more than for others")
    if checked is not None and checked.found_interval is not None and checked.found_interval[1] < settings.power:
        notes.append(
            f"in simulated campaigns {checked.found:.0%} of the differences were found, below the power wanted: people "
            "use the scale differently and its ends cut scores off; plan for a smaller difference"
        )
    return notes
