"""The campaign as this process serves it: the campaign, its tasks by id, and the panels handed in by the command."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.conf import settings

from adjudge.collect.marking import choose_snapping
from adjudge.core.protocols import KINDS, RATED

if TYPE_CHECKING:
    from adjudge.collect.organisers.panels import Panel
    from adjudge.design.campaign import Campaign
    from adjudge.design.tasks import Item, Output, Screen, Task, TaskSet


@dataclass(frozen=True)
class PlacedOutput:
    """An output with where it stands."""

    screen: Screen
    item: Item
    output: Output


@dataclass(frozen=True)
class ServedCampaign:
    """The campaign as served. `panels` are statistics of the judgments so far, by functions of other stages.

    `id` names the campaign to browsers, which keep what waits under it: it stays the same once judging has begun.
    `fingerprint` is that of the tasks, by which it is noticed that others were added.
    """

    campaign: Campaign
    tasks: TaskSet
    panels: tuple[Panel, ...] = ()
    id: str = ""
    fingerprint: str = ""

    @cached_property
    def task_by_id(self) -> dict[str, Task]:
        """Every task under its id."""
        return {task.id: task for task in self.tasks.tasks}

    @cached_property
    def snapping(self) -> dict[str, str]:
        """Where marks end, in source and target."""
        return choose_snapping(self.campaign, self.tasks)

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

    @cached_property
    def systems_by_task(self) -> dict[str, tuple[str, ...]]:
        """The systems that each task of work judges, controls left out."""
        return {
            task.id: tuple(
                sorted({system for _, _, output in task.outputs() if output.kind in RATED for system in output.systems})
            )
            for task in self.tasks.tasks
            if task.kind == "work"
        }

    @cached_property
    def judgments_by_task(self) -> dict[str, int]:
        """How many judgments that count each task of work holds."""
        return {
            task.id: sum(len(output.systems) for _, _, output in task.outputs() if output.kind in RATED)
            for task in self.tasks.tasks
            if task.kind == "work"
        }

    @cached_property
    def texts_by_task(self) -> dict[str, frozenset[tuple[str, str, str]]]:
        """The genuine outputs of every task of work, by document, segment and text."""
        return {
            task.id: frozenset(
                (screen.document, item.segment, output.text)
                for screen, item, output in task.outputs()
                if output.kind == "system"
            )
            for task in self.tasks.tasks
            if task.kind == "work"
        }


def get_served() -> ServedCampaign:
    """What this process serves."""
    current: ServedCampaign = settings.ADJUDGE
    return current
