"""Direct assessment of single segments, without document context: the structures `mixed` and `all-systems`.

`mixed`: every task holds the same share of every system. Items are dealt system by system, so that the number of items
of a system differs by at most one between tasks, and so does the size of tasks. Each system's segments start elsewhere
in the same random order, so that the outputs of one segment land in different tasks; the few that still meet are
exchanged. This is the standard structure of the WMT campaigns, where the shares were left to chance.

`all-systems`: a task holds all systems of its segments, so that one person compares them on the same segments, at the
price of seeing a segment several times; the order of the task keeps them apart.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.design.drafts import DraftItem, DraftOutput, Material, Run
from adjudge.design.spread import Unit, deal_from, improve, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np


def make_mixed(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of single segments."""
    order = [indices[i] for i in rng.permutation(len(indices))]
    items = [(index, output) for index in order for output in material.outputs(index)]
    tasks = math.ceil(len(items) / capacity)
    dealt_as = [material.judged_as(index, output.systems) for index, output in items]
    goal = _deal(dealt_as, tasks)
    _part_segments(items, dealt_as, goal, tasks, rng)
    groups: list[list[int]] = [[] for _ in range(tasks)]
    for i, task in enumerate(goal):
        groups[task].append(i)
    shared = [i for i, (_, output) in enumerate(items) if len(output.systems) > 1]
    if shared:
        # Shared outputs count for several systems at once, which dealing cannot foresee.
        units = [
            Unit(1, dict.fromkeys(names, 1), str(index)) for (index, _), names in zip(items, dealt_as, strict=True)
        ]
        groups = improve(deal_from(units, goal, tasks=tasks, capacity=capacity), rng, only=shared)
    return [[(material.screen([DraftItem(items[i][0], (items[i][1],))]),) for i in group] for group in groups]


def _deal(dealt_as: Sequence[tuple[str, ...]], tasks: int) -> list[int]:
    """The task of every item: system by system in turn, each starting one task further on than the one before."""
    by_systems: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, names in enumerate(dealt_as):
        by_systems[names].append(i)
    goal = [0] * len(dealt_as)
    dealt = 0
    for number, group in enumerate(by_systems.values()):
        shift = (number - dealt) % tasks
        for i, item in enumerate(group):
            goal[item] = (dealt + (i + shift) % len(group)) % tasks
        dealt += len(group)
    return goal


def _part_segments(
    items: Sequence[tuple[int, DraftOutput]],
    dealt_as: Sequence[tuple[str, ...]],
    goal: list[int],
    tasks: int,
    rng: np.random.Generator,
) -> None:
    """Exchange items of the same systems between tasks, until no task holds a segment more often than it must."""
    held = Counter((task, index) for task, (index, _) in zip(goal, items, strict=True))
    outputs = Counter(index for index, _ in items)
    by_systems: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, names in enumerate(dealt_as):
        by_systems[names].append(i)
    for i, (index, _) in enumerate(items):
        allowed = math.ceil(outputs[index] / tasks)
        if held[goal[i], index] <= allowed:
            continue
        group = by_systems[dealt_as[i]]
        for other in rng.permutation(group):
            theirs = items[other][0]
            fits_there = held[goal[other], index] < allowed
            fits_here = held[goal[i], theirs] < math.ceil(outputs[theirs] / tasks)
            if goal[other] != goal[i] and fits_there and fits_here:
                held.subtract([(goal[i], index), (goal[other], theirs)])
                goal[i], goal[other] = goal[other], goal[i]
                held.update([(goal[i], index), (goal[other], theirs)])
                break


def make_all_systems(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of single segments, in which every segment comes with all its outputs."""
    outputs = [material.outputs(index) for index in indices]
    largest = max(map(len, outputs))
    if largest > capacity:
        raise DataError(
            f"a segment has {largest} different outputs, but a task has room for {capacity} items besides its "
            "controls; raise design.task_size or choose the structure 'mixed'"
        )
    units = [
        Unit(len(texts), _counts(material, index, texts), str(index))
        for index, texts in zip(indices, outputs, strict=True)
    ]
    return [
        [(material.screen([DraftItem(indices[i], (output,))]),) for i in group for output in outputs[i]]
        for group in spread(units, capacity=capacity, rng=rng)
    ]


def _counts(material: Material, index: int, outputs: Sequence[DraftOutput]) -> dict[str, int]:
    return dict(Counter(system for output in outputs for system in material.judged_as(index, output.systems)))
