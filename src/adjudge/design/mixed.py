"""Direct assessment without document context: every task holds the same share of every system, segments mixed.

Items are dealt like cards, system by system, so that the number of items of a system differs by at most one between
tasks, and so does the size of tasks. Each system's segments start at another place of the same random order, so that
the outputs of one segment land in different tasks; the few that still meet are exchanged. (The standard structure of
the workshops from 2016 on, where the shares were left to chance.)
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from adjudge.design.drafts import DraftItem, DraftOutput, Material, Run
from adjudge.design.spread import Unit, deal_from, improve

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np


def make_mixed(
    material: Material, places: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of single segments."""
    order = [places[i] for i in rng.permutation(len(places))]
    items = [(place, output) for place in order for output in material.outputs(place)]
    tasks = math.ceil(len(items) / capacity)
    goal = _deal(items, tasks)
    _part_segments(items, goal, tasks, rng)
    groups: list[list[int]] = [[] for _ in range(tasks)]
    for i, task in enumerate(goal):
        groups[task].append(i)
    shared = [i for i, (_, output) in enumerate(items) if len(output.systems) > 1]
    if shared:
        # Shared outputs count for several systems at once, which dealing cannot foresee.
        units = [Unit(1, dict.fromkeys(output.systems, 1), str(place)) for place, output in items]
        groups = improve(deal_from(units, goal, tasks=tasks, capacity=capacity), rng, only=shared)
    return [[(material.screen([DraftItem(items[i][0], (items[i][1],))]),) for i in group] for group in groups]


def _deal(items: Sequence[tuple[int, DraftOutput]], tasks: int) -> list[int]:
    """The task of every item: system by system in turn, each starting one task further on than the one before."""
    by_systems: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, (_, output) in enumerate(items):
        by_systems[output.systems].append(i)
    goal = [0] * len(items)
    dealt = 0
    for number, group in enumerate(by_systems.values()):
        shift = (number - dealt) % tasks
        for i, item in enumerate(group):
            goal[item] = (dealt + (i + shift) % len(group)) % tasks
        dealt += len(group)
    return goal


def _part_segments(
    items: Sequence[tuple[int, DraftOutput]], goal: list[int], tasks: int, rng: np.random.Generator
) -> None:
    """Exchange items of the same systems between tasks, until no task holds a segment more often than it must."""
    held = Counter((task, place) for task, (place, _) in zip(goal, items, strict=True))
    outputs = Counter(place for place, _ in items)
    by_systems: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, (_, output) in enumerate(items):
        by_systems[output.systems].append(i)
    for i, (place, output) in enumerate(items):
        allowed = math.ceil(outputs[place] / tasks)
        if held[goal[i], place] <= allowed:
            continue
        group = by_systems[output.systems]
        for other in rng.permutation(group):
            theirs = items[other][0]
            fits_there = held[goal[other], place] < allowed
            fits_here = held[goal[i], theirs] < math.ceil(outputs[theirs] / tasks)
            if goal[other] != goal[i] and fits_there and fits_here:
                held.subtract([(goal[i], place), (goal[other], theirs)])
                goal[i], goal[other] = goal[other], goal[i]
                held.update([(goal[i], place), (goal[other], theirs)])
                break
