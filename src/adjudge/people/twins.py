"""Twins: stretches of items on which two annotators' answers are the same, or each other's mirror.

Answers copied from somebody else, or a file whose columns were read the wrong way round, show as a long run of items
on which all preferences agree (or all are reversed). Items on which both see only ties fit either. A run is reported
when chance, at the rate with which single items agree (or mirror) among all pairs of annotators, hardly explains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.people.results import Twins
from adjudge.table.judgments import codes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Bools, Floats, Ints

FEWEST_ITEMS = 8
SURPRISING = 1e-4
# The least rate that is assumed, so that small samples do not raise false alarms.
LEAST_RATE = 0.1


@dataclass(frozen=True, eq=False)
class _Shared:
    """The items that two annotators share, in order; per item whether answers fit each pattern, and how many."""

    annotators: tuple[str, str]
    names: list[str]
    """Of all items."""
    items: Ints
    copied: Bools
    mirrored: Bools
    decided: Ints
    """Preferences of either annotator that are no tie."""
    preferences: Ints


def find_twins(judgments: Judgments) -> tuple[Twins, ...]:
    """The runs that chance does not explain, the least likely first. Needs several systems judged per item."""
    items, fitting, with_runs = 0, {"copied": 0, "mirrored": 0}, []
    for meetings in _all_meetings(_answers(judgments)):
        informative = meetings.decided > 0
        items += int(informative.sum())
        for kind in fitting:
            fitting[kind] += int(getattr(meetings, kind)[informative].sum())
        with_runs += [meetings.pair(number) for number in meetings.with_runs()]
    runs: list[Twins] = []
    for kind, total in fitting.items():
        for pair in with_runs:
            fits = getattr(pair, kind)[pair.decided > 0]
            # The rate without this pair: a pair that copied everything would raise the rate that excuses it.
            others = items - len(fits)
            rate = (total - fits.sum()) / others if others >= FEWEST_ITEMS else 0.0
            twins = _longest_run(pair, kind, max(float(rate), LEAST_RATE))
            if twins is not None:
                runs.append(twins)
    return tuple(sorted(runs, key=lambda twins: twins.p))


@dataclass(frozen=True, eq=False)
class _Answers:
    """Everybody's answers: a row for each annotator and item, in the order they were met."""

    annotators: list[str]
    items: list[str]
    annotator: Ints
    item: Ints
    good: Floats
    """(rows, systems): how good each system was said to be, NaN where it was not judged."""


@dataclass(frozen=True, eq=False)
class _Meetings:
    """The items that one annotator shares with each of the later ones, partner by partner, as in `_Shared`."""

    answers: _Answers
    annotator: int
    partner: Ints
    items: Ints
    copied: Bools
    mirrored: Bools
    decided: Ints
    preferences: Ints

    @cached_property
    def starts(self) -> Ints:
        """Where each partner begins."""
        return np.flatnonzero(np.diff(self.partner, prepend=-1))

    def pair(self, number: int) -> _Shared:
        """The items shared with one partner."""
        start = int(self.starts[number])
        stop = int(self.starts[number + 1]) if number + 1 < len(self.starts) else len(self.partner)
        names = self.answers.annotators
        columns = ("items", "copied", "mirrored", "decided", "preferences")
        people = (names[self.annotator], names[self.partner[start]])
        return _Shared(people, self.answers.items, *(getattr(self, name)[start:stop] for name in columns))

    def with_runs(self) -> list[int]:
        """The partners with whom enough items in a row are copied, or mirrored."""
        if not len(self.starts):
            return []
        position = np.arange(len(self.partner))
        before = np.full(len(self.partner), -1)
        before[self.starts] = self.starts - 1
        longest = np.zeros(len(self.starts), dtype=np.int64)
        for fits in (self.copied, self.mirrored):
            # The last item before each that does not fit, or that is another partner's.
            broken = np.maximum.accumulate(np.where(fits, before, position))
            longest = np.maximum(longest, np.maximum.reduceat(position - broken, self.starts))
        return np.flatnonzero(longest >= FEWEST_ITEMS).tolist()


def _all_meetings(answers: _Answers) -> Iterator[_Meetings]:
    """Every annotator with all later ones."""
    by_item = np.argsort(answers.item, kind="stable")
    count = np.bincount(answers.item, minlength=len(answers.items))
    first = np.cumsum(count) - count
    by_annotator = np.argsort(answers.annotator, kind="stable")
    rows_by_annotator = np.split(
        by_annotator, np.cumsum(np.bincount(answers.annotator, minlength=len(answers.annotators)))[:-1]
    )
    for number, rows in enumerate(rows_by_annotator):
        # All rows about the items of this annotator, who is the first of each pair.
        often_met = count[answers.item[rows]]
        first_rows = np.repeat(rows, often_met)
        within = np.arange(len(first_rows)) - np.repeat(np.cumsum(often_met) - often_met, often_met)
        partner_rows = by_item[np.repeat(first[answers.item[rows]], often_met) + within]
        later = answers.annotator[partner_rows] > number
        first_rows, partner_rows = first_rows[later], partner_rows[later]
        often = np.bincount(answers.annotator[partner_rows], minlength=len(answers.annotators)) >= FEWEST_ITEMS
        enough = often[answers.annotator[partner_rows]]
        first_rows, partner_rows = first_rows[enough], partner_rows[enough]
        # By partner, and then in the order this one met the items.
        order = np.lexsort((first_rows, answers.annotator[partner_rows]))
        first_rows, partner_rows = first_rows[order], partner_rows[order]
        compared = _compared(answers.good[first_rows], answers.good[partner_rows])
        yield _Meetings(answers, number, answers.annotator[partner_rows], answers.item[first_rows], *compared)


def _compared(first_answers: Floats, second_answers: Floats) -> tuple[Bools, Bools, Ints, Ints]:
    """Row by row, the preferences of two annotators between the systems that both judged there.

    Whether all are copied, whether all are mirrored, how many of either are no tie, and how many there are.
    """
    both = ~(np.isnan(first_answers) | np.isnan(second_answers))
    copied, mirrored = np.ones((2, len(first_answers)), dtype=bool)
    decided, preferences = np.zeros((2, len(first_answers)), dtype=np.int64)
    several = np.count_nonzero(both, axis=1) > 1
    for first in range(first_answers.shape[1] - 1 if several.any() else 0):
        rows = np.flatnonzero(both[:, first] & several)
        known = both[rows, first + 1 :]
        x, y = (
            np.sign(answers[rows, first, None] - answers[rows, first + 1 :])
            for answers in (first_answers, second_answers)
        )
        copied[rows] &= ((x == y) | ~known).all(1)
        mirrored[rows] &= ((x == -y) | ~known).all(1)
        decided[rows] += ((x != 0) & known).sum(1) + ((y != 0) & known).sum(1)
        preferences[rows] += known.sum(1)
    return copied & (preferences > 0), mirrored & (preferences > 0), decided, preferences


def _answers(judgments: Judgments) -> _Answers:
    """Collect all answers; the first showing of an item counts."""
    good = pl.coalesce(pl.col("score"), -pl.col("rank").cast(pl.Float64))
    name = pl.concat_str(
        [pl.col("document").fill_null(""), pl.col("segment").fill_null("")], separator=" "
    ).str.strip_chars()
    text = ("document", "segment")
    given = (
        judgments.final()
        .table.select("annotator", "system", "kind", *text, good=good)
        .filter(
            pl.col("good").is_not_null()
            & pl.col("annotator").is_not_null()
            & pl.col("kind").is_in(["system", "reference"])
        )
    )
    table = (
        given.filter(_mark_shared(given, text))
        .select("annotator", "system", "good", item=name)
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


def _mark_shared(given: pl.DataFrame, text: tuple[str, ...]) -> Bools:
    """Mark the answers about items that several annotators judged; in large campaigns of votes there are few."""
    item, annotator = codes_of(given, text, ("annotator",))
    one_of_them = np.empty(int(item.max(initial=-1)) + 1, dtype=np.int64)
    one_of_them[item] = annotator
    shared = np.bincount(item, one_of_them[item] != annotator, len(one_of_them)) > 0
    return np.asarray(shared[item])


def _longest_run(shared: _Shared, kind: str, rate: float) -> Twins | None:
    fits = getattr(shared, kind)
    # A run lies between two items that do not fit; among runs of equal length the first counts.
    breaks = np.concatenate(([-1], np.flatnonzero(~fits), [len(fits)]))
    longest = int(np.argmax(np.diff(breaks)))
    start, stop = int(breaks[longest]) + 1, int(breaks[longest + 1])
    if stop - start < FEWEST_ITEMS:
        return None
    run = slice(start, stop)
    informative = int((shared.decided[run] > 0).sum())
    p = min(1.0, len(fits) * rate**informative)
    if informative < FEWEST_ITEMS or p > SURPRISING:
        return None
    return Twins(
        annotators=shared.annotators,
        kind=kind,
        first=shared.names[shared.items[start]],
        last=shared.names[shared.items[stop - 1]],
        items=stop - start,
        preferences=int(shared.preferences[run].sum()),
        p=p,
    )
