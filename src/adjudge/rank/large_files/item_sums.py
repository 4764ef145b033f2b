"""Scores added up by annotator and by item, on codes of words: a slice of rows at a time, so that little is held.

A table here has the columns `system`, `annotator` and `segment`, perhaps `document`, as codes, and `score`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.integer_codes import any_repeated
from adjudge.core.score_sheet import ItemMeans, significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats, Ints

ITEM = ("document", "segment", "system")
"""What is one item: a segment, of whatever document, of a system."""
# Rows at a time: few enough to stay in the processor's cache.
SLICE = 1 << 16
# Beyond so many combinations of codes, those that occur are sorted instead of marked in a table.
MOST_MARKS = 1 << 26


def codes_of(column: pl.Series) -> NDArray[np.uint32]:
    """Codes of words; where there is none, the code after the last one."""
    codes = column.to_physical()
    return (codes.fill_null(_size(column) - 1) if codes.null_count() else codes).to_numpy()


def _size(column: pl.Series) -> int:
    """How many codes a column may hold: one for every word, and one for none."""
    highest = column.to_physical().max()
    return 1 if highest is None else int(highest) + 2  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class AnnotatorScales:
    """Number, mean and standard deviation of every annotator's scores, by code; no spread is NaN."""

    count: Floats
    mean: Floats
    sd: Floats

    def without_spread(self, annotator: NDArray[np.uint32]) -> int:
        """How many of those who occur here gave equal scores throughout, or only one."""
        if not np.isnan(self.sd[self.count > 0]).any():
            return 0
        return int(np.isnan(self.sd[occurring(annotator)]).sum())


def annotator_scales(table: pl.DataFrame) -> AnnotatorScales:
    """The scales of all annotators, as `standardised` has them."""
    people = _size(table["annotator"])
    one_score, count, total, squares = (np.zeros(people) for _ in range(4))
    parts = [(codes_of(part["annotator"]), part["score"].to_numpy()) for part in table.iter_slices(SLICE)]
    for who, score in parts:
        one_score[who] = score
    # Around a score of the annotator's own little is lost to rounding, and equal scores have no spread at all.
    for who, score in parts:
        around = score - one_score[who]
        count += np.bincount(who, minlength=people)
        total += np.bincount(who, weights=around, minlength=people)
        squares += np.bincount(who, weights=around * around, minlength=people)
    shift = total / np.maximum(count, 1)
    sd = significant(np.sqrt(np.maximum(squares - total * shift, 0) / np.maximum(count - 1, 1)))
    return AnnotatorScales(count, significant(one_score + shift), np.where((count > 1) & (sd > 0), sd, np.nan))


def combined_codes(table: pl.DataFrame, names: Sequence[str]) -> Ints:
    """One number per row for the values in several columns, without gaps; columns that are not there say nothing."""
    return _numbered(joined_codes(table, names))


def joined_codes(table: pl.DataFrame, names: Sequence[str]) -> Ints:
    """The same with gaps."""
    joined, most = np.zeros(0, dtype=np.int64), 0
    for name in names:
        if name not in table.columns:
            continue
        size, codes = _size(table[name]), codes_of(table[name])
        if most * size > MOST_MARKS:
            joined = _numbered(joined)
            most = int(joined.max(initial=0)) + 1
        if most:
            joined *= size
            joined += codes
        else:
            joined = codes.astype(np.int64)
        most = max(most, 1) * size
    return joined if most else np.zeros(table.height, dtype=np.int64)


def occurring(codes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The codes that occur, in order."""
    return np.flatnonzero(np.bincount(codes))


def any_twice(numbers: Ints) -> bool:
    """Whether a number occurs twice."""
    most = int(numbers.max(initial=0)) + 1
    if most <= MOST_MARKS:
        seen = np.zeros(most, dtype=bool)
        seen[numbers] = True
        return int(np.count_nonzero(seen)) < len(numbers)
    return any_repeated(numbers)


def _numbered(codes: Ints) -> Ints:
    """Codes renumbered without gaps."""
    most = int(codes.max(initial=0)) + 1
    if most > MOST_MARKS:
        return np.unique(codes, return_inverse=True)[1]
    seen = np.zeros(most, dtype=bool)
    seen[codes] = True
    # Every code is in range; "clip" only spares the check, which would copy all of them.
    return np.take(np.cumsum(seen) - 1, codes, out=codes, mode="clip")


def ordered_means(means: Floats, system: Ints, judged: Ints) -> ItemMeans:
    """Items by system and mean: codes differ from run to run, and with the order of items the last digits of sums."""
    order = np.lexsort((means, system))
    return ItemMeans(means[order], system[order], judged)


@dataclass(frozen=True, eq=False)
class ItemSums:
    """The system of every item, and four rows of sums: judgments, those with a z, scores, z."""

    system: NDArray[np.uint32]
    values: Floats

    def means(self, codes: dict[str, int]) -> tuple[ItemMeans, ItemMeans]:
        """Raw and standardised means of items; a judgment without z counts for the raw mean alone."""
        number = np.full(int(self.system.max(initial=0)) + 1, -1, dtype=np.int64)
        number[list(codes.values())] = np.arange(len(codes))
        system = number[self.system]
        count, with_z, raw, z = self.values
        judged = np.bincount(system, weights=count, minlength=len(codes)).astype(np.int64)
        has_z = with_z > 0
        return (
            ordered_means(raw / count, system, judged),
            ordered_means(z[has_z] / with_z[has_z], system[has_z], judged),
        )


def item_sums(table: pl.DataFrame, item: Ints, scales: AnnotatorScales) -> ItemSums:
    """Sums over the rows of every item.

    Args:
        table: the scores.
        item: the number of the item of each row, without gaps.
        scales: of the annotators.
    """
    items = int(item.max(initial=-1)) + 1
    system = np.zeros(items, dtype=np.uint32)
    values = np.zeros((4, items))
    step = max(SLICE, items)
    for start in range(0, table.height, step):
        part, where = table.slice(start, step), item[start : start + step]
        who, score = codes_of(part["annotator"]), part["score"].to_numpy()
        z = (score - scales.mean[who]) / scales.sd[who]
        system[where] = codes_of(part["system"])
        count = np.bincount(where, minlength=items)
        missing = np.isnan(z)
        values[0] += count
        values[1] += count
        if missing.any():
            z[missing] = 0.0
            values[1] -= np.bincount(where[missing], minlength=items)
        values[2] += np.bincount(where, score, minlength=items)
        values[3] += np.bincount(where, z, minlength=items)
    return ItemSums(system, values)
