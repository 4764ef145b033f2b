"""What the app knows while it runs: the campaign, its tasks by id, and the functions handed in by the command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.conf import settings

from adjudge.collect.marking import snapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.design.campaign import Campaign
    from adjudge.design.tasks import Item, Output, Screen, Task, TaskSet

# Tables for the organisers' page from the judgments so far.
Panel = Callable[["Judgments"], "Sequence[PanelTable]"]


@dataclass(frozen=True)
class PanelInterval:
    """A line of a picture of differences: the estimate with its interval; `settled` ones are drawn in full."""

    label: str
    low: float
    estimate: float
    high: float
    settled: bool


@dataclass(frozen=True)
class PanelTable:
    """A table that a statistics function shows on the organisers' page, with a picture where it has intervals."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    headline: str = ""
    """What the table says, in one sentence."""
    intervals: tuple[PanelInterval, ...] = ()


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
    def control_screens(self) -> list[str]:
        """The ids of screens that hold controls, or what a control was made from."""
        placed = [(screen.id, output) for task in self.tasks.tasks for screen, _, output in task.outputs()]
        checked = [output for _, output in placed if output.expected is not None or output.kind == "degraded"]
        wanted = {output.id for output in checked} | {output.of for output in checked}
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
