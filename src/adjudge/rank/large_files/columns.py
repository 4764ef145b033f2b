"""Which columns of a judgment table can be ranked by counting, and what their words mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import Source
from adjudge.core.humans import compile_human_pattern
from adjudge.core.inclusion_weights import INCLUSION
from adjudge.core.protocols import RATED, SCORED
from adjudge.formats.duplicates import REPETITION
from adjudge.formats.native.reader import MARKS_OF_DOCUMENTS
from adjudge.formats.tables.columns import map_columns, plain

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from adjudge.formats.options import ReadOptions

NEEDED = ("system", "annotator", "segment", "score")
# Where one of these stands in the table, or one of the next has several values, the rows need more than counting.
SPECIAL = ("passed", "copy", "z", "n", "slider", INCLUSION, REPETITION)
CONSTANT = ("campaign", "source_lang", "target_lang", "revision")
WORDS = ("system", "annotator", "segment", "document", "kind", "protocol", "human", *CONSTANT)
_TWICE = "_duplicated_"
NO_RESAMPLES = "the table is very large, so it was ranked straight from its columns and nothing was resampled"


def fits(header: list[str]) -> bool:
    """Whether a table with these columns can be ranked by counting alone."""
    # Without a protocol, a row with a rank is a ranking.
    unclear = "protocol" not in header and "rank" in header
    simple = set(NEEDED) <= set(header) and not set(SPECIAL) & set(header) and not unclear
    return simple and not _needs_the_reader(header)


def _needs_the_reader(header: list[str]) -> bool:
    """Whether a column under another name, a name that stands twice or a mark would change what is counted."""
    renamed = {meaning for meaning, column in map_columns(header, Source("")).columns.items() if column != meaning}
    # Polars numbers names that stand twice.
    twice = any(name.partition(_TWICE)[0] in header for name in header if _TWICE in name)
    marked = any(plain(name) in MARKS_OF_DOCUMENTS for name in header)
    return bool(renamed & {*WORDS, "pair", "rank"}) or twice or marked


def human_systems(systems: list[str], marked: set[str] | None, options: ReadOptions) -> NDArray[np.bool_]:
    """Which systems are human: as the user says, as the file says, or by their names."""
    if options.human is None and marked is not None:
        return np.array([name in marked for name in systems], dtype=bool)
    pattern = compile_human_pattern(options.human)
    return np.array([pattern.fullmatch(name) is not None for name in systems], dtype=bool)


def words_of(column: pl.Series) -> pl.Series:
    """The words of a column that was read as codes of its own, each once, and perhaps those of rows that were left out.

    That many rows need not be gone through.
    """
    assert isinstance(column.dtype, pl.Categorical)
    return column.dtype.categories.to_series()


def among(table: pl.DataFrame, name: str, words: Collection[str], *, otherwise: str) -> pl.Series:
    """Where a column holds one of these words; `otherwise` is what it is taken for where it is missing or empty.

    Words are compared once each, not row by row.
    """
    if name not in table.columns:
        return pl.repeat(otherwise in words, table.height, dtype=pl.Boolean, eager=True)
    different = words_of(table[name])
    wanted = different.filter(different.is_in(list(words)))
    if len(wanted) == len(different) and not table[name].null_count():
        return pl.repeat(len(different) > 0, table.height, dtype=pl.Boolean, eager=True)
    if not len(wanted) and not table[name].null_count():
        return pl.repeat(value=False, n=table.height, eager=True)
    codes = wanted.cast(table[name].dtype).to_physical()
    return table[name].to_physical().is_in(codes.implode()).fill_null(otherwise in words)


def scored_rows(table: pl.DataFrame) -> pl.DataFrame:
    """The rows with a score, and in the column `rated` whether it is a system's."""
    scored = table["score"].is_not_null() & among(table, "protocol", SCORED, otherwise="da")
    table = table.with_columns(among(table, "kind", RATED, otherwise="system").alias("rated"))
    return table if scored.all() else table.filter(scored)
