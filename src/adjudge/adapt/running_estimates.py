"""Estimates of all systems while judgments come in, quick enough for every decision.

    value = system + annotator + item + residual

Items (documents, or screens of several outputs) and annotators are random with fixed ratios of variances. Items are
eliminated from the equations one by one as they change, so that an observation costs one small update, and an estimate
one small system of equations, however many judgments there are. The verdict on the systems is not made here: that is
the work of the full model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats


ITEM_RATIO = 1.5
"""Residual variance over that of items."""
ANNOTATOR_RATIO = 1.5
PAGE_CORRELATION = 0.3
"""Of the scores of one page."""
_RIDGE = 1e-3
"""Keeps systems without observations at the mean of all."""


@dataclass(frozen=True)
class Observation:
    """One thing that was saved: the mean score of a page, or one output's standing on a screen of several.

    `item` is what systems share: the document of a page, the screen of a ranking. `weight` is how many independent
    judgments it is worth; the segments of one page are worth less than their number.
    """

    system: str
    item: str
    annotator: str
    value: float
    weight: float = 1.0


def page_observation(system: str, document: str, annotator: str, scores: Sequence[float]) -> Observation:
    """A page of scores as one observation: their mean, weighing less than their number because they are alike."""
    count = len(scores)
    return Observation(
        system, document, annotator, float(np.mean(scores)), count / (1 + (count - 1) * PAGE_CORRELATION)
    )


def screen_observations(screen: str, annotator: str, ranks: Mapping[str, int]) -> list[Observation]:
    """Outputs ranked side by side: for each the percentage of the others that it beats, ties counting half."""
    values = np.array(list(ranks.values()))
    others = max(len(values) - 1, 1)
    beaten = [(np.sum(values > rank) + (np.sum(values == rank) - 1) / 2) / others for rank in values]
    return [
        Observation(system, screen, annotator, 100 * float(share)) for system, share in zip(ranks, beaten, strict=True)
    ]


class RunningEstimates:
    """The equations of all observations so far."""

    def __init__(self, systems: Sequence[str]) -> None:
        self.systems = tuple(systems)
        self._column = {name: number for number, name in enumerate(self.systems)}
        self._annotators: dict[str, int] = {}
        self._items: dict[str, tuple[Floats, float]] = {}
        """By item, the weights per unknown and the weighted sum of values."""
        size = len(self.systems)
        self._matrix, self._right = np.zeros((size, size)), np.zeros(size)
        self._squares = 0.0
        self.count = 0
        self.weight = np.zeros(size)
        """Weight of the observations of each system."""
        self.observations = np.zeros(size, dtype=np.int64)
        self.by_annotator: dict[str, NDArray[np.int64]] = {}
        """Observations of each system, by annotator."""

    def add(self, observation: Observation) -> None:
        """Take one observation in; the order counts for replaying bit for bit."""
        system = self._column[observation.system]
        annotator = self._annotator(observation.annotator)
        share, total = self._items.get(observation.item, (np.zeros(0), 0.0))
        share = np.concatenate([share, np.zeros(len(self._right) - len(share))])
        self._change(share, total, -1.0)
        weight = observation.weight
        share[[system, annotator]] += weight
        total += weight * observation.value
        self._items[observation.item] = (share, total)
        self._matrix[system, system] += weight
        self._matrix[annotator, annotator] += weight
        self._matrix[system, annotator] += weight
        self._matrix[annotator, system] += weight
        self._right[[system, annotator]] += weight * observation.value
        self._squares += weight * observation.value**2
        self._change(share, total, 1.0)
        self.count += 1
        self.weight[system] += weight
        self.observations[system] += 1
        self.by_annotator[observation.annotator][system] += 1

    def add_all(self, observations: Iterable[Observation]) -> None:
        """Take many observations in, in order."""
        for observation in observations:
            self.add(observation)

    def estimate(self) -> tuple[Floats, Floats]:
        """The effects of all systems and their covariance."""
        size = len(self.systems)
        ridge = np.full(len(self._right), ANNOTATOR_RATIO)
        ridge[:size] = _RIDGE
        mean = float(self._right[:size].sum() / max(self.weight.sum(), 1e-9))
        right = self._right - mean * self._matrix[:, :size].sum(axis=1)
        inverse = np.linalg.inv(self._matrix + np.diag(ridge))
        solution = inverse @ right
        effects: Floats = mean + solution[:size]
        covariance = np.asarray(inverse[:size, :size] * self._residual(solution, right, mean), dtype=np.float64)
        return effects, covariance

    def _annotator(self, name: str) -> int:
        if name not in self._annotators:
            self._annotators[name] = len(self._right)
            self.by_annotator[name] = np.zeros(len(self.systems), dtype=np.int64)
            self._matrix = np.pad(self._matrix, (0, 1))
            self._right = np.append(self._right, 0.0)
        return self._annotators[name]

    def _change(self, share: Floats, total: float, sign: float) -> None:
        """Take the elimination of an item out of the equations, or put it in."""
        weight = share[: len(self.systems)].sum()
        if weight <= 0:
            return
        used = np.flatnonzero(share)
        scale = sign / (weight + ITEM_RATIO)
        self._matrix[np.ix_(used, used)] -= scale * np.outer(share[used], share[used])
        self._right[used] -= scale * share[used] * total
        self._squares -= scale * total * total

    def _residual(self, solution: Floats, right: Floats, mean: float) -> float:
        """The residual variance; that of the values themselves while there are hardly more values than unknowns."""
        size = len(self.systems)
        freedom = self.count - size - 1
        # Squares around the mean, items eliminated like everything else: 1' y and 1' 1 follow from the sums of systems.
        ones = float(self._matrix[:size, :size].sum())
        squares = self._squares - 2 * mean * float(self._right[:size].sum()) + mean**2 * ones
        left = max(squares - float(solution @ right), 1e-9)
        return left / freedom if freedom > 0 else max(squares, 1e-9)
