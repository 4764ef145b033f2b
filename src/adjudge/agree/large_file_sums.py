"""Agreement on the scores of a large table: all scores of some segments at a time, of which sums are kept.

Alpha, differences and pairs are sums over items. What compares every two annotators is added up by pairs of annotators:
Pearson's correlation, and what the intervals need. Where so many people scored the same items that there are too many
pairs, both are left out. Spearman's correlation needs all items of two people at once and is always left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.agree.score_cells import Patterns, alpha_from_sums, pairs_of_cells, pattern_marks
from adjudge.agree.scores import MIN_SHARED, annotator_sums, inter_pairs, item_means, repeat_sums, shared_cells
from adjudge.core.maths import divide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.agree.score_cells import ScoreCells

MOST_PAIRS = 10_000_000
"""Pairs of scores of the same items, in a part of the table, from which on pairs are not looked at one by one."""
MOST_PATTERNS = 20_000_000
"""Pairs of annotators, over all patterns, from which on there are no intervals."""

TABLES_AT_ONCE = 32
"""Parts whose tables are added up together."""
_TABLES = ("items", "people", "pairs", "correlations")


@dataclass(frozen=True, eq=False)
class PairTables:
    """What is added up by pairs of annotators, sorted by keys; `pattern` says who scored an item and how often."""

    items: pl.DataFrame
    """Columns pattern, items."""
    people: pl.DataFrame
    """Columns pattern, who, number (of one item), total, squares."""
    pairs: pl.DataFrame
    """Columns pattern, who, who_2, pairs (of one item), distance."""
    correlations: pl.DataFrame
    """Columns who, who_2, shared, and the sums of x, y, xx, yy and xy, mean scores of items."""


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums over items; those of different items add up."""

    inter: NDArray[np.float64]
    """Pairs, items, squared differences, and the four of `alpha_from_sums`."""
    intra: NDArray[np.float64]
    """Pairs, items, squared differences."""
    repeats: NDArray[np.float64]
    """By annotator, for the alpha of repeats."""
    annotators: NDArray[np.float64]
    """As `annotator_sums` has them."""


@dataclass(frozen=True)
class StoredTables:
    """The tables of a part on disk: those of all parts would not fit into memory."""

    folder: Path
    pairs: int
    """Rows of the table of pairs."""


def score_sums(cells: ScoreCells) -> ScoreSums:
    """The sums of some items, with all their scores."""
    shared = shared_cells(cells)
    pairs, distance = inter_pairs(shared)
    number, total, squares = (shared.per_item(sums) for sums in (shared.number, shared.total, shared.squares))
    observed = (divide(distance, pairs) * number)[pairs > 0].sum()
    again = cells.where(cells.number > 1)
    return ScoreSums(
        np.array([pairs.sum(), (pairs > 0).sum(), distance.sum(), observed, number.sum(), total.sum(), squares.sum()]),
        np.array([again.own_pairs.sum(), len(again.item), again.own_distance.sum()]),
        repeat_sums(again).by_annotator,
        annotator_sums(cells),
    )


def store_tables(cells: ScoreCells, folder: Path) -> StoredTables | None:
    """The tables of some items in a new folder; None where there are too many pairs."""
    shared = shared_cells(cells)
    many = np.bincount(shared.item, minlength=shared.items)
    if (many * (many - 1) // 2).sum() > MOST_PAIRS:
        return None
    tables = _pair_tables(shared)
    folder.mkdir(exist_ok=True)
    for name in _TABLES:
        getattr(tables, name).write_parquet(folder / name, compression="lz4")
    return StoredTables(folder, tables.pairs.height)


def _pair_tables(cells: ScoreCells) -> PairTables:
    marks = pattern_marks(cells)
    first_cell, second_cell = pairs_of_cells(cells.item)
    n, s, q, mean = cells.number, cells.total, cells.squares, item_means(cells)
    who, who_2 = (cells.annotator[side].astype(np.int32) for side in (first_cell, second_cell))
    people = pl.DataFrame(
        {"pattern": marks[cells.item], "who": cells.annotator.astype(np.int32), "number": n, "total": s, "squares": q}
    )
    distance = n[first_cell] * q[second_cell] + n[second_cell] * q[first_cell] - 2 * s[first_cell] * s[second_cell]
    together = {"pattern": marks[cells.item[first_cell]], "who": who, "who_2": who_2}
    pairs = pl.DataFrame({**together, "pairs": n[first_cell] * n[second_cell], "distance": distance})
    x, y = mean[first_cell], mean[second_cell]
    products = pl.DataFrame({"who": who, "who_2": who_2, "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y})
    items = pl.DataFrame({"pattern": marks}).with_columns(items=pl.lit(1))
    return _added(items, people, pairs, products.with_columns(shared=pl.lit(1)))


def _added(items: pl.DataFrame, people: pl.DataFrame, pairs: pl.DataFrame, correlations: pl.DataFrame) -> PairTables:
    """Tables with rows of equal keys as one."""
    return PairTables(
        _together(items, ("pattern",), sums=("items",)),
        _together(people, ("pattern", "who"), same=("number",), sums=("total", "squares")),
        _together(pairs, ("pattern", "who", "who_2"), same=("pairs",), sums=("distance",)),
        _together(correlations, ("who", "who_2"), sums=("shared", "x", "y", "xx", "yy", "xy")),
    )


def _together(
    table: pl.DataFrame, key: Sequence[str], *, same: Sequence[str] = (), sums: Sequence[str]
) -> pl.DataFrame:
    """Rows of equal keys as one, sorted by key; they agree in the columns `same`."""
    # Groups of polars add up in an order that differs from run to run, and so does the last digit.
    ordered = table.sort(*key, maintain_order=True)
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in key)
    starts = np.flatnonzero(ordered.select(differs).to_series().to_numpy())
    if not len(starts):
        return ordered.select(*key, *same, *sums)
    added = [pl.Series(name, np.add.reduceat(ordered[name].to_numpy(), starts)) for name in sums]
    return ordered.select(pl.col(*key, *same).gather(starts)).with_columns(added)


def added_sums(parts: Sequence[ScoreSums]) -> ScoreSums:
    """The sums of all parts together."""
    inter, intra, repeats, annotators = (
        np.sum([getattr(part, name) for part in parts], axis=0) for name in ("inter", "intra", "repeats", "annotators")
    )
    return ScoreSums(inter, intra, repeats, annotators)


def added_tables(stored: Sequence[StoredTables | None]) -> PairTables | None:
    """The tables of all parts together; None where one is missing, or they are too large."""
    known = [tables for tables in stored if tables is not None]
    if len(known) < len(stored) or sum(tables.pairs for tables in known) > MOST_PATTERNS:
        return None
    added: PairTables | None = None
    for start in range(0, len(known), TABLES_AT_ONCE):
        folders = [tables.folder for tables in known[start : start + TABLES_AT_ONCE]]
        parts = [
            pl.concat(([] if added is None else [getattr(added, name)]) + [_read(folder / name) for folder in folders])
            for name in _TABLES
        ]
        added = _added(*parts)
    return added


def _read(file: Path) -> pl.DataFrame:
    return pl.read_parquet(file, hive_partitioning=False)


def inter_alpha(sums: ScoreSums) -> float:
    """Alpha between annotators, without resamples."""
    return float(alpha_from_sums(*(np.array([number]) for number in sums.inter[3:]))[0])


def correlations_of(tables: PairTables) -> pl.DataFrame:
    """Pearson's correlation of every two annotators, with the columns of `correlations_between`; Spearman's is NaN."""
    n = pl.col("shared")
    covariance = pl.col("xy") - pl.col("x") * pl.col("y") / n
    spread, spread_2 = (pl.col(f"{side}{side}") - pl.col(side) * pl.col(side) / n for side in ("x", "y"))
    # Equal scores leave rounding noise where there is no spread.
    both = (spread > 1e-9 * pl.col("xx")) & (spread_2 > 1e-9 * pl.col("yy"))
    pearson = pl.when(both).then(covariance / (spread * spread_2).sqrt()).otherwise(float("nan"))
    return tables.correlations.filter(n >= MIN_SHARED).select(
        "who", "who_2", "shared", pearson=pearson, spearman=pl.lit(float("nan"))
    )


def patterns_of(tables: PairTables, people: int) -> Patterns:
    """The sums by pattern, for resamples of so many annotators."""
    from scipy.sparse import csr_array

    marks = tables.items
    items = marks["items"].cast(pl.Float64).to_numpy()
    by_person, by_pair = tables.people, tables.pairs
    row, row_of_pair = (marks["pattern"].search_sorted(table["pattern"]).to_numpy() for table in (by_person, by_pair))
    first, second = (by_pair[name].cast(pl.Int64).to_numpy() for name in ("who", "who_2"))
    pair, code = np.unique(first * people + second, return_inverse=True)

    def matrix(table: pl.DataFrame, name: str) -> csr_array:
        if table is by_person:
            places, width = (row, by_person["who"].to_numpy()), people
        else:
            places, width = (row_of_pair, code), len(pair)
        return csr_array((table[name].to_numpy(), places), shape=(len(items), width))

    return Patterns(
        pair // max(people, 1),
        pair % max(people, 1),
        items,
        matrix(by_person, "number"),
        matrix(by_person, "total"),
        matrix(by_person, "squares"),
        matrix(by_pair, "pairs"),
        matrix(by_pair, "distance"),
    )
