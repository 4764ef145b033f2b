"""What is to be planned: the question asked, what is available, and how scores are thought to vary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import UsageError, unknown_choice
from adjudge.core.rng import DEFAULT_SEED
from adjudge.look.boundaries import SPENDING, Spending
from adjudge.results.rank import TASTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.rank.mixed import MixedFit
    from adjudge.results.result import Setting

STRUCTURES = ("mixed", "all-systems", "pages", "pages-all-systems")
EFFECTS = ("annotator", TASTE, "task", "document", "segment", "system:document", "page", "residual")


def check_least(settings: object, **least: int) -> None:
    """Refuse settings that are below their least value."""
    for name, low in least.items():
        if getattr(settings, name) < low:
            option = name.replace("_", "-")
            raise UsageError(f"--{option} is {getattr(settings, name)}, at least {low} is needed; raise it")


def check_shares(settings: object, *names: str) -> None:
    """Refuse settings that do not lie between 0 and 1."""
    for name in names:
        if not 0 < getattr(settings, name) < 1:
            raise UsageError(f"--{name} is {getattr(settings, name):g}; a share between 0 and 1 is needed")


@dataclass(frozen=True)
class Variances:
    """Standard deviations in points, by effect of the mixed model, of the size found in large shared tasks."""

    sd: Mapping[str, float] = field(
        default_factory=lambda: dict(zip(EFFECTS, (10.0, 3.0, 5.0, 2.0, 6.0, 4.0, 3.0, 18.0), strict=True))
    )
    fitted: bool = False
    resampled: tuple[Variances, ...] = ()
    """What pilots of the same design might have shown instead; none where the variances are assumed."""
    judgments: int = 0
    """How many judgments the variances were estimated from."""

    @property
    def ratios(self) -> dict[str, float]:
        """Variance over residual variance, by effect."""
        residual = self.sd["residual"] ** 2
        return {name: self.sd[name] ** 2 / residual for name in EFFECTS[:-1]}


def variances_like(fit: MixedFit) -> Variances:
    """The variances that a mixed model found in real judgments; of folded effects, the narrowest takes all.

    What annotators of one output share (system:segment, in judgments without documents) is residual where outputs are
    judged once.
    """
    sd = {component.parts[-1]: component.sd for component in fit.components}
    sd["residual"] = float(np.hypot(sd["residual"], sd.get("system:segment", 0.0)))
    return Variances({name: sd.get(name, 0.0) for name in EFFECTS}, fitted=True)


@dataclass(frozen=True, kw_only=True)
class PlanSettings:
    """The question, and what there is to answer it with."""

    systems: int = 8
    difference: float = 3.0
    power: float = 0.8
    level: float = 0.05
    comparisons: int | None = None
    annotators: int = 10
    documents: int = 200
    segments: int = 8
    page: int | None = None
    task_size: int = 100
    controls: float = 0.2
    per_item: tuple[int, ...] = (1, 2)
    structures: tuple[str, ...] = STRUCTURES
    seconds: float = 20.0
    draws: int = 30
    looks: int = 5
    """How many looks there are on the way, where goals and policies are compared."""
    spending: Spending = "kim-demets"
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        check_least(self, systems=2, annotators=1, documents=1, segments=1, task_size=2, looks=1)
        check_shares(self, "power", "level")
        if not 0 <= self.controls <= 0.9:
            raise UsageError(f"--controls is {self.controls:g}; a share between 0 and 0.9 is needed")
        if self.spending not in SPENDING:
            raise unknown_choice("spending", self.spending, SPENDING)
        if self.difference <= 0:
            raise UsageError(f"--difference is {self.difference:g}; give the points that matter to you, above 0")
        for name in self.structures:
            if name not in STRUCTURES:
                raise unknown_choice("structure", name, STRUCTURES)

    @property
    def room(self) -> int:
        """Items of work in a task."""
        return max(1, round(self.task_size * (1 - self.controls)))

    @property
    def tests(self) -> int:
        """How many comparisons the level is shared by: all pairs of systems unless set."""
        return self.comparisons or self.systems * (self.systems - 1) // 2

    def as_settings(self) -> dict[str, Setting]:
        """For the signature."""
        plain = {name: value for name, value in vars(self).items() if not isinstance(value, tuple)}
        return {**plain, "per_item": ",".join(map(str, self.per_item)), "structures": ",".join(self.structures)}
