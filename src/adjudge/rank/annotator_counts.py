"""Wins and ties by annotator: what a model of annotators' tastes starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.resampling_units import labelling_annotators

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.core.comparisons import Comparisons
    from adjudge.rank.resampling_units import Units


MOST_PEOPLE = 1000
"""Beyond so many annotators, several are taken together: clusters of people are then as good as single ones."""


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


def people_counts(units: Units) -> PeopleCounts:
    """The counts by annotator; where there are very many, of groups of annotators with about equal work."""
    n = len(units.systems)
    counts = units.counts[:, : 2 * n * n]
    group = grouped(np.asarray(counts.sum(axis=1)).ravel())
    if len(group) > MOST_PEOPLE:
        from scipy.sparse import coo_array

        joining = coo_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(MOST_PEOPLE, len(group)))
        counts = joining.tocsr() @ counts
    wins, ties = (part.reshape(-1, n, n) for part in np.split(counts.toarray().astype(float), 2, axis=1))
    return PeopleCounts(wins, ties + np.swapaxes(ties, 1, 2), group)


def grouped(work: Floats) -> NDArray[np.int64]:
    """Where each annotator is counted, given their work: by itself, unless there are very many."""
    group = np.arange(len(work))
    if len(work) > MOST_PEOPLE:
        group[np.argsort(-work, kind="stable")] = np.arange(len(work)) % MOST_PEOPLE
    return group


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
