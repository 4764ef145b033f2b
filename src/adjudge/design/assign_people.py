"""Who does which task: k different people per task, equal work, and every two people share equally many tasks.

Loads never differ by more than one task. Among those with the least work, the person is taken who has shared fewest
tasks with the ones already chosen for the task, so that all people are linked to each other through common items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def assign_people(
    tasks: int, people: Sequence[str], *, judgments: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """The people of every task."""
    load = np.zeros(len(people))
    shared = np.zeros((len(people), len(people)))
    assigned: list[tuple[str, ...]] = []
    for _ in range(tasks):
        team: list[int] = []
        for _ in range(judgments):
            cost = 1e6 * load + shared[:, team].sum(axis=1) + 1e-3 * shared.sum(axis=1)
            cost[team] = np.inf
            least = np.flatnonzero(cost <= cost.min() + 1e-9)
            team.append(int(least[rng.integers(len(least))]))
        load[team] += 1
        for person in team:
            shared[person, [other for other in team if other != person]] += 1
        assigned.append(tuple(people[person] for person in sorted(team)))
    return assigned
