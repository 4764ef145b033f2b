"""Integer codes for words and for rows that agree in several columns, in time that grows with the rows alone."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Codes


SPARSE = 8
"""Codes that reach no further than this many times their number are marked in a table instead of sorted."""


def renumber(codes: Codes) -> Codes:
    """The same partition with codes from 0 without gaps, in the same order."""
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
    return [_joined([words[name] for name in key], table.height) for key in keys]


def _joined(columns: Sequence[tuple[Codes, int]], rows: int) -> Codes:
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
    # A row that holds each word; index -1, that of a null, is the last place of the table.
    row = np.full(int(hashed.max()) + 2, -1)
    row[hashed] = np.arange(len(column))
    present = np.flatnonzero(row >= 0)
    order = column.gather(row[present]).arg_sort(nulls_last=False).to_numpy()
    position = np.zeros(len(row), dtype=np.int64)
    position[present[order]] = np.arange(len(present))
    return position[hashed], len(present)
