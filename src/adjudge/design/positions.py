"""Where an output stands on its screen: every system equally often at every position, repeats in another order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from adjudge.design.drafts import DraftItem, DraftOutput, DraftScreen

MOST_ORDERS = 24


@dataclass
class Positions:
    """Puts outputs into order, screen after screen, and remembers who stood where."""

    rng: np.random.Generator
    stood: Counter[tuple[str, int]] = field(default_factory=Counter)
    before: Counter[tuple[str, str]] = field(default_factory=Counter)

    def place(self, screens: Sequence[DraftScreen]) -> list[DraftScreen]:
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
