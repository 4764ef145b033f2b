"""Twins: stretches of items on which two annotators' answers are the same, or each other's mirror.

Answers copied from somebody else, or a file whose columns were read the wrong way round, show as a long run of items
on which all preferences agree (or all are reversed). Items on which both see only ties fit either. A run is reported
when chance, at the rate with which single items agree (or mirror) among all pairs of annotators, hardly explains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.results.check import Twins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments

FEWEST_ITEMS = 8
SURPRISING = 1e-4
# However rarely items mirror each other elsewhere, this rate is allowed for, so that few data do not cry wolf.
LEAST_RATE = 0.1


@dataclass(frozen=True, eq=False)
class _Shared:
    """The items that two annotators share, in order; per item whether answers fit each pattern, and how many."""

    annotators: tuple[str, str]
    names: list[str]
    """Of all items."""
    items: NDArray[np.int64]
    copied: NDArray[np.bool_]
    mirrored: NDArray[np.bool_]
    decided: NDArray[np.int64]
    """Preferences of either annotator that are no tie."""
    preferences: NDArray[np.int64]


def find_twins(judgments: Judgments) -> tuple[Twins, ...]:
    """The runs that chance does not explain, the least likely first. Needs several systems judged per item."""
    shared = list(shared_items(judgments))
    runs: list[Twins] = []
    for kind in ("copied", "mirrored"):
        fits = [getattr(pair, kind)[pair.decided > 0] for pair in shared]
        items, fitting = sum(map(len, fits)), sum(int(own.sum()) for own in fits)
        for pair, own in zip(shared, fits, strict=True):
            # The rate among the others: a pair that copied throughout must not excuse itself.
            others = items - len(own)
            rate = (fitting - own.sum()) / others if others >= FEWEST_ITEMS else 0.0
            twins = _longest_run(pair, kind, max(float(rate), LEAST_RATE))
            if twins is not None:
                runs.append(twins)
    return tuple(sorted(runs, key=lambda twins: twins.p))


@dataclass(frozen=True, eq=False)
class _Answers:
    """Everybody's answers: a row for each annotator and item, in the order they were met."""

    annotators: list[str]
    items: list[str]
    annotator: NDArray[np.int64]
    item: NDArray[np.int64]
    good: NDArray[np.float64]
    """(rows, systems): how good each system was said to be, NaN where it was not judged."""


def shared_items(judgments: Judgments) -> Iterator[_Shared]:
    """Every two annotators who judged at least some items both."""
    answers = _answers(judgments)
    row_of_item = np.empty(len(answers.items), dtype=np.int64)
    for number in range(len(answers.annotators)):
        row_of_item[:] = -1
        own = np.flatnonzero(answers.annotator == number)
        row_of_item[answers.item[own]] = own
        # All those of whom this one is the first of the pair, by partner and then in the order this one met the items.
        theirs = np.flatnonzero((answers.annotator > number) & (row_of_item[answers.item] >= 0))
        mine = row_of_item[answers.item[theirs]]
        order = np.lexsort((mine, answers.annotator[theirs]))
        yield from _partners(answers, number, mine[order], theirs[order])


def _partners(answers: _Answers, number: int, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> Iterator[_Shared]:
    partner = answers.annotator[theirs]
    often = np.bincount(partner, minlength=len(answers.annotators)) >= FEWEST_ITEMS
    mine, theirs, partner = mine[often[partner]], theirs[often[partner]], partner[often[partner]]
    copied, mirrored, decided, preferences = _compared(answers.good[mine], answers.good[theirs])
    items = answers.item[mine]
    starts = np.flatnonzero(np.diff(partner, prepend=-1))
    for start, stop in pairwise([*starts.tolist(), len(partner)]):
        run = slice(start, stop)
        both = (answers.annotators[number], answers.annotators[partner[start]])
        yield _Shared(both, answers.items, items[run], copied[run], mirrored[run], decided[run], preferences[run])


def _compared(
    first_answers: NDArray[np.float64], second_answers: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Row by row, the preferences of two annotators between the systems that both judged there.

    Whether all are copied, whether all are mirrored, how many of either are no tie, and how many there are.
    """
    both = ~(np.isnan(first_answers) | np.isnan(second_answers))
    copied, mirrored = np.ones((2, len(first_answers)), dtype=bool)
    decided, preferences = np.zeros((2, len(first_answers)), dtype=np.int64)
    for first in range(first_answers.shape[1] - 1):
        rows = np.flatnonzero(both[:, first])
        known = both[rows, first + 1 :]
        x, y = (np.sign(own[rows, first, None] - own[rows, first + 1 :]) for own in (first_answers, second_answers))
        copied[rows] &= ((x == y) | ~known).all(1)
        mirrored[rows] &= ((x == -y) | ~known).all(1)
        decided[rows] += ((x != 0) & known).sum(1) + ((y != 0) & known).sum(1)
        preferences[rows] += known.sum(1)
    return copied & (preferences > 0), mirrored & (preferences > 0), decided, preferences


def _answers(judgments: Judgments) -> _Answers:
    """Who said what; the first showing of an item counts."""
    good = pl.coalesce(pl.col("score"), -pl.col("rank").cast(pl.Float64))
    name = pl.concat_str(
        [pl.col("document").fill_null(""), pl.col("segment").fill_null("")], separator=" "
    ).str.strip_chars()
    table = (
        judgments.final()
        .table.select("annotator", "system", "kind", good=good, item=name)
        .filter(
            pl.col("good").is_not_null()
            & pl.col("annotator").is_not_null()
            & pl.col("kind").is_in(["system", "reference"])
        )
        .unique(["annotator", "item", "system"], keep="first", maintain_order=True)
    )
    words = {column: table[column].unique().sort() for column in ("annotator", "item", "system")}
    codes = {column: values.search_sorted(table[column]).cast(pl.Int64).to_numpy() for column, values in words.items()}
    met, first, row = np.unique(
        codes["annotator"] * (len(words["item"]) + 1) + codes["item"], return_index=True, return_inverse=True
    )
    answers = np.full((len(met), len(words["system"])), np.nan)
    answers[row, codes["system"]] = table["good"].to_numpy()
    order = np.argsort(first)
    annotator, item = np.divmod(met[order], len(words["item"]) + 1)
    return _Answers(words["annotator"].to_list(), words["item"].to_list(), annotator, item, answers[order])


def _longest_run(shared: _Shared, kind: str, rate: float) -> Twins | None:
    fits = getattr(shared, kind)
    # Runs lie between two items that do not fit; of equal ones the first counts.
    breaks = np.concatenate(([-1], np.flatnonzero(~fits), [len(fits)]))
    longest = int(np.argmax(np.diff(breaks)))
    best = (int(breaks[longest]) + 1, int(breaks[longest + 1]))
    if best[1] - best[0] < FEWEST_ITEMS:
        return None
    run = slice(*best)
    informative = int((shared.decided[run] > 0).sum())
    p = min(1.0, len(fits) * rate**informative)
    if informative < FEWEST_ITEMS or p > SURPRISING:
        return None
    return Twins(
        annotators=shared.annotators,
        kind=kind,
        first=shared.names[shared.items[best[0]]],
        last=shared.names[shared.items[best[1] - 1]],
        items=best[1] - best[0],
        preferences=int(shared.preferences[run].sum()),
        p=p,
    )
