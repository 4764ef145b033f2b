"""The least work that suffices: sizes tried in steps, then narrowed down, for every structure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from adjudge.core.errors import AdjudgeError, UsageError
from adjudge.core.wording import counted
from adjudge.design.campaign import PAGES
from adjudge.plan.layout import make_layout
from adjudge.plan.precision import measure
from adjudge.results.plan import PlanChoice, PlanPoint
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from adjudge.plan.layout import Layout
    from adjudge.plan.settings import PlanSettings, Variances

STEPS = 4
NARROWINGS = 4
CLOSE_ENOUGH = 1.06
"""A size is narrowed down until it is at most so many times one that does not suffice."""


class Search:
    """Tries designs and remembers them: a layout is made once, however many people do it."""

    def __init__(self, settings: PlanSettings, variances: Variances) -> None:
        self.settings, self.variances = settings, variances
        self.layouts: dict[tuple[str, int], Layout] = {}
        self.points: dict[tuple[str, int, int], PlanPoint] = {}

    def layout(self, structure: str, segments: int) -> Layout:
        """The layout of a structure for so many segments."""
        key = (structure, segments)
        if key not in self.layouts:
            self.layouts[key] = make_layout(self.settings, structure, segments)
        return self.layouts[key]

    def point(self, structure: str, per_item: int, segments: int) -> PlanPoint:
        """Compute what a structure of this size can find."""
        key = (structure, per_item, segments)
        if key not in self.points:
            settings, layout = self.settings, self.layout(structure, segments)
            precision = measure(layout, settings, self.variances, per_item)
            level = settings.level / settings.tests
            rated = len(layout.task) * per_item
            self.points[key] = PlanPoint(
                structure=structure,
                judgments_per_item=per_item,
                segments=layout.segments,
                documents=layout.documents,
                tasks=layout.tasks * per_item,
                judgments=rated + layout.tasks * per_item * (settings.task_size - settings.room),
                se=precision.typical,
                power=precision.power(settings.difference, level),
                detectable=precision.detectable(settings.power, level),
            )
        return self.points[key]

    def least(self, structure: str, per_item: int) -> PlanChoice:
        """The smallest size with the power wanted, or the largest there is."""
        most = self.settings.documents * self.settings.segments
        small, large = None, None
        for segments in self._steps(structure, most):
            if self.point(structure, per_item, segments).power >= self.settings.power:
                large = segments
                break
            small = segments
        if large is None:
            return self._choice(self.point(structure, per_item, most), suffices=False)
        for _ in range(NARROWINGS):
            if small is None or large <= CLOSE_ENOUGH * small:
                break
            # Standard errors fall about with the square root of the size.
            middle = self._rounded(structure, math.sqrt(small * large))
            if middle in (small, large):
                break
            enough = self.point(structure, per_item, middle).power >= self.settings.power
            small, large = (small, middle) if enough else (middle, large)
        return self._choice(self.point(structure, per_item, large), suffices=True)

    def _steps(self, structure: str, most: int) -> list[int]:
        """Sizes from an eighth of what there is, doubling."""
        sizes = {self._rounded(structure, most / 2**step) for step in range(STEPS)}
        return sorted(size for size in sizes if size >= 2)

    def _rounded(self, structure: str, segments: float) -> int:
        """Round to whole documents where pages are judged."""
        if structure not in PAGES:
            return max(2, round(segments))
        return max(2, round(segments / self.settings.segments)) * self.settings.segments

    def _choice(self, point: PlanPoint, *, suffices: bool) -> PlanChoice:
        hours = point.judgments * self.settings.seconds / 3600 / self.settings.annotators
        return PlanChoice(point, suffices, hours)


@dataclass(frozen=True)
class _Searched:
    """What was found for one structure: choices, faults, and everything that was tried."""

    choices: list[PlanChoice]
    faults: list[AdjudgeError]
    trials: Search


def search(settings: PlanSettings, variances: Variances) -> tuple[list[PlanChoice], Search]:
    """The choice for every structure and number of judgments per item, the least work first."""
    searched = map_tasks(partial(_search_structure, settings, variances), settings.structures, what="designs")
    choices = [choice for structure in searched for choice in structure.choices]
    if not choices:
        faults = [fault for structure in searched for fault in structure.faults]
        people = counted(settings.annotators, "annotator")
        too_many = UsageError(f"--per-item asks for more judgments than the {people} can give; ask for fewer")
        raise faults[0] if faults else too_many
    trials = Search(settings, variances)
    for structure in searched:
        trials.layouts |= structure.trials.layouts
        trials.points |= structure.trials.points
    choices.sort(key=_worth)
    return choices, trials


def _search_structure(settings: PlanSettings, variances: Variances, structure: str) -> _Searched:
    searched = _Searched([], [], Search(settings, variances))
    for per_item in settings.per_item:
        if per_item > settings.annotators:
            continue
        try:
            searched.choices.append(searched.trials.least(structure, per_item))
        except AdjudgeError as fault:
            searched.faults.append(fault)
    return searched


def _worth(choice: PlanChoice) -> tuple[bool, float, float]:
    """Those that suffice first, the least work first; then the others, the most precise first."""
    point = choice.point
    return (not choice.suffices, point.judgments if choice.suffices else point.detectable, point.detectable)
