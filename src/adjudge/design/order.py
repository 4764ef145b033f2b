"""The order in which annotators see things: the screens of a task, and the outputs on a screen.

Screens are in random order, but those of one segment or document stay apart, and controls far from their originals:
every run of screens gets a position between 0 and 1; the m runs of one label are 1/m apart; a copy stands half a task
from its original, and a repeat always after it. On a screen, every system stands equally often at every position.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from adjudge.design.drafts import DraftItem, DraftOutput, DraftScreen, Material, Run


def order_screens(material: Material, runs: Sequence[Run], rng: np.random.Generator) -> list[DraftScreen]:
    """Put the screens of a task into the order in which they are shown."""
    position = _place_runs(material, [run for run in runs if run[0].copy_of is None], rng)
    originals = {screen.key: run[0].key for run in runs for screen in run}
    for run in runs:
        screen = run[0]
        if screen.copy_of is None:
            continue
        start = position[originals[screen.copy_of]]
        if all(output.kind == "repeat" for output in screen.items[0].outputs):
            start %= 0.5
            position[originals[screen.copy_of]] = start
        position[screen.key] = (start + 0.5) % 1
    ordered = sorted(runs, key=lambda run: (position[run[0].key], run[0].key))
    return [screen for run in ordered for screen in run]


def _place_runs(material: Material, runs: Sequence[Run], rng: np.random.Generator) -> dict[int, float]:
    """Choose positions of the runs that are no copies: evenly apart within a label."""
    labels: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        item = run[0].items[0]
        page = run[0].size > 1
        labels[material.testset.source[item.index].document if page else str(item.index)].append(run[0].key)
    position: dict[int, float] = {}
    for keys in labels.values():
        start = float(rng.random())
        for i, key in enumerate(rng.permutation(keys)):
            position[int(key)] = (i + start) / len(keys)
    return position


MOST_ORDERS = 24


@dataclass
class Positions:
    """Puts outputs into order, screen after screen, and remembers who stood where."""

    rng: np.random.Generator
    stood: Counter[tuple[str, int]] = field(default_factory=Counter)
    before: Counter[tuple[str, str]] = field(default_factory=Counter)

    def order_outputs(self, screens: Sequence[DraftScreen]) -> list[DraftScreen]:
        """The screens with their outputs in the order in which they are shown."""
        return [replace(screen, items=tuple(self._item(item) for item in screen.items)) for screen in screens]

    def _item(self, item: DraftItem) -> DraftItem:
        count = len(item.outputs)
        if count == 1:
            return item
        best = min(self._orders(item.outputs), key=self._cost)
        for i, output in enumerate(best):
            self.stood.update((system, i) for system in output.systems)
            self.before.update((a, b) for later in best[i + 1 :] for a in output.systems for b in later.systems)
        return replace(item, outputs=tuple(best))

    def _orders(self, outputs: Sequence[DraftOutput]) -> list[list[DraftOutput]]:
        """Some orders to choose from, at random; all of them where there are few."""
        shuffled = [outputs[i] for i in self.rng.permutation(len(outputs))]
        if len(outputs) <= 4:
            return [list(order) for order in permutations(shuffled)]
        return [[outputs[i] for i in self.rng.permutation(len(outputs))] for _ in range(MOST_ORDERS)]

    def _cost(self, order: Sequence[DraftOutput]) -> int:
        """How often these systems have stood at these positions, and in this order before each other."""
        # In pairs, who stands before whom is all that matters.
        weight = 1_000_000 if len(order) == 2 else 1
        cost = 0
        for i, output in enumerate(order):
            cost += sum(self.stood[system, i] for system in output.systems)
            pairs = ((a, b) for later in order[i + 1 :] for a in output.systems for b in later.systems)
            cost += weight * sum(self.before[pair] for pair in pairs)
        return cost
