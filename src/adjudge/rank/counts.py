"""Counts of wins and ties: of everything (`Tally`), and by annotator (`PeopleCounts`).

A tally says how often each system beat, tied with and lost to each other one, and how it fared in whole blocks.
Everything in it is a sum over blocks, so a resample of annotators is a weighted sum of their tallies, and every method
that scores tallies can score a thousand resamples at once (leading dimensions of the arrays). Wins and ties by
annotator are what a model of annotators' tastes starts from. `resampling_units` makes both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.core.comparisons import Comparisons


MOST_PEOPLE = 1000
"""Beyond so many annotators, several are taken together: clusters of people are then as good as single ones."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of n systems; arrays have the shape (..., n, n) or (..., n), one leading entry per resample."""

    systems: tuple[str, ...]
    human: NDArray[np.bool_]
    wins: NDArray[np.float64]
    """`wins[i, j]`: how often i was strictly better than j."""
    ties: NDArray[np.float64]
    """`ties[i, j]`: how often i and j got the same rank; symmetric."""
    blocks: NDArray[np.float64]
    """Blocks in which the system has a rank."""
    block_wins: NDArray[np.float64]
    """Blocks in which the system is strictly better than all others with a rank."""
    block_wins_or_ties: NDArray[np.float64]
    """Blocks in which no system is better."""
    points: NDArray[np.float64]
    """Sum of (labels on the scale + 1 - rank)."""

    @property
    def losses(self) -> NDArray[np.float64]:
        """`losses[i, j]`: how often j was strictly better than i."""
        return np.swapaxes(self.wins, -1, -2)

    @property
    def met(self) -> NDArray[np.float64]:
        """`met[i, j]`: how often i and j were compared."""
        return self.wins + self.losses + self.ties

    def without(self, left_out: NDArray[np.bool_]) -> Tally:
        """The tally among the systems that are not marked (whole-block counts stay those of the full blocks)."""
        kept = np.flatnonzero(~left_out)
        return Tally(
            tuple(self.systems[i] for i in kept),
            self.human[kept],
            self.wins[..., kept, :][..., kept],
            self.ties[..., kept, :][..., kept],
            self.blocks[..., kept],
            self.block_wins[..., kept],
            self.block_wins_or_ties[..., kept],
            self.points[..., kept],
        )


@dataclass(frozen=True, eq=False)
class PeopleCounts:
    """Wins (row over column) and ties (symmetric) of each annotator: (people, n, n)."""

    wins: Floats
    ties: Floats
    group: NDArray[np.int64]
    """Where each annotator is counted: 0, 1, 2, ... unless several are taken together."""

    def without(self, person: int) -> PeopleCounts:
        """The counts without one of them; the others keep their order."""
        return self.of(np.arange(len(self.wins)) != person)

    def of(self, chosen: NDArray[np.bool_]) -> PeopleCounts:
        """The counts of some of them."""
        return PeopleCounts(self.wins[chosen], self.ties[chosen], self.group)

    def met(self) -> Floats:
        """How often two systems met in all: (n, n)."""
        wins = self.wins.sum(0)
        met: Floats = wins + wins.T + self.ties.sum(0)
        return met


def grouped(work: Floats) -> NDArray[np.int64]:
    """Where each annotator is counted, given their work: by itself, unless there are very many."""
    group = np.arange(len(work))
    if len(work) > MOST_PEOPLE:
        group[np.argsort(-work, kind="stable")] = np.arange(len(work)) % MOST_PEOPLE
    return group


def labelling_annotators(comparisons: Comparisons) -> NDArray[np.int64]:
    """The codes of the annotators who gave any label, ascending: the units of `annotator_units`."""
    given = np.bincount(comparisons.block_annotator[comparisons.label_block], minlength=len(comparisons.annotators))
    return np.flatnonzero(given)


def person_of(compared: Comparisons) -> NDArray[np.int64]:
    """Who made each comparison, as a place among the annotators who gave any label."""
    return np.searchsorted(labelling_annotators(compared), compared.annotator)


def group_of(compared: Comparisons) -> NDArray[np.int64]:
    """Where each annotator who gave any label is counted."""
    return grouped(np.bincount(person_of(compared), minlength=len(labelling_annotators(compared))).astype(float))


def count_people(
    compared: Comparisons, person: NDArray[np.int64], group: NDArray[np.int64], *, weights: Floats | None = None
) -> PeopleCounts:
    """The counts of some comparisons by annotator: `person` says who made each, `group` where each is counted."""
    n, people = len(compared.systems), int(group.max()) + 1
    person = group[person]
    first, second, tied = compared.first.astype(np.int64), compared.second, compared.outcome == 0
    better = np.where(compared.outcome >= 0, first, second)
    worse = np.where(compared.outcome >= 0, second, first)
    cell = (person * n + better) * n + worse
    weight = np.ones(len(cell)) if weights is None else weights
    wins, ties = (
        np.bincount(cell[rows], weight[rows], minlength=people * n * n).reshape(people, n, n).astype(np.float64)
        for rows in (~tied, tied)
    )
    return PeopleCounts(wins, ties + np.swapaxes(ties, 1, 2), group)
