"""The order of a task: random, but what belongs to one segment or document stays apart, and controls far from theirs.

Every run gets a place between 0 and 1. The m runs of one label are 1/m apart; a copy stands half a task from its
original, a repeat always after it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from adjudge.design.drafts import DraftScreen, Material, Run


def arrange(material: Material, runs: Sequence[Run], rng: np.random.Generator) -> list[DraftScreen]:
    """The screens of a task in the order in which they are shown."""
    place = _places(material, [run for run in runs if run[0].copy_of is None], rng)
    originals = {screen.key: run[0].key for run in runs for screen in run}
    for run in runs:
        screen = run[0]
        if screen.copy_of is None:
            continue
        start = place[originals[screen.copy_of]]
        if all(output.kind == "repeat" for output in screen.items[0].outputs):
            start %= 0.5
            place[originals[screen.copy_of]] = start
        place[screen.key] = (start + 0.5) % 1
    ordered = sorted(runs, key=lambda run: (place[run[0].key], run[0].key))
    return [screen for run in ordered for screen in run]


def _places(material: Material, runs: Sequence[Run], rng: np.random.Generator) -> dict[int, float]:
    """Places of the runs that are no copies: evenly apart within a label."""
    labels: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        item = run[0].items[0]
        page = run[0].size > 1
        labels[material.testset.source[item.place].document if page else str(item.place)].append(run[0].key)
    place: dict[int, float] = {}
    for keys in labels.values():
        start = float(rng.random())
        for i, key in enumerate(rng.permutation(keys)):
            place[int(key)] = (i + start) / len(keys)
    return place
