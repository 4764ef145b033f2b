"""Counting the cheapest orders of a block by dynamic programming over the sets of elements that can come first."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SETS = 100_000


class TooManyError(Exception):
    """There are too many sets to go through, or no time is left for it."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The number of cheapest orders, and the first and last place (from 0) of each element in them."""

    number: int
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass
class _Start:
    """A set of elements that come first: the least cost of placing them before the rest, and in how many ways."""

    cost: int
    ways: int


def count_block(costs: NDArray[np.int64], before: NDArray[np.bool_], *, deadline: float) -> Counted:
    """Count the cheapest orders among those that respect `before` (closed under transitivity)."""
    levels = _levels(_Steps(costs, before), deadline)
    return _places(_Steps(costs, before), levels)


class _Steps:
    """Which elements can follow a set of placed ones (a bit each), and what that costs."""

    def __init__(self, costs: NDArray[np.int64], before: NDArray[np.bool_]) -> None:
        self.n = len(costs)
        self.rows: list[list[int]] = costs.tolist()
        self.needs = [sum(1 << int(i) for i in np.flatnonzero(before[:, j])) for j in range(self.n)]

    def after(self, placed: int) -> list[tuple[int, int, int]]:
        """(element, set with it, cost of placing it before all that are left)."""
        left = [j for j in range(self.n) if not placed >> j & 1]
        return [
            (element, placed | 1 << element, sum(self.rows[element][j] for j in left if j != element))
            for element in left
            if not self.needs[element] & ~placed
        ]


def _levels(steps: _Steps, deadline: float) -> list[dict[int, _Start]]:
    """The sets of 0, 1, 2, ... elements that can come first."""
    levels = [{0: _Start(0, 1)}]
    seen = 1
    for _ in range(steps.n):
        following: dict[int, _Start] = {}
        for placed, start in levels[-1].items():
            if seen + len(following) > MOST_SETS or time.process_time() > deadline:
                raise TooManyError
            for _, larger, step in steps.after(placed):
                known = following.get(larger)
                if known is None or start.cost + step < known.cost:
                    following[larger] = _Start(start.cost + step, start.ways)
                elif start.cost + step == known.cost:
                    known.ways += start.ways
        levels.append(following)
        seen += len(following)
    return levels


def _places(steps: _Steps, levels: list[dict[int, _Start]]) -> Counted:
    """Go back from the full set along the cheapest steps, and note who is placed where."""
    (everyone,) = levels[-1]
    first, last = np.full(steps.n, steps.n), np.full(steps.n, -1)
    reached = {everyone}
    for position in range(steps.n - 1, -1, -1):
        earlier: set[int] = set()
        for placed, start in levels[position].items():
            for element, larger, step in steps.after(placed):
                if larger in reached and start.cost + step == levels[position + 1][larger].cost:
                    first[element], last[element] = min(first[element], position), max(last[element], position)
                    earlier.add(placed)
        reached = earlier
    return Counted(levels[-1][everyone].ways, first, last)
