"""Direct assessment with all systems of a segment in one task: the alternate structure of 2018.

Systems are compared by one person on the same segments, at the price of seeing a segment several times; the order of
the task keeps them apart.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.design.drafts import DraftItem, DraftOutput, Material, Run
from adjudge.design.spread import Unit, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np


def make_all_systems(
    material: Material, places: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of single segments, in which every segment comes with all its outputs."""
    outputs = [material.outputs(place) for place in places]
    largest = max(map(len, outputs))
    if largest > capacity:
        raise DataError(
            f"a segment has {largest} different outputs, but a task has room for {capacity} items besides its "
            "controls; raise design.task_size or choose the structure 'mixed'"
        )
    units = [Unit(len(found), _counts(found), str(place)) for place, found in zip(places, outputs, strict=True)]
    return [
        [(material.screen([DraftItem(places[i], (output,))]),) for i in group for output in outputs[i]]
        for group in spread(units, capacity=capacity, rng=rng)
    ]


def _counts(outputs: Sequence[DraftOutput]) -> dict[str, int]:
    return dict(Counter(system for output in outputs for system in output.systems))
