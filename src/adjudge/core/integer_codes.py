"""Integer codes and hashes of words and of rows by several columns, in time that grows with the rows alone.

Hashes find the few rows that may be equal before words are compared. Equal rows have equal hashes. Rows with equal
hashes are rarely different, but they can be, so candidates found by hashes are compared again by their words.
"""

from __future__ import annotations

from functools import reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from adjudge.core.arrays import Bools, Codes, Hashes


SPARSE = 8
"""Codes up to this many times their number are marked in a lookup table instead of sorted."""


def renumber(codes: Codes) -> Codes:
    """Renumber codes consecutively from 0, in the same order."""
    most = int(codes.max(initial=-1)) + 1
    if most > SPARSE * len(codes) or codes.min(initial=0) < 0:
        return np.unique(codes, return_inverse=True)[1].reshape(codes.shape)
    seen = np.zeros(most, dtype=bool)
    seen[codes] = True
    renumbered: Codes = (np.cumsum(seen) - 1)[codes]
    return renumbered


def codes_of(table: pl.DataFrame, *keys: Sequence[str]) -> list[Codes]:
    """For each key a code for every row, equal where the key's columns agree: its place in their order, nulls first.

    The same as a dense rank of the columns taken together, from 0 on, which would compare rows word by word.
    """
    words = {name: _codes_of_words(table[name]) for name in dict.fromkeys(chain(*keys))}
    return [_join_codes([words[name] for name in key], table.height) for key in keys]


def _join_codes(columns: Sequence[tuple[Codes, int]], rows: int) -> Codes:
    joined = np.zeros(rows, dtype=np.int64)
    for codes, size in columns:
        if size > 1:
            joined = renumber(joined * size + codes)
    return joined


def _codes_of_words(column: pl.Series) -> tuple[Codes, int]:
    """The place of every word among all of them in order, 0 where there is none; and how many places there are."""
    nulls = column.null_count()
    if nulls == len(column) or (not nulls and bool((column == column[0]).all())):
        return np.zeros(len(column), dtype=np.int64), 1
    hashed = column.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    # A row that holds each word; nulls have code -1, which indexes the last entry.
    row = np.full(int(hashed.max()) + 2, -1)
    row[hashed] = np.arange(len(column))
    present = np.flatnonzero(row >= 0)
    order = column.gather(row[present]).arg_sort(nulls_last=False).to_numpy()
    position = np.zeros(len(row), dtype=np.int64)
    position[present[order]] = np.arange(len(present))
    return position[hashed], len(present)


def key_hashes(table: pl.DataFrame, key: Iterable[str]) -> Hashes:
    """A hash per row, equal where rows agree in all columns of the key; nulls agree with each other.

    Hashes of different tables cannot be compared: columns without any value are left out.
    """
    # Every column has a seed of its own: a sum of hashes then tells the values of one from those of another.
    seeds = {name: seed for seed, name in enumerate(key) if table[name].null_count() < table.height}
    if not seeds:
        return np.zeros(table.height, dtype=np.uint64)
    # One sum instead of a column of hashes each, which would be as large as the table.
    total = reduce(add, (pl.col(name).hash(seed) for name, seed in seeds.items()))
    return table.select(total).to_series().to_numpy(writable=True)


def any_single(hashes: Hashes) -> bool:
    """Whether one of the hashes is equal to no other."""
    ordered = np.sort(hashes)
    differs = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    return len(hashes) > 0 and bool((differs[1:] & differs[:-1]).any())


def equal_to_others(hashes: Hashes) -> Bools:
    """Mark the hashes that are equal to others."""
    ordered = np.sort(hashes)
    again = ordered[1:] == ordered[:-1]
    return are_among(hashes, ordered[1:][again]) if again.any() else np.zeros(len(hashes), dtype=bool)


def are_among(hashes: Hashes, wanted: Hashes) -> Bools:
    """Mark the hashes that are among those wanted."""
    return pl.Series(hashes).is_in(pl.Series(wanted).implode()).to_numpy(writable=True)


def any_repeated(numbers: NDArray[np.integer[Any]]) -> bool:
    """Whether a number occurs twice, by putting them in order."""
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())
