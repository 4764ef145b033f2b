"""What the app knows while it runs: the campaign, its tasks by id, and the functions handed in by the command."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from django.conf import settings

from adjudge.collect.marking import snapping
from adjudge.core.protocols import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.design.campaign import Campaign
    from adjudge.design.tasks import Item, Output, Screen, Task, TaskSet


@dataclass(frozen=True)
class PanelInterval:
    """A line of a picture of differences: the estimate with its interval; `settled` ones are drawn in full."""

    label: str
    low: float
    estimate: float
    high: float
    settled: bool


@dataclass(frozen=True)
class PanelRanks:
    """A line of a picture of ranks: a system with the ranks that it may have, of so many."""

    label: str
    best: int
    worst: int
    of: int


@dataclass(frozen=True)
class PanelBar:
    """A bar: a value in numbers and in words; `flagged` ones need attention."""

    label: str
    value: float
    shown: str
    flagged: bool


@dataclass(frozen=True)
class PanelTable:
    """What a statistics function shows on the organisers' page: sentences, pictures, and the figures as a table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    headline: str = ""
    """What the panel says, in one sentence."""
    intervals: tuple[PanelInterval, ...] = ()
    ranks: tuple[PanelRanks, ...] = ()
    bars: tuple[PanelBar, ...] = ()


Group = Literal["state", "statistics"]


@dataclass(frozen=True)
class Panel:
    """A function that makes panels for the organisers' page from the judgments so far.

    Those of the group `state` say how far the campaign is; they may take long and are computed by themselves.
    """

    make: Callable[[Judgments], Sequence[PanelTable]]
    group: Group = "statistics"


@dataclass(frozen=True)
class PlacedOutput:
    """An output with where it stands."""

    screen: Screen
    item: Item
    output: Output


@dataclass(frozen=True)
class Running:
    """The campaign as served. `panels` are statistics of the judgments so far, by functions of other stages.

    `id` names the campaign to browsers, which keep what waits under it: it stays the same once judging has begun.
    """

    campaign: Campaign
    tasks: TaskSet
    panels: tuple[Panel, ...] = ()
    id: str = ""

    @cached_property
    def task_by_id(self) -> dict[str, Task]:
        """Every task under its id."""
        return {task.id: task for task in self.tasks.tasks}

    @cached_property
    def snapping(self) -> dict[str, str]:
        """Where marks end, in source and target."""
        return snapping(self.campaign, self.tasks)

    @cached_property
    def screen_by_id(self) -> dict[tuple[str, str], Screen]:
        """Every screen under the ids of its task and of itself."""
        return {(task.id, screen.id): screen for task in self.tasks.tasks for screen in task.screens}

    @cached_property
    def special_screens(self) -> list[str]:
        """The ids of screens that hold controls or examples, or what a control was made from."""
        placed = [(screen.id, output) for task in self.tasks.tasks for screen, _, output in task.outputs()]
        special = [output for _, output in placed if KINDS[output.kind].control or output.kind == "tutorial"]
        checked = [output for _, output in placed if output.expected is not None]
        wanted = {output.id for output in (*special, *checked)} | {output.of for output in special}
        return list(dict.fromkeys(screen for screen, output in placed if output.id in wanted))

    @cached_property
    def output_by_id(self) -> dict[tuple[str, str], PlacedOutput]:
        """Every output under the ids of its task and of itself."""
        return {
            (task.id, output.id): PlacedOutput(screen, item, output)
            for task in self.tasks.tasks
            for screen, item, output in task.outputs()
        }


def running() -> Running:
    """What this process serves."""
    current: Running = settings.ADJUDGE
    return current
