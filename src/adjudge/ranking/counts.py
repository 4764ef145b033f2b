"""Units of resampling: what is drawn again when we ask how far a ranking depends on who happened to judge.

Annotators are the units where there are two or more, because one person's judgments resemble each other; with one
annotator (or none known) the source documents are, or the segments, where several blocks share them: blocks on one text
share its luck. Otherwise the blocks are. Units with equal counts are kept once with their number, so that a million
pairwise judgments are a table of a few hundred rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adjudge.table.comparisons import NOBODY, Comparisons
from adjudge.table.maths import distinct

if TYPE_CHECKING:
    from collections.abc import Iterator

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from adjudge.table.maths import Floats


# Counts of wins and ties: of everything (`Tally`), and by annotator (`PeopleCounts`).
#
# A tally says how often each system beat, tied with and lost to each other one, and how it fared in whole blocks.
# Everything in it is a sum over blocks, so a resample of annotators is a weighted sum of their tallies, and every
# method that scores tallies can score a thousand resamples at once (leading dimensions of the arrays). Wins and ties
# by annotator are what a model of annotators' tastes starts from. `units_of` makes both.


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
    block_not_last: NDArray[np.float64]
    """Blocks in which the system is better than another, or tied with it."""
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
            self.block_not_last[..., kept],
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


def grouped(work: Floats, most: int | None = None) -> NDArray[np.int64]:
    """Where each annotator is counted, given their work: by itself, unless there are very many."""
    group, most = np.arange(len(work)), MOST_PEOPLE if most is None else most
    if len(work) > most:
        group[np.argsort(-work, kind="stable")] = np.arange(len(work)) % most
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


# Tallies of resamples are made in slices of about this many numbers, to bound memory.
SLICE = 20_000_000
# Below this many numbers a dense product is faster than a sparse one.
DENSE = 30_000_000


@dataclass(frozen=True, eq=False)
class Units:
    """Additive counts per unit: a sparse matrix (units x cells), and how many times each unit occurs."""

    systems: tuple[str, ...]
    human: NDArray[np.bool_]
    counts: sp.csr_array
    times: NDArray[np.int64]
    kind: str
    """What a unit is: `annotators`, `documents`, `segments` or `blocks`."""
    unnamed: int = 0
    """Comparisons that name no annotator; where others do, they count as those of one more person."""
    nobody: int | None = None
    """The unit of these comparisons, where annotators are the units."""

    @property
    def number(self) -> int:
        """How many units there are, equal ones counted severally."""
        return int(self.times.sum())

    def total(self) -> Tally:
        """The tally of everything."""
        return self._tally(np.asarray(self.times @ self.counts, dtype=float))

    def resampled(self, count: int, rng: np.random.Generator) -> Iterator[Tally]:
        """`count` resamples with replacement, in slices; each slice is one tally with a leading dimension."""
        cells = self.counts.shape[1]
        step = max(1, min(count, SLICE // max(cells, len(self.times))))
        dense = self.counts.toarray() if self.counts.shape[0] * cells <= DENSE else None
        for start in range(0, count, step):
            size = min(step, count - start)
            weights = rng.multinomial(self.number, self.times / self.number, size=size).astype(float)
            yield self._tally(weights @ dense if dense is not None else weights @ self.counts)

    def weighted(self, weights: NDArray[np.float64]) -> Tally:
        """Tallies in which each unit counts so often: weights are (tallies, units)."""
        return self._tally(weights @ self.counts)

    def _tally(self, cells: NDArray[np.float64]) -> Tally:
        n = len(self.systems)
        lead = cells.shape[:-1]
        wins, ties, of_blocks = np.split(cells, [n * n, 2 * n * n], axis=-1)
        ties = ties.reshape(*lead, n, n)
        blocks, block_wins, block_wins_or_ties, block_not_last, points = np.split(of_blocks, 5, axis=-1)
        return Tally(
            self.systems,
            self.human,
            wins.reshape(*lead, n, n),
            ties + np.swapaxes(ties, -1, -2),
            blocks,
            block_wins,
            block_wins_or_ties,
            block_not_last,
            points,
        )


def units_of(comparisons: Comparisons) -> Units:
    """Annotators as units where there are at least two of them; otherwise texts that blocks share, or blocks."""
    judged = distinct(comparisons.annotator)
    if len(judged) > 1:
        return annotator_units(comparisons)
    return replace(text_units(comparisons) or block_units(comparisons), unnamed=_unnamed(comparisons))


def annotator_units(comparisons: Comparisons) -> Units:
    """One unit per annotator who gave any label."""
    judged = labelling_annotators(comparisons)
    code = np.searchsorted(judged, comparisons.block_annotator)
    cells = _block_cells(comparisons, label_scale(comparisons))
    matrix = _sum_rows(cells, code[cells.row], len(judged), _width(comparisons))
    times = np.ones(len(judged), dtype=np.int64)
    nobody = next((unit for unit, code in enumerate(judged) if comparisons.annotators[code] == NOBODY), None)
    return Units(comparisons.systems, comparisons.human, matrix, times, "annotators", _unnamed(comparisons), nobody)


def _unnamed(comparisons: Comparisons) -> int:
    return len(comparisons) - len(comparisons.of_named_annotators())


def text_units(comparisons: Comparisons) -> Units | None:
    """One unit per document, or per segment where documents are not named; None where no two blocks share one."""
    blocks = len(distinct(comparisons.block))
    for kind, text in (("documents", comparisons.document), ("segments", comparisons.segment)):
        if text is None or not 1 < len(distinct(text)) < blocks:
            continue
        # A block without a comparison is a unit of its own.
        number = len(comparisons.block_annotator)
        code = np.arange(number) + int(text.max()) + 1
        code[comparisons.block] = text
        cells = _block_cells(comparisons, label_scale(comparisons))
        units, row = np.unique(code[cells.row], return_inverse=True)
        matrix = _sum_rows(cells, row, len(units), _width(comparisons))
        times = np.ones(len(units), dtype=np.int64)
        return Units(comparisons.systems, comparisons.human, matrix, times, kind)
    return None


def block_units(comparisons: Comparisons) -> Units:
    """One unit per block with a label; where all are single pairs, equal pairs are kept once with their number."""
    sizes = np.bincount(comparisons.label_block, minlength=len(comparisons.block_annotator))
    labelled = np.flatnonzero(sizes)
    if len(comparisons) == len(labelled) and (sizes[labelled] == 2).all():
        distinct, times = _distinct_pairs(comparisons)
        rows = np.arange(len(times))
    else:
        distinct, times = comparisons, np.ones(len(labelled), dtype=np.int64)
        rows = np.searchsorted(labelled, np.arange(len(comparisons.block_annotator)))
    cells = _block_cells(distinct, label_scale(comparisons))
    matrix = _sum_rows(cells, rows[cells.row], len(times), _width(distinct))
    return Units(comparisons.systems, comparisons.human, matrix, times, "blocks")


def pair_units(
    systems: tuple[str, ...],
    pairs: NDArray[np.int64],
    times: NDArray[np.int64],
    annotator: NDArray[np.int64] | None = None,
) -> Units:
    """Units from counted comparisons: rows (first, second, outcome), first < second, and how often each occurred.

    Where the annotator of every row is given (as a code from 0), annotators are the units, and blocks otherwise.
    """
    outcome = pairs[:, 2]
    ranks = np.stack([np.where(outcome < 0, 2, 1), np.where(outcome > 0, 2, 1)], axis=1)
    comparisons = _one_block_each(systems, np.zeros(len(systems), dtype=bool), pairs[:, :2], ranks)
    cells = _block_cells(comparisons, label_scale(comparisons))
    width = _width(comparisons)
    if annotator is None:
        return Units(systems, comparisons.human, _sum_rows(cells, cells.row, len(times), width), times, "blocks")
    often = cells._replace(value=cells.value * times[cells.row])
    people = int(annotator.max()) + 1
    matrix = _sum_rows(often, annotator[cells.row], people, width)
    return Units(systems, comparisons.human, matrix, np.ones(people, dtype=np.int64), "annotators")


def tally(comparisons: Comparisons) -> Tally:
    """The tally of all comparisons."""
    return block_units(comparisons).total()


def people_counts(units: Units) -> PeopleCounts:
    """The counts by annotator; where there are very many, of groups of annotators with about equal work."""
    n = len(units.systems)
    counts = units.counts[:, : 2 * n * n]
    group = grouped(np.asarray(counts.sum(axis=1)).ravel())
    groups = int(group.max()) + 1
    if len(group) > groups:
        from scipy.sparse import coo_array

        joining = coo_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(groups, len(group)))
        counts = joining.tocsr() @ counts
    wins, ties = (part.reshape(-1, n, n) for part in np.split(counts.toarray().astype(float), 2, axis=1))
    return PeopleCounts(wins, ties + np.swapaxes(ties, 1, 2), group)


def _distinct_pairs(comparisons: Comparisons) -> tuple[Comparisons, NDArray[np.int64]]:
    """Blocks of two that differ, systems and ranks alike, and how often each occurs."""
    order = np.lexsort((comparisons.label_system, comparisons.label_block))
    pairs = comparisons.label_system[order].reshape(-1, 2)
    ranks = comparisons.label_rank[order].reshape(-1, 2)
    # Ranks as codes from 0: a stray rank of a billion must not make the code overflow.
    given, code = np.unique(ranks, return_inverse=True)
    shape = (len(comparisons.systems), len(comparisons.systems), 3, len(given), len(given))
    # The outcome comes before the ranks, so that units stand in the order of `pair_units` and are drawn alike.
    outcome = np.sign(ranks[:, 1] - ranks[:, 0]).astype(np.int64) + 1
    key = np.ravel_multi_index((*pairs.T.astype(np.int64), outcome, *code.reshape(-1, 2).T), shape)
    keys, times = np.unique(key, return_counts=True)
    first, second, _, first_rank, second_rank = np.unravel_index(keys, shape)
    ranked = np.stack([given[first_rank], given[second_rank]], axis=1)
    alone = _one_block_each(comparisons.systems, comparisons.human, np.stack([first, second], axis=1), ranked)
    return alone, times.astype(np.int64)


def _one_block_each(
    systems: tuple[str, ...],
    human: NDArray[np.bool_],
    pairs: NDArray[np.integer[Any]],
    ranks: NDArray[np.integer[Any]],
) -> Comparisons:
    """Comparisons in which every row of pairs (first, second) is a block of its own, with its two ranks."""
    first, second = pairs.T.astype(np.int32)
    block = np.arange(len(pairs), dtype=np.int32)
    nobody = np.zeros(len(pairs), dtype=np.int32)
    return Comparisons(
        systems=systems,
        human=human,
        annotators=(NOBODY,),
        first=first,
        second=second,
        outcome=np.sign(ranks[:, 1] - ranks[:, 0]).astype(np.int8),
        annotator=nobody,
        segment=nobody,
        block=block,
        label_system=np.concatenate([first, second]),
        label_rank=ranks.T.ravel().astype(np.int32),
        label_block=np.concatenate([block, block]),
        block_annotator=nobody,
    )


class _Cells(NamedTuple):
    """Entries of the matrix blocks x cells: a cell is one of [wins | ties | blocks | block wins | ... | points]."""

    row: NDArray[np.integer[Any]]
    column: NDArray[np.integer[Any]]
    value: NDArray[np.float64]


def _width(comparisons: Comparisons) -> int:
    n = len(comparisons.systems)
    return 2 * n * n + 5 * n


def _block_cells(comparisons: Comparisons, scale: int) -> _Cells:
    n = len(comparisons.systems)
    first, second, outcome = comparisons.first, comparisons.second, comparisons.outcome
    winner, loser = np.where(outcome >= 0, first, second), np.where(outcome >= 0, second, first)
    pairs = _Cells(
        comparisons.block, np.where(outcome == 0, n * n, 0) + winner.astype(np.int64) * n + loser, np.ones(len(outcome))
    )
    block, system, rank = comparisons.label_block, comparisons.label_system, comparisons.label_rank
    blocks = len(comparisons.block_annotator)
    best = np.full(blocks, np.iinfo(np.int32).max)
    np.minimum.at(best, block, rank)
    worst = np.zeros(blocks, dtype=np.int64)
    np.maximum.at(worst, block, rank)
    top, bottom = rank == best[block], rank == worst[block]
    last = bottom & (np.bincount(block[bottom], minlength=blocks)[block] == 1)
    sole = top & (np.bincount(block[top], minlength=blocks)[block] == 1)
    labels = [
        _Cells(block[chosen], 2 * n * n + part * n + system[chosen], value[chosen])
        for part, chosen, value in (
            (0, np.ones(len(rank), dtype=bool), np.ones(len(rank))),
            (1, sole, np.ones(len(rank))),
            (2, top, np.ones(len(rank))),
            (3, ~last, np.ones(len(rank))),
            (4, np.ones(len(rank), dtype=bool), (scale + 1 - rank).astype(float)),
        )
    ]
    return _Cells(*(np.concatenate(parts) for parts in zip(pairs, *labels, strict=True)))


def label_scale(comparisons: Comparisons) -> int:
    """How many labels annotators could choose from: the largest rank given, or the largest block if that is more."""
    largest = np.bincount(comparisons.label_block).max(initial=0)
    return int(max(largest, comparisons.label_rank.max(initial=0)))


def _sum_rows(cells: _Cells, rows: NDArray[np.integer[Any]], height: int, width: int) -> sp.csr_array:
    import scipy.sparse as sp

    return sp.coo_array((cells.value, (rows, cells.column)), shape=(height, width)).tocsr()
