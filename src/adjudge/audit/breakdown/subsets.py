"""The subsets by a column: its values, or three parts of a column of many numbers.

`source_length` is a column that need not be there: it is counted in words where the judgments hold the source texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError, UsageError, unknown_choice

if TYPE_CHECKING:
    from adjudge.core.arrays import Codes, Floats
    from adjudge.results.audit.breakdown import SubsetScore

PARTS = ("low", "middle", "high")
FEW_VALUES = 8
"""A column of more different numbers is cut into three parts."""
MOST_LEVELS = 200
SOURCE_LENGTH = "source_length"
ANSWERS = ("score", "rank", "spans")
"""What a ranking is made of; subsets by it would tell nothing."""
MISSING = ("", "nan", "na", "n/a", "null", "none")
"""What files write where a value is missing."""


@dataclass(frozen=True, eq=False)
class Subsets:
    """The subset of every row."""

    column: str
    levels: tuple[str, ...]
    code: Codes
    """The place of the row's subset among the levels; -1 where the column has no value."""
    ordered: bool
    """Whether the levels go from low to high."""


def subsets(table: pl.DataFrame, column: str) -> Subsets:
    """Divide the rows of a table by one of its columns."""
    values = _values(table, column)
    numbers = _as_numbers(values)
    if numbers is not None and numbers.n_unique() > FEW_VALUES:
        return _three_parts(column, numbers)
    if numbers is not None:
        # Few numbers may be the numbers of groups, so no order is taken for granted.
        groups = [_plain(value) for value in sorted(numbers.drop_nulls().unique().to_list())]
        return _coded(column, groups, numbers.map_elements(_plain, return_dtype=pl.String))
    words = _known_words(values)
    return _coded(column, sorted(words.drop_nulls().unique().to_list()), words)


def _values(table: pl.DataFrame, column: str) -> pl.Series:
    if column in ANSWERS:
        raise UsageError(f"--by {column} would divide the judgments by what is ranked; name a column about the texts")
    if column in table.columns:
        return table[column]
    if column == SOURCE_LENGTH and "source_text" in table.columns:
        return table["source_text"].str.split(" ").list.eval(pl.element().filter(pl.element() != "")).list.len()
    if column == SOURCE_LENGTH:
        raise DataError("lengths need the source texts; give a column source_length or source_text in --attributes")
    raise unknown_choice("column for --by", column, [name for name in table.columns if name not in ANSWERS])


def _known_words(values: pl.Series) -> pl.Series:
    words = values.cast(pl.String).str.strip_chars()
    return words.set(words.str.to_lowercase().is_in(MISSING).fill_null(value=False), None)


def _as_numbers(values: pl.Series) -> pl.Series | None:
    """The values as numbers; None where some are not."""
    if values.dtype == pl.Boolean or values.dtype.is_nested():
        return None
    values = _known_words(values)
    numbers = values.cast(pl.Float64, strict=False)
    return None if (numbers.is_null() & values.is_not_null()).any() or numbers.is_null().all() else numbers


def _plain(value: float) -> str:
    """A number with as many digits as tell it from others: 20240501 is not 20240502."""
    return f"{value:.15g}"


def _short(value: float) -> str:
    return _plain(value) if value == round(value) else f"{value:g}"


def _three_parts(column: str, values: pl.Series) -> Subsets:
    """Cut at the thirds of the rows; every part is named with its range."""
    array = values.to_numpy().astype(float)
    known = ~np.isnan(array)
    low, high = np.quantile(array[known], (1 / 3, 2 / 3))
    part = np.where(known, (array > low).astype(int) + (array > high), -1)
    present = [index for index in range(len(PARTS)) if (part == index).any()]
    names = tuple(
        f"{PARTS[index]} ({_short(array[part == index].min())} to {_short(array[part == index].max())})"
        for index in present
    )
    code = np.full(len(array), -1)
    for number, index in enumerate(present):
        code[part == index] = number
    return _checked(Subsets(column, names, code, ordered=True))


def _coded(column: str, levels: list[str], words: pl.Series) -> Subsets:
    if len(levels) > MOST_LEVELS:
        much = f"column '{column}' has {len(levels):,} values; {MOST_LEVELS} are the most to compare"
        raise DataError(f"{much}; group them in a column of a side table (--attributes)")
    codes = words.replace_strict(levels, range(len(levels)), default=-1, return_dtype=pl.Int64).fill_null(-1)
    return _checked(Subsets(column, tuple(levels), codes.to_numpy(), ordered=False))


def _checked(parts: Subsets) -> Subsets:
    if len(parts.levels) < 2:
        raise DataError(f"column '{parts.column}' has fewer than two values, so there is nothing to compare")
    return parts


@dataclass(frozen=True)
class ColumnTest:
    """What came out for one column, before the correction for other columns."""

    levels: tuple[str, ...]
    scores: tuple[SubsetScore, ...]
    p: float
    name: str
    """Which test, in words."""
    unknown: int
    """Judgments without a value in the column."""


def ranks_within(level: Codes, score: Floats) -> Codes:
    """The rank of every score within its level, 1 for the highest; equal scores share the better rank."""
    same = level[:, None] == level[None, :]
    ranks: Codes = 1 + (same & (score[None, :] > score[:, None])).sum(axis=1)
    return ranks
